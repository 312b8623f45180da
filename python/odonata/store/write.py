"""Writing a run folder: complete or not at all."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, RunError
from odonata.store.columns import TABLES, columns_of
from odonata.store.field_metadata import SchemaWithMetadata
from odonata.store.partial import partial_folder, remove_stale
from odonata.store.read import is_run_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from odonata.store.result import Run


def write_run(run: Run, folder: Path, *, channels: int, replace: bool = False) -> None:
    """Write `run` as the new run folder `folder`; with `replace`, in the place of a run folder that is there.

    Everything is written to a folder of another name in the same directory, which is renamed at the end. Raises
    `RunError` when the disk is full, the place cannot be written or another run took it meanwhile, and `InputError`
    when something else is there; whatever stops it, Ctrl-C included, nothing is left behind. What killed processes
    left there before is removed.
    """
    shown, folder = folder, Path(os.path.abspath(folder))  # noqa: PTH100 - `resolve` would follow a link
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        remove_stale(folder)
        with partial_folder(folder) as partial:
            _write_files(run, partial, channels)
            _rename(partial, folder, replace=replace)
    except OSError as problem:
        raise RunError(f"cannot write the run folder `{shown}`: {problem.strerror or problem}") from problem


def _write_files(run: Run, partial: Path, channels: int) -> None:
    (partial / "scenario.toml").write_text(run.scenario, encoding="utf-8")
    _write_json(partial / "resolved.json", run.resolved)
    for table in TABLES:
        _write_table(partial / f"{table}.parquet", getattr(run, table), table, channels)
    files = {}
    for path in sorted(partial.iterdir()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        files[path.name] = {"bytes": path.stat().st_size, "sha256": digest}
    _write_json(partial / "manifest.json", {**run.manifest, "files": files})


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_table(path: Path, frame: pl.DataFrame, table: str, channels: int) -> None:
    pairs = {column.name: {"unit": column.unit, "meaning": column.meaning} for column in columns_of(table, channels)}
    schema = SchemaWithMetadata(frame.schema, pairs)
    # Through memory, compressed, because polars loses the system's reason when a file cannot be written.
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", arrow_schema=schema)
    path.write_bytes(buffer.getbuffer())


def _rename(partial: Path, folder: Path, *, replace: bool) -> None:
    if not replace:
        try:
            partial.rename(folder)
        except OSError as problem:
            if problem.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise RunError(
                    f"`{folder}` came into being while the run was under way, so these results were not kept\n"
                    "  hint: if it is the same scenario its results are there; else choose another folder with --out"
                ) from None
            raise
        return
    if folder.exists() and not is_run_folder(folder):
        raise InputError(f"{folder} is not a run folder, so it is not overwritten")
    old = folder.with_name(f".{folder.name}.old-{secrets.token_hex(4)}")
    with suppress(FileNotFoundError):
        folder.rename(old)
    try:
        partial.rename(folder)
    except BaseException:
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
