"""Files that are there whole or not at all, also after a loss of power."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from odonata.errors import RunError

if TYPE_CHECKING:
    from pathlib import Path

_MARK = ".partial-"


def write(path: Path, data: bytes | memoryview) -> None:
    """Writes a file under another name, waits until it is on the disk, and renames it.

    Raises RunError if that is not possible (a full disk); then nothing is left of it, and a file that had the name
    before is as it was.
    """
    partial = path.with_name(f".{path.name}{_MARK}{secrets.token_hex(4)}")
    try:
        try:
            with partial.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        except BaseException:
            with suppress(OSError):
                partial.unlink()
            raise
        _sync_folder(path.parent)
    except OSError as problem:
        raise RunError(f"cannot write `{path}`: {problem.strerror or problem}") from problem


def remove_partial(folder: Path) -> None:
    """Removes what killed writers have left. Nobody else may be writing in the folder."""
    for path in folder.iterdir():
        if path.name.startswith(".") and _MARK in path.name and path.is_file():
            with suppress(OSError):
                path.unlink()


def _sync_folder(folder: Path) -> None:
    # A file system that cannot do this keeps its names safe in ways of its own.
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
