"""Which waiting jobs start now: first come first served, alone or with backfilling.

All three are pure functions of the time, the free nodes, the running jobs (with the times at which they are expected to
end), the queue in the order of submission, and how far backfilling looks into it. Nodes are counted; a placement policy
chooses them afterwards.

A queue may hold tens of thousands of jobs, and most events start none of them. So a rule first selects the jobs that
could start at all, from arrays, and looks only at those and at the jobs before them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.int64]]

MOST = np.iinfo(np.int64).max
"""Longer times are cut to this one (106 days in ps) where arrays hold them."""
LOOKS_AT = 500
"""Waiting jobs that backfilling looks at in one pass, unless a schedule says otherwise. Source: `bf_max_job_test` in
the manual of slurm.conf (Slurm 24), default 500; earlier versions (Slurm 20) had 100."""
LOOK = 16
"""Reservations after which conservative backfilling looks again which jobs can start now."""


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


def first_come(_now: int, free: int, _running: Running, queue: Waiting, _looks_at: int | None = None) -> list[int]:
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


def easy(now: int, free: int, running: Running, queue: Waiting, looks_at: int | None = None) -> list[int]:
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


def conservative(now: int, free: int, running: Running, queue: Waiting, looks_at: int | None = None) -> list[int]:
    """Conservative backfilling: a later job may start if it delays no job before it in the queue.

    Every waiting job gets the earliest time at which its nodes are expected to be free for all of its requested time,
    in the order of the queue. The reservations are made anew at each event, in the same order, as far as a job comes
    that could still start now. Source: Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. Jobs beyond the part of the queue
    that is looked at have no reservation. Parameters and result as for `easy`.
    """
    started = first_come(now, free, running, queue)
    first = [queue[position] for position in range(len(started))]
    free -= sum(job.nodes for job in first)
    stop = _stop(queue, len(first), looks_at)
    if not _fits(queue, len(first) + 1, stop, free):
        return started
    profile = _Profile(now, free, [*running, *((now + job.limit_ps, job.nodes) for job in first)])
    position, last = len(first), stop - 1
    while position <= last:
        job = queue[position]
        if profile.reserve(job.nodes, min(job.limit_ps, MOST)) == 0:
            started.append(job.number)
        position += 1
        if (position - len(first)) % LOOK == 0 or (started and started[-1] == job.number):
            # Reservations take nodes away, so a job that could not start now before cannot start later on.
            last = position + profile.last_now(queue.nodes[position : last + 1], queue.limits[position : last + 1])
    return started


class _Profile:
    """The expected number of free nodes over time, as steps: arrays of begins, relative to now, and of free nodes."""

    def __init__(self, now: int, free: int, running: Running) -> None:
        # A job that was expected to end before is taken to end at any moment, not now.
        steps = sorted((max(end - now, 1), nodes) for end, nodes in running)
        self._count = 1 + len(steps)
        self._begins = np.zeros(2 * self._count, np.int64)
        self._free = np.zeros(2 * self._count, np.int64)
        self._begins[1 : self._count] = [min(begin, MOST) for begin, _ in steps]
        self._free[: self._count] = np.cumsum([free, *(nodes for _, nodes in steps)])
        # Of jobs that end at the same time, the last step counts.
        ends_step = np.append(np.diff(self._begins[: self._count]) > 0, True)
        self._count = int(ends_step.sum())
        for of in (self._begins, self._free):
            of[: self._count] = of[: len(ends_step)][ends_step]

    def reserve(self, nodes: int, length: int) -> int:
        """Takes the nodes for a time of this length, as early as possible; returns its begin, from now on."""
        begins, free = self._begins[: self._count], self._free[: self._count]
        short = np.flatnonzero(free < nodes)
        at = 0
        if len(short):
            # A stay begins now, or where a step that is too short of nodes ends; the next such step ends it.
            starts = np.concatenate(([0], begins[1:][short[short + 1 < self._count]]))
            gaps = begins[short] - starts[: len(short)]
            fits = np.flatnonzero(gaps >= length)
            last_short = int(fits[0]) - 1 if len(fits) else len(short) - 1
            at = int(short[last_short]) + 1 if last_short >= 0 else 0
        begin = int(begins[at])
        last = self._cut(min(begin + length, MOST))
        self._free[at:last] -= nodes
        return begin

    def last_now(self, nodes: Array, limits: Array) -> int:
        """The position of the last of some jobs that could begin now; -1 if none could."""
        most = int(self._free[0])
        if not len(nodes) or most <= 0:
            return -1
        # For each number of nodes up to the free ones: how long they stay free.
        least = np.minimum.accumulate(self._free[: self._count])
        lasts = np.full(most + 1, MOST, np.int64)
        for level in np.flatnonzero(np.diff(least)) + 1:
            lasts[int(least[level]) + 1 : int(least[level - 1]) + 1] = self._begins[level]
        few = nodes <= most
        could = np.flatnonzero(few & (limits <= lasts[np.where(few, nodes, 0)]))
        return int(could[-1]) if len(could) else -1

    def _cut(self, time: int) -> int:
        """The step that begins at this time, which becomes one if it is none."""
        count = self._count
        step = int(np.searchsorted(self._begins[:count], time))
        if step < count and self._begins[step] == time:
            return step
        if count == len(self._begins):
            self._begins, self._free = (np.concatenate([of, of]) for of in (self._begins, self._free))
        for of, new in ((self._begins, time), (self._free, self._free[step - 1])):
            of[step + 1 : count + 1] = of[step:count].copy()
            of[step] = new
        self._count = count + 1
        return step


BACKFILL: Mapping[str, Callable[[int, int, Running, Waiting, int | None], list[int]]] = {
    "easy": easy,
    "conservative": conservative,
    "none": first_come,
}
"""Name in a file -> the rule. `docs/schedule.md` describes them."""
