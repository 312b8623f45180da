"""JSON schemas of the files that people write: scenarios, machines, studies, schedules and traffic books.

Editors complete and check TOML with them. `generate.py` makes them from the models; they are committed, so that an
editor can read them without a command. A schema knows one value at a time: what a file must have beyond that (a
placement that fits, a machine that can be built) `odonata show FILE` checks.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

NAMES = ("scenario", "system", "study", "schedule", "book")
"""Kinds of files that have a schema."""


def path_of(name: str) -> Path:
    """The file of a schema in the installed package."""
    return Path(str(files(__package__) / f"{name}.schema.json"))


def text_of(name: str) -> str:
    """A schema as JSON."""
    return path_of(name).read_text(encoding="utf-8")


def line_of(name: str) -> str:
    """The first line of a TOML file that names its schema, as taplo and the extensions of editors read it."""
    return f"#:schema {path_of(name).resolve().as_uri()}"
