"""From when on a run is steady: the end of its warm-up, from the recorded latencies or times of iterations.

The rule is MSER-5 (White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for simulation",
Winter Simulation Conference 2000): means of batches of five observations, of which so many are left out at the begin
that the standard error of the mean of the others is least. A least value in the second half means that the run is too
short to tell. Of more than 5,000 observations the batches are larger, so that there are at most 1,000.

MSER assumes that the rest is stationary. So the rest is tested for a drift: the means of its two halves, each of eight
batches, may differ by chance (Student's t, two-sided, 1 %) or by at most 2 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from odonata.store import Run

BATCH = 5
MOST_BATCHES = 1_000
FEWEST = 100
"""Observations for an answer: 20 batches, ten of which may be left out (assumed)."""
PARTS = 8
"""Batches of each half of the rest."""
STUDENT = 2.977
"""99.5 % quantile of Student's t with 14 degrees of freedom, for two times eight batches."""
LEAST_DRIFT = 0.02
"""Difference of the halves, over their mean, that does not count (assumed)."""


@dataclass(frozen=True)
class WarmUp:
    """The warm-up of a job."""

    job: str
    what: str
    """What was observed: `messages` or `iterations`."""
    observations: int
    until_ps: int | None
    """When the first observation after the warm-up was issued, or begun; `None` if the job never becomes steady."""
    why: str = ""
    """Why there is none."""


def truncation(values: NDArray[np.float64]) -> int | None:
    """How many batch means MSER leaves out at the begin; `None` if the least standard error lies in the second half.

    `odonata.steady.mean` has MSER too: of single values, of which it always leaves out at most half, for it needs a
    mean even of a few. Here the answer may be that there is none.
    """
    count = len(values)
    ends = values[::-1]
    left = np.arange(1, count + 1)
    sums, squares = np.cumsum(ends), np.cumsum(ends * ends)
    error = (np.maximum(squares - sums * sums / left, 0.0) / left**2)[::-1]
    # With few batches left the error is low by chance.
    best = int(np.argmin(error[: max(1, count - BATCH)]))
    return best if best <= count // 2 else None


def drifts(values: NDArray[np.float64]) -> float | None:
    """By how much the second half of a series is above the first, over the mean, if that is no chance."""
    if len(values) < 2 * PARTS:
        return None
    means = np.array([part.mean() for part in np.array_split(values, 2 * PARTS)])
    first, second = means[:PARTS], means[PARTS:]
    error = math.sqrt((first.var(ddof=1) + second.var(ddof=1)) / PARTS)
    drift = float(second.mean() - first.mean())
    whole = float(means.mean())
    if not whole or abs(drift) <= max(STUDENT * error, LEAST_DRIFT * whole):
        return None
    return drift / whole


def warm_up_of(job: str, what: str, begins_ps: NDArray[np.int64], values: NDArray[np.float64]) -> WarmUp:
    """The warm-up of a series of observations, each with the time of its begin; in this order."""
    count = len(values)
    if count < FEWEST:
        return WarmUp(
            job, what, count, None, f"{count} recorded {what} are too few to tell, at least {FEWEST} are needed"
        )
    size = max(BATCH, -(-count // MOST_BATCHES))
    batches = values[: count // size * size].reshape(-1, size).mean(axis=1)
    left_out = truncation(batches)
    if left_out is None:
        return WarmUp(job, what, count, None, f"it never becomes steady in this run of {count:,} {what}: run it longer")
    drift = drifts(batches[left_out:])
    if drift is not None:
        way = "rises" if drift > 0 else "falls"
        why = f"it never becomes steady: the mean still {way} by {abs(drift):.0%} between the halves of what remains"
        return WarmUp(job, what, count, None, why)
    return WarmUp(job, what, count, int(begins_ps[left_out * size]) if left_out else 0)


def warm_ups(run: Run) -> list[WarmUp]:
    """The warm-up of each job that is not background, from a run without one: of a program from its iterations,
    else from its messages."""
    ends = []
    names = run.jobs.filter(~pl.col("background")).select("name").to_series().to_list()
    for at, name in enumerate(run.jobs["name"].to_list()):
        if name not in names:
            continue
        iterations = run.iterations.filter(pl.col("job") == at, pl.col("time_ps").is_not_null()).sort("iteration")
        if iterations.height:
            ends.append(_of(name, "iterations", iterations, "first_begin_ps", "time_ps"))
            continue
        sent = run.messages.filter(pl.col("job") == at, pl.col("latency_ps").is_not_null())
        ordered = sent.sort("issue_ps", "source", "interval", "destination")
        ends.append(_of(name, "messages", ordered, "issue_ps", "latency_ps"))
    return ends


def _of(job: str, what: str, rows: pl.DataFrame, begin: str, value: str) -> WarmUp:
    return warm_up_of(job, what, rows[begin].cast(pl.Int64).to_numpy(), rows[value].cast(pl.Float64).to_numpy())
