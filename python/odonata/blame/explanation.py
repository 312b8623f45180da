"""The explanation of a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.blame.alone import Beside, recorded, simulated
from odonata.blame.causes import JobCauses, causes_of
from odonata.blame.coalitions import Coalitions
from odonata.blame.programs import LeftOut, ProgramTime, is_recorded, program_times
from odonata.blame.shapley import MOST, Shapley, needed, shares
from odonata.blame.without import Without, compare, pairs
from odonata.errors import InputError, unknown
from odonata.processors import processors
from odonata.store import Run, open_run
from odonata.store.columns import RECORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl

    from odonata.blame.causes import Cause
    from odonata.runner import Progress
    from odonata.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation of a run: which job made which job wait."""

    run: str
    """Id of the run."""
    jobs: tuple[JobCauses, ...]
    """Every requested job of the run, with its causes."""
    without: tuple[Without, ...]
    """The result of each job without each other one; empty without `counterfactual`."""
    programs: tuple[ProgramTime, ...] = ()
    """The times of programs, for each of these jobs that has one."""
    left_out: tuple[LeftOut, ...] = ()
    """Jobs with a program whose times are not known."""
    shapley: tuple[Shapley, ...] = ()
    """The loss of each of these jobs, divided among the other jobs; empty without `shapley`."""
    undivided: tuple[LeftOut, ...] = ()
    """With `shapley`, the jobs whose loss could not be divided."""
    beside: tuple[Beside, ...] = ()
    """Each of these jobs beside the others and alone, if both are known."""

    def as_dict(self) -> dict[str, Any]:
        """The object that `odonata explain --json` prints.

        `beside` compares each job with itself alone; its `parts` add up to the difference. `blame` has one entry per
        victim, cause and class of link, `{victim, cause, class, ps}`, longest first. `roots` has the same for the waits
        for room, by the links at which chains of full buffers end.
        """
        from odonata.blame.sentences import sentences

        return {
            "run": self.run,
            "beside": [asdict(entry) | {"slowdown": entry.slowdown} for entry in self.beside],
            "blame": _by_class(cause for job in self.jobs for cause in job.causes),
            "roots": _by_class(cause for job in self.jobs for cause in job.roots),
            "jobs": [asdict(job) | {"waiting_share": job.waiting_share} for job in self.jobs],
            "without": [asdict(entry) | {"slowdown": entry.slowdown} for entry in self.without],
            "programs": [asdict(entry) for entry in self.programs],
            "left_out": [asdict(entry) for entry in self.left_out],
            "shapley": [asdict(entry) for entry in self.shapley],
            "undivided": [asdict(entry) for entry in self.undivided],
            "sentences": sentences(self),
        }

    def __str__(self) -> str:
        from odonata.blame.sentences import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from odonata.blame.sentences import as_html

        return as_html(self)


def _by_class(causes: Iterable[Cause]) -> list[dict[str, Any]]:
    """An entry for each cause and class of link, longest first."""
    classes: list[dict[str, Any]] = [
        {"victim": cause.victim, "cause": cause.cause, "class": class_, "ps": ps}
        for cause in causes
        for class_, ps in cause.by_class.items()
    ]
    return sorted(classes, key=lambda entry: -entry["ps"])


