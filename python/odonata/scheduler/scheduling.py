"""Simulates the schedules of a plan: windows on workers, the schedules themselves here.

A schedule needs one window after the other. So all schedules go on at once. If workers are free, the next window of a
schedule is guessed: a copy of the schedule goes on with the rates that its jobs had before. A guess only simulates a
window earlier, so it changes no result.
"""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, CancelledError, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Protocol

from odonata.errors import RunError
from odonata.processors import begin_worker
from odonata.scheduler.timeline import ONE, Timeline
from odonata.scheduler.utilisation import expected
from odonata.scheduler.window import LEAST, LEAST_BESIDE, SLACK, WARM_UP, Member, Window, safely

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from odonata.scheduler.cache import Cache
    from odonata.scheduler.plan import Plan, Stream
    from odonata.scheduler.tables import WindowTable
    from odonata.scheduler.window import Measured

CHECKED = 3
"""Windows with a drift that must be known before rates are kept without one (assumed)."""
MOST_KEPT = 0.25
"""Rates are not kept any longer when jobs with more than this part of the nodes have started or ended (assumed)."""
STRIKES = 3
"""Times that the workers may die before the schedule stops."""
LOOK_S = 1.0
"""Wall time between two looks whether the workers can still be reached."""


class Executor(Protocol):
    """Where windows are simulated: an executor of `concurrent.futures`, or the workers of Dask.

    If it has an attribute `lost` that is true, the results do not come any more.
    """

    def submit(self, function: Callable[[Window], Any], window: Window, /) -> Future[Any]: ...


@dataclass
class Progress:
    """How far the schedules are."""

    ended: int = 0
    jobs: int = 0
    simulated: int = 0
    """Windows simulated by this call."""
    warnings: tuple[str, ...] = ()
    """What can be said before anything is simulated."""


@dataclass
class Schedule:
    """A stream under the rules of one case, under way."""

    case: str
    stream: Stream
    timeline: Timeline
    rates: dict[int, int] = field(default_factory=dict)
    """The last known rate of each job."""
    seen: dict[int, int] = field(default_factory=dict)
    """The jobs of the last window, with their nodes."""
    own: dict[int, int] = field(default_factory=dict)
    """The rate that each running job has on its nodes if no other job runs, as far as it is known."""
    drifts: list[tuple[float, float]] = field(default_factory=list)
    """At each window but the first: the part of the nodes whose jobs had started or ended since the one before, and by
    which part the rates that jobs had kept were wrong (mean, weighted by nodes)."""
    keys: list[str] = field(default_factory=list)
    """The windows that it has used, in order."""
    patterns: frozenset[int] = frozenset()
    """The rules of the traffic book that are patterns: their jobs keep the rate 1."""
    guess: Schedule | None = None
    """The schedule as it is expected to go on."""

    def copy(self) -> Schedule:
        """Another one in the same state, which can go on by itself."""
        return replace(
            self, timeline=self.timeline.copy(), rates={**self.rates}, seen={**self.seen}, own={**self.own},
            drifts=[*self.drifts], keys=[], guess=None,
        )  # fmt: skip

    @property
    def network(self) -> dict[int, int]:
        """The running jobs that use the network, with their nodes."""
        return {number: self.stream.jobs[number].nodes for number in self.timeline.network}

    def changed(self) -> int:
        """Nodes of the jobs that have started or ended since the last window."""
        now = self.network
        return sum({**self.seen, **now}[number] for number in self.seen.keys() ^ now.keys())

    def needs_window(self, given: WindowTable, nodes: int) -> bool:
        """Whether the rates of the last window no longer count, on a machine with so many nodes.

        Rates are expected to drift as before: in proportion to the nodes of jobs that have started or ended.
        """
        if not self.seen:
            return True
        changed = self.changed() / nodes
        if given.exact or not changed:
            return changed > 0
        if given.change is not None:
            return changed > given.change
        if len(self.drifts) < CHECKED or changed > MOST_KEPT:
            return True
        drifted = sum(drift for _, drift in self.drifts) / sum(share for share, _ in self.drifts)
        return changed * drifted > given.drift

    def drift(self, measured: Mapping[int, int], nodes: int) -> tuple[float, float]:
        """What `drifts` says of a window that has just been simulated."""
        kept = self.carried()
        programs = [number for number in kept if self.stream.jobs[number].app not in self.patterns]
        total = sum(self.stream.jobs[number].nodes for number in programs)
        wrong = sum(self.stream.jobs[number].nodes * abs(kept[number] / measured[number] - 1) for number in programs)
        return self.changed() / nodes, wrong / total if total else 0.0

    def carried(self) -> dict[int, int]:
        """Rates without a window: those of the last one.

        A new job has its rate without other jobs (`own`), times what the others left to the jobs with its application
        in the last window (mean); if there were none, to all programs. A pattern has the rate 1.
        """
        jobs, now = self.stream.jobs, self.timeline.network
        programs = [number for number in now if jobs[number].app not in self.patterns]
        left = {n: self.rates[n] / self.own.get(n, ONE) for n in programs if n in self.seen and n in self.rates}
        for number in now:
            if number not in self.rates and jobs[number].app in self.patterns:
                self.rates[number] = ONE
            elif number not in self.rates:
                alike = [share for other, share in left.items() if jobs[other].app == jobs[number].app]
                among = alike or [*left.values()] or [1.0]
                self.rates[number] = max(1, round(self.own.get(number, ONE) * sum(among) / len(among)))
        return {number: self.rates[number] for number in now}


