"""The explanation of a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from odonata.blame.causes import JobCauses, causes_of
from odonata.blame.without import Without, compare
from odonata.errors import InputError, unknown

if TYPE_CHECKING:
    import polars as pl

    from odonata.runner import Progress
    from odonata.store import Run


@dataclass(frozen=True, slots=True)
class Explanation:
    """Who made whom wait in a run."""

    run: str
    """Id of the run."""
    jobs: tuple[JobCauses, ...]
    """Every requested job of the run, with its causes."""
    without: tuple[Without, ...]
    """The result of each job without each other one; empty without `counterfactual`."""

    def as_dict(self) -> dict[str, Any]:
        """The object that `odonata explain --json` prints.

        `blame` has one entry per victim, cause and class of link, `{victim, cause, class, ps}`, longest first.
        """
        from odonata.blame.sentences import sentences

        blame: list[dict[str, Any]] = [
            {"victim": cause.victim, "cause": cause.cause, "class": class_, "ps": ps}
            for job in self.jobs
            for cause in job.causes
            for class_, ps in cause.by_class.items()
        ]
        blame.sort(key=lambda entry: -entry["ps"])
        return {
            "run": self.run,
            "blame": blame,
            "jobs": [asdict(job) | {"waiting_share": job.waiting_share} for job in self.jobs],
            "without": [asdict(entry) | {"slowdown": entry.slowdown} for entry in self.without],
            "sentences": sentences(self),
        }

    def __str__(self) -> str:
        from odonata.blame.sentences import as_text

        return as_text(self)


def explain(
    run: Run, victim: str | None = None, *, counterfactual: bool = False, progress: Progress | None = None
) -> Explanation:
    """Explain who makes whom wait in a run, where, and what for.

    Parameters
    ----------
    run
        The run. If it has not recorded `measure.blame`, it is simulated again with it; the results are the same.
    victim
        Explain only this job. Default: all jobs that are not background.
    counterfactual
        Also simulate the scenario without each job, and compare.
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
    names = run.jobs["name"].to_list()
    if victim is not None and victim not in names:
        raise unknown("job", victim, names)
    spec = run.resolved["spec"]
    causes = causes_of(run, _blame(run, progress))
    shown = [job for job in causes if (not job.background if victim is None else job.job == victim)]
    background = run.jobs["background"].to_list()
    without = compare(spec, background, run.jobs.to_dicts(), progress) if counterfactual else []
    named = {job.job for job in shown}
    return Explanation(run.id, tuple(shown), tuple(entry for entry in without if entry.victim in named))


def _blame(run: Run, progress: Progress | None) -> pl.DataFrame:
    """The table `blame` of a run; if it has none, of the same run simulated again."""
    if not run.blame.is_empty():
        return run.blame
    from odonata.machine import core
    from odonata.runner import simulate
    from odonata.store.tables import blame_frame

    spec = run.resolved["spec"]
    if spec["compat"] is not None:
        message = f"the model `{spec['compat']}` cannot attribute the waiting of packets"
        raise InputError(message, hint="explain a run without `compat`")
    result = simulate({**spec, "measure": {**spec["measure"], "blame": True}}, progress)
    if (result["end_ps"], result["packet_hops"]) != (run.manifest["sim_time_ps"], run.manifest["packet_hops"]):
        message = f"the run {run.id} is of another version of Odonata, and this one simulates it differently"
        raise InputError(message, hint="run the scenario again with --force, and explain that run")
    return blame_frame(result, core.describe(spec["topology"], spec.get("failures")))
