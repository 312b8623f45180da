"""The effect of a remedy on every job, from runs that differ in nothing else; and what the remedy costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata.advice.remedy import PRESENT
from odonata.analysis.bootstrap import interval
from odonata.analysis.compare import compare
from odonata.study.plan import SEED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.scenario import Resolved

REMEDY = "remedy"
"""The axis of the studies whose values are the names of remedies."""
MATTERS = 0.01
"""Changes of the median by a smaller share are called no difference (assumed: nobody would move a job for it)."""
ALPHA = 0.05
"""Level of the test by which a remedy helps, divided by the number of remedies that are compared."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What becomes of a job."""

    job: str
    """Name of the job."""
    quantity: str
    """The column of `jobs` that is compared; a later start counts as time."""
    before_ps: float | None
    """Its median in the scenario as it is, in picoseconds (or in the unit of the column)."""
    after_ps: float | None
    """Its median with the remedy."""
    ratio: float | None
    """The median of the ratios of the pairs of runs: with the remedy divided by as it is."""
    ratio_interval: tuple[float, float] | None
    """Its 95 % bootstrap interval."""
    difference_interval: tuple[float, float] | None
    """The 95 % bootstrap interval of the median difference of the pairs, in the unit of the column."""
    pairs: int
    """Pairs of runs that differ only in the remedy."""
    p: float | None
    """Of Wilcoxon's signed-rank test; None if there is nothing to test."""

    def faster(self, tests: int) -> bool:
        """Whether it is faster beyond its interval, judged among so many remedies."""
        return self._differs(tests) and self.ratio is not None and self.ratio <= 1 - MATTERS

    def slower(self) -> bool:
        """Whether it is slower beyond its interval. One remedy is judged alone here, so this warns rather too often."""
        return self._differs(1) and self.ratio is not None and self.ratio >= 1 + MATTERS

    def _differs(self, tests: int) -> bool:
        if self.ratio_interval is None or self.p is None or self.p >= ALPHA / tests:
            return False
        low, high = self.ratio_interval
        return not low <= 1 <= high


@dataclass(frozen=True, slots=True)
class Cost:
    """What a remedy changes, with the scenario's own seed."""

    nodes_moved: int
    """Nodes that jobs get in exchange for others."""
    groups_touched: int
    """Groups in which a job gives up or gets a node."""
    ranks_moved: int
    """Ranks that run on another node."""
    later_ps: Mapping[str, int]
    """How much later jobs start, in picoseconds."""


def cost(before: Resolved, after: Resolved) -> Cost:
    """What changes from one scenario to the other."""
    shape = before.system.shape
    moved, groups, ranks, later = 0, set(), 0, {}
    for old, new in zip(before.spec["jobs"], after.spec["jobs"], strict=True):
        here, there = set(old["nodes"]), set(new["nodes"])
        moved += len(there - here)
        groups |= {shape.group_of(node) for node in here ^ there}
        ranks += sum(was != other for was, other in zip(old["nodes"], new["nodes"], strict=False))
        delay = _start(new) - _start(old)
        if delay:
            later[old["name"]] = delay
    return Cost(moved, len(groups), ranks, later)


def _start(job: Mapping[str, Any]) -> int:
    return int(job.get("program", {}).get("start_ps", 0))


def quantity_of(job: Mapping[str, Any], *, background: bool) -> str:
    """The column by which a job of a specification is judged. Programs in the background need not end."""
    if "program" not in job:
        return "latency_mean_ps"
    return "iteration_mean_ps" if background else "time_ps"


def values(jobs: pl.DataFrame, job: str, column: str, costs: Mapping[str, Cost]) -> pl.DataFrame:
    """The value of a job in each run: columns `remedy`, `run.seed`, `name` and `value`.

    Runs that are not complete are left out, but the end of a run may cut off a background job. A later start counts as
    time: the job is not faster because it waits before it begins.
    """
    whole = pl.col("complete").fill_null(value=True) | pl.col("background")
    rows_of_job = jobs.filter((pl.col("name") == job) & whole)
    rows_of_job = rows_of_job.select(REMEDY, SEED, "name", pl.col(column).cast(pl.Float64).alias("value")).drop_nulls(
        "value"
    )
    if column != "time_ps":
        return rows_of_job
    later = {name: cost.later_ps[job] for name, cost in costs.items() if job in cost.later_ps}
    return rows_of_job.with_columns(pl.col("value") + pl.col(REMEDY).replace_strict(later, default=0))


def effect(jobs: pl.DataFrame, remedy: str, job: str, column: str, costs: Mapping[str, Cost]) -> Effect:
    """The effect of a remedy on a job, from the rows of `jobs` of a study."""
    rows = values(jobs.filter(pl.col(REMEDY).is_in([PRESENT, remedy])), job, column, costs)
    if rows[REMEDY].n_unique() < 2:
        return Effect(job, column, None, None, None, None, None, 0, None)
    comparison = compare(rows, REMEDY, "value", others=[SEED], baseline=PRESENT, values=[PRESENT, remedy])
    before, after = comparison.rows
    here = rows.filter(pl.col(REMEDY) == remedy).sort(SEED)
    both = here.join(rows.filter(pl.col(REMEDY) == PRESENT), on=SEED, how="inner", maintain_order="left")
    differences = both["value"].to_numpy() - both["value_right"].to_numpy()
    between = interval(np.asarray(differences, dtype=np.float64), seed=comparison.seed)
    return Effect(
        job, column, before.median, after.median, after.ratio, after.ratio_interval, between, after.pairs, after.p
    )
