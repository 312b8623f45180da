"""The outcome of schedules: what each job met with, what the rules of a case give, and how the cases differ."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from odonata.scheduler.utilisation import reached

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from odonata.scheduler.cache import Cache
    from odonata.scheduler.plan import Plan
    from odonata.scheduler.scheduling import Schedule

BOUND_S = 10.0
"""Jobs count as at least so long in the bounded slowdown. Source: Feitelson, "Metrics for parallel job scheduling and
their convergence" (JSSPP 2001)."""
BATCHES = 20
"""Batches of consecutive jobs from which the interval of a difference is made (Schmeiser, Operations Research 30(3),
1982, recommends 10 to 30)."""
COMPARED = {
    "wait_s": "waiting time",
    "bounded_slowdown": "bounded slowdown",
    "network_slowdown": "network slowdown",
}
"""Columns by which cases are compared -> what they are called."""
_PS = 1e12


@dataclass(frozen=True)
class Case:
    """What a case gives for a stream."""

    case: str
    stream: str
    jobs: int
    makespan_s: float
    """From the first submission to the last end."""
    utilisation: float
    """Nodes and times of all jobs, divided by those of the machine over the makespan."""
    arriving: float | None
    """The same between the first and the last submission, while the machine neither fills for the last time nor drains.
    """
    useful: float
    """The same with the work of the jobs in place of their times."""
    wait_s: float
    """Mean, as those that follow."""
    bounded_slowdown: float
    network_slowdown: float
    worst_network_slowdown: float
    killed: int
    windows: int
    long_windows: int
    """Windows in which the interval of a job is longer than wanted."""
    drift: float | None
    """By which part the rates that jobs had kept were wrong when the next window was simulated (mean, weighted by nodes
    and then over windows); None for fewer than two windows."""


@dataclass(frozen=True)
class Difference:
    """The mean difference of a case to the first, over the same jobs."""

    case: str
    column: str
    first: float
    """Mean of the first case."""
    difference: float
    interval: tuple[float, float] | None
    """95 %; None for fewer than two samples."""
    samples: int
    """Streams, or batches of consecutive jobs of the one stream."""


