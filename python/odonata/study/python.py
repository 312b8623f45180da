"""`odonata.sweep`: a sweep from Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.document.plain import checked, plain
from odonata.errors import InputError
from odonata.processors import processors
from odonata.scenario import Scenario, as_scenario
from odonata.study import read
from odonata.study.axis import Axis
from odonata.study.check import check_values
from odonata.study.local import LocalPool
from odonata.study.plan import Plan, check_axes, named
from odonata.study.sweep import sweep as run_sweep
from odonata.study.task import POINT
from odonata.study.values import is_range, values

if TYPE_CHECKING:
    from odonata.study.keep import Keep
    from odonata.study.ledger import Ledger
    from odonata.study.plan import Make
    from odonata.study.study import Study

    Values = Iterable[Any] | Mapping[str, Any] | Callable[[], Iterable[Any]]
    Axes = Mapping[str | tuple[str, ...], Values]
    Points = Sequence[Mapping[str, Any]]


def sweep(
    scenario: Scenario | Make | str | PathLike[str] | Mapping[str, Any],
    axes: Axes | Points | None = None,
    *,
    keep: Keep | None = None,
    name: str | None = None,
    workers: int | None = None,
    out: str | Path | None = None,
    alone: bool = False,
    client: Any = None,
    force: bool = False,
    retry_failed: bool = False,
    keep_stale: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Study:
    """Simulate a scenario along many axes, each run once.

    Parameters
    ----------
    scenario
        The scenario, the path of its file, or its data (`Scenario.of`); without `axes` the path or the data of a study,
        as `odonata sweep` takes it. Or a function that makes a scenario of the keys and values of each point; it
        defines the meaning of the keys.
    axes
        Values for each key of `Scenario.set`: a list, a range such as `{"from": 1, "to": 10}`, or a function that
        returns a list (`odonata.placements`, `odonata.routings`, `odonata.systems`). A tuple of keys with tuples of
        values varies the keys together. Points that are not a product of lists are a list of dictionaries with the same
        keys.
    keep
        A function from each `Run` to a dictionary of numbers, texts or lists of them, which become columns of
        `Study.runs`; the tables of the run are not kept. A run that was kept by a function with another source is
        simulated again.
    name
        Name of the study. Default: the name of its scenario or function.
    workers
        Processes that simulate at once; by default one for each processor.
    out
        The folder of the study. After an interruption the same call continues from it. Without it, the results are only
        in memory.
    alone
        Also run each job that is not background alone on the empty system, as `odonata.run` does. Points share such
        a run if the job has the same nodes, seed and application, even with other neighbours.
    client
        A `distributed.Client`, whose workers simulate instead, or the address of a scheduler such as
        `"tls://host:8786"`, with the certificates of Dask's configuration.
    force
        Simulate finished runs in `out` again.
    retry_failed
        Simulate again the points in `out` that failed.
    keep_stale
        Keep finished runs in `out` also if another engine (`odonata.store.engine`) has simulated them. Without it, a
        `StaleWarning` counts them and they are simulated again.
    progress
        Called with the number of points done, and of all.

    Returns
    -------
    Study
        A failed run raises no error; it is listed in `Study.failed`.

    Raises
    ------
    InputError
        For invalid keys and values, and for an `out` with other contents.

    Examples
    --------
    >>> import odonata as od
    >>> study = od.sweep("examples/quick.toml", {"run.seed": range(1, 3)}, workers=1)
    >>> study.runs.height
    2
    """
    plan = plan_of(scenario, axes, keep, name)
    if alone and not plan.alone:
        plan = plan.with_alone()
    report = None if progress is None else _reporting(progress)
    choices: dict[str, Any] = {"force": force, "retry_failed": retry_failed, "keep_stale": keep_stale, "report": report}
    if client is not None:
        from odonata.study.certificates import warning_of
        from odonata.study.dask_pool import DaskPool

        warning = warning_of(client) if isinstance(client, str) else None
        if warning is not None:
            warnings.warn(warning, stacklevel=2)
        return run_sweep(plan, _folder(out), DaskPool(client), **choices)
    many = processors() if workers is None else plain(workers)
    if not isinstance(many, int) or many < 1:
        raise InputError(f"`workers`: expected a whole number from 1 on, found `{workers!r}`")
    return run_sweep(plan, _folder(out), LocalPool(many), **choices)


def _folder(out: str | Path | None) -> Path | None:
    return None if out is None else Path(out)


def _reporting(progress: Callable[[int, int], object]) -> Callable[[Ledger], object]:
    return lambda ledger: progress(ledger.settled, len(ledger.plan))


def plan_of(
    scenario: Scenario | Make | str | PathLike[str] | Mapping[str, Any],
    axes: Axes | Points | None = None,
    keep: Keep | None = None,
    name: str | None = None,
) -> Plan:
    """The plan of `sweep`, with the same parameters and errors."""
    if axes is None:
        if isinstance(scenario, str | PathLike | Mapping):
            given = read.of(scenario) if isinstance(scenario, Mapping) else read.load(Path(scenario))
            return replace(given, keep=keep or given.keep, mark=None, name=name or given.name)
        hint = 'odonata.sweep(scenario, {"run.seed": range(10)}), or odonata.sweep("study.toml")'
        raise InputError("a sweep needs axes, or the path of a study", hint=hint)
    if isinstance(scenario, Mapping) or not callable(scenario):
        scenario = as_scenario(scenario)
    made = _points(axes) if isinstance(axes, Sequence) else tuple(_axis(keys, given) for keys, given in axes.items())
    if not made:
        raise InputError("the study has no axis", hint='such as {"run.seed": range(10)}')
    if isinstance(scenario, Scenario):
        check_axes(made)
        plan = Plan(name or Path(scenario.path).stem, scenario, made, keep=keep)
        check_values(plan, None)
        return plan
    for key in (key for axis in made for key in axis.keys):
        if key in (POINT, "id", "status", "error"):
            raise InputError(f"`{key}` is a column of `runs`, so it cannot be a key", hint="give it another name")
    return Plan(name or named(scenario), scenario, made, keep=keep)


def _points(points: Points) -> tuple[Axis, ...]:
    """A list of points: one axis with all keys."""
    if not points:
        raise InputError("the study has no point", hint='such as [{"run.seed": 1}, {"run.seed": 2}]')
    keys = tuple(points[0])
    for number, point in enumerate(points):
        if set(point) != set(keys):
            raise InputError(f"point {number}: expected the keys {', '.join(keys)}, found {', '.join(point)}")
    if not keys:
        raise InputError("the points have no keys")
    return (_axis(keys, [[point[key] for key in keys] for point in points]),)


def _axis(keys: str | tuple[str, ...], given: Values) -> Axis:
    name = keys if isinstance(keys, str) else ", ".join(keys)
    listed: Any = given() if callable(given) else given
    if not is_range(listed):
        if isinstance(listed, str | Mapping) or not isinstance(listed, Iterable):
            raise InputError(f"`{name}`: expected a list of values, found `{listed!r}`", hint=f"[{listed!r}]")
        if isinstance(listed, Set):
            raise InputError(f"`{name}`: the values of a set have no order", hint="use sorted(...)")
        listed = list(listed)
    try:
        listed = checked(listed)
    except InputError as e:
        raise InputError(f"`{name}`: an axis has an invalid value: {e.message}", hint=e.hint) from None
    try:
        chosen = values(listed)
    except InputError as e:
        raise InputError(f"`{name}`: {e.message}", hint=e.hint) from None
    if isinstance(keys, str):
        return Axis((keys,), tuple((value,) for value in chosen))
    for row in chosen:
        if not isinstance(row, list) or len(row) != len(keys):
            raise InputError(f"`{name}`: expected {len(keys)} values, found `{row!r}`")
    return Axis(tuple(keys), tuple(map(tuple, chosen)))
