"""`odonata.advise`: the whole search."""

from __future__ import annotations

import tempfile
import time
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.advice.advice import Advice, Finding, Under
from odonata.advice.alternatives import Alternative, read_alternatives
from odonata.advice.effects import REMEDY, effect
from odonata.advice.remedy import PRESENT, Remedy
from odonata.advice.search import Remedied, Search
from odonata.advice.space import Space, check_rules
from odonata.analysis.compare import check_column, higher_is_better
from odonata.errors import InputError, OutOfTimeError, RunError
from odonata.processors import processors
from odonata.scenario import as_scenario
from odonata.study.check import check_packets
from odonata.study.local import LocalPool
from odonata.study.plan import SEED
from odonata.study.python import plan_of
from odonata.study.study import open_study
from odonata.study.sweep import sweep
from odonata.units import time_ps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from os import PathLike

    from odonata.scenario import Scenario
    from odonata.study.plan import Plan
    from odonata.study.study import Study
    from odonata.study.sweep import Backend

    Watch = Callable[[Plan], AbstractContextManager[Any]]
    """From the plan of a study to what shows its progress, with a method `report`."""
    Tell = Callable[[Search], object]
    """Gets the search after the first few remedies and after each round."""


def advise(
    scenario: Scenario | str | PathLike[str] | Mapping[str, Any],
    *,
    victim: str | None = None,
    allow: Sequence[str] | None = None,
    jobs: Sequence[str] | None = None,
    move: Sequence[str] | None = None,
    value: str | None = None,
    seeds: int | None = None,
    finalists: int | None = None,
    under: str | PathLike[str] | None = None,
    budget: str | None = None,
    workers: int | None = None,
    out: str | Path | None = None,
    client: Any = None,
) -> Advice:
    """Search for changes of a scenario that make a job faster.

    Many remedies are simulated with one seed, the better ones with more (successive halving). The best are compared
    with the scenario as it is, with seeds that the search has not seen.

    Parameters
    ----------
    scenario
        The scenario, the path of its file, or its data (`Scenario.of`). Its table `[advise]` has the defaults of the
        parameters below.
    victim
        The job that is to become faster. Default: the one that the others slow down most.
    allow
        Kinds of remedies: `placement`, `routing`, `mapping`, `start`. Default: all.
    jobs
        Jobs that may be changed. Default: all jobs of the file.
    move
        Jobs that may get other nodes although a list of nodes fixes theirs. Default: none.
    value
        The column of `jobs` by which the victim is judged. Default: `time_ps` of a program, else `latency_mean_ps`.
    seeds
        Seeds of the final comparison, at least 8. Default: 8.
    finalists
        Remedies that reach it, besides their combinations. Default: 3.
    under
        A study of the scenario whose points are other assumptions, as `odonata cluster snapshot --vary traffic` writes
        it. The final comparison is repeated under each of them, and `best` is a remedy that helps under all.
    budget
        Wall time for the search, such as `"5min"`. When it is used up, `complete` is False, and `so_far` has the best
        remedies so far. The same call with an `out` continues. Default: as long as it takes.
    workers
        Processes that simulate at once; by default one for each processor.
    out
        The folder of the study with all runs. After an interruption the same call continues from it. Without it, the
        results are in a temporary folder.
    client
        A `distributed.Client`, whose workers simulate instead, or the address of a scheduler.

    Returns
    -------
    Advice
        Its `best` is None if no remedy helps beyond its interval, under all assumptions.

    Raises
    ------
    InputError
        For a scenario that cannot be simulated, an unknown job, column or kind, and an `out` with other contents.
    RunError
        If the budget does not suffice for the scenario as it is.

    Examples
    --------
    >>> import odonata as od
    >>> quick = od.load("examples/quick.toml", "job.target.app.messages=2")
    >>> advice = od.advise(quick, allow=["start"])  # its jobs have no program that could start later
    >>> advice.victim, advice.best is None
    ('target', True)
    """
    scenario = as_scenario(scenario)
    given: dict[str, Any] = {"victim": victim, "jobs": jobs, "move": move, "allow": allow}
    given |= {"value": value, "seeds": seeds, "finalists": finalists}
    for key, chosen in given.items():
        if chosen is not None:
            plain = list(chosen) if key in ("jobs", "move", "allow") else chosen
            scenario = scenario.set(f"advise.{key}", plain)
    backend: Backend = LocalPool(processors() if workers is None else workers)
    if client is not None:
        from odonata.study.dask_pool import DaskPool

        backend = DaskPool(client)
    alternatives = () if under is None else read_alternatives(Path(under), scenario)
    until = end_of(budget)
    return find(scenario, backend, None if out is None else Path(out), alternatives=alternatives, until=until)


