"""The user's own folder for files that are made once and kept, such as programs that Odonata builds.

The folder and its contents must belong to the user, and no other user may write there. Otherwise nothing in it is used,
because another user of the machine could have put it there.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from odonata import reading
from odonata.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable


_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def folder(chosen: Path | None = None) -> Path:
    """The folder, made with mode 0700 if it does not exist: `odonata` in `$XDG_CACHE_HOME`, else in `~/.cache`.

    Parameters
    ----------
    chosen
        Another folder in its place.

    Returns
    -------
    Path

    Raises
    ------
    RunError
        If it is a link, belongs to another user or can be written by others, and if it cannot be made.
    """
    made = _usual() if chosen is None else chosen
    try:
        made.parent.mkdir(parents=True, exist_ok=True)
        made.mkdir(mode=0o700, exist_ok=True)
        problem = _problem(made, stat.S_ISDIR, "folder")
        above = made.parent.stat().st_mode
        if problem is None and above & _OTHERS and not above & stat.S_ISVTX:
            problem = f"is in `{made.parent}`, where others can put another folder in its place"
    except OSError as e:
        raise RunError(f"cannot use the folder `{made}`: {reading.why(e)}") from None
    if problem is not None:
        raise RunError(
            f"the folder `{made}` {problem}, so that its content may be somebody else's\n"
            f"  hint: `chmod go-w` what is yours, or set XDG_CACHE_HOME to a folder of your own"
        )
    return made


def is_own(file: Path) -> bool:
    """Whether a file is a regular file of the user that nobody else can write; false if there is none."""
    try:
        return _problem(file, stat.S_ISREG, "file") is None
    except OSError:
        return False


def _usual() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    if not base:
        try:
            return Path.home() / ".cache" / "odonata"
        except RuntimeError:
            # A container may have a user without an entry and without HOME.
            raise RunError("you have no home folder\n  hint: set HOME, or XDG_CACHE_HOME") from None
    return Path(base).absolute() / "odonata"


def _problem(path: Path, is_kind: Callable[[int], bool], kind: str) -> str | None:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "is a link"
    if not is_kind(status.st_mode):
        return f"is not a {kind}"
    if status.st_uid != os.geteuid():
        return f"belongs to the user {status.st_uid}"
    if status.st_mode & _OTHERS:
        return f"can be written by others (mode {stat.S_IMODE(status.st_mode):04o})"
    return None