class Rates:
    """From jobs on their nodes to their rates of progress, by windows."""

    def __init__(self, plan: Plan, cache: Cache) -> None:
        self.plan, self.cache = plan, cache
        self._usable = plan.system.shape.nodes - len(plan.system.unusable_nodes)
        self._least = LEAST if plan.table.window.exact else LEAST_BESIDE
        self._keys: dict[Window, str] = {}

    def key(self, window: Window) -> str:
        """The key of a window; hashing long lists of nodes is done once."""
        if window not in self._keys:
            self._keys[window] = window.key
        return self._keys[window]

    def needed(self, schedule: Schedule) -> tuple[list[Window], Window | None]:
        """The windows without a result that the running jobs need now, and the window of them all once it is known."""
        given = self.plan.table.window
        if not given.contention or not schedule.timeline.network:
            return [], None
        together = schedule.needs_window(given, self._usable)
        members = {
            number: member
            for number, member in self._members(schedule).items()
            if together or number not in schedule.own
        }
        programs = [member for member in members.values() if member.program]
        single = [self._alone(member) for member in programs]
        if not given.exact:
            single += [self._on_its_nodes(member) for member in programs]
        missing = [window for window in dict.fromkeys(single) if self.key(window) not in self.cache]
        if missing or not together:
            return missing, None
        window = self._together([*members.values()])
        return ([] if self.key(window) in self.cache else [window]), window

    def rates(self, schedule: Schedule, window: Window | None) -> dict[int, int]:
        """The rate of each running job that uses the network; from now on they are the last known ones."""
        if not self.plan.table.window.contention:
            return {}
        members = self._members(schedule)
        if not self.plan.table.window.exact:
            known = schedule.own
            schedule.own = {
                number: known[number] if number in known else self._rate(member, self._on_its_nodes(member))
                for number, member in members.items()
            }
        if window is None:
            return schedule.carried()
        rates = {number: self._rate(member, window) for number, member in members.items()}
        if schedule.seen:
            schedule.drifts.append(schedule.drift(rates, self._usable))
        schedule.rates, schedule.seen = rates, schedule.network
        return {**rates}

    def _members(self, schedule: Schedule) -> dict[int, Member]:
        """The running jobs that use the network, by number."""
        running, jobs = schedule.timeline.running, schedule.stream.jobs
        return {number: self.plan.member(jobs[number], running[number].nodes) for number in schedule.timeline.network}

    def _rate(self, member: Member, window: Window) -> int:
        """The rate of a job in a window that has been simulated."""
        if not member.program:
            return ONE
        alone = self.cache[self.key(self._alone(member))].means_ps[0]
        now = self.cache[self.key(window)].means_ps[window.members.index(member)]
        return max(1, round(ONE * alone / now)) if alone and now else ONE

    def _on_its_nodes(self, member: Member) -> Window:
        """The job by itself."""
        return self._window([member], 0)

    def _alone(self, member: Member) -> Window:
        """The job by itself on the first nodes of the machine: what its work refers to."""
        failed = self.plan.system.unusable_nodes
        usable = [node for node in range(len(member.nodes) + len(failed)) if node not in failed]
        return self._window([replace(member, nodes=tuple(usable[: len(member.nodes)]))], 0)

    def _together(self, members: list[Member]) -> Window:
        slowest = max(
            (self.cache[self.key(self._alone(member))].means_ps[0] or 0.0 for member in members if member.program),
            default=0.0,
        )
        length = min(round(SLACK * (WARM_UP + self._least + 1) * slowest), self.plan.table.window.longest)
        return self._window(sorted(members, key=lambda member: min(member.nodes)), max(1, length))

    def _window(self, members: list[Member], first_ps: int) -> Window:
        given = self.plan.table.window
        return Window(
            self.plan.machine, str(self.plan.folder.resolve()), tuple(members), given.seed, float(given.error),
            first_ps, given.longest, self.plan.content, self._least if first_ps else LEAST,
        )  # fmt: skip


