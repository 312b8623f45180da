"""The lock file pins what the project asks for, and says nothing about where it came from."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements" / "dev.lock").read_text().splitlines()


def test_every_line_pins_one_version():
    for line in LOCK:
        requirement = Requirement(line)
        assert [s.operator for s in requirement.specifier] == ["=="], line
        assert requirement.url is None, line


def test_what_the_project_asks_for_is_pinned_within_its_range():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = {r.name.lower(): next(iter(r.specifier)).version for r in map(Requirement, LOCK)}
    for text in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(pinned[wanted.name.lower()]), text
