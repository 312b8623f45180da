"""Writing a run folder: complete or not at all."""

from __future__ import annotations

import errno
import io
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import files
from odonata.errors import InputError, RunError
from odonata.store.columns import OPTIONAL, TABLES, columns_of
from odonata.store.inputs import KEY
from odonata.store.manifest import MANIFEST, sealed_text
from odonata.store.read import is_run_folder, names_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

    from odonata.store.columns import Column
    from odonata.store.result import Run

NAMES = frozenset({MANIFEST, "scenario.toml", "resolved.json", *(f"{table}.parquet" for table in TABLES)})
"""Names of the files of a run folder."""


def write_run(
    run: Run, folder: Path, *, channels: int, replace: bool = False, inputs: Mapping[str, Any] | None = None
) -> None:
    """Write `run` as the new run folder `folder`; with `replace`, in the place of a run that is there.
    `inputs` is what `odonata.store.inputs.of_run` says.

    Everything is written to a folder of another name beside it, which is renamed at the end. The files of a run that is
    replaced are replaced one by one in their folder; other files there are kept. Raises `RunError` if the disk is full,
    the folder cannot be written, or another run has created it meanwhile, and `InputError` if the folder contains
    something else. After any interruption, Ctrl-C included, no partial files remain. Partial files of earlier killed
    processes are removed.
    """
    shown, folder = folder, Path(os.path.realpath(folder))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        files.remove_stale(folder)
        with files.partial_folder(folder) as partial:
            _write_files(run, partial, channels, inputs)
            if replace and folder.is_dir() and any(folder.iterdir()):
                # Ctrl-C is raised in the main thread, so this one ends its work, which takes a few renames.
                with ThreadPoolExecutor(1) as uninterrupted:
                    uninterrupted.submit(_replace_files, partial, folder).result()
            else:
                _rename(partial, folder)
            files.sync_folder(folder.parent)
    except OSError as problem:
        raise RunError(f"cannot write the run folder `{shown}`: {problem.strerror or problem}") from problem


def _write_files(run: Run, partial: Path, channels: int, inputs: Mapping[str, Any] | None) -> None:
    (partial / "scenario.toml").write_text(run.scenario, encoding="utf-8")
    _write_json(partial / "resolved.json", run.resolved)
    for table in TABLES:
        if table not in OPTIONAL or not getattr(run, table).is_empty():
            _write_table(partial / f"{table}.parquet", getattr(run, table), table, channels)
    facts = {path.name: files.size_and_digest_of(path) for path in sorted(partial.iterdir())}
    # The summary is in the manifest, so that a finished run is printed without reading its tables.
    manifest = {**run.manifest, "jobs": run.summary["jobs"], KEY: inputs, "files": facts}
    (partial / MANIFEST).write_text(sealed_text(manifest), encoding="utf-8")
    for path in partial.iterdir():
        files.sync(path)
    files.sync_folder(partial)


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    # Names of files may hold bytes that are no characters; their escapes are JSON and are read back as they were.
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _write_table(path: Path, frame: pl.DataFrame, table: str, channels: int) -> None:
    path.write_bytes(parquet(frame, columns_of(table, channels, steady=True, collective=True, reordering=True)))


def parquet(frame: pl.DataFrame, columns: Iterable[Column] = ()) -> memoryview:
    """A frame as a Parquet file, with the units and meanings of its columns in the metadata of the file.

    They are JSON under the key `odonata.columns`: column -> {unit, meaning}. Equal frames give equal bytes.
    """
    described = {of.name: {"unit": of.unit, "meaning": of.meaning} for of in columns if of.name in frame.columns}
    # Through memory, compressed, because polars loses the system's reason when a file cannot be written.
    buffer = io.BytesIO()
    metadata = {"odonata.columns": json.dumps(described, ensure_ascii=False)} if described else None
    frame.rechunk().write_parquet(buffer, compression="zstd", metadata=metadata)
    return buffer.getbuffer()


def _rename(partial: Path, folder: Path) -> None:
    try:
        partial.rename(folder)
    except OSError as problem:
        if problem.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise RunError(
                f"`{folder}` appeared while the run was under way, so these results were not kept\n"
                "  hint: if it is the same scenario, its results are in that folder; otherwise choose another folder "
                "with --out"
            ) from None
        raise


def _replace_files(partial: Path, folder: Path) -> None:
    with files.locked(folder):
        if not is_run_folder(folder):
            raise InputError(f"{folder} is not a run folder, so it is not overwritten")
        old, new = names_in(folder), {path.name for path in partial.iterdir()}
        # Without a manifest the folder does not count as a finished run.
        (folder / MANIFEST).unlink(missing_ok=True)
        for name in old - new:
            (folder / name).unlink(missing_ok=True)
        for name in sorted(new - {MANIFEST}):
            (partial / name).replace(folder / name)
        (partial / MANIFEST).replace(folder / MANIFEST)
        files.sync_folder(folder)
