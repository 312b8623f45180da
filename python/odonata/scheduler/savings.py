"""Node-hours and energy that a case saves against the first, over the same jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Saving:
    """What a case saves; below 0 if it needs more."""

    case: str
    jobs: int
    """In both cases, without those that were killed in one."""
    first: float
    """Node-hours of these jobs in the first case."""
    node_hours: float
    interval: tuple[float, float] | None
    """95 %; None for too few jobs."""
    kwh: float | None
    """Energy; None if nobody says what a node needs."""
    kwh_interval: tuple[float, float] | None


def savings(jobs: pl.DataFrame, watts: float | None = None) -> tuple[Saving, ...]:
    """What each case saves against the first. `watts` is the power of a node that runs a job."""
    import polars as pl

    from odonata.scheduler.outcome import interval_of, samples_of

    names = jobs["case"].unique(maintain_order=True).to_list()
    first = jobs.filter(pl.col("case") == names[0])
    made = []
    for name in names[1:]:
        both = first.join(
            jobs.filter(pl.col("case") == name), on=["stream", "job"], suffix="_there", maintain_order="left"
        ).filter(~pl.col("killed") & ~pl.col("killed_there"))
        if both.is_empty():
            continue
        hours = pl.col("nodes") / 3600
        pairs = both.with_columns(difference=hours * (pl.col("run_s") - pl.col("run_s_there")))
        mean = interval_of(samples_of(pairs))
        between = None if mean is None else (mean[0] * pairs.height, mean[1] * pairs.height)
        saved = float(pairs["difference"].sum())
        kilo = None if watts is None else watts / 1000
        made.append(
            Saving(
                name,
                pairs.height,
                float(both.select(hours * pl.col("run_s")).sum().item()),
                saved,
                between,
                None if kilo is None else kilo * saved,
                None if kilo is None or between is None else (kilo * between[0], kilo * between[1]),
            )
        )
    return tuple(made)
