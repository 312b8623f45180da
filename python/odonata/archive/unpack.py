"""Unpacks an archive, which may come from anyone: no file outside of the folder, and limits on its size."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import IO

from odonata.archive.commands import AGAIN, RESULTS
from odonata.errors import InputError

MOST_BYTES = 16 << 30
"""Size limit of an unpacked archive (assumed): 16 GiB."""
MOST_FILES = 1 << 17
"""Most files of an archive (assumed): a trace of each rank of a machine of 100,000 nodes."""
_PART = 1 << 20
_MOST_AT_ONCE = 1 << 24
"""Most bytes that are read at once: headers of a tar archive are read whole."""
_UNUSED = (f"{AGAIN}/", f"{RESULTS}/report.html")
"""What the commands in the README of an archive write into its folder."""


def unpacked(archive: Path, target: Path) -> Path:
    """The files of an archive in a new folder; those of a folder are copied. Raises InputError if they are damaged."""
    target.mkdir()
    if archive.is_dir():
        _copied(archive, target)
        return target
    kinds = (
        OSError, EOFError, ValueError, NotImplementedError, RuntimeError, OverflowError, MemoryError,
        tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
    )  # fmt: skip
    try:
        (_unzipped if archive.name.endswith(".zip") else _untarred)(archive, target)
    except kinds as problem:
        raise InputError(f"`{archive}` is not an archive of odonata: {problem}") from None
    return target


def _copied(archive: Path, target: Path) -> None:
    room = _Room(archive, target)
    for path in sorted(archive.rglob("*")):
        name = path.relative_to(archive).as_posix()
        if path.is_symlink() or not path.is_file() or name.startswith(_UNUSED):
            continue
        try:
            with path.open("rb") as file:
                room.put(f"archive/{name}", path.stat().st_size, file)
        except OSError as problem:
            raise InputError(f"cannot read `{path}`: {problem.strerror or problem}") from None


def _unzipped(archive: Path, target: Path) -> None:
    room = _Room(archive, target)
    with zipfile.ZipFile(archive) as packed:
        entries = [entry for entry in packed.infolist() if not entry.is_dir()]
        room.check(len(entries), sum(entry.file_size for entry in entries))
        for entry in entries:
            with packed.open(entry) as file:
                room.put(entry.filename, entry.file_size, file)


def _untarred(archive: Path, target: Path) -> None:
    room = _Room(archive, target)
    with gzip.open(archive) as zipped, tarfile.open(fileobj=_Bounded(zipped, room), mode="r:") as tar:  # type: ignore[call-overload]
        for item in tar:
            # Links are not unpacked: a listed file that is one is missing.
            if item.isfile() and (file := tar.extractfile(item)) is not None:
                room.put(item.name, item.size, file)


class _Room:
    """What an archive may still unpack into a folder."""

    def __init__(self, archive: Path, target: Path) -> None:
        self.archive, self.target = archive, target
        self.files = self.bytes = 0

    def check(self, count: int, size: int) -> None:
        if size > MOST_BYTES:
            raise InputError(f"`{self.archive}` has more than {MOST_BYTES >> 30} GiB when it is unpacked")
        if count > MOST_FILES:
            raise InputError(f"`{self.archive}` has more than {MOST_FILES:,} files")

    def put(self, name: str, size: int, file: IO[bytes]) -> None:
        """Copies a file in parts. Its size is counted as it is declared, and as it is."""
        parts = Path(name).parts[1:]
        if not parts or ".." in parts or Path(name).is_absolute():
            raise InputError(f"`{self.archive}` has a file `{name}` outside of its folder")
        self.files += 1
        self.check(self.files, self.bytes + size)
        path = self.target.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            while part := file.read(_PART):
                self.bytes += len(part)
                self.check(self.files, self.bytes)
                out.write(part)


class _Bounded:
    """An unpacked tar archive that gives at most so many bytes at once, and so many in all."""

    def __init__(self, file: gzip.GzipFile, room: _Room) -> None:
        self.file, self.room = file, room

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _MOST_AT_ONCE:
            raise tarfile.ReadError(f"a header of {size:,} bytes")
        return self.file.read(size)

    def seek(self, position: int) -> int:
        # Headers and links count as well, so that the limit is on all that is unpacked.
        self.room.check(0, position)
        return self.file.seek(position)

    def tell(self) -> int:
        return self.file.tell()