@dataclass(frozen=True)
class Outcome:
    """All schedules of a plan."""

    name: str
    plan_notes: tuple[str, ...]
    cases: tuple[Case, ...]
    differences: tuple[Difference, ...]
    jobs: pl.DataFrame
    """A row for each job in each case and stream."""
    warnings: tuple[str, ...] = ()
    """What makes the numbers say something else than was asked for."""
    nodes: int = 0
    """Nodes of the machine that jobs can use."""

    def as_dict(self, watts: float | None = None) -> dict[str, Any]:
        """The object that `--json` prints: without the table of jobs. `watts` is the power of a node with a job."""
        from odonata.scheduler.savings import savings

        return {
            "name": self.name,
            "notes": list(self.plan_notes),
            "cases": [asdict(case) for case in self.cases],
            "differences": [asdict(difference) for difference in self.differences],
            "saved": [asdict(saving) for saving in savings(self.jobs, watts)],
            "confidence": 0.95,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        from odonata.scheduler.sentences import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from odonata.scheduler.sentences import as_html

        return as_html(self)


def outcome(plan: Plan, schedules: Sequence[Schedule], cache: Cache) -> Outcome:
    """The outcome of finished schedules.

    Parameters
    ----------
    plan
        The plan.
    schedules
        Its schedules, all of whose jobs have ended.
    cache
        The windows that they used.

    Returns
    -------
    Outcome
    """
    import polars as pl

    nodes = plan.system.shape.nodes - len(plan.system.unusable_nodes)
    jobs = pl.concat([_jobs(plan, schedule) for schedule in schedules])
    cases = tuple(_case(plan, schedule, jobs, cache) for schedule in schedules)
    warnings = reached(plan, [case.utilisation for case in cases])
    return Outcome(plan.name, plan.notes, cases, tuple(_differences(plan, jobs)), jobs, tuple(warnings), nodes)


def _jobs(plan: Plan, schedule: Schedule) -> pl.DataFrame:
    import polars as pl

    rows = []
    for ended in sorted(schedule.timeline.ended, key=lambda row: row.number):
        job = schedule.stream.jobs[ended.number]
        run, wait = (ended.end_ps - ended.start_ps) / _PS, (ended.start_ps - job.submit_ps) / _PS
        work = (job.work_ps - ended.left_ps) / _PS
        rows.append(
            {
                "case": schedule.case,
                "stream": schedule.stream.name,
                "job": job.name,
                "rule": plan.book.table.rule[job.app].name,
                "nodes": job.nodes,
                "submit_s": job.submit_ps / _PS,
                "start_s": ended.start_ps / _PS,
                "end_s": ended.end_ps / _PS,
                "wait_s": wait,
                "run_s": run,
                "work_s": work,
                "bounded_slowdown": max(1.0, (wait + run) / max(work, BOUND_S)),
                "network_slowdown": None if ended.killed else run / work,
                "killed": ended.killed,
                "node_list": list(ended.nodes),
            }
        )
    return pl.DataFrame(rows, schema_overrides={"network_slowdown": pl.Float64, "node_list": pl.List(pl.UInt32)})


def _case(plan: Plan, schedule: Schedule, jobs: pl.DataFrame, cache: Cache) -> Case:
    import polars as pl

    own = jobs.filter((pl.col("case") == schedule.case) & (pl.col("stream") == schedule.stream.name))
    nodes = plan.system.shape.nodes - len(plan.system.unusable_nodes)
    makespan = max(own["end_s"].to_list()) - min(own["submit_s"].to_list())
    area = nodes * makespan
    errors = [cache[key].errors for key in schedule.keys]
    wanted = float(plan.table.window.error)
    return Case(
        case=schedule.case,
        stream=schedule.stream.name,
        jobs=own.height,
        makespan_s=makespan,
        utilisation=float((own["nodes"] * own["run_s"]).sum()) / area,
        arriving=_arriving(own, nodes),
        useful=float((own["nodes"] * own["work_s"]).sum()) / area,
        wait_s=_mean(own, "wait_s"),
        bounded_slowdown=_mean(own, "bounded_slowdown"),
        network_slowdown=_mean(own, "network_slowdown"),
        worst_network_slowdown=float(own["network_slowdown"].max() or math.nan),  # type: ignore[arg-type]
        killed=int(own["killed"].sum()),
        windows=len(errors),
        long_windows=sum(any(error is not None and error > wanted for error in window) for window in errors),
        drift=sum(drift for _, drift in schedule.drifts) / len(schedule.drifts) if schedule.drifts else None,
    )


def _arriving(own: pl.DataFrame, nodes: int) -> float | None:
    """Share of the nodes with a job between the first and the last submission; None if that is one moment."""
    import polars as pl

    begin, end = min(own["submit_s"].to_list()), max(own["submit_s"].to_list())
    if not end > begin:
        return None
    inside = pl.col("end_s").clip(begin, end) - pl.col("start_s").clip(begin, end)
    used = float(own.select((pl.col("nodes") * inside).sum()).item())
    return used / float(nodes * (end - begin))


def _mean(rows: pl.DataFrame, column: str) -> float:
    mean = rows[column].mean()
    return math.nan if mean is None else float(mean)  # type: ignore[arg-type]


def _differences(plan: Plan, jobs: pl.DataFrame) -> list[Difference]:
    import polars as pl

    names = [name for name, _ in plan.cases]
    first = jobs.filter(pl.col("case") == names[0])
    differences = []
    for name in names[1:]:
        there = jobs.filter(pl.col("case") == name)
        both = first.join(there, on=["stream", "job"], suffix="_there", maintain_order="left")
        for column in COMPARED:
            pairs = both.filter(pl.col(column).is_not_null() & pl.col(f"{column}_there").is_not_null())
            if pairs.is_empty():
                continue
            gained = pairs.with_columns(difference=pl.col(f"{column}_there") - pl.col(column))
            samples = samples_of(gained)
            differences.append(
                Difference(
                    name, column, _mean(pairs, column), _mean(gained, "difference"), interval_of(samples), len(samples)
                )
            )
    return differences


def samples_of(pairs: pl.DataFrame) -> list[float]:
    """Means of the differences: of each stream, or of batches of consecutive jobs if there is one stream."""
    import polars as pl

    if pairs["stream"].n_unique() > 1:
        return pairs.group_by("stream", maintain_order=True).agg(pl.col("difference").mean())["difference"].to_list()
    values = pairs["difference"].to_list()
    size = len(values) // BATCHES
    if size < 1:
        return []
    begin = len(values) - size * BATCHES  # what does not divide is left out at the begin
    return [sum(values[at : at + size]) / size for at in range(begin, len(values), size)]


def interval_of(samples: Sequence[float]) -> tuple[float, float] | None:
    """Student's 95 % interval of the mean."""
    if len(samples) < 2:
        return None
    from scipy.stats import t

    count = len(samples)
    mean = sum(samples) / count
    variance = sum((sample - mean) ** 2 for sample in samples) / (count - 1)
    half = float(t.ppf(0.975, count - 1)) * math.sqrt(variance / count)
    return mean - half, mean + half
