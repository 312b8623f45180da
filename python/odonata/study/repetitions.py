"""A scenario with several seeds: the times of its jobs, with confidence intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.analysis.bootstrap import ENOUGH, interval
from odonata.analysis.compare import SEED
from odonata.analysis.cut_off import without_cut_off
from odonata.study.study import jobs_of
from odonata.text import time

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from odonata.study.study import Study


@dataclass(frozen=True, slots=True)
class Repeated:
    """A column of a job over the seeds of a study."""

    job: str
    """Name of the job."""
    column: str
    """Column of `jobs`."""
    runs: int
    """Number of runs with a value."""
    left_out: int
    """Number of runs without one: failed, or cut off."""
    median: float | None
    """Median of the runs; `None` without runs."""
    low: float | None
    """Lower end of the 95 % bootstrap interval of the median; `None` if there are too few runs for one."""
    high: float | None
    """Upper end."""

    def as_dict(self) -> dict[str, Any]:
        """The object for it in the output of `odonata run --seeds N --json`."""
        return asdict(self)


def repeated(study: Study) -> list[Repeated]:
    """Slowdown and time of each job that is not background, over the seeds of a study of one scenario.

    The time is that of the program, or, for a job with a pattern, the mean latency of its messages. Raises InputError
    if no run is done.
    """
    points, rows = study.runs.height, jobs_of(study.jobs, None)
    jobs = []
    for name in rows["name"].unique(maintain_order=True):
        own = rows.filter(rows["name"] == name)
        usual = "time_ps" if own["iterations"].null_count() < own.height else "latency_mean_ps"
        jobs += [_repeated(own, name, column, points) for column in ("slowdown", usual)]
    return jobs


def _repeated(rows: pl.DataFrame, job: str, column: str, points: int) -> Repeated:
    whole, _ = without_cut_off(rows, column)
    values = whole[column].drop_nulls().to_numpy().astype(np.float64)
    if not len(values):
        return Repeated(job, column, 0, points, None, None, None)
    ends = interval(values, seed=SEED) if len(values) >= ENOUGH else None
    low, high = ends or (None, None)
    return Repeated(job, column, len(values), points - len(values), float(np.median(values)), low, high)


def as_text(jobs: Sequence[Repeated]) -> str:
    """One line for each job: its slowdown and its time, each with the interval."""
    lines = []
    for slowdown, whole in zip(jobs[::2], jobs[1::2], strict=True):
        what = "time" if whole.column == "time_ps" else "mean latency"
        if slowdown.median is None or whole.median is None:
            lines.append(f"{slowdown.job}: no slowdown, because no run of it is complete")
            continue
        text = f"{slowdown.job}: slowdown {slowdown.median:.2f} x{_ends(slowdown)}, {what} {time(whole.median)}"
        text += f"{_ends(whole)}; medians of {slowdown.runs} seed{'s' * (slowdown.runs > 1)}"
        lines.append(text + f", {slowdown.left_out} failed or cut off" * bool(slowdown.left_out))
    return "\n".join(lines)


def _ends(job: Repeated) -> str:
    if job.low is None or job.high is None:
        return f" (no interval: it needs {ENOUGH} seeds)" if job.column == "slowdown" else ""
    if job.column == "slowdown":
        return f" (95 %: {job.low:.2f} to {job.high:.2f})"
    return f" ({time(job.low)} to {time(job.high)})"