def simulate(
    plan: Plan,
    cache: Cache,
    workers: int,
    executor: Executor | None = None,
    report: Callable[[Progress], object] | None = None,
) -> list[Schedule]:
    """Simulate every stream of a plan under the rules of every case.

    Parameters
    ----------
    plan
        The plan.
    cache
        The windows that are known; new ones are added.
    workers
        Number of windows at once.
    executor
        Where they are simulated. Default: processes on this machine.
    report
        Called after each window.

    Returns
    -------
    list of Schedule
        Case by case, in each the streams; all jobs have ended.

    Raises
    ------
    RunError
        If a window cannot be simulated, or workers die again and again.
    """
    schedules = [
        Schedule(name, stream, Timeline(case, stream.jobs), patterns=plan.patterns)
        for name, case in plan.cases
        for stream in plan.streams
    ]
    crew = _Crew(workers, executor)
    try:
        _Run(plan, cache, schedules, crew, report).go()
    finally:
        crew.close()
    return schedules


class _Run:
    def __init__(
        self,
        plan: Plan,
        cache: Cache,
        schedules: list[Schedule],
        crew: _Crew,
        report: Callable[[Progress], object] | None,
    ) -> None:
        self._rates, self._cache, self._schedules, self._crew = Rates(plan, cache), cache, schedules, crew
        self._report = report
        jobs = sum(len(schedule.stream.jobs) for schedule in schedules)
        self._progress = Progress(jobs=jobs, warnings=tuple(expected(plan)))

    def go(self) -> None:
        """Goes on until all jobs of all schedules have ended."""
        waiting = [schedule for schedule in self._schedules if not schedule.timeline.done]
        self._tell()
        for schedule in waiting:
            schedule.timeline.step({})
        while waiting:
            waiting = [schedule for schedule in waiting if self._advance(schedule)]
            self._tell()
            if waiting:
                for schedule in waiting:
                    self._guess(schedule)
                self._collect()

    def _advance(self, schedule: Schedule) -> bool:
        """Goes on with a schedule until it needs a window that is missing; returns whether it does."""
        while not schedule.timeline.done:
            missing, window = self._rates.needed(schedule)
            if missing:
                for absent in missing:
                    self._crew.want(self._rates.key(absent), absent)
                return True
            if window is not None:
                schedule.keys.append(self._rates.key(window))
            schedule.timeline.step(self._rates.rates(schedule, window))
            schedule.guess = None
        return False

    def _guess(self, schedule: Schedule) -> None:
        """Wants the windows that a schedule will probably need next, as long as workers are free."""
        guess = schedule.guess = schedule.guess or schedule.copy()
        while self._crew.free and not guess.timeline.done:
            missing, window = self._rates.needed(guess)
            wanted = [asked for asked in missing if not self._crew.wants(self._rates.key(asked))]
            for asked in wanted:
                self._crew.want(self._rates.key(asked), asked)
            if not wanted:
                rates = guess.carried() if missing else self._rates.rates(guess, window)
                guess.seen = guess.network if missing else guess.seen
                guess.timeline.step(rates)

    def _collect(self) -> None:
        """Waits for a window at least."""
        for key, measured in self._crew.results():
            self._cache.add(key, measured)
            self._progress.simulated += 1

    def _tell(self) -> None:
        self._progress.ended = sum(len(schedule.timeline.ended) for schedule in self._schedules)
        if self._report is not None:
            self._report(self._progress)


