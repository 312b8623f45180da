"""What the README shows is what a user sees."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
COMMAND = [sys.executable, "-m", "odonata.cli.main"]


def test_the_smallest_run_prints_what_the_readme_shows(tmp_path: Path) -> None:
    shown = re.search(r"\$ \.venv/bin/odonata run first\.toml --alone\n(.*?)```", README.read_text(), re.DOTALL)
    assert shown is not None
    subprocess.run([*COMMAND, "new", "first.toml"], cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run(
        [*COMMAND, "run", "first.toml", "--alone"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout == shown[1]


def test_the_scenario_of_the_readme_resolves(tmp_path: Path) -> None:
    from odonata import scenario

    text = re.search(r"```toml\n(.*?)```", README.read_text(), re.DOTALL)
    assert text is not None
    file = tmp_path / "shown.toml"
    file.write_text(text[1])
    resolved = scenario.load(file).resolve()
    assert list(resolved.targets) == ["target"]


def test_linked_files_exist() -> None:
    for page in (README, README.parent / "ARCHITECTURE.md", README.parent / "validation" / "README.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