def end_of(budget: str | None) -> float | None:
    """When a search with this wall time (`"5min"`, `"90 s"`) has to end, by `time.monotonic`.

    Raises InputError for anything but a time that is longer than 0.
    """
    if budget is None:
        return None
    try:
        length = time_ps(budget)
    except InputError as problem:
        hint = "a number and a unit, as in `90 s` or `5min`"
        raise InputError(f"`--budget`: {problem.message}", hint=problem.hint or hint) from None
    if not length:
        raise InputError("`--budget` must be longer than 0", hint="as in `5min`")
    return time.monotonic() + length / 10**12


def find(
    scenario: Scenario,
    backend: Backend,
    out: Path | None,
    watch: Watch | None = None,
    alternatives: Sequence[Alternative] = (),
    *,
    until: float | None = None,
    tell: Tell | None = None,
) -> Advice:
    """As `advise`, with the rules in `[advise]`, on a backend, until a time of `time.monotonic`.

    `watch` shows the progress of each round, `tell` says how the remedies do so far.
    """
    if out is None:
        with tempfile.TemporaryDirectory(prefix="odonata-advise-") as scratch:
            return find(scenario, backend, Path(scratch) / "study", watch, alternatives, until=until, tell=tell)
    rules = scenario.table.advise
    check_rules(scenario, rules)
    check_packets(scenario)
    name = f"{Path(scenario.path).stem}-advice"

    def swept(make: Remedied, points: Sequence[Mapping[str, Any]], *, alone: bool = False, folder: Path = out) -> Study:
        plan = plan_of(make, points, name=name)
        if alone:
            plan = plan.with_alone()
        with nullcontext() if watch is None else watch(plan) as shown:
            return sweep(plan, folder, backend, report=None if shown is None else shown.report, until=until)

    try:
        space, slowdown = _as_it_is(scenario, swept)
    except OutOfTimeError:
        message = "the time is used up before the scenario as it is has been simulated"
        raise RunError(f"{message}\n  hint: a larger `--budget`") from None
    search = Search(space, swept)
    if tell is not None:
        search.tell = tell
    names = search.collect()
    try:
        return _advice(
            search, names, slowdown, alternatives, lambda number: partial(swept, folder=_beside(out, number))
        )
    except OutOfTimeError:
        search.take(open_study(out))
        return _so_far(search, names, slowdown)


def _so_far(search: Search, names: Sequence[str], slowdown: float | None) -> Advice:
    """The result of a search whose time was used up."""
    untried = search.untried(names)
    return Advice(
        **_common(search, slowdown),
        findings=(),
        tried=len(names) - untried,
        runs=search.runs,
        complete=False,
        so_far=tuple(search.standings()),
        untried=untried,
    )


def _common(search: Search, slowdown: float | None) -> dict[str, Any]:
    space = search.space
    return {
        "scenario": space.scenario,
        "victim": space.victim,
        "slowdown": slowdown,
        "impossible": search.impossible,
        "fixed": tuple(job for job in space.jobs if job not in space.movable),
        "seeds": space.rules.seeds,
    }


