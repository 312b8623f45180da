"""Results of simulations that are kept by content, each in a small file of its own."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from typing import TYPE_CHECKING, Any

from odonata import files, reading
from odonata.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOLDER = "kept"
_MOST_BYTES = 1 << 24
UNUSED_DAYS = 30
"""Days after which a result that nobody used is removed (assumed: jobs of a queue have ended by then)."""


class Kept:
    """Results by what was simulated; `folder` is None for results in memory only."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / FOLDER
        self._known: dict[str, Mapping[str, Any]] = {}

    @staticmethod
    def key(*content: Any) -> str:
        """The identity of a simulation, with that of the code that simulates it."""
        from odonata.store.engine import fingerprint

        text = json.dumps([fingerprint(), content], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def get(self, key: str) -> Mapping[str, Any] | None:
        """The result; None if it is not kept, or its file was changed."""
        if key in self._known or self._folder is None:
            return self._known.get(key)
        try:
            row = json.loads(reading.read_bytes(self._folder / f"{key}.json", _MOST_BYTES, pipes=False))
            result: dict[str, Any] = row["result"]
            if row["sha256"] != _checksum(key, result):
                return None
        except (OSError, InputError, ValueError, TypeError, KeyError, RecursionError):
            return None
        self._known[key] = result
        with contextlib.suppress(OSError):
            os.utime(self._folder / f"{key}.json")
        return result

    def remove_unused(self) -> None:
        """Removes what was not used for `UNUSED_DAYS`."""
        if self._folder is None:
            return
        limit = time.time() - UNUSED_DAYS * 86_400
        for path in self._folder.glob("*.json"):
            with contextlib.suppress(OSError):
                if re.fullmatch("[0-9a-f]{32}", path.stem) and path.stat().st_mtime < limit:
                    path.unlink()

    def add(self, key: str, result: Mapping[str, Any]) -> None:
        """Keeps a result. Raises RunError if it cannot be written."""
        self._known[key] = result
        if self._folder is None:
            return
        assert re.fullmatch("[0-9a-f]{32}", key)
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as problem:
            raise RunError(f"cannot write `{self._folder}`: {problem.strerror or problem}") from problem
        row = {"result": result, "sha256": _checksum(key, result)}
        files.write(self._folder / f"{key}.json", json.dumps(row) + "\n")


def _checksum(key: str, result: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([key, result], sort_keys=True).encode()).hexdigest()
