"""A job beside the others, compared with itself alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.impact.alone import ends_of
from odonata.units import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.impact.alone import Alone
    from odonata.store import Run

FEW_LATE = 0.01
"""Up to this share of the messages may still be on the way at the end of the window (assumed). With more, a slowdown is
at least what is given."""


@dataclass(frozen=True)
class Judged:
    """How much longer a job takes beside the others than alone."""

    slowdown: float | None
    """Mean latency over mean latency alone, or time of iterations over that alone; None if the job is not judged."""
    at_least: bool = False
    """Whether it is more: some of what is compared had not ended with the window."""
    ended: int = 0
    """Messages or iterations that were compared."""
    why: str = ""
    """Why the job is not judged."""


def measured(run: Run, alone: Sequence[Alone]) -> list[dict[str, Any]]:
    """What each job did in a run of the machine: of a pattern, its messages that count; of a program, its iterations.

    A message that is on the way at the end of the window counts with the time since its issue, which is too short.
    """
    spec = run.resolved["spec"]
    end = int(run.manifest["sim_time_ps"])
    limits = pl.DataFrame(
        {"job": range(len(alone)), "limit": [each.intervals or 0 for each in alone]},
        schema={"job": pl.Int64, "limit": pl.Int64},
    )
    counted = run.messages.with_columns(pl.col("job").cast(pl.Int64)).join(limits, on="job")
    taken = pl.col("latency_ps").fill_null(end - pl.col("issue_ps").cast(pl.Int64)).cast(pl.Int64)
    sums = (
        counted.filter(pl.col("interval").cast(pl.Int64) < pl.col("limit"))
        .group_by("job")
        .agg(taken.sum().alias("ps"), pl.len().alias("sent"), pl.col("latency_ps").count().alias("delivered"))
    )
    of_job = {row["job"]: row for row in sums.to_dicts()}
    ended = run.iterations.filter(pl.col("time_ps").is_not_null())
    rows: list[dict[str, Any]] = []
    for number, job in enumerate(spec["jobs"]):
        if "program" in job:
            ends = ended.filter(pl.col("job") == number)["last_end_ps"].to_list()
            rows.append({"ends_ps": list(ends_of(ends, job))})
        else:
            row = of_job.get(number, {"ps": 0, "sent": 0, "delivered": 0})
            rows.append({name: int(row[name]) for name in ("ps", "sent", "delivered")})
    return rows


def judged(alone: Alone, beside: Mapping[str, Any], window_ps: int) -> Judged:
    """Compare a job with itself alone."""
    needed = alone.needed_ps
    if alone.intervals is None:
        return _of_program(alone, beside["ends_ps"], window_ps)
    if needed is None or alone.latency_ps is None:
        return Judged(None, why=f"alone, not all of its messages arrive in {format_time(alone.end_ps, 3)}")
    late = alone.messages - beside["delivered"]
    if late and needed > window_ps:
        text = f"{late:,} of its {alone.messages:,} messages do not end in the window"
        return Judged(None, why=f"{text}: it needs {format_time(round(needed), 3)}")
    if not beside["sent"]:
        return Judged(None, why="it sends none of its messages in the window")
    slowdown = beside["ps"] / beside["sent"] / alone.latency_ps
    return Judged(slowdown, late > FEW_LATE * alone.messages, beside["delivered"])


def _of_program(alone: Alone, ends: Sequence[int], window_ps: int) -> Judged:
    if not alone.ends_ps:
        return Judged(None, why=f"alone, it ends no iteration in {format_time(alone.end_ps, 3)}")
    both = min(len(ends), len(alone.ends_ps))
    if both:
        return Judged(ends[both - 1] / alone.ends_ps[both - 1], ended=both)
    needed = alone.needed_ps
    assert needed is not None
    if needed > window_ps:
        text = f"it ends no iteration in the window; alone, the first takes {format_time(alone.ends_ps[0], 3)}"
        return Judged(None, why=text)
    return Judged(window_ps / alone.ends_ps[0], at_least=True)
