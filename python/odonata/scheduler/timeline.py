"""The schedule of one stream of jobs: who waits, who runs where, and how fast.

Time and work are integers, so the result does not depend on rounding. A job has work for as long as its run takes with
rate 1. Whenever the set of running jobs changes, jobs may get other rates of progress.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from copy import copy
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from odonata.placement import POLICIES, Placer
from odonata.placement.splitmix import stream_seed
from odonata.scheduler.backfill import BACKFILL, LOOKS_AT, Queued, Waiting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from odonata.machine import System
    from odonata.scheduler.submission import Submission

ONE = 10**6
"""The rate of progress of a job that is as fast as its work says, in millionths."""
FEWEST = 2
"""Nodes of the smallest job that uses the network."""


@dataclass(frozen=True)
class Case:
    """How a stream of jobs is scheduled."""

    system: System
    backfill: str
    policy: str
    options: Mapping[str, Any]
    kill: bool
    """Whether a job ends when its requested time is over."""
    seed: int
    """Seed of policies that draw and have none of their own."""
    folder: str = "."
    backfill_jobs: int | None = LOOKS_AT
    """Waiting jobs that backfilling looks at in one pass; None for all."""


@dataclass(frozen=True)
class Stay:
    """A job on its nodes."""

    number: int
    nodes: tuple[int, ...]
    start_ps: int
    left: int
    """Work that was left at `since_ps`, in ps times millionths."""
    since_ps: int
    rate: int = ONE
    end_ps: int = field(init=False)
    """When it ends if its rate stays."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "end_ps", self.since_ps - (-self.left // self.rate))

    def left_at(self, now: int) -> int:
        """Work that is left at a time."""
        return max(0, self.left - (now - self.since_ps) * self.rate)

    def at_rate(self, rate: int, now: int) -> Stay:
        """The same job, which goes on with a rate."""
        if rate == self.rate:
            return self
        return replace(self, left=self.left_at(now), since_ps=now, rate=rate)


@dataclass(frozen=True)
class Ended:
    """A job that has ended."""

    number: int
    nodes: tuple[int, ...]
    start_ps: int
    end_ps: int
    left_ps: int
    """Work that was not done: 0 unless the job was killed."""

    @property
    def killed(self) -> bool:
        """Whether its time was over before its work was done."""
        return self.left_ps > 0


class Timeline:
    """A schedule under way. `step` leads to the next moment at which the set of running jobs has changed."""

    def __init__(self, case: Case, jobs: Sequence[Submission]) -> None:
        self.case = case
        self.jobs = jobs
        self.now = 0
        self.ended: list[Ended] = []
        self.running: dict[int, Stay] = {}
        self._queue = Waiting()
        self._next = 0
        self._free = len(set(range(case.system.shape.nodes)) - set(case.system.unusable_nodes))
        self._placer = Placer(case.system)
        self._expected: list[tuple[int, int]] = []
        """When running jobs are expected to end, ascending, and their nodes."""
        self._ends: list[tuple[int, int]] = []
        """A heap of the times at which running jobs end, and their numbers."""
        self._settled = 0
        """Jobs at the head of the queue that cannot start before a running job ends."""
        self._rated = False
        """Whether a running job may have another rate than `ONE`."""

    def copy(self) -> Timeline:
        """Another one in the same state, which can go on by itself."""
        other = copy(self)
        other.ended, other.running, other._queue = [*self.ended], {**self.running}, self._queue.copy()
        other._placer, other._expected, other._ends = self._placer.copy(), [*self._expected], [*self._ends]
        return other

    @property
    def done(self) -> bool:
        """Whether all jobs have ended."""
        return not self.running and not self._queue and self._next == len(self.jobs)

    @property
    def network(self) -> tuple[int, ...]:
        """The running jobs that use the network, by number."""
        return tuple(sorted(n for n, stay in self.running.items() if len(stay.nodes) >= FEWEST))

    def step(self, rates: Mapping[int, int]) -> None:
        """Goes to the next moment at which a job ends or starts.

        Parameters
        ----------
        rates
            The rate of progress of each running job in millionths; without one it is `ONE`.
        """
        if rates or self._rated:
            self._set_rates(rates)
        changed = False
        while not changed and not self.done:
            self.now = self._next_event()
            changed = self._end_jobs()
            while self._next < len(self.jobs) and self.jobs[self._next].submit_ps <= self.now:
                job = self.jobs[self._next]
                self._queue.add(Queued(self._next, job.nodes, job.limit_ps))
                self._next += 1
            changed = self._start_jobs() or changed

    def _set_rates(self, rates: Mapping[int, int]) -> None:
        for number, stay in self.running.items():
            self.running[number] = stay.at_rate(rates.get(number, ONE), self.now)
        self._ends = [(self._end(stay), number) for number, stay in self.running.items()]
        heapify(self._ends)
        self._rated = bool(rates)

    def _next_event(self) -> int:
        times = [end for end, _ in self._ends[:1]]
        if self._next < len(self.jobs):
            times.append(self.jobs[self._next].submit_ps)
        return min(times)

    def _end(self, stay: Stay) -> int:
        return min(stay.end_ps, self._limit_end(stay)) if self.case.kill else stay.end_ps

    def _limit_end(self, stay: Stay) -> int:
        return stay.start_ps + self.jobs[stay.number].limit_ps

    def _end_jobs(self) -> bool:
        over: list[int] = []
        while self._ends and self._ends[0][0] <= self.now:
            over.append(heappop(self._ends)[1])
        if len(over) > 1:  # in the order in which they have started
            together = set(over)
            over = [number for number in self.running if number in together]
        for number in over:
            self._end_job(self.running.pop(number))
        return bool(over)

    def _end_job(self, stay: Stay) -> None:
        left_ps = -(-stay.left_at(self.now) // ONE)
        self.ended.append(Ended(stay.number, stay.nodes, stay.start_ps, self.now, left_ps))
        self._settled = 0
        del self._expected[bisect_left(self._expected, (self._limit_end(stay), len(stay.nodes)))]
        self._free += len(stay.nodes)
        self._placer.release(stay.nodes)

    def _start_jobs(self) -> bool:
        if not self._queue:
            return False
        rule = BACKFILL[self.case.backfill]
        if self._expected and self._expected[0][0] <= self.now:
            self._settled = 0  # a job that should have ended: what the others can expect changes with the time
        numbers = rule(self.now, self._free, self._expected, self._queue, self.case.backfill_jobs, self._settled)
        looked_at = min(len(self._queue), self.case.backfill_jobs or len(self._queue))
        self._settled = max(0, looked_at - len(numbers))
        for number in numbers:
            self._start_job(number)
        self._queue.remove(numbers)
        return bool(numbers)

    def _start_job(self, number: int) -> None:
        job, options = self.jobs[number], dict(self.case.options)
        if POLICIES.find(self.case.policy).seeded:
            options.setdefault("seed", stream_seed(self.case.seed, "schedule", number))
        placement = self._placer.place(self.case.policy, job.nodes, options, folder=self.case.folder, owner=job.name)
        stay = self.running[number] = Stay(number, tuple(placement.nodes), self.now, job.work_ps * ONE, self.now)
        self._free -= len(stay.nodes)
        heappush(self._ends, (self._end(stay), number))
        insort(self._expected, (self._limit_end(stay), len(stay.nodes)))
