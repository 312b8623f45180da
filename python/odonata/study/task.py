"""The work for one point, from its values to its run. All workers do the same."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from odonata import reading
from odonata.errors import OdonataError
from odonata.runner import measure
from odonata.store.engine import fingerprint
from odonata.store.frame import polars_type
from odonata.study.keep import kept
from odonata.study.resolution_cache import is_repeatable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from odonata.scenario import Resolved
    from odonata.store import Run
    from odonata.study.plan import Plan

POINT = "point"
"""The column with the number of the point."""
RUN_COLUMNS: dict[str, str] = {
    "id": "String",
    "status": "String",
    "error": "String",
    "seed": "UInt64",
    "sim_time_ps": "UInt64",
    "events": "UInt64",
    "packet_hops": "UInt64",
    "wall_s": "Float64",
    "engine": "String",
    "keep": "String",
}
"""Columns of a run besides those of its jobs, with types of polars. A failed run has only the first three, the engine
(`odonata.store.engine`) and the hash of the user's own columns (`keep.mark`)."""

PREFIX = "run."
"""Prefix of these columns in a table with those of jobs."""
KEPT = "kept."
"""The prefix of columns of `keep`, whose values are in the first row of each run."""


@dataclass(frozen=True)
class AloneRun:
    """The run of one job of a point alone."""

    job: int
    """Index of the job in the point's own run."""
    name: str
    id: str
    every: bool
    """Whether its iterations begin at a fixed period. Then `slowdown` compares their times and not the time of the
    job."""


Granted = tuple[int, tuple[str | None, ...]]
"""A point and the runs to simulate for it: its own (None), and the runs of these jobs alone."""


@dataclass(frozen=True)
class Resolution:
    """The resolution of a point: its run, or the reason why it has no run."""

    number: int
    id: str | None
    error: str | None = None
    spent_s: float = 0.0
    """Its wall time."""
    alone: tuple[AloneRun, ...] = ()
    """The runs of its targets alone, if the study compares with them."""
    read: Mapping[str, str] | None = None
    """The files that it depends on (`reading.recorded`); `None` if it may depend on more than files."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run."""

    number: int
    facts: Mapping[str, Any]
    """A value for each of RUN_COLUMNS."""
    jobs: list[dict[str, Any]] | None
    """The rows of the table `jobs`; `None` if the run failed."""
    spent_s: float
    """Wall time of the worker for it, with overhead."""
    kept: Mapping[str, Any] = field(default_factory=dict)
    """The values of `keep`."""


def resolve(plan: Plan, number: int) -> tuple[Resolution, Resolved | None]:
    """Resolves a point. An error becomes part of the resolution."""
    began = time.perf_counter()
    try:
        with reading.recorded() as read:
            scenario = plan.scenario(number)
            resolved = scenario.resolve()
            alone = tuple(_alone(resolved)) if plan.alone else ()
        depends_on = read if is_repeatable(plan, scenario) else None
        return Resolution(number, resolved.id, None, time.perf_counter() - began, alone, depends_on), resolved
    except BaseException as problem:
        return Resolution(number, None, reason(problem)), None


def _alone(resolved: Resolved) -> Iterator[AloneRun]:
    for index, job in enumerate(resolved.spec["jobs"]):
        if job["name"] in resolved.targets:
            every = "program" in job and bool(job["program"].get("every_ps"))
            yield AloneRun(index, job["name"], resolved.id_alone(job["name"]), every)


def run(
    plan: Plan,
    granted: Granted,
    resolved: Resolved,
    watch: Callable[[Mapping[str, Any]], object] | None = None,
    before_s: float = 0.0,
) -> list[Outcome]:
    """Simulates the granted runs of a point.

    A failure becomes an outcome; the only exception that is raised is StopRun, with which `watch` ends the run.
    `before_s` is the time that the point has already taken.
    """
    number, parts = granted
    return [_run(plan, number, resolved, part, watch, 0.0 if index else before_s) for index, part in enumerate(parts)]


