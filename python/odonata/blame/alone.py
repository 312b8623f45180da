"""Compares a job beside the others of a run with the same job alone, and divides the difference into causes.

A neighbour costs a job time in two ways. Packets of the job wait behind its packets. It also displaces packets of the
job: they share paths that they would not share alone, or take longer ones. Blame shows the first effect only. So the
job is simulated alone, with the same nodes and seed, and the difference is divided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.blame.coalitions import quantity_of, spec_of, value
from odonata.blame.critical import TRANSFER
from odonata.blame.programs import program_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from odonata.blame.causes import JobCauses
    from odonata.blame.programs import ProgramTime
    from odonata.runner import Progress
    from odonata.store import Run

NEIGHBOUR = "neighbour"
OWN = "own packets"
PATHS = "longer paths"
HOST = "host"
OTHER = "other"
PARTS = {
    NEIGHBOUR: "waiting for packets of another job",
    OWN: "waiting for own packets, more than alone",
    PATHS: "time on links and in routers without waiting, more than alone",
    HOST: "time of the critical path outside the network, more than alone",
    OTHER: "what the waiting of packets does not explain: messages come in another order",
}
"""Parts of a difference -> their meaning."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the difference between a job beside others and alone."""

    kind: str
    """One of `PARTS`."""
    cause: str | None
    """The other job, if the part is waiting for its packets."""
    ps: float
    """In picoseconds; negative if the part is smaller than alone."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A job beside the others of a run, and alone on the same nodes with the same seed."""

    job: str
    """The job."""
    others: tuple[str, ...]
    """The other jobs, in descending order of the waiting for their packets."""
    quantity: str
    """The compared quantity: `latency_mean_ps`, or `time_ps` for a program."""
    with_ps: float
    """Its value beside the others, in picoseconds."""
    alone_ps: float
    """Its value alone, in picoseconds."""
    parts: tuple[Part, ...] = ()
    """The parts of the difference, whose sum is the difference. Empty if the waiting of its packets alone is
    unknown."""
    direct_share: float = 0.0
    """Share of its packets' time beside the others that is waiting for packets of other jobs."""
    own_alone_ps: int | None = None
    """Time for which its packets wait for each other alone, in picoseconds; None if it is not known."""

    @property
    def slowdown(self) -> float:
        """The value beside the others, divided by the value alone."""
        return self.with_ps / self.alone_ps


def recorded(run: Run, causes: Iterable[JobCauses]) -> tuple[Beside, ...]:
    """The slowdowns of jobs whose time alone is part of the run. The difference is not divided."""
    spec, rows = run.resolved["spec"], {row["name"]: row for row in run.jobs.to_dicts()}
    numbers = {job["name"]: number for number, job in enumerate(spec["jobs"])}
    entries = []
    for of in causes:
        row = rows[of.job]
        here, slowdown = value(spec, numbers[of.job], row), row["slowdown"]
        if here and slowdown and len(rows) > 1:
            quantity = quantity_of(spec, numbers[of.job])
            entries.append(Beside(of.job, _others(of, rows), quantity, here, here / slowdown, (), _direct(of)))
    return tuple(entries)


def simulated(
    run: Run,
    causes: Sequence[JobCauses],
    programs: Sequence[ProgramTime],
    progress: Progress | None = None,
) -> tuple[Beside, ...]:
    """Simulate each job alone, if it ends by itself, and divide the difference.

    Parameters
    ----------
    run
        The run with all jobs.
    causes
        What the packets of the jobs wait for in it.
    programs
        The times of programs, for jobs that have one.
    progress
        Called about every 0.2 s; see `odonata.runner.Progress`.

    Returns
    -------
    tuple of Beside
        One for each job all of whose messages arrive, both beside the others and alone.
    """
    import polars as pl

    from odonata.machine import core
    from odonata.runner import simulate
    from odonata.store.tables import blame_frame, job_rows

    spec = run.resolved["spec"]
    rows = run.jobs.to_dicts()
    paths = {program.job: program for program in programs}
    system = core.describe(spec["topology"], spec.get("failures"))
    entries = []
    for of in causes:
        number = next(n for n, row in enumerate(rows) if row["name"] == of.job)
        only = spec_of(spec, frozenset([number]))
        here = value(spec, number, rows[number])
        if only is None or not here or len(rows) == 1:
            continue
        has_path = of.job in paths
        only = {**only, "measure": only["measure"] | {"blame": True} | ({"operations": True} if has_path else {})}
        if has_path:
            only["jobs"] = [{**only["jobs"][0], "record": "every-message"}]
        result = simulate(only, progress, stage=f"{of.job} alone")
        alone = value(only, 0, job_rows(result, only, [False], {})[0])
        if not alone:
            continue
        waits = blame_frame(result, system)
        path_alone = program_time(result, only, 0) if has_path else None
        served = int(waits.filter(pl.col("wait") == "service")["time_ps"].sum())
        own = int(waits["time_ps"].sum()) - served
        parts = _divided(of, own, served, here - alone, paths.get(of.job), path_alone)
        names = {row["name"]: row for row in rows}
        quantity = quantity_of(spec, number)
        entries.append(Beside(of.job, _others(of, names), quantity, here, alone, parts, _direct(of), own))
    return tuple(entries)


def _others(of: JobCauses, names: Mapping[str, Any]) -> tuple[str, ...]:
    waited = [cause.cause for cause in of.causes if cause.cause != of.job]
    return (*waited, *(name for name in names if name != of.job and name not in waited))


def _direct(of: JobCauses) -> float:
    whole = of.waiting_ps + of.service_ps
    return sum(cause.ps for cause in of.causes if cause.cause != of.job) / whole if whole else 0.0


def _divided(
    of: JobCauses,
    own_alone: int,
    service_alone: int,
    difference: float,
    path: ProgramTime | None,
    path_alone: ProgramTime | None,
) -> tuple[Part, ...]:
    """The difference of a job beside others and alone, in picoseconds, as parts whose sum is the difference.

    The part of the critical path outside the network belongs to the host. The rest is divided in the proportions of the
    packets' additional time: waiting for each job, and travelling.
    """
    parts = []
    if path is not None and path_alone is not None:
        host = _outside(path) - _outside(path_alone)
        parts.append(Part(HOST, None, host))
        difference -= host
    changes: list[tuple[str, str | None, int]] = [
        (NEIGHBOUR, cause.cause, cause.ps) for cause in of.causes if cause.cause != of.job
    ]
    own = sum(cause.ps for cause in of.causes if cause.cause == of.job)
    changes += [(OWN, None, own - own_alone), (PATHS, None, of.service_ps - service_alone)]
    whole = sum(ps for _, _, ps in changes)
    if whole * difference > 0:
        parts += [Part(kind, cause, difference * ps / whole) for kind, cause, ps in changes]
    else:  # packets are not slower than alone, or they are and the job is still faster
        parts.append(Part(OTHER, None, difference))
    return tuple(sorted((part for part in parts if part.ps), key=lambda part: -part.ps))


def _outside(path: ProgramTime) -> int:
    """The time of a critical path outside the network."""
    return path.time_ps - sum(share.ps for share in path.path if share.kind == TRANSFER)
