"""Man pages: up to date, complete, and without errors of roff."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from odonata.cli import COMMANDS
from odonata.cli.main import application

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "packaging/wheel/data/share/man/man1"


def made() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("man_pages", ROOT / "scripts/man.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


def test_pages_are_what_the_commands_give() -> None:
    found = {file.name: file.read_text() for file in PAGES.glob("*.1")}
    assert found == made(), "scripts/man.py writes them again"


def test_every_command_and_option_is_there() -> None:
    overview = (PAGES / "odonata.1").read_text()
    for name in COMMANDS:
        assert f".BR odonata\\-{name} (1)" in overview
    left = [(f"odonata-{name}", application()[name]) for name in COMMANDS]
    pages = {"odonata.1"}
    while left:
        name, command = left.pop()
        if command.default_command is None:
            left += [(f"{name}-{inner}", command[inner]) for inner in command if not inner.startswith("-")]
            continue
        pages.add(f"{name}.1")
        text = (PAGES / f"{name}.1").read_text()
        assert "No description." not in text
        for argument in command.assemble_argument_collection(parse_docstring=True):
            for option in () if argument.children else argument.names:
                shown = option.replace("-", "\\-") if option.startswith("-") else option.upper()
                assert shown in text, (name, option)
    assert {file.name for file in PAGES.glob("*.1")} == pages


def test_the_wheel_installs_them() -> None:
    """Wheel data is `data/` below the folder: files there are installed below the prefix of the environment."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]
    assert (ROOT / build["data"] / "data/share/man/man1/odonata.1").is_file()
    # Without them in the source distribution, no wheel could be built from it.
    assert {"path": f"{build['data']}/**/*", "format": "sdist"} in build["include"]


@pytest.mark.parametrize("page", ["odonata.1", "odonata-run.1", "odonata-cluster-snapshot.1"])
def test_a_page_is_shown(page: str) -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    command = [groff, "-man", "-Tutf8", "-ww", "-P-cbou", str(PAGES / page)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "SYNOPSIS" in done.stdout
    assert "\\f" not in done.stdout