def _advice(
    search: Search,
    names: Sequence[str],
    slowdown: float | None,
    alternatives: Sequence[Alternative],
    swept_beside: Callable[[int], Callable[..., Study]],
) -> Advice:
    """The result of the whole search."""
    rules, scenario = search.space.rules, search.space.scenario
    if rules.value is not None:
        _check_value(search.simulate([PRESENT], [search.space.resolved.spec["seed"]]), rules.value, scenario)
    finalists, jobs = search.halve(names) if names else ([], pl.DataFrame())
    if finalists:
        finalists += search.combined(jobs, names)
    rows = search.final(finalists) if finalists else pl.DataFrame()
    findings = [_finding(search, rows, numbered, len(finalists)) for numbered in finalists]
    findings.sort(key=lambda finding: (not finding.helps, finding.score))
    others = [
        _under(search, alternative, [finding.remedy.name for finding in findings], swept_beside(number))
        for number, alternative in enumerate(alternatives if findings else (), 1)
    ]
    return Advice(
        **_common(search, slowdown),
        findings=tuple(findings),
        tried=len(search.costs),
        runs=search.runs + sum(runs for _, runs in others),
        under=tuple(other for other, _ in others),
    )


def _beside(folder: Path, number: int) -> Path:
    """The folder of the study of an assumption."""
    return folder.with_name(f"{folder.name}-under-{number}")


def _under(
    search: Search, alternative: Alternative, names: Sequence[str], swept: Callable[..., Study]
) -> tuple[Under, int]:
    """The final comparison under another assumption, and its number of runs."""
    scenario = alternative.applied(search.space.scenario)
    space = replace(search.space, scenario=scenario, resolved=scenario.resolve())
    other = Search(space, swept, search.remedies, search.costs)
    rows = other.final(names)
    return Under(alternative.name, tuple(_finding(other, rows, name, len(names)) for name in names)), other.runs


def _as_it_is(scenario: Scenario, swept: Callable[..., Study]) -> tuple[Space, float | None]:
    """The space of a scenario, from one run of it, and how much longer its victim takes than alone."""
    resolved, rules = scenario.resolve(), scenario.table.advise
    make = Remedied(scenario, {PRESENT: Remedy((), ())})
    many = len(resolved.spec["jobs"]) > 1
    study = swept(make, [{REMEDY: PRESENT, SEED: resolved.spec["seed"]}], alone=many)
    if study.jobs.is_empty():
        raise InputError(f"the scenario as it is cannot be simulated: {study.runs['error'][0]}")
    rows = {row["name"]: row for row in study.jobs.iter_rows(named=True)}
    targets = [name for name in resolved.targets if name in rows]
    slowdowns = {name: rows[name]["slowdown"] for name in targets if rows[name].get("slowdown") is not None}
    victim = rules.victim or max(slowdowns or dict.fromkeys(targets, 0.0), key=lambda name: slowdowns.get(name, 0.0))
    times = {
        name: int(row["time_ps"])
        for name, row in rows.items()
        if row["iterations"] is not None and row["time_ps"] is not None and row["complete"] is not False
    }
    return Space(scenario, resolved, victim, rules, times), slowdowns.get(victim)


def _finding(search: Search, rows: pl.DataFrame, name: str, tests: int) -> Finding:
    spec = search.space.spec
    order = [search.space.victim, *(job for job in spec if job != search.space.victim)]
    effects = tuple(effect(rows, name, job, search.column(job, spec[job]), search.costs) for job in order)
    slows = tuple(slowed.job for slowed in effects[1:] if slowed.slower())
    unknown = tuple(slowed.job for slowed in effects[1:] if slowed.ratio is None)
    return Finding(search.remedies[name], effects, search.costs[name], effects[0].faster(tests), slows, unknown)


def _check_value(jobs: pl.DataFrame, column: str, scenario: Scenario) -> None:
    """Raises InputError, with its place in the file, for a column by which less is not better."""
    try:
        check_column(jobs, column, (REMEDY, SEED))
        if higher_is_better(column) is not False:
            hint = "choose a time, a latency or the slowdown, of which less is better"
            raise InputError(f"by `{column}`, no job is faster than another", hint=hint)
    except InputError as problem:
        raise scenario.located(problem.but(path=("advise", "value"))) from None
