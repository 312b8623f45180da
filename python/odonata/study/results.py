"""The store of finished runs, by their ids: small Parquet files that are only added.

A run is finished when its rows are in a file of `results/`. A file is either complete or absent (`odonata.files`). So a
crash of a process or of the machine cannot damage a file or lose a run that was reported as finished. The name of a
file ends in the first digits of the SHA-256 of its bytes: a file that was damaged later is an error and is not used.
Many small files are merged into one. A run may be in several files, because it was simulated again, or because the
process was killed after it wrote the joint file and before it removed the small ones. The latest entry counts, but a
finished run takes precedence over a failed one.
"""

from __future__ import annotations

import hashlib
from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from odonata import files, reading
from odonata.errors import InputError, RunError
from odonata.store.engine import fingerprint
from odonata.store.write import parquet
from odonata.study.folder import RESULTS
from odonata.study.task import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

MANY = 64
"""Number of small files that are merged."""
SMALL = 4 * 2**20
"""A file with fewer bytes is small."""

_MOST_BYTES = 1 << 33
"""Size limit of a file. Assumed: far above the size of any part; it keeps a sparse file from filling the memory."""

DIGITS = 16
"""Digits of the SHA-256 in the name of a file."""

_ID, _STATUS, _KEEP, _ENGINE = (f"{PREFIX}{name}" for name in ("id", "status", "keep", "engine"))


class Results:
    """The finished runs of a study; `folder` is that of the study, `None` keeps them in memory only.

    Runs of another engine (`odonata.store.engine`) are not used, except with `keep_stale`. No other process may write
    to the folder.
    """

    def __init__(self, folder: Path | None, *, keep_stale: bool = False) -> None:
        self._keep_stale = keep_stale
        self._folder = None if folder is None else folder / RESULTS
        self._kept: list[pl.DataFrame] = []
        self._waiting: list[pl.DataFrame] = []
        self._written = 0
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                files.remove_partial(self._folder)
            except OSError as problem:
                raise RunError(f"cannot use `{self._folder}`: {problem.strerror or problem}") from problem

    def statuses(self, mark: str | None = None) -> dict[str, str]:
        """Every usable run -> `done` or `failed`; with a `mark`, only runs whose kept values have this hash."""
        current, stale = self._statuses(mark)
        return {**stale, **current} if self._keep_stale else current

    def stale(self, mark: str | None = None) -> set[str]:
        """Runs that only other engines have simulated."""
        current, stale = self._statuses(mark)
        return set(stale) - set(current)

    def _statuses(self, mark: str | None) -> tuple[dict[str, str], dict[str, str]]:
        """The runs of this engine, and those of other engines."""
        current: dict[str, str] = {}
        stale: dict[str, str] = {}
        here = fingerprint()
        for part in self._parts(mark, columns=[_ID, _STATUS, _KEEP, _ENGINE]):
            for run, status, engine in part.select(_ID, _STATUS, _ENGINE).iter_rows():
                statuses = current if engine == here else stale
                if statuses.get(run) != "done":
                    statuses[run] = status
        return current, stale

    def add(self, rows: pl.DataFrame) -> None:
        """Adds rows of runs (`task.frame_of`); the next `flush` writes them."""
        self._waiting.append(rows)

    @property
    def waiting(self) -> Sequence[pl.DataFrame]:
        """The rows since the last `flush`."""
        return self._waiting

    def flush(self) -> None:
        """Writes the added rows. Raises RunError if it cannot be written."""
        if not self._waiting:
            return
        rows = pl.concat(self._waiting, how="diagonal_relaxed")
        if self._folder is None:
            self._kept.append(rows)
        else:
            _write(self._folder, _last_number(self._folder) + 1, rows)
            self._written += 1
            if self._written % MANY == 0:
                self._join_small(self._folder)
        self._waiting = []

    def rows(self, ids: Iterable[str], mark: str | None = None) -> pl.DataFrame:
        """The rows of these runs in any order, each run once and of one engine. With a `mark`, only runs whose kept
        values have this hash."""
        wanted = pl.DataFrame({_ID: pl.Series(list(ids), dtype=pl.String)}).unique()
        parts = [part.join(wanted, on=_ID, how="semi") for part in self._parts(mark)][::-1]
        chosen_parts = []
        for current, status in product((True, False) if self._keep_stale else (True,), ("done", "failed")):
            for part in parts:
                chosen = part.filter(_is_current() == current, pl.col(_STATUS) == status)
                rows = chosen.join(wanted, on=_ID, how="semi")
                if rows.is_empty():
                    continue  # a part with failed runs only has no columns of jobs
                chosen_parts.append(rows.unique(subset=[_ID, "job"] if status == "done" else [_ID], keep="last"))
                wanted = wanted.join(chosen_parts[-1], on=_ID, how="anti")
        return pl.concat(chosen_parts, how="diagonal_relaxed") if chosen_parts else pl.DataFrame()

    def _parts(self, mark: str | None, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
        """All known parts, the latest last."""
        read = (_read(file, columns) for file in ([] if self._folder is None else _files(self._folder)))
        in_memory = (part if columns is None else part.select(columns) for part in (*self._kept, *self._waiting))
        for part in (*read, *in_memory):
            yield part if mark is None else part.filter(pl.col(_KEEP) == mark)

    def _join_small(self, folder: Path) -> None:
        small = [file for file in _files(folder) if file.stat().st_size < SMALL]
        if len(small) < 2:
            return
        rows = pl.concat([_read(file) for file in small], how="diagonal_relaxed")
        # The joint file replaces the last small file. Then all small files can be removed.
        joint = _write(folder, _number(small[-1]), rows)
        for file in small:
            if file != joint:
                file.unlink(missing_ok=True)


def _is_current() -> pl.Expr:
    """Whether this engine simulated the rows."""
    return pl.col(_ENGINE).eq_missing(pl.lit(fingerprint()))


def _files(folder: Path) -> list[Path]:
    """All files of results, the latest last."""
    return sorted(folder.glob("part-*.parquet"))


def _number(file: Path) -> int:
    return int(file.stem.split("-")[1])


def _last_number(folder: Path) -> int:
    return max(map(_number, _files(folder)), default=0)


def _write(folder: Path, number: int, rows: pl.DataFrame) -> Path:
    data = parquet(rows)
    file = folder / f"part-{number:06}-{_digest(data)}.parquet"
    files.write(file, data)
    return file


def _digest(data: bytes | memoryview) -> str:
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def are_intact(folder: Path) -> bool:
    """Whether the contents of the result files match the hashes in their names."""
    try:
        return all(_is_of(file, _bytes(file)) for file in _files(folder / RESULTS))
    except (OSError, InputError):
        return False


def _bytes(file: Path) -> bytes:
    return reading.read_bytes(file, _MOST_BYTES, pipes=False)


def _is_of(file: Path, data: bytes) -> bool:
    return file.stem.rpartition("-")[2] == _digest(data)


def _read(file: Path, columns: list[str] | None = None) -> pl.DataFrame:
    hint = "remove the file: its runs are simulated again"
    try:
        data = _bytes(file)
        if not _is_of(file, data):
            message = "the file is damaged: its checksum (SHA-256) does not match"
            raise InputError(message, file=file, hint=hint)
        return reading.read_parquet(file, data, columns)
    except (OSError, pl.exceptions.PolarsError) as problem:
        raise InputError(f"the results cannot be read ({problem})", file=file, hint=hint) from None
    except InputError as problem:
        raise problem.but(hint=hint) from None