def explain(
    run: Run | Scenario | str | PathLike[str] | Mapping[str, Any],
    victim: str | None = None,
    *,
    alone: bool = True,
    counterfactual: bool = False,
    shapley: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Explanation:
    """Explain who makes whom wait in a run, where, and what for.

    Parameters
    ----------
    run
        The run, or its folder; or a scenario or its data, which is then simulated. If it has not recorded
        `measure.blame`, or not every operation and message of a job with a program, it is simulated again with them;
        the results are the same.
    victim
        Explain only this job. Default: all jobs that are not background.
    alone
        Simulate each of these jobs alone too, say how much longer it takes beside the others, and divide the
        difference. Without it, the slowdown is given if the run holds it.
    counterfactual
        Also simulate the scenario without each job, and compare.
    shapley
        Also divide what the other jobs cost each job among them, by their Shapley values. All coalitions of the jobs
        are simulated: up to 2^n - 2 runs for n jobs, at most six. It includes `counterfactual`.
    workers
        Runs at once for these two; by default one for each processor. They change no result.
    progress
        Called about every 0.2 s; see `odonata.runner.Progress`.

    Returns
    -------
    Explanation

    Raises
    ------
    InputError
        For an unknown victim, and for a run whose waiting cannot be attributed.

    Examples
    --------
    >>> import odonata as od
    >>> found = od.explain(od.run("examples/quick.toml"))
    >>> found.jobs[0].job, round(found.jobs[0].waiting_share, 1) > 0
    ('target', True)
    """
    run = _run(run, progress)
    names = run.jobs["name"].to_list()
    if victim is not None and victim not in names:
        raise unknown("job", victim, names)
    spec = run.resolved["spec"]
    background = run.jobs["background"].to_list()
    shown = [n for n, name in enumerate(names) if (not background[n] if victim is None else name == victim)]
    programs = [n for n in shown if "program" in spec["jobs"][n]]
    tables = _tables(run, programs, progress)
    causes = causes_of(run, tables["blame"], tables["roots"], jobs=shown)
    coalitions = Coalitions(spec, background, run.jobs.to_dicts())
    victims = [n for n in shown if not background[n]]
    divided = victims if shapley and len(names) <= MOST else []
    if counterfactual or shapley:
        wanted = [members for _, _, members in pairs(len(names), victims, coalitions)]
        wanted += [coalition for n in divided for coalition in needed(len(names), n) if coalitions.possible(coalition)]
        coalitions.simulate(wanted, processors() if workers is None else workers, progress)
    divided_shares = shares(spec, divided, coalitions)
    times, left_out = program_times(run, programs, tables["operations"], tables["messages"])
    front = [job for job in causes if not job.background]
    return Explanation(
        run.id,
        tuple(causes),
        tuple(compare(spec, victims, coalitions)) if counterfactual or shapley else (),
        times,
        left_out,
        tuple(divided_shares),
        tuple(_undivided(names, victims, divided_shares)) if shapley else (),
        simulated(run, front, times, progress) if alone else recorded(run, front),
    )


def _run(given: Run | Scenario | str | PathLike[str] | Mapping[str, Any], progress: Progress | None) -> Run:
    """The run to explain."""
    if isinstance(given, Run):
        return given
    if isinstance(given, str | PathLike):
        return open_run(Path(given))
    from odonata.runner import run

    return run(given, progress=progress)


def _undivided(names: Sequence[str], victims: Sequence[int], shapley: Sequence[Shapley]) -> list[LeftOut]:
    """The jobs whose loss could not be divided."""
    if len(names) > MOST:
        reason = f"the run has more than {MOST} jobs"
    else:
        reason = "not all of it arrives, or the run does not end, in one of the runs without some of the jobs"
    divided = {share.victim for share in shapley}
    return [LeftOut(names[n], reason) for n in victims if names[n] not in divided]


def missing(run: Run) -> list[str]:
    """What the run has not recorded and the explanation needs, each with the keys that record it. If the result is not
    empty, the run must be simulated again. Raises InputError for a run whose waiting cannot be attributed.
    """
    _check(run.resolved["spec"])
    spec, names = run.resolved["spec"], run.jobs["name"].to_list()
    background = run.jobs["background"].to_list()
    programs = [n for n, job in enumerate(spec["jobs"]) if "program" in job and not background[n]]
    absent = ["who makes whom wait (`measure.blame = true`)"] * run.blame.is_empty()
    lacking = [f"`{names[n]}`" for n in programs if not is_recorded(run, n)]
    if lacking:
        keys = '`measure.operations = true`, and `record = "every-message"` in the job'
        absent.append(f"the operations and messages of {', '.join(lacking)} ({keys})")
    return absent


def _check(spec: Mapping[str, Any]) -> None:
    """Raises InputError if the waiting of packets cannot be attributed."""
    if spec["compat"] is not None:
        message = f"the model `{spec['compat']}` cannot attribute the waiting of packets"
        raise InputError(message, hint="explain a run without `compat`")
    if spec["fabric"].get("traffic_classes"):
        message = "the waiting of packets is not attributed in a run with traffic classes"
        hint = "explain a run without them; `odonata run --alone` says what the others cost a job"
        raise InputError(message, hint=hint)


def _tables(run: Run, programs: Sequence[int], progress: Progress | None) -> Mapping[str, pl.DataFrame]:
    """The tables that explain a run with programs. Tables that were not recorded are simulated again."""
    tables = {"blame": run.blame, "roots": run.roots, "operations": run.operations, "messages": run.messages}
    again = []
    if run.blame.is_empty():
        again += ["blame", "roots"]
    if not all(is_recorded(run, job) for job in programs):
        again += ["operations", "messages"]
    if not again:
        return tables
    return {**tables, **_again(run, programs, again, progress)}


def _again(
    run: Run, programs: Sequence[int], names: Sequence[str], progress: Progress | None
) -> dict[str, pl.DataFrame]:
    """Tables of a run that is simulated again to record them."""
    from odonata.machine import core
    from odonata.runner import simulate
    from odonata.store.tables import blame_frame, messages_frame, operations_frame, roots_frame

    spec = run.resolved["spec"]
    _check(spec)
    measure = {key: value for key, value in spec["measure"].items() if key not in RECORDS}
    measure |= {name: True for name in ("blame", "roots", "operations") if name in names}
    # Records that no explanation needs are switched off. They do not change results.
    measure["arrivals_every_ps"] = None
    recorded = programs if "messages" in names else ()
    jobs = [{**job, "record": "every-message" if n in recorded else "nothing"} for n, job in enumerate(spec["jobs"])]
    result = simulate({**spec, "jobs": jobs, "measure": measure}, progress)
    if (result["end_ps"], result["packet_hops"]) != (run.manifest["sim_time_ps"], run.manifest["packet_hops"]):
        message = f"the run {run.id} is of another version of Odonata, and this one simulates it differently"
        raise InputError(message, hint="run the scenario again with --force, and explain that run")
    system = core.describe(spec["topology"], spec.get("failures"))
    makers: dict[str, Callable[[], pl.DataFrame]] = {
        "blame": lambda: blame_frame(result, system),
        "roots": lambda: roots_frame(result, system),
        "operations": lambda: operations_frame(result),
        "messages": lambda: messages_frame(result),
    }
    return {name: makers[name]() for name in names}
