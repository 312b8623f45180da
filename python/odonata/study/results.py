"""Where finished runs are kept, by their ids: small Parquet files that are only ever added.

A run is finished when its rows are in a file of `results/`. Files are written whole or not at all (`durable.py`), so
nothing that ends a process, or the machine, can damage one or lose a run that was reported as finished. When there are
many small ones they become one. A run may stand in several files (its process was killed between writing the joint
file and removing the small ones, or it was simulated again): what was written last counts, but one that is done counts
more than the same one failed.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

from odonata.errors import InputError, RunError
from odonata.study import durable
from odonata.study.folder import RESULTS
from odonata.study.task import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MANY = 64
"""Small files that become one."""
SMALL = 4 * 2**20
"""Bytes below which a file is small."""

_ID, _STATUS = f"{PREFIX}id", f"{PREFIX}status"


class Results:
    """The finished runs of a study; `folder` is that of the study, `None` keeps them in memory only.

    Nobody else may be writing there.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / RESULTS
        self._kept: list[pl.DataFrame] = []
        self._waiting: list[pl.DataFrame] = []
        self._written = 0
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                durable.remove_partial(self._folder)
            except OSError as problem:
                raise RunError(f"cannot use `{self._folder}`: {problem.strerror or problem}") from problem

    def statuses(self) -> dict[str, str]:
        """Every run that is kept, and whether it is `done` or has `failed`."""
        found: dict[str, str] = {}
        for part in self._parts(columns=[_ID, _STATUS]):
            for run, status in zip(part[_ID].to_list(), part[_STATUS].to_list(), strict=True):
                if found.get(run) != "done":
                    found[run] = status
        return found

    def add(self, rows: pl.DataFrame) -> None:
        """Takes rows of runs (`task.frame_of`); they are safe after the next `flush`."""
        self._waiting.append(rows)

    def flush(self) -> None:
        """Writes what has been added. Raises RunError if it cannot be written."""
        if not self._waiting:
            return
        rows = pl.concat(self._waiting, how="diagonal_relaxed")
        if self._folder is None:
            self._kept.append(rows)
        else:
            durable.write(_next_file(self._folder), _bytes(rows))
            self._written += 1
            if self._written % MANY == 0:
                self._join_small(self._folder)
        self._waiting = []

    def rows(self, ids: Iterable[str]) -> pl.DataFrame:
        """The rows of these runs, each run once, in no particular order."""
        wanted = pl.DataFrame({_ID: pl.Series(list(ids), dtype=pl.String)}).unique()
        parts = [part.join(wanted, on=_ID, how="semi") for part in self._parts()][::-1]
        found = []
        for status in ("done", "failed"):
            for part in parts:
                rows = part.filter(pl.col(_STATUS) == status).join(wanted, on=_ID, how="semi")
                if rows.is_empty():
                    continue  # a part of failed runs alone has no columns of jobs
                found.append(rows.unique(subset=[_ID, "job"] if status == "done" else [_ID], keep="last"))
                wanted = wanted.join(found[-1], on=_ID, how="anti")
        return pl.concat(found, how="diagonal_relaxed") if found else pl.DataFrame()

    def _parts(self, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
        """All that is known, what was added last at the end."""
        for file in [] if self._folder is None else _files(self._folder):
            yield _read(file, columns)
        yield from (part if columns is None else part.select(columns) for part in (*self._kept, *self._waiting))

    def _join_small(self, folder: Path) -> None:
        small = [file for file in _files(folder) if file.stat().st_size < SMALL]
        if len(small) < 2:
            return
        rows = pl.concat([_read(file) for file in small], how="diagonal_relaxed")
        # The last of them is replaced by all of them at once; then the others are superfluous.
        durable.write(small[-1], _bytes(rows))
        for file in small[:-1]:
            file.unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))


def _next_file(folder: Path) -> Path:
    numbers = [int(file.stem.rpartition("-")[2]) for file in _files(folder)]
    return folder / f"part-{max(numbers, default=0) + 1:06}.parquet"


def _bytes(rows: pl.DataFrame) -> memoryview:
    # Through memory, because polars loses the system's reason when a file cannot be written.
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd")
    return buffer.getbuffer()


def _read(file: Path, columns: list[str] | None = None) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(file.read_bytes()), columns=columns)
    except (OSError, pl.exceptions.PolarsError) as problem:
        hint = "remove the file: its runs are simulated again"
        raise InputError(f"the results cannot be read ({problem})", file=file, hint=hint) from None
