"""The windows that have been simulated, by content, in a file that only grows.

A line is one window, with a checksum: a line that was changed or cut does not count. A process that is killed loses at
most the line that it was writing, so a schedule that is started again simulates only what is missing.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.errors import InputError, RunError
from odonata.scheduler.window import Measured

if TYPE_CHECKING:
    from pathlib import Path

FILE = "windows.jsonl"
MOST_BYTES = 1 << 32
"""Most bytes of the file. Assumed: ten million windows."""


class Cache:
    """Results of windows by key; `folder` is None for results in memory only."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / FILE
        self._known: dict[str, Measured] = {}
        self._whole = True
        if self._file is not None and self._file.exists():
            self._read(self._file)

    def _read(self, file: Path) -> None:
        try:
            data = reading.read_bytes(file, MOST_BYTES, pipes=False)
        except OSError as e:
            raise InputError(f"cannot read it: {reading.why(e)}", file=file) from None
        self._whole = not data or data.endswith(b"\n")
        for line in data.splitlines():
            try:
                row: dict[str, Any] = json.loads(line)
                key, checksum = row.pop("key"), row.pop("sha256")
                if checksum != _checksum(key, row):
                    continue  # something has changed it
                measured = _measured(row)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                continue  # a line that was cut; its window is simulated again
            self._known[key] = measured

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Measured:
        return self._known[key]

    def __len__(self) -> int:
        return len(self._known)

    def add(self, key: str, measured: Measured) -> None:
        """Keeps a result. Raises RunError if it cannot be written."""
        self._known[key] = measured
        if self._file is None:
            return
        row = asdict(measured)
        line = json.dumps({"key": key, "sha256": _checksum(key, row), **row}) + "\n"
        try:
            with self._file.open("a", encoding="utf-8") as opened:
                opened.write(line if self._whole else f"\n{line}")
        except OSError as problem:
            raise RunError(f"cannot write `{self._file}`: {problem.strerror or problem}") from problem
        self._whole = True


def _measured(row: dict[str, Any]) -> Measured:
    """The result in a row. Raises TypeError if a value is not what a result has."""
    row = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    means, errors = row["means_ps"], row["errors"]
    if not (isinstance(means, tuple) and isinstance(errors, tuple) and len(means) == len(errors)):
        raise TypeError("no times of jobs")
    of_jobs = (number for number in (*means, *errors) if number is not None)
    if not all(map(_is_number, (*of_jobs, row["length_ps"], row["packet_hops"], row["wall_s"]))):
        raise TypeError("no number")
    return Measured(**row)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _checksum(key: str, row: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps([key, row], sort_keys=True).encode()).hexdigest()