class _Crew:
    """Workers that simulate windows."""

    def __init__(self, workers: int, executor: Executor | None) -> None:
        self._workers = workers
        self._given = executor
        self._pool: ProcessPoolExecutor | None = None
        self._under_way: dict[Future[Any], tuple[str, Window]] = {}
        self._strikes = 0

    @property
    def free(self) -> bool:
        """Whether a worker has nothing to do."""
        return len(self._under_way) < self._workers

    def wants(self, key: str) -> bool:
        """Whether this window is on its way."""
        return any(key == other for other, _ in self._under_way.values())

    def want(self, key: str, window: Window) -> None:
        """Lets a worker simulate a window, unless it is on its way."""
        if not self.wants(key):
            self._under_way[self._executor().submit(safely, window)] = (key, window)

    def results(self) -> list[tuple[str, Measured]]:
        """The windows that are done; waits for one. Raises RunError if one cannot be simulated."""
        collected = []
        try:
            done = wait(self._under_way, LOOK_S, FIRST_COMPLETED).done
            while not done:
                if getattr(self._given, "lost", False):
                    raise CancelledError
                done = wait(self._under_way, LOOK_S, FIRST_COMPLETED).done
            for future in sorted(done, key=lambda task: self._under_way[task][0]):
                measured, problem = future.result()
                if measured is None:
                    raise RunError(f"a window cannot be simulated: {problem}")
                key, _ = self._under_way.pop(future)
                collected.append((key, measured))
        except BrokenProcessPool:
            self._again()
        except CancelledError:
            raise RunError(
                "the connection to the scheduler of the workers is lost\n  hint: finished windows are kept; start it, "
                "and the same command continues"
            ) from None
        except RunError:
            raise
        except Exception as problem:  # of a worker of Dask: what fails in a window comes as a text
            raise RunError(f"a worker failed: {type(problem).__name__}: {problem}") from problem
        return collected

    def _again(self) -> None:
        """Starts other workers in place of dead ones, with the windows that they had."""
        self._strikes += 1
        if self._strikes >= STRIKES:
            raise RunError("the workers die again and again, perhaps because memory runs out\n  hint: fewer --workers")
        lost = [*self._under_way.values()]
        self._under_way, self._pool = {}, None
        for key, window in lost:
            self.want(key, window)

    def _executor(self) -> Executor:
        if self._given is not None:
            return self._given
        if self._pool is None:
            # A fork of a process with threads may hang, and NumPy and polars have threads.
            self._pool = ProcessPoolExecutor(self._workers, get_context("spawn"), begin_worker, (os.getpid(),))
        return self._pool

    def close(self) -> None:
        """Ends the workers; what they were at is lost."""
        for future in self._under_way:
            future.cancel()
        if self._pool is not None:
            processes: Mapping[int, Any] = getattr(self._pool, "_processes", None) or {}
            for process in list(processes.values()):
                process.kill()
            self._pool.shutdown(cancel_futures=True)
