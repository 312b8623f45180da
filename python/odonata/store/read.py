"""Reading a run folder, and telling what is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from odonata.errors import InputError
from odonata.store.columns import TABLES, columns_of
from odonata.store.manifest import FORMAT
from odonata.store.result import Run


def open_run(path: str | Path) -> Run:
    """Open a finished run folder. Tables are read when they are used.

    Raises `InputError` if there is no such folder, if it is not a run folder or one of a newer version, and if a
    file of it is missing, cut off or not what it should be.
    """
    folder = Path(path)
    if not folder.exists():
        raise InputError(f"there is no run folder `{folder}`")
    if not folder.is_dir():
        raise InputError(f"`{folder}` is a file, expected the folder of a run", hint=_hint(folder))
    manifest = _manifest(folder)
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
    resolved = _json(folder / "resolved.json")
    scenario = _text(folder / "scenario.toml")
    tables = {table: _scan(folder / f"{table}.parquet", table) for table in TABLES}
    return Run(manifest, resolved, scenario, tables, folder)


_AGAIN = "run the scenario again with --force"


def is_run_folder(path: Path) -> bool:
    """Whether this is the folder of a run, by its manifest or, where that is lost or damaged, by the other files."""
    try:
        _manifest(path)
    except InputError:
        return _has_files(path)
    return True


def lacks_manifest(path: Path) -> bool:
    """Whether this is the folder of a run that has lost its manifest."""
    return not (path / "manifest.json").is_file() and _has_files(path)


def _has_files(path: Path) -> bool:
    tables = any((path / f"{table}.parquet").is_file() for table in TABLES)
    return tables and all((path / name).is_file() for name in ("scenario.toml", "resolved.json"))


def _manifest(folder: Path) -> dict[str, Any]:
    file = folder / "manifest.json"
    if lacks_manifest(folder):
        raise InputError(f"the run folder `{folder}` has lost its manifest.json", hint=_AGAIN)
    if not file.is_file():
        raise InputError(f"`{folder}` is not the folder of a run: it has no manifest.json", hint=_hint(folder))
    data = _json(file)
    found = data.get("format")
    if not isinstance(found, int):
        raise InputError("this is not the manifest of a run: it has no `format`", file=file, hint=_AGAIN)
    if found > FORMAT:
        raise InputError(f"the run folder has format {found}, this version reads up to {FORMAT}", file=file)
    wanted = {"id": str, "seed": int, "sim_time_ps": int, "events": int, "packet_hops": int, "wall": dict}
    for key, kind in {**wanted, "version": str, "alone": list, "files": dict}.items():
        if not isinstance(data.get(key), kind):
            raise InputError(
                f"the manifest is damaged: `{key}` is missing or no {kind.__name__}", file=file, hint=_AGAIN
            )
    for name in ("scenario.toml", "resolved.json", *(f"{table}.parquet" for table in TABLES)):
        if not isinstance(data["files"].get(name), dict) or not isinstance(data["files"][name].get("bytes"), int):
            raise InputError(f"the manifest is damaged: it does not know `{name}`", file=file, hint=_AGAIN)
    return data


def _hint(path: Path) -> str | None:
    """A folder that has runs in it, or a file of one, is a likely slip."""
    if path.is_file():
        return f"did you mean `{path.parent}`?" if (path.parent / "manifest.json").is_file() else None
    runs = sorted(child.parent for child in path.glob("*/manifest.json"))
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


def _scan(file: Path, table: str) -> pl.LazyFrame:
    try:
        frame = pl.scan_parquet(file)
        names = set(frame.collect_schema())
    except (OSError, pl.exceptions.PolarsError):
        raise InputError("the file is damaged: it is not Parquet", file=file, hint=_AGAIN) from None
    missing = [column.name for column in columns_of(table) if column.name not in names]
    if missing:
        raise InputError(f"the table has no column `{missing[0]}`", file=file, hint=_AGAIN)
    return frame
