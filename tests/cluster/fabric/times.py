"""What the tests compare of an experiment: quantiles of the times of its arms, round by round."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import polars as pl
from tests.cluster.fabric.experiment import MOST

if TYPE_CHECKING:
    from collections.abc import Sequence


def quantile_ms(run: dict[str, Any], q: float, operation: str = "alltoall", size: int = 4096) -> float:
    """A quantile over the iterations of a run, each the time of its slowest rank."""
    table = pl.read_parquet(run["probe"]["file"]).filter(collective=operation, bytes=size)
    slowest = table.group_by("iteration").agg(pl.col("time_ns").max())
    return float(slowest["time_ns"].quantile(q, "linear")) / 1e6


def chosen(runs: Sequence[dict[str, Any]], arm: str, level: int = MOST) -> list[dict[str, Any]]:
    """The runs of an arm beside so many background jobs, by round."""
    return [run for run in runs if (run["arm"], run["level"]) == (arm, level)]


def ratio(runs: Sequence[dict[str, Any]], above: tuple[str, int], below: tuple[str, int], q: float = 0.9) -> float:
    """Median over the rounds that have both of the ratio of a quantile of two arms (name, background jobs)."""
    of = {run["round"]: quantile_ms(run, q) for run in chosen(runs, *below)}
    ratios = [quantile_ms(run, q) / of[run["round"]] for run in chosen(runs, *above) if run["round"] in of]
    assert ratios
    return median(ratios)
