"""Kinds of documents by their tables: a study that is given as a scenario is named, with the command that takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS = {
    "scenario": "a scenario: `odonata run {file}`",
    "study": "a study: `odonata sweep {file}`",
    "schedule": "a schedule: `odonata schedule {file}`",
    "book": 'a traffic book: name it with `book = "{file}"` in a schedule, or --book of `odonata cluster snapshot`',
    "system": 'a system: name it with `system = "{file}"` in a scenario, or `odonata show {file}`',
}


def kind_of(data: Mapping[str, Any]) -> str | None:
    """The kind of a document, by keys that no other kind has; None if no key decides."""
    if {"sweep", "zip", "random"} & data.keys():
        return "study"
    if "job" in data or "import" in data:
        return "scenario"
    if "stream" in data:
        return "schedule"
    if "rule" in data:
        return "book"
    return "system" if {"kind", "preset"} & data.keys() and "system" not in data else None


def check_kind(data: Mapping[str, Any], file: str, wanted: str) -> None:
    """Raises InputError for a document of another kind, with what to do with it."""
    kind = kind_of(data)
    if kind in (None, wanted):
        return
    name, _, remedy = _KINDS[kind or wanted].format(file=file).partition(": ")
    raise InputError(f"this is {name}, not a {wanted}", file=file, hint=remedy)
