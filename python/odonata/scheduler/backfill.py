"""Which waiting jobs start now: first come first served, alone or with backfilling.

All three are pure functions of the time, the free nodes, the running jobs (with the times at which they are expected to
end), the queue in the order of submission, and how far backfilling looks into it. Nodes are counted; a placement policy
chooses them afterwards.

A queue may hold tens of thousands of jobs, and most events start none of them. So a rule first selects the jobs that
could start at all, from arrays, and looks only at those and at the jobs before them. `settled` jobs at its head cannot
start: they were looked at, did not start, and no job has ended since.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from odonata.scheduler.reservations import MOST, Plan, Profile

Array = np.ndarray[Any, np.dtype[np.int64]]

LOOKS_AT = 500
"""Waiting jobs that backfilling looks at in one pass, unless a schedule says otherwise. Source: `bf_max_job_test` in
the manual of slurm.conf, default 500; older manuals say 100."""


@dataclass(frozen=True)
class Queued:
    """A job in the queue."""

    number: int
    nodes: int
    limit_ps: int
    """The time that it requested."""


Running = Sequence[tuple[int, int]]
"""Of each running job, the time (ps) at which it is expected to end, and its nodes."""


class Waiting:
    """The waiting jobs in the order of submission, in which their numbers ascend."""

    def __init__(self, jobs: Iterable[Queued] = ()) -> None:
        self._jobs: list[Queued] = []
        self._nodes = self._limits = np.empty(0, np.int64)
        self._begin = 0
        for job in jobs:
            self.add(job)

    def __len__(self) -> int:
        return len(self._jobs) - self._begin

    def __getitem__(self, position: int) -> Queued:
        return self._jobs[self._begin + position]

    @property
    def nodes(self) -> Array:
        """Nodes of each job."""
        return self._nodes[self._begin : len(self._jobs)]

    @property
    def limits(self) -> Array:
        """The time that each job requested, in ps, at most `MOST`."""
        return self._limits[self._begin : len(self._jobs)]

    def add(self, job: Queued) -> None:
        """A job joins the queue."""
        end = len(self._jobs)
        if end == len(self._nodes):
            self._nodes, self._limits = (
                np.concatenate([of[:end], np.empty(max(16, end), np.int64)]) for of in (self._nodes, self._limits)
            )
        self._nodes[end], self._limits[end] = job.nodes, min(job.limit_ps, MOST)
        self._jobs.append(job)

    def remove(self, numbers: Collection[int]) -> None:
        """Jobs leave the queue."""
        # The jobs before one that leaves move up: most jobs that start are near the head of a long queue.
        for number in numbers:
            at, begin = bisect_left(self._jobs, number, self._begin, key=_number), self._begin
            self._jobs[begin + 1 : at + 1] = self._jobs[begin:at]
            for of in (self._nodes, self._limits):
                of[begin + 1 : at + 1] = of[begin:at]
            self._begin += 1
        if self._begin > len(self):
            self._drop()

    def _drop(self) -> None:
        """Drops the places of jobs that have left."""
        begin, end = self._begin, len(self._jobs)
        self._jobs, self._begin = self._jobs[begin:], 0
        self._nodes, self._limits = self._nodes[begin:end].copy(), self._limits[begin:end].copy()

    def copy(self) -> Waiting:
        """Another queue with the same jobs."""
        other = Waiting()
        other._jobs, other._nodes, other._limits = [*self._jobs], self._nodes.copy(), self._limits.copy()
        other._begin = self._begin
        return other


def _number(job: Queued) -> int:
    return job.number


def first_come(
    _now: int, free: int, _running: Running, queue: Waiting, _looks_at: int | None = None, _settled: int = 0
) -> list[int]:
    """Jobs from the head of the queue, as long as they fit: no backfilling.

    Parameters
    ----------
    free
        Nodes that no job has.
    queue
        The waiting jobs in the order of submission.

    Returns
    -------
    list of int
        Numbers of the jobs that start now, in the order in which they start.
    """
    started: list[int] = []
    while len(started) < len(queue) and queue[len(started)].nodes <= free:
        job = queue[len(started)]
        free -= job.nodes
        started.append(job.number)
    return started


def easy(
    now: int, free: int, running: Running, queue: Waiting, looks_at: int | None = None, _settled: int = 0
) -> list[int]:
    """EASY backfilling: a later job may start if it does not delay the first job that has to wait.

    The first waiting job has a reservation at the earliest time at which enough nodes are expected to be free. A later
    job starts now if it fits and either ends before that time or needs only nodes that the first job leaves free then.
    Source: Lifka, "The ANL/IBM SP scheduling system" (JSSPP 1995); Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.

    Parameters
    ----------
    now
        The time in ps.
    free
        Nodes that no job has.
    running
        The running jobs.
    queue
        The waiting jobs in the order of submission.
    looks_at
        So many waiting jobs are looked at, from the first one that has to wait on; None for all. With 1 nothing is
        backfilled.
    settled
        So many jobs at the head of the queue were looked at and did not start, and no job has ended since.

    Returns
    -------
    list of int
        As for `first_come`.
    """
    started = first_come(now, free, running, queue)
    first = [queue[position] for position in range(len(started))]
    free -= sum(job.nodes for job in first)
    stop = _stop(queue, len(first), looks_at)
    if not _fits(queue, len(first) + 1, stop, free):
        return started
    ends = [*running, *((now + job.limit_ps, job.nodes) for job in first)]
    head = queue[len(first)]
    shadow, there = now, free
    for end, nodes in sorted(ends):
        there += nodes
        if there >= head.nodes:
            shadow = max(now, end)
            break
    # Jobs that are expected to end at the same moment are free then too.
    extra = free + sum(nodes for end, nodes in ends if max(now, end) <= shadow) - head.nodes
    # What a job that starts takes away makes the conditions of later ones stricter, never those of earlier ones weaker.
    position = len(first) + 1
    while position < stop:
        needed, limits = queue.nodes[position:stop], queue.limits[position:stop]
        may = (needed <= free) & ((limits <= min(shadow - now, MOST)) | (needed <= extra))
        step = int(may.argmax())
        if not may[step]:
            break
        job = queue[position + step]
        in_time = now + job.limit_ps <= shadow
        if in_time or job.nodes <= extra:
            started.append(job.number)
            free -= job.nodes
            extra -= 0 if in_time else job.nodes
        position += step + 1
    return started


def _stop(queue: Waiting, first: int, looks_at: int | None) -> int:
    """The position after the last job that is looked at, if the job at `first` is the first one that has to wait."""
    return len(queue) if looks_at is None else min(len(queue), first + looks_at)


def _fits(queue: Waiting, begin: int, stop: int, free: int) -> bool:
    """Whether some job of this part of the queue needs no more than the free nodes."""
    return free > 0 and begin < stop and int(queue.nodes[begin:stop].min()) <= free


def conservative(
    now: int, free: int, running: Running, queue: Waiting, looks_at: int | None = None, settled: int = 0
) -> list[int]:
    """Conservative backfilling: a later job may start if it delays no job before it in the queue.

    Every waiting job gets the earliest time at which its nodes are expected to be free for all of its requested time,
    in the order of the queue. The reservations are made anew at each event, in the same order, as far as a job comes
    that could still start now. Source: Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. Jobs beyond the part of the queue
    that is looked at have no reservation. Parameters and result as for `easy`.
    """
    started = first_come(now, free, running, queue)
    first = [queue[position] for position in range(len(started))]
    free -= sum(job.nodes for job in first)
    begin, stop = len(first), _stop(queue, len(first), looks_at)
    nodes, limits = queue.nodes[begin:stop], queue.limits[begin:stop]
    fits = np.flatnonzero(nodes <= free)
    could = fits[fits >= settled - begin].tolist()
    if could:
        profile = Profile(now, free, [*running, *((now + job.limit_ps, job.nodes) for job in first)])
        started += [queue[begin + position].number for position in Plan(profile, nodes, limits, could).starts()]
    return started


BACKFILL: Mapping[str, Callable[[int, int, Running, Waiting, int | None, int], list[int]]] = {
    "easy": easy,
    "conservative": conservative,
    "none": first_come,
}
"""Name in a file -> the rule. `docs/schedule.md` describes them."""
