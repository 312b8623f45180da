"""Reading a run folder, and recognising other folders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import files, reading
from odonata.errors import InputError
from odonata.store.columns import OPTIONAL, TABLES, columns_of
from odonata.store.manifest import FORMAT, MANIFEST, is_intact
from odonata.store.other_folders import of_another_kind
from odonata.store.result import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

_TEXTS = ("scenario.toml", "resolved.json")
_OF_STUDIES = "`odonata plot`, `report` and `compare` take studies; `odonata run` writes a run of one point"
_AGAIN = "run the scenario again with --force"


def open_run(path: str | Path, *, verify: bool = True) -> Run:
    """Open a finished run folder. Tables are read when they are used.

    Every file is compared with its checksum when it is first read; `verify=False` skips this.

    Raises `InputError` if there is no such folder, if it is not a run folder or one of another format, and if a file
    of it is missing or changed. Tables raise it when they are used.
    """
    folder = Path(path)
    if not folder.exists():
        raise InputError(f"there is no run folder `{folder}`")
    if not folder.is_dir():
        if (other := of_another_kind(folder, "a run")) is not None:
            raise other
        raise InputError(f"`{folder}` is a file, expected a run folder", hint=_hint(folder))
    manifest = _manifest(folder, verify=verify)
    for name, facts in manifest["files"].items():
        file = folder / name
        if not file.is_file():
            raise InputError("the file is missing from the run folder", file=file, hint=_AGAIN)
        size = file.stat().st_size
        if size != facts["bytes"]:
            what = "cut off" if size < facts["bytes"] else "changed"
            raise InputError(
                f"the file was {what}: it has {size:,} bytes, expected {facts['bytes']:,}", file=file, hint=_AGAIN
            )
    if verify:
        for name in _TEXTS:
            _check_sum(folder, name, manifest)
    resolved = _json(folder / "resolved.json")
    scenario = _text(folder / "scenario.toml")
    return Run(manifest, resolved, scenario, _Tables(folder, manifest, verify=verify), folder)


def check_all(run: Run) -> None:
    """Compare every file of an opened run with its checksum. Raises `InputError` for the first difference."""
    if run.path is not None:
        for name in run.manifest["files"]:
            _check_sum(run.path, name, run.manifest)


class _Tables(Mapping[str, "pl.LazyFrame"]):
    """The tables of a run folder.

    Each is compared with its checksum when it is first used, and again after its file has changed.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any], *, verify: bool) -> None:
        self._folder = folder
        self._manifest = manifest
        self._verify = verify
        self._verified: dict[str, tuple[int, ...]] = {}

    def __getitem__(self, table: str) -> pl.LazyFrame:
        name = f"{table}.parquet"
        if table not in TABLES:
            raise KeyError(table)
        if name not in self._manifest["files"]:
            from odonata.store.frame import empty

            return empty(table).lazy()
        if self._verify:
            self._check(name)
        return scan(self._folder / name, table)

    def _check(self, name: str) -> None:
        state = _state(self._folder / name)
        if state is None or state != self._verified.get(name):
            _check_sum(self._folder, name, self._manifest)
            if state is not None:
                self._verified[name] = state

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)


def scan(file: Path, table: str) -> pl.LazyFrame:
    """A table of a run folder. Raises `InputError` if it is not Parquet or lacks a column."""
    import polars as pl

    try:
        frame = reading.scan_parquet(file)
        present = frame.collect_schema().names()
    except pl.exceptions.PolarsError:
        raise InputError("the file is damaged: it has columns twice", file=file, hint=_AGAIN) from None
    except InputError as e:
        raise e.but(hint=_AGAIN) from None
    return frame.select(in_order(table, present, file))


def in_order(table: str, present: list[str], file: Path) -> list[str]:
    """The columns `present` of a table in the order of the registry; those of virtual channels come last.

    Raises `InputError` for a column that is missing.
    """
    listed = [column.name for column in columns_of(table)]
    for name in listed:
        if name not in present:
            raise InputError(f"the table has no column `{name}`", file=file, hint=_AGAIN)
    return [*listed, *(name for name in present if name not in {*listed})]


def is_run_folder(path: Path) -> bool:
    """Whether this is the folder of a run, by its manifest or, if that is lost or damaged, by the other files."""
    try:
        _manifest(path, verify=False)
    except InputError:
        return _has_files(path)
    return True


def names_in(folder: Path) -> set[str]:
    """Names of the files in a run folder that Odonata wrote: the manifest and the files in it.

    Without a valid manifest, these are the files that this version would write.
    """
    try:
        return {MANIFEST, *_manifest(folder, verify=True)["files"]}
    except InputError:
        return {MANIFEST, *_TEXTS, *(f"{table}.parquet" for table in TABLES)}


