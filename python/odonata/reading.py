"""Reads the files of users: never more than is allowed, and never from a device."""

import os
import stat
from pathlib import Path

from odonata.errors import InputError

#: Most bytes of a text (scenarios, studies, lists of nodes). Assumed: far more than a person writes.
TEXT_BYTES = 64 << 20


def read_bytes(path: str | Path, most: int = TEXT_BYTES, *, pipes: bool = True) -> bytes:
    """The content of a file of at most `most` bytes.

    Nothing is read of a regular file that is larger, and at most one byte more than allowed of a pipe. Raises
    InputError for a file that is too large, a device, or a pipe if `pipes` is false; OSError if it cannot be read.
    """
    # A pipe without a writer must not keep the command waiting for one.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(21, "Is a directory")
        if not stat.S_ISREG(status.st_mode):
            if not (pipes and stat.S_ISFIFO(status.st_mode)):
                what = "a pipe" if stat.S_ISFIFO(status.st_mode) else "a device"
                raise InputError(f"expected a regular file, found {what}", file=path)
            os.set_blocking(file.fileno(), True)
        elif status.st_size > most:
            raise _too_large(path, f"{status.st_size:,} bytes", most)
        data = file.read(most + 1)
    if len(data) > most:
        raise _too_large(path, "more", most)
    return data


def read_text(path: str | Path, most: int = TEXT_BYTES) -> str:
    """The content of a text file in UTF-8, without a byte order mark.

    Raises InputError as `read_bytes`, and if it is not UTF-8; OSError if it cannot be read.
    """
    try:
        return read_bytes(path, most).decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as e:
        raise InputError(f"not a text file: byte {e.start} is not UTF-8", file=path) from None


def _too_large(path: str | Path, found: str, most: int) -> InputError:
    return InputError(f"expected a file of at most {most:,} bytes, found {found}", file=path)
