"""Records background utilisation over time: a folder of Parquet files that is only ever added to.

A process writes files of its own, each under a new name, and never changes existing ones. The file in work is replaced
as a whole with every sample, so a kill loses no sample that was printed. A new file begins every day (UTC) and after
`ROWS` samples. Intervals are measured on a clock that is never set; where the wall clock goes backwards the sample says
so, and order follows from `process` and `sample`.
"""

from __future__ import annotations

import io
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from odonata import files
from odonata.background.utilisation import background
from odonata.errors import InputError, OdonataError, RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date
    from pathlib import Path

    from odonata.background.utilisation import Background

#: Samples of a file. Assumed: so few that it takes a few milliseconds to write them all again.
ROWS = 4096
#: Longest time between two samples.
MOST_S = 365 * 86_400

COLUMNS = {
    "time": "wall clock of the sample (UTC)",
    "elapsed_s": "seconds since the recording began, on a clock that is never set",
    "process": "when the recording began (wall clock, UTC): one value for each recording",
    "sample": "number of the sample in the recording, from 0 on",
    "clock_back_s": "by how many seconds the wall clock went back since the sample before (0: it did not)",
    "b1": "background utilisation by equation 1; null if the sample failed",
    "b": "background utilisation by equation 2; null if the sample failed",
    "nodes_communicating": "Ne: nodes with a job that communicates",
    "nodes_total": "Nt: nodes of the machine",
    "listings_communicating": "N'e: nodes of jobs that communicate, once for each job",
    "listings_running": "Na: nodes of running jobs, once for each job",
    "jobs_counted": "running jobs with enough nodes",
    "jobs_excluded": "jobs that do not run, or have too few nodes",
    "error": "why the sample failed; null if it did not",
}
"""Columns of a recording, and what each means."""


@dataclass(frozen=True)
class Sample:
    """One sample of a recording: the utilisation, or why there is none."""

    time: datetime
    elapsed_s: float
    clock_back_s: float
    background: Background | None
    error: str | None


@dataclass
class Recorder:
    """Writes samples to a folder.

    Raises InputError if the folder cannot be written, RunError if a file cannot be.
    """

    folder: Path
    process: datetime
    rows_per_file: int = ROWS
    _rows: list[dict[str, Any]] = field(default_factory=list)
    _path: Path | None = None
    _day: date | None = None
    _count: int = 0

    def __post_init__(self) -> None:
        files.check_folder(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def add(self, sample: Sample) -> None:
        """Adds a sample; it is on the disk when this returns, and not added if this raises."""
        day = sample.time.date()
        if self._path is None or len(self._rows) >= self.rows_per_file or self._day != day:
            self._path, self._rows, self._day = self._new_file(sample.time), [], day
        background = sample.background
        row: dict[str, Any] = dict.fromkeys(COLUMNS)
        row |= {
            "time": sample.time,
            "elapsed_s": sample.elapsed_s,
            "process": self.process,
            "sample": self._count,
            "clock_back_s": sample.clock_back_s,
            "error": sample.error,
        }
        if background is not None:
            row |= {name: getattr(background, name) for name in list(COLUMNS)[5:13]}
        rows = [*self._rows, row]
        try:
            files.write(self._path, _parquet(rows))
        except RunError:
            # The next sample begins another file: this one may be gone, with its folder.
            self._path = self._path if self._path.exists() else None
            raise
        self._rows = rows
        self._count += 1

    def _new_file(self, moment: datetime) -> Path:
        """A name that no file has: the names of recordings that run at once, or whose clock was set, may meet."""
        stem = f"background-{moment:%Y%m%dT%H%M%SZ}"
        number = 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise RunError(f"cannot write `{self.folder}`: {e.strerror}") from e
        while True:
            path = self.folder / f"{stem}-{number:03}.parquet"
            try:
                # Reserves the name; the first sample replaces it at once.
                with path.open("xb") as file:
                    file.write(_parquet([]))
            except FileExistsError:
                number += 1
            except OSError as e:
                raise RunError(f"cannot write `{path}`: {e.strerror}") from e
            else:
                return path


def watch(
    every_s: float,
    measure: Callable[[], Background] = background,
    *,
    count: int | None = None,
    patient: bool = False,
    now: Callable[[], float] = time.time,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Sample]:
    """Samples, one every `every_s` seconds; `count` of them, or without end.

    A sample that takes longer delays the next; none is made up. If the first sample fails, nothing is recorded and its
    error is raised: later ones say why they failed, and the recording continues. With `patient`, it also continues if
    a command of the workload manager failed at first.
    """
    if not 0 < every_s <= MOST_S:
        raise InputError(f"expected at most {MOST_S:,} s (a year) between samples, and more than 0, found {every_s:g}")
    begin = clock()
    before: float | None = None
    made = 0
    due = begin
    while count is None or made < count:
        sleep(max(0.0, due - clock()))
        measured, error = None, None
        wall, elapsed = now(), clock() - begin
        try:
            measured = measure()
        except OdonataError as e:
            if made == 0 and not (patient and isinstance(e, RunError)):
                raise
            error = str(e)
        back = 0.0 if before is None else max(0.0, before - wall)
        before = wall
        made += 1
        yield Sample(datetime.fromtimestamp(wall, UTC), elapsed, back, measured, error)
        due = max(due + every_s, clock())


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import polars as pl

    moment = pl.Datetime("us", "UTC")
    types: dict[str, Any] = dict.fromkeys(COLUMNS, pl.Int64)
    types |= {"time": moment, "process": moment, "error": pl.String}
    types |= dict.fromkeys(("elapsed_s", "clock_back_s", "b1", "b"), pl.Float64)
    buffer = io.BytesIO()
    pl.DataFrame(rows, schema=types, orient="row").write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
