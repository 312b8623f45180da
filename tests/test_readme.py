"""What the README shows is what a user sees."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
COMMAND = [sys.executable, "-m", "odonata.cli.main"]


def shown(command: str) -> str:
    """What the README says that a command prints."""
    found = re.search(rf"\$ \.venv/bin/{re.escape(command)}\n(.*?)(?:```|\n\$)", README.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def printed(command: str, folder: Path) -> str:
    """What it prints."""
    done = subprocess.run([*COMMAND, *command.split()[1:]], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def test_the_smallest_run_prints_what_the_readme_shows(tmp_path: Path) -> None:
    printed("odonata new first.toml", tmp_path)
    command = "odonata run first.toml --alone"
    assert printed(command, tmp_path) == shown(command)


@pytest.mark.parametrize("change", ["", " -s job.target.routing=adaptive-3"])
def test_the_neighbours_are_what_the_readme_shows(change: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(README.parent / "examples")
    command = "odonata run examples/theta-neighbour.toml --alone" + change
    assert printed(command, tmp_path) == shown(command)


@pytest.mark.parametrize("change", ["", " -s job.halo.place=contiguous -s job.transform.place=contiguous"])
def test_the_two_programs_are_what_the_readme_shows(change: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(README.parent / "examples")
    command = "odonata run examples/halo-neighbours.toml --alone" + change
    assert printed(command, tmp_path) == shown(command)


def test_the_scenario_of_the_readme_is_the_example_and_resolves() -> None:
    from odonata import scenario

    text = re.search(r"```toml\n(.*?)```", README.read_text(), re.DOTALL)
    assert text is not None
    file = README.parent / "examples" / "theta-neighbour.toml"
    assert file.read_text().endswith(f"\n\n{text[1]}")
    assert list(scenario.load(file).resolve().targets) == ["target"]


def test_presets_and_policies_are_those_that_there_are() -> None:
    from odonata import machine
    from odonata.placement import LAYOUTS, POLICIES

    text = README.read_text()
    presets = re.findall(r"`([\w-]+)`", text.split("are presets")[1].split("docs/machines.md")[0])
    assert sorted(presets) == sorted(machine.names())
    own = [name for name, policy in POLICIES.items() if not policy.provider and name not in LAYOUTS]
    assert f"{len(own)} policies" in text


def test_linked_files_exist() -> None:
    root = README.parent
    for page in (*root.glob("*.md"), *(root / "docs").glob("*.md"), root / "validation" / "README.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
