"""Recognises folders of other commands in place of a run or a study. The error names the command that shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

#: Patterns of files, one of which such a folder has -> its description, and the command that shows it.
_KINDS = {
    ("schedule.json", "schedule.toml", "windows.jsonl"): (
        "a schedule",
        "`odonata schedule FILE -o {folder}`, with the file of the schedule, prints its tables again from the windows "
        "in it; `jobs.parquet` has a row for each job",
    ),
    ("probe-*.parquet",): ("`odonata cluster probe`", "`odonata cluster analyse {folder}` shows it"),
}


def of_another_kind(folder: Path, expected: str) -> InputError | None:
    """The error for the folder of another command or for a file in it; None for an unknown folder."""
    there = folder if folder.is_dir() else folder.parent
    for patterns, (what, hint) in _KINDS.items():
        if any(sorted(there.glob(pattern)) for pattern in patterns):
            message = f"`{there}` is the folder of {what}, expected that of {expected}"
            return InputError(message, hint=hint.format(folder=there))
    return None
