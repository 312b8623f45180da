"""Iterations of programs: how long they took, one after the other, and how evenly the ranks kept step.

Source: Salimi Beni 2022 runs a collective a thousand times and looks at the distribution (V3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from odonata.errors import unknown

if TYPE_CHECKING:
    from odonata.store import Run


def iteration_times(run: Run, job: str | int) -> pl.Series:
    """Times of the iterations of a job that all its ranks have ended, in picoseconds, in the order of the iterations.

    `job` is its name or its number. Raises InputError for an unknown name.
    """
    return iterations_of(run, job)["time_ps"].drop_nulls()


def iterations_of(run: Run, job: str | int) -> pl.DataFrame:
    """The iterations of a job, with two columns more.

    `skew_ps` is the time from the first end to the last: how far the ranks have got out of step. `pause_ps` is the time
    from the last end of the iteration before to the first begin (absent in the first one, negative if ranks overtake
    each other).
    """
    rows = run.iterations.filter(pl.col("job") == _number(run, job)).sort("iteration")
    begin, end = pl.col("first_begin_ps").cast(pl.Int64), pl.col("last_end_ps").cast(pl.Int64)
    return rows.with_columns(
        (pl.col("last_end_ps") - pl.col("first_end_ps")).alias("skew_ps"), (begin - end.shift(1)).alias("pause_ps")
    )


def _number(run: Run, job: str | int) -> int:
    if isinstance(job, int):
        return job
    names = run.jobs["name"].to_list()
    if job not in names:
        raise unknown("job", job, names)
    return names.index(job)