def lacks_manifest(path: Path) -> bool:
    """Whether this is the folder of a run that has lost its manifest."""
    return not (path / MANIFEST).is_file() and _has_files(path)


def _has_files(path: Path) -> bool:
    tables = any((path / f"{table}.parquet").is_file() for table in TABLES)
    return tables and all((path / name).is_file() for name in _TEXTS)


def _manifest(folder: Path, *, verify: bool) -> dict[str, Any]:
    file = folder / MANIFEST
    if lacks_manifest(folder):
        raise InputError(f"the run folder `{folder}` has lost its manifest.json", hint=_AGAIN)
    if not file.is_file():
        if (other := of_another_kind(folder, "a run")) is not None:
            raise other
        raise InputError(f"`{folder}` is not the folder of a run: it has no manifest.json", hint=_hint(folder))
    data = _json(file)
    if "axes" in data:
        raise InputError(f"`{folder}` is the folder of a study, expected that of a run", hint=_OF_STUDIES)
    format_ = data.get("format")
    if not isinstance(format_, int):
        raise InputError("this is not the manifest of a run: it has no `format`", file=file, hint=_AGAIN)
    check_format(format_, file)
    wanted = {"id": str, "seed": int, "sim_time_ps": int, "events": int, "packet_hops": int, "wall": dict}
    for key, kind in {**wanted, "version": str, "engine": str, "alone": list, "files": dict}.items():
        if not isinstance(data.get(key), kind):
            raise InputError(
                f"the manifest is damaged: `{key}` is missing or not of type {kind.__name__}", file=file, hint=_AGAIN
            )
    if not isinstance(data.get("jobs", []), list):
        raise InputError("the manifest is damaged: `jobs` is not of type list", file=file, hint=_AGAIN)
    for name in (*_TEXTS, *(f"{table}.parquet" for table in TABLES if table not in OPTIONAL)):
        if name not in data["files"]:
            raise InputError(f"the manifest is damaged: `{name}` is missing", file=file, hint=_AGAIN)
    for name, facts in data["files"].items():
        if "/" in name or name in ("", ".", "..") or not _is_size_and_digest(facts):
            raise InputError(f"the manifest is damaged at `{name}`", file=file, hint=_AGAIN)
    if verify and not is_intact(data):
        raise InputError("the manifest was changed: its checksum does not match", file=file, hint=_AGAIN)
    return data


def check_format(format_: int, file: Path) -> None:
    """Raises `InputError` for a folder of another format than that of this version."""
    if format_ != FORMAT:
        message = f"the folder has format {format_}, this version reads format {FORMAT}"
        raise InputError(message, file=file, hint="open it with the version of odonata that wrote it")


def _is_size_and_digest(facts: object) -> bool:
    return isinstance(facts, dict) and isinstance(facts.get("bytes"), int) and isinstance(facts.get("sha256"), str)


def _state(file: Path) -> tuple[int, ...] | None:
    """A value that changes when a file is written or replaced; `None` if the file cannot be read."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _check_sum(folder: Path, name: str, manifest: Mapping[str, Any]) -> None:
    file = folder / name
    try:
        digest = files.sha256_of(file)
    except OSError as problem:
        raise InputError(f"cannot read the file: {problem.strerror}", file=file) from None
    if digest != manifest["files"][name]["sha256"]:
        message = "the file is damaged: its checksum (SHA-256) does not match"
        raise InputError(message, file=file, hint=_AGAIN)


def _hint(path: Path) -> str | None:
    """A hint for two likely mistakes: a folder that contains runs, or a file of a run."""
    if path.is_file():
        return f"did you mean `{path.parent}`?" if (path.parent / MANIFEST).is_file() else None
    runs = sorted(child.parent for child in path.glob(f"*/{MANIFEST}"))
    return f"did you mean `{runs[0]}`?" if runs else None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise InputError(f"the file is damaged: it is not UTF-8 ({problem.reason})", file=file) from None
    except OSError as problem:
        raise InputError(f"cannot read the file: {problem.strerror}", file=file) from None


def _json(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(_text(file))
    except (ValueError, RecursionError) as problem:
        line = getattr(problem, "lineno", None)
        raise InputError("the file is damaged or cut off: it is not JSON", file=file, line=line, hint=_AGAIN) from None
    if not isinstance(data, dict):
        raise InputError("the file is damaged: expected a JSON object", file=file, hint=_AGAIN)
    return data
