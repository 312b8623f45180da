"""The folder in which a run is written before it gets its name, and what killed processes left of theirs."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def partial_folder(folder: Path) -> Iterator[Path]:
    """A new empty folder beside `folder`, locked while it is written, and gone after unless it was renamed.

    The lock, not a process id in the name, says that it is in use: the system releases it however the process ends,
    and containers give the same ids again and again.
    """
    partial, lock = _locked(folder)
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        os.close(lock)


def remove_stale(folder: Path) -> None:
    """Remove the partial folders of `folder` that no living process writes."""
    prefix = f".{folder.name}.partial-"
    for path in folder.parent.iterdir():
        if not path.name.startswith(prefix) or path.is_symlink():
            continue
        with suppress(OSError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)


def _locked(folder: Path) -> tuple[Path, int]:
    while True:
        partial = folder.with_name(f".{folder.name}.partial-{secrets.token_hex(4)}")
        partial.mkdir()
        try:
            lock = os.open(partial, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # another run took it for stale before it could be locked
        try:
            # A file system that knows no locks cannot tell a stale folder either: all are kept there.
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if partial.is_dir():
                return partial, lock
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            os.close(lock)
            raise
        os.close(lock)
