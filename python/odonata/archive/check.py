"""Repeats an archive and compares: checksums, ids, tables and figures."""

from __future__ import annotations

import filecmp
import shlex
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odonata import files, reading
from odonata.archive import paths
from odonata.archive.commands import AGAIN, FIGURES, INPUTS, RESULTS, figure_again, repeat_command, run_command
from odonata.archive.pack import LOCK, SUMS
from odonata.archive.unpack import unpacked
from odonata.errors import InputError, shortened
from odonata.store.engine import fingerprint

MANIFEST = "manifest.json"
"""It says how long a run took, so of it the ids are compared."""
KINDS_OF_INPUT = ("study", "scenario")


@dataclass
class Checked:
    """What an archive gave when it was repeated."""

    title: str
    same: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check(archive: Path, *, trust: bool = False) -> Checked:
    """Repeats an archive in a temporary folder; with `trust` also routings that are programs of it.

    Raises InputError if it is none, or if it is damaged.
    """
    with tempfile.TemporaryDirectory() as temporary:
        root = unpacked(archive, Path(temporary) / "archive")
        _verify(root, archive)
        lock = _lock(root, archive)
        figures = _figures(root, lock, archive)
        listed = _listed(root / RESULTS, archive)
        told = Checked(str(lock["title"]))
        if lock["engine"] != fingerprint():
            told.notes.append(f"it was made by another engine, {lock['engine']}; this one is {fingerprint()}")
        # Commands see only inputs and results: other files, such as matplotlibrc, could change what they do.
        work = Path(temporary) / "work"
        (work / FIGURES).mkdir(parents=True)
        for name in (INPUTS, RESULTS):
            (root / name).rename(work / name)
        run_command(repeat_command(lock["kind"], lock["main"], alone=lock["alone"]), work, trust=trust)
        _compare(work / RESULTS, work / AGAIN, listed, lock["relative"], told)
        for command in figures:
            run_command(command, work, trust=trust)
            same = filecmp.cmp(root / command[-1], work / command[-1], shallow=False)
            (told.same if same else told.different).append(command[-1])
    return told


def _compare(kept: Path, again: Path, listed: set[str], relative: dict[str, str], told: Checked) -> None:
    """Compares the results with those of the same names, and names those that only one side has."""
    present = {path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file()}
    for name in sorted(present | listed | set(_manifest(again / MANIFEST)["files"])):
        mine, theirs = kept / name, again / name
        if not (mine.is_file() and theirs.is_file()):
            same = False
        elif name == MANIFEST:
            same = _fixed(mine) == _fixed(theirs)
        else:
            same = filecmp.cmp(mine, theirs, shallow=False) or (bool(relative) and _same_text(mine, theirs, relative))
        (told.same if same else told.different).append(f"{RESULTS}/{name}")


def _same_text(kept: Path, again: Path, relative: dict[str, str]) -> bool:
    """Whether a copy of the scenario differs only in absolute paths that are relative in the archive."""
    if kept.suffix not in (".toml", ".json"):
        return False
    try:
        mine, theirs = reading.read_text(kept), reading.read_text(again)
        if kept.suffix == ".toml":
            return paths.rewritten(mine, relative) == paths.rewritten(theirs, relative)
        return bool(paths.replaced(reading.parse_json(mine), relative) == reading.parse_json(theirs))
    except InputError:
        return False


def _listed(results: Path, archive: Path) -> set[str]:
    """The files that the manifest of the results lists, and the manifest. Raises InputError if one is missing."""
    try:
        names = set(_manifest(results / MANIFEST)["files"])
    except (OSError, ValueError, InputError, KeyError, TypeError):
        raise InputError(f"`{archive}` has no `{RESULTS}/{MANIFEST}` that lists its results") from None
    if not names:
        raise InputError(f"`{archive}` has no results: `{RESULTS}/{MANIFEST}` lists no files")
    for name in sorted(names):
        if Path(name).name != name or not (results / name).is_file():
            raise InputError(f"`{archive}` is damaged: `{RESULTS}/{name}` is missing")
    return names | {MANIFEST}


def _manifest(path: Path) -> dict[str, Any]:
    known = reading.parse_json(reading.read_text(path))
    if not (isinstance(known, dict) and isinstance(known.get("files"), dict)):
        raise InputError("expected a table of files", file=path)
    return known


def _fixed(manifest: Path) -> Any:
    """What of a manifest is the same in each run."""
    known = _manifest(manifest)
    return {key: known.get(key) for key in ("id", "seed", "sim_time_ps", "events", "packet_hops", "points", "axes")}


def _verify(root: Path, archive: Path) -> None:
    """Raises InputError if a file differs from its checksum, is missing, or is not listed."""
    if not (root / SUMS).is_file():
        raise InputError(f"`{archive}` is not an archive of odonata: it has no {SUMS}")
    try:
        lines = reading.read_text(root / SUMS).splitlines()
    except InputError as problem:
        raise InputError(f"`{archive}` is not an archive of odonata: {SUMS}: {problem.message}") from None
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    present = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} - {SUMS}
    for name in sorted(present | set(listed)):
        if name not in present:
            raise InputError(f"`{archive}` is damaged: `{name}` is missing")
        if listed.get(name) != files.sha256_of(root / name):
            why = "is not in its list of checksums" if name not in listed else "does not have its checksum"
            raise InputError(f"`{archive}` is damaged: `{name}` {why}")


def _lock(root: Path, archive: Path) -> dict[str, Any]:
    """How to repeat the archive. Raises InputError if the lock does not say it, or says anything else."""
    try:
        lock = reading.parse_json(reading.read_text(root / LOCK))
        kind, main, alone, commands = lock["kind"], lock["main"], lock["alone"], lock["commands"]
        _ = lock["engine"], lock["title"]
        sound = isinstance(main, str) and isinstance(alone, bool) and isinstance(commands, list) and commands
        texts = [*commands, *lock.setdefault("relative", {}).values()] if sound else []
        if not sound or not all(isinstance(text, str) for text in texts):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError, AttributeError, InputError):
        raise InputError(f"`{archive}` has no `{LOCK}` that says how to repeat it") from None
    inside = ".." not in Path(main).parts and not Path(main).is_absolute()
    if kind not in KINDS_OF_INPUT or not inside or not main.endswith(".toml") or not (root / INPUTS / main).is_file():
        raise InputError(f"`{LOCK}` of `{archive}` names files outside of it, or no scenario or study in `{INPUTS}/`")
    wanted = shlex.join(repeat_command(kind, main, alone=alone))
    if commands[0] != wanted:
        raise InputError(f"`{LOCK}` of `{archive}`: its first command is `{shortened(commands[0])}`, not `{wanted}`")
    return dict(lock)


def _figures(root: Path, lock: dict[str, Any], archive: Path) -> list[list[str]]:
    """The commands of the figures, all of which are there."""
    made = []
    for number, command in enumerate(lock["commands"][1:], 1):
        try:
            made.append(figure_again(number, command))
        except InputError as problem:
            raise problem.but(message=f"`{LOCK}` of `{archive}`: {problem.message}") from None
        if not (root / made[-1][-1]).is_file():
            raise InputError(f"`{archive}` is damaged: `{made[-1][-1]}` is missing")
    return made
