"""The inputs of a run or a study in an archive: in the layout in which they were, so that paths in them stay true."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import files, reading
from odonata.archive import paths
from odonata.errors import InputError
from odonata.scenario import load
from odonata.study import read as study_file
from odonata.study.folder import is_study_folder
from odonata.study.study import open_study

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_POINTS = 200
"""Points of a study whose ids are compared; of more, that many from the first to the last."""
MOST_BYTES = 1 << 30
"""Size limit of an input file (assumed)."""


@dataclass(frozen=True)
class Inputs:
    """The inputs, as they lie in a folder of the archive."""

    main: str
    """The scenario or the study in it."""
    ids: tuple[str, ...]
    """Ids of the run, or of the compared points."""
    alone: bool
    relative: dict[str, str]
    """Absolute paths in it that became relative."""


def staged(folder: Path, near: Path | None, out: Path) -> Inputs:
    """Puts the inputs of the run or study in `folder` under `out`, and returns them.

    Files are named relative to the folder in which the scenario was. This is `near`, or one of those around `folder`:
    the one from which the inputs give the same ids. Raises InputError if there is none.
    """
    problems = []
    text, others, facts = _given(folder)
    known = [near] if near is not None else list(dict.fromkeys(_candidates(folder, text, facts.read)))
    for at in known:
        for stale in sorted(out.rglob("*"), reverse=True):
            stale.rmdir() if stale.is_dir() else stale.unlink()
        try:
            main, relative = _stage(at, text, others, facts, out)
            with reading.recorded() as read:
                gathered = _ids(out / main, facts)
        except InputError as problem:
            problems.append(str(problem))
            continue
        if gathered == facts.ids:
            _check_inside(read, out, folder)
            return Inputs(main, facts.ids, facts.alone, relative)
        problems.append(f"from `{at}` the inputs give another run")
    raise InputError(
        f"the inputs of `{folder}` were not found: {problems[0] if problems else 'there is no scenario'}",
        hint="name the folder in which its scenario or study is: --inputs FOLDER; or the file has changed since",
    )


@dataclass(frozen=True)
class _Facts:
    name: str
    ids: tuple[str, ...]
    points: tuple[int, ...]
    alone: bool
    read: tuple[Path, ...]


def _given(folder: Path) -> tuple[str, dict[str, str], _Facts]:
    """The text of the scenario or study, further files by their path in it, and what is known of them."""
    manifest = json.loads(reading.read_text(folder / "manifest.json"))
    if not is_study_folder(folder):
        noted = manifest.get("inputs")
        if noted is None:
            hint = "a placement policy of another package decides it, which an archive cannot hold"
            raise InputError(f"the inputs of `{folder}` are not recorded", hint=hint)
        name = json.loads(reading.read_text(folder / "resolved.json")).get("name")
        gathered = _Facts(
            _file(name, "scenario"), (manifest["id"],), (), bool(manifest.get("alone")), _read(folder, noted["read"])
        )
        return reading.read_text(folder / "scenario.toml"), {}, gathered
    study = open_study(folder)
    if study.failed.height or study.runs.height < manifest["points"]:
        raise InputError(f"the study in `{folder}` is not finished", hint="sweep it to the end first")
    rows = study.runs.sort("point")
    step = max(1, -(-rows.height // MOST_POINTS))
    some = rows.gather_every(step)
    noted = json.loads(reading.read_text(folder / "points.json")) if (folder / "points.json").exists() else {}
    text = reading.read_text(folder / "study.toml")
    base = tomllib.loads(text).get("base")
    others = {base: reading.read_text(folder / "scenario.toml")} if isinstance(base, str) else {}
    points = tuple(some["point"].to_list())
    gathered = _Facts(
        _file(manifest.get("name"), "study"),
        tuple(some["id"].to_list()),
        points,
        bool(manifest.get("alone")),
        _read(folder, noted.get("read", {})),
    )
    return text, others, gathered


def _file(name: object, otherwise: str) -> str:
    """The name of the scenario or study, which is part of its results, as that of a file."""
    usable = isinstance(name, str) and re.fullmatch(r"\w[\w.-]{0,99}", name)
    return f"{name if usable else otherwise}.toml"


def _read(folder: Path, noted: dict[str, str]) -> tuple[Path, ...]:
    """The files that were read, as they are on this machine; those of the package are not among the inputs."""
    package = Path(__file__).parents[1]
    names = (Path(os.path.normpath(folder.resolve() / name)) for name in noted)
    return tuple(path for path in names if not path.is_relative_to(package) and path.is_file())


def _candidates(folder: Path, text: str, known: tuple[Path, ...]) -> Iterator[Path]:
    """Where the scenario may have been: where its texts name the files that were read, and around the results."""
    for name in _texts(tomllib.loads(text)):
        parts = Path(os.path.normpath(name)).parts
        up = sum(part == ".." for part in parts)
        tail = parts[up:]
        for path in known:
            if tail and path.parts[-len(tail) :] == tail and not Path(name).is_absolute():
                # Below a folder of any name for each `..`: one of them is where the results are.
                above = Path(*path.parts[: -len(tail)])
                yield from (
                    [above]
                    if not up
                    else [below for below in folder.resolve().parents if below.parents[up - 1 : up] == (above,)]
                )
    yield Path.cwd()
    yield from (folder.resolve().parent, folder.resolve().parent.parent, folder.resolve())


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _stage(at: Path, text: str, others: dict[str, str], facts: _Facts, out: Path) -> tuple[str, dict[str, str]]:
    """Copies the files into `out` in their layout. Returns the path of the scenario or study there, and the absolute
    paths in it that became relative."""
    home = at.resolve()
    extra = {Path(os.path.normpath(home / name)): content for name, content in others.items()}
    root = Path(os.path.commonpath([home, *facts.read, *(path.parent for path in extra)]))
    if root == Path(root.anchor) and len(facts.read) + len(extra) > 0:
        raise InputError(f"from `{at}` the inputs have no folder in common")
    main = home / facts.name
    texts = {**extra, main: text}
    known = [*facts.read, *texts]
    scenario = next(iter(extra), main).parent
    made: dict[str, str] = {}
    for path in facts.read:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"`{path}` has more than {MOST_BYTES >> 30} GiB", hint="an archive holds all inputs")
        content = path.read_bytes()
        if path.suffix == ".toml":
            nested = content.decode("utf-8", "surrogateescape")
            relative = paths.shared(nested, path.parent, known, root)
            content = paths.rewritten(nested, relative).encode("utf-8", "surrogateescape")
            # Results name them from the folder of the scenario.
            below = Path(os.path.relpath(path.parent, scenario))
            made.update({name: str(below / other) for name, other in relative.items()})
        _put(out / path.relative_to(root), content)
    for path, written in texts.items():
        relative = paths.shared(written, path.parent, known, root)
        made.update(relative)
        _put(out / path.relative_to(root), paths.rewritten(written, relative).encode())
    return str(main.relative_to(root)), made


def _check_inside(read: Iterable[str], out: Path, folder: Path) -> None:
    """Raises InputError if the packed inputs read a file elsewhere, or name one for a point that was not resolved."""
    left = sorted(paths.outside(read, out.absolute()))
    package = Path(__file__).parents[1]
    for path in sorted(out.rglob("*.toml")):
        named = paths.absolute(path.read_text(encoding="utf-8", errors="replace"))
        left += [Path(name) for name in named if Path(name).exists() and not Path(name).is_relative_to(package)]
    if left:
        hint = "name it relative to the file that names it, and make the results again"
        raise InputError(f"`{left[0]}`, which `{folder}` was made from, cannot be put into an archive", hint=hint)


def _put(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    files.write(target, content)


def _ids(main: Path, facts: _Facts) -> tuple[str, ...]:
    if not facts.points:
        return (load(main).resolve(check=False).id,)
    plan = study_file.load(main, (), main.parent / "unused")
    return tuple(plan.scenario(point).resolve(check=False).id for point in facts.points)
