"""Which waiting jobs start now: first come first served, alone or with backfilling.

All three are pure functions of the time, the free nodes, the running jobs (with the times at which they are expected to
end) and the queue in the order of submission. Nodes are counted; a placement policy chooses them afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Queued:
    """A job in the queue."""

    number: int
    nodes: int
    limit_ps: int
    """The time that it requested."""


Running = Sequence[tuple[int, int]]
"""Of each running job, the time (ps) at which it is expected to end, and its nodes."""


def first_come(_now: int, free: int, _running: Running, queue: Sequence[Queued]) -> list[int]:
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
    started = []
    for job in queue:
        if job.nodes > free:
            break
        free -= job.nodes
        started.append(job.number)
    return started


def easy(now: int, free: int, running: Running, queue: Sequence[Queued]) -> list[int]:
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

    Returns
    -------
    list of int
        As for `first_come`.
    """
    started = first_come(now, free, running, queue)
    waiting = queue[len(started) :]
    if not waiting:
        return started
    by_number = {job.number: job for job in queue}
    ends = [*running, *((now + by_number[number].limit_ps, by_number[number].nodes) for number in started)]
    free -= sum(by_number[number].nodes for number in started)
    head = waiting[0]
    shadow, there = now, free
    for end, nodes in sorted(ends):
        there += nodes
        if there >= head.nodes:
            shadow = max(now, end)
            break
    # Jobs that are expected to end at the same moment are free then too.
    extra = free + sum(nodes for end, nodes in ends if max(now, end) <= shadow) - head.nodes
    for job in waiting[1:]:
        if job.nodes > free:
            continue
        in_time = now + job.limit_ps <= shadow
        if in_time or job.nodes <= extra:
            started.append(job.number)
            free -= job.nodes
            extra -= 0 if in_time else job.nodes
    return started


def conservative(now: int, free: int, running: Running, queue: Sequence[Queued]) -> list[int]:
    """Conservative backfilling: a later job may start if it delays no job before it in the queue.

    Every waiting job gets the earliest time at which its nodes are expected to be free for all of its requested time,
    in the order of the queue. The reservations are made anew at each event, in the same order.
    Source: Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. Parameters and result as for `easy`.
    """
    profile = _Profile(now, free, running)
    return [job.number for job in queue if profile.reserve(job.nodes, job.limit_ps) == now]


class _Profile:
    """The expected number of free nodes over time, as steps."""

    def __init__(self, now: int, free: int, running: Running) -> None:
        self._times, self._free = [now], [free]
        for end, nodes in sorted(running):
            if end <= now:  # it was expected to end before, and is taken to end at any moment, not now
                end = now + 1
            if end == self._times[-1]:
                self._free[-1] += nodes
            else:
                self._times.append(end)
                self._free.append(self._free[-1] + nodes)

    def reserve(self, nodes: int, length: int) -> int:
        """Takes the nodes for a time of this length, as early as possible; returns its begin."""
        at = self._earliest(nodes, length)
        begin = self._times[at]
        last = self._cut(begin + length)
        for step in range(at, last):
            self._free[step] -= nodes
        return begin

    def _earliest(self, nodes: int, length: int) -> int:
        at = step = 0
        while step < len(self._times) and self._times[step] < self._times[at] + length:
            if self._free[step] < nodes:
                at = step = step + 1
            else:
                step += 1
        return at

    def _cut(self, time: int) -> int:
        """The step that begins at this time, which becomes one if it is none."""
        step = next((step for step, begin in enumerate(self._times) if begin >= time), len(self._times))
        if step == len(self._times) or self._times[step] != time:
            self._times.insert(step, time)
            self._free.insert(step, self._free[step - 1])
        return step


BACKFILL: Mapping[str, Callable[[int, int, Running, Sequence[Queued]], list[int]]] = {
    "easy": easy,
    "conservative": conservative,
    "none": first_come,
}
"""Name in a file -> the rule. `docs/schedule.md` describes them."""