def _run(
    plan: Plan,
    number: int,
    resolved: Resolved,
    alone: str | None,
    watch: Callable[[Mapping[str, Any]], object] | None,
    before_s: float,
) -> Outcome:
    began = time.perf_counter()
    try:
        keep = partial(_keep, plan) if plan.keep and alone is None else None
        facts, jobs, kept_values = measure(resolved, watch, keep, alone)
    except StopRun:
        raise
    except BaseException as problem:
        facts, jobs, kept_values = {"error": reason(problem)}, None, None
    status = "done" if jobs is not None else "failed"
    run_id = resolved.id if alone is None else resolved.id_alone(alone)
    row = {"error": None, **facts, "id": run_id, "status": status, "engine": fingerprint(), "keep": plan.mark}
    spent_s = before_s + time.perf_counter() - began
    return Outcome(number, {name: row.get(name) for name in RUN_COLUMNS}, jobs, spent_s, kept_values or {})


def _keep(plan: Plan, run: Run) -> dict[str, Any]:
    assert plan.keep is not None
    return kept(plan.keep, run, {POINT, *plan.keys, *RUN_COLUMNS})


class StopRun(BaseException):
    """Raised by `watch` to end a run whose result is no longer needed."""


def reason(problem: BaseException) -> str:
    """The error of a failed run as text. Requests to exit are raised again."""
    if isinstance(problem, OdonataError):
        return str(problem)
    if isinstance(problem, MemoryError):
        return "not enough memory"
    # A panic of the core is a `BaseException`, but not a request to exit.
    if isinstance(problem, Exception) or type(problem).__name__ == "PanicException":
        return f"{type(problem).__name__}: {problem} (a bug in odonata)"
    raise problem


def failure(run_id: str, error: str, keep: str | None = None) -> dict[str, Any]:
    """The row of a run whose worker died."""
    row = {"id": run_id, "status": "failed", "error": error, "engine": fingerprint(), "keep": keep}
    return {name: row.get(name) for name in RUN_COLUMNS}


def frame_of(
    facts: Sequence[Mapping[str, Any]],
    jobs: Sequence[pl.DataFrame | None],
    kept: Sequence[Mapping[str, Any]] = (),
) -> pl.DataFrame:
    """Runs as rows of one frame: a row for each job; a failed run has one row without a job."""
    import polars as pl

    present = [table for table in jobs if table is not None]
    rows = pl.concat(present, how="diagonal") if present else pl.DataFrame()
    done = [fact for fact, table in zip(facts, jobs, strict=True) if table is not None for _ in range(table.height)]
    parts = [_facts(done), rows, *([_kept(present, kept)] if any(kept) else [])]
    frame = pl.concat(parts, how="horizontal") if done else _facts([])
    lost = [fact for fact, table in zip(facts, jobs, strict=True) if table is None]
    return pl.concat([frame, _facts(lost)], how="diagonal") if lost else frame


def _kept(jobs: Sequence[pl.DataFrame], kept: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The values of `keep` of finished runs, in the first row of each run."""
    import polars as pl

    names = dict.fromkeys(name for values in kept for name in values)
    columns = {f"{KEPT}{name}": [values.get(name) for values in kept] for name in names}
    frame = pl.DataFrame(columns, strict=False)
    rows = [number if row == 0 else None for number, table in enumerate(jobs) for row in range(table.height)]
    return frame.select(pl.all().gather(pl.Series(rows, dtype=pl.UInt32)))


def _facts(facts: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    import polars as pl

    columns = {
        f"{PREFIX}{name}": pl.Series([fact[name] for fact in facts], dtype=polars_type(kind))
        for name, kind in RUN_COLUMNS.items()
    }
    return pl.DataFrame(columns)


def handed_in(outcomes: Sequence[Outcome]) -> tuple[pl.DataFrame, list[tuple[int, float]]]:
    """The result of a worker: rows of all its outcomes, and the time of each point."""
    from odonata.store.tables import jobs_table

    # One table for all outcomes, because making a table takes longer than a small run.
    table = jobs_table([row for outcome in outcomes for row in outcome.jobs or ()])
    ends = list(accumulate(len(outcome.jobs or ()) for outcome in outcomes))
    tables = [
        None if outcome.jobs is None else table.slice(end - len(outcome.jobs), len(outcome.jobs))
        for outcome, end in zip(outcomes, ends, strict=True)
    ]
    kept = [outcome.kept for outcome in outcomes if outcome.jobs is not None]
    rows = frame_of([outcome.facts for outcome in outcomes], tables, kept)
    spent: dict[int, float] = {}
    for outcome in outcomes:
        spent[outcome.number] = spent.get(outcome.number, 0.0) + outcome.spent_s
    return rows, list(spent.items())
