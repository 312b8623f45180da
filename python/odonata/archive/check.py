"""Repeats an archive and compares: checksums, ids, tables and figures."""

from __future__ import annotations

import json
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import files
from odonata.archive.pack import FIGURES, LOCK, RESULTS, SUMS, repeat_command, run_command
from odonata.errors import InputError
from odonata.store.engine import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 1 << 36
"""Size limit of an archive that is unpacked (assumed): 64 GiB."""
VARIES = ("manifest.json",)
"""Files that say how long a run took. Of these the ids are compared."""


@dataclass
class Checked:
    """What an archive gave when it was repeated."""

    title: str
    same: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check(archive: Path) -> Checked:
    """Repeats an archive in a temporary folder. Raises InputError if it is none, or if it is damaged."""
    with tempfile.TemporaryDirectory() as temporary:
        root = _unpacked(archive, Path(temporary) / "archive")
        _verify(root, archive)
        lock = _lock(root, archive)
        told = Checked(str(lock["title"]))
        if lock["engine"] != fingerprint():
            told.notes.append(f"it was made by another engine, {lock['engine']}; this one is {fingerprint()}")
        run_command(repeat_command(lock["kind"], str(lock["main"]), alone=bool(lock["alone"])), root)
        _compare(root / RESULTS, root / "again", RESULTS, told)
        for command in lock["commands"][1:]:
            name = command.rsplit(" ", 1)[1]
            before = (root / name).read_bytes()
            (root / name).unlink()
            run_command(command, root)
            (told.same if (root / name).read_bytes() == before else told.different).append(name)
    return told


def _compare(kept: Path, again: Path, name: str, told: Checked) -> None:
    for path in sorted(kept.iterdir()):
        other = again / path.name
        if path.name in VARIES:
            same = other.is_file() and _fixed(path) == _fixed(other)
        else:
            same = other.is_file() and path.read_bytes() == other.read_bytes()
        (told.same if same else told.different).append(f"{name}/{path.name}")


def _fixed(manifest: Path) -> Any:
    """What of a manifest is the same in each run."""
    known = json.loads(manifest.read_text(encoding="utf-8"))
    return {key: known.get(key) for key in ("id", "seed", "sim_time_ps", "events", "packet_hops", "points", "axes")}


def _unpacked(archive: Path, target: Path) -> Path:
    """The files of an archive in a folder; those of a folder are copied."""
    if archive.is_dir():
        for path in sorted(archive.rglob("*")):
            if path.is_file() and not path.is_symlink():
                (target / path.relative_to(archive)).parent.mkdir(parents=True, exist_ok=True)
                (target / path.relative_to(archive)).write_bytes(path.read_bytes())
        return target
    target.mkdir()
    size = 0
    try:
        for name, read in _entries(archive):
            parts = Path(name).parts[1:]
            if not parts or ".." in parts or Path(name).is_absolute():
                raise InputError(f"`{archive}` has a file `{name}` outside of its folder")
            data = read()
            size += len(data)
            if size > MOST_BYTES:
                raise InputError(f"`{archive}` has more than {MOST_BYTES >> 30} GiB")
            (target / Path(*parts)).parent.mkdir(parents=True, exist_ok=True)
            (target / Path(*parts)).write_bytes(data)
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, NotImplementedError) as problem:
        raise InputError(f"`{archive}` is not an archive of odonata: {problem}") from None
    return target


def _entries(archive: Path) -> Iterator[tuple[str, Any]]:
    if archive.name.endswith(".zip"):
        with zipfile.ZipFile(archive) as packed:
            for entry in packed.infolist():
                if not entry.is_dir():
                    yield entry.filename, lambda entry=entry: packed.read(entry)
        return
    with tarfile.open(archive, "r:gz") as tar:
        for item in tar:
            if item.isfile():
                yield item.name, lambda item=item: tar.extractfile(item).read()  # type: ignore[union-attr]


def _verify(root: Path, archive: Path) -> None:
    """Raises InputError if a file differs from its checksum, is missing, or is not listed."""
    if not (root / SUMS).is_file():
        raise InputError(f"`{archive}` is not an archive of odonata: it has no {SUMS}")
    lines = (root / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    present = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} - {SUMS}
    for name in sorted(present | set(listed)):
        if name not in present:
            raise InputError(f"`{archive}` is damaged: `{name}` is missing")
        if listed.get(name) != files.sha256_of(root / name):
            why = "is not in its list of checksums" if name not in listed else "does not have its checksum"
            raise InputError(f"`{archive}` is damaged: `{name}` {why}")


def _lock(root: Path, archive: Path) -> dict[str, Any]:
    try:
        lock = json.loads((root / LOCK).read_text(encoding="utf-8"))
        kind, main, commands = lock["kind"], lock["main"], list(lock["commands"])
        _ = lock["engine"], lock["title"], lock["alone"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"`{archive}` has no `{LOCK}` that says how to repeat it") from None
    figures = [str(command).rsplit(" ", 1)[-1] for command in commands[1:]]
    sound = kind in ("study", "scenario") and ".." not in Path(str(main)).parts and not Path(str(main)).is_absolute()
    if not sound or any(not name.startswith(f"{FIGURES}/") or ".." in name for name in figures):
        raise InputError(f"`{LOCK}` of `{archive}` names files outside of it")
    return dict(lock)
