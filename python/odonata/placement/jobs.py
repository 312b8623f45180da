"""Placement of several jobs, one after the other. The order changes the result, so it is always stated."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odonata.errors import InputError, unknown
from odonata.machine import Shape, System
from odonata.placement.placing import Placer, read_options
from odonata.placement.policy import Freedom, Placement
from odonata.placement.splitmix import stream_seed
from odonata.placement.table import POLICIES

#: Order -> its meaning.
ORDERS: Mapping[str, str] = {
    "arrival": "as listed",
    "small-first": "jobs with fewer nodes first, equal ones as listed",
    "large-first": "jobs with more nodes first, equal ones as listed",
}


def seed_of_job(run_seed: int, number: int) -> int:
    """The seed of a policy that draws, for job `number` of a run with this seed, if the job gives none."""
    return stream_seed(run_seed, "placement", number)


@dataclass(frozen=True)
class Job:
    """A job to be placed; `nodes` may be left out if its policy names them."""

    name: str
    policy: str
    nodes: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def arrange(jobs: Sequence[Job], order: str = "arrival") -> list[Job]:
    """The jobs in the order in which they are placed.

    Jobs whose policy names their nodes come first in every order, because no nodes are chosen for them. Source: Zhang
    2018, sections V-C, VI-D and VI-E: all jobs arrive together and are placed one by one, small or large ones
    first, before any starts.

    Raises InputError for an unknown order or policy, and for two jobs of one name.
    """
    if order not in ORDERS:
        raise unknown("order of jobs", order, ORDERS)
    sign = {"arrival": 0, "small-first": 1, "large-first": -1}[order]
    seen: set[str] = set()
    keys = {}
    for job in jobs:
        if job.name in seen:
            raise InputError(f"two jobs are named `{job.name}`")
        seen.add(job.name)
        try:
            policy = POLICIES.find(job.policy)
            named = policy.freedom(read_options(policy, job.options)) is Freedom.NONE
        except InputError as e:
            raise _about(job, e) from None
        keys[job.name] = (not named, sign * (job.nodes or 0))
    return sorted(jobs, key=lambda job: keys[job.name])


def place_all(
    jobs: Sequence[Job],
    system: str | Mapping[str, Any] | System | Shape,
    order: str = "arrival",
    busy: Iterable[int] | str = (),
    seed: int = 1,
    folder: str | Path = ".",
) -> dict[str, Placement]:
    """Places all jobs on a machine with `busy` nodes. The result is by name, in the order of the list.

    Each job sees the nodes of earlier jobs as busy, with their owners. `order` is one of `ORDERS`. A policy
    that draws and has no seed of its own gets one that follows from `seed` and the number of the job in the list.

    Raises InputError, with the name of the job, for a job that cannot be placed.
    """
    placer = Placer(system, busy)
    numbers = {job.name: number for number, job in enumerate(jobs)}
    placed: dict[str, Placement] = {}
    for job in arrange(jobs, order):
        options = dict(job.options)
        if POLICIES.find(job.policy).seeded:
            options.setdefault("seed", seed_of_job(seed, numbers[job.name]))
        try:
            placed[job.name] = placer.place(job.policy, job.nodes, options, folder=folder, owner=job.name)
        except InputError as e:
            raise _about(job, e) from None
    return {job.name: placed[job.name] for job in jobs}


def _about(job: Job, error: InputError) -> InputError:
    message = f"job `{job.name}`: {error.message}"
    return InputError(message, file=error.file, line=error.line, hint=error.hint, path=error.path)
