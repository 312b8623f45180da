"""What comes in from outside: pinned versions, and licences that the policy allows."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements" / "dev.lock").read_text().splitlines()


def test_every_line_pins_one_version():
    for line in [line for file in (ROOT / "requirements").glob("*.lock") for line in file.read_text().splitlines()]:
        requirement = Requirement(line)
        assert [s.operator for s in requirement.specifier] == ["=="], line
        assert requirement.url is None, line


def test_what_running_needs_is_part_of_what_developing_needs():
    running = (ROOT / "requirements" / "run.lock").read_text().splitlines()
    assert set(running) < set(LOCK)
    names = {Requirement(line).name.lower() for line in running}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["all"]]
    assert {Requirement(text).name.lower() for text in wanted} | {"maturin"} <= names


def test_what_the_project_asks_for_is_pinned_within_its_range():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = {r.name.lower(): next(iter(r.specifier)).version for r in map(Requirement, LOCK)}
    for text in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(pinned[wanted.name.lower()]), text


def test_the_oldest_versions_are_the_lower_bounds():
    """`make test-oldest` installs them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = map(Requirement, [*project["dependencies"], *project["optional-dependencies"]["all"]])
    bounds = {r.name: Version(next(s.version for s in r.specifier if s.operator == ">=")) for r in wanted}
    lines = [line for line in (ROOT / "requirements" / "oldest.txt").read_text().splitlines() if line[0] != "#"]
    assert {r.name: Version(next(iter(r.specifier)).version) for r in map(Requirement, lines)} == bounds


def test_the_description_is_said_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said = project["description"].removeprefix("Which ")
    for page in ("README.md", "docs/index.md", "CITATION.cff", "python/odonata/__init__.py"):
        text = " ".join((ROOT / page).read_text().replace("**", "").split())
        assert said in text, page


def test_no_file_of_the_package_is_left_out_of_the_wheel():
    """maturin packs what is under `python/odonata` and not ignored by git; `make dist` looks into the wheel."""
    maturin = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]
    assert maturin["python-source"] == "python"
    assert "exclude" not in maturin
    listed = ["git", "ls-files", "--cached", "python/odonata"]
    files = subprocess.check_output(listed, cwd=ROOT, text=True).splitlines()
    assert {"toml", "txt", "md", "csv", "typed"} <= {name.rpartition(".")[2] for name in files}
    ignored = subprocess.check_output([*listed, "--ignored", "--exclude-standard"], cwd=ROOT, text=True)
    assert ignored == ""


def acceptable(expression, allowed):
    """Whether a licence expression can be met with the allowed licences alone."""
    term = r"\b(?!(?:OR|AND)\b)[\w.+-]+(?: WITH [\w.+-]+)?"
    logic = re.sub(term, lambda m: str(m[0] in allowed), expression.replace("/", " OR "))
    return eval(logic.replace("OR", "or").replace("AND", "and"), {"__builtins__": {}})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("GPL-3.0 OR MIT", True),
        ("GPL-3.0/MIT", True),
        ("(GPL-3.0 OR MIT) AND Zlib", False),
        ("MIT WITH an-exception", False),
    ],
)
def test_expressions_are_understood(expression, expected):
    assert acceptable(expression, {"MIT"}) is expected


def test_every_crate_has_a_licence_that_the_policy_allows():
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    host = re.search(r"^host: (.*)$", subprocess.check_output(["rustc", "-vV"], text=True), re.MULTILINE)[1]
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host]
    packages = json.loads(subprocess.check_output(command, cwd=ROOT, stderr=subprocess.DEVNULL))["packages"]
    assert "odonata-sim" in {package["name"] for package in packages}
    assert [(p["name"], p["license"]) for p in packages if not acceptable(p["license"] or "none", allowed)] == []
