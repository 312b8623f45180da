"""Compressed files: output of other tools may be compressed by gzip. For other formats, the error names the
unpacker."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from odonata.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_GZIP = b"\x1f\x8b"
#: First bytes of a compressed file -> its format, and the command that unpacks it.
_KINDS = {
    _GZIP: ("gzip", "gunzip -c FILE"),
    b"BZh": ("bzip2", "bunzip2 -c FILE"),
    b"\xfd7zXZ\x00": ("xz", "unxz -c FILE"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unzstd -c FILE"),
    b"PK\x03\x04": ("zip", "unzip -p FILE"),
    b"\x1f\x9d": ("compress", "uncompress -c FILE"),
    b"7z\xbc\xaf\x27\x1c": ("7-Zip", "7z x -so FILE"),
}

_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip", ".z", ".7z")
"""Endings of the names of compressed files, in lower case."""


def bare(file: Path) -> Path:
    """The name without the ending of its compression: `m.csv` for `m.csv.gz`."""
    return file.with_suffix("") if is_named(file) else file


def is_named(file: Path) -> bool:
    """Whether its name has the ending of a compressed file."""
    return file.suffix.lower() in _ENDINGS


def refused(file: str | Path, data: bytes) -> InputError | None:
    """The error for a compressed file where text is expected; None if it is not compressed."""
    for magic, (name, command) in _KINDS.items():
        if data.startswith(magic):
            shown = command.replace("FILE", str(file))
            return InputError(f"compressed by {name}; expected text", file=file, hint=f"unpack it: {shown}")
    return None


def unpacked(file: str | Path, data: bytes, most: int) -> bytes:
    """The content of a file, unpacked if it is compressed by gzip, of at most `most` bytes.

    Raises InputError for one that is damaged or cut, that unpacks to more, or is compressed in another way.
    """
    if not data.startswith(_GZIP):
        if (error := refused(file, data)) is not None:
            raise error
        return data
    parts, left = [], most + 1
    while data.startswith(_GZIP):
        member = zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(data, left)
        except zlib.error as e:
            raise InputError(f"a damaged gzip file: {str(e).partition(': ')[2] or e}", file=file) from None
        parts.append(part)
        left -= len(part)
        if left <= 0:
            raise InputError(f"expected a file that unpacks to at most {most:,} bytes, found more", file=file)
        if not member.eof:
            raise InputError("a gzip file that ends early: it may be cut", file=file)
        data = member.unused_data
    if data.strip(b"\0"):
        raise InputError("a damaged gzip file: something follows its end", file=file)
    return b"".join(parts)
