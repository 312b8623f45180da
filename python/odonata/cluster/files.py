"""Reads the files of other tools."""

from pathlib import Path

from odonata import reading
from odonata.errors import InputError

#: Most bytes of a file. Assumed: twenty times the JSON queue of 10,000 jobs.
MOST_BYTES = 1 << 30


def read(file: str | Path) -> str:
    """The text of a file. Raises InputError if it cannot be read, or has nothing in it."""
    try:
        text = reading.read_text(file, MOST_BYTES)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read it: {reading.why(e)}", file=file) from None
    if not text.strip():
        raise InputError("the file is empty", file=file)
    return text
