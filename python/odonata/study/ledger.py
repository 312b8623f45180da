"""The ledger of a sweep: the state of every point and of every run.

A worker takes points, reports their run ids, simulates the runs that the ledger grants it, and returns the outcomes. If
a worker dies, its points can be taken again. The ledger grants a run to one worker at a time, and no finished run.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from typing import TYPE_CHECKING

from odonata.errors import OutOfTimeError
from odonata.study.estimate import Estimate
from odonata.study.task import PREFIX, failure, frame_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl

    from odonata.study.plan import Plan
    from odonata.study.results import Results
    from odonata.study.task import AloneRun, Granted, Resolution

    Report = Callable[["Ledger"], object]
    """Called with the ledger after each write."""

FLUSH_S = 0.5
"""Wall time between two writes of outcomes. A killed process loses at most the outcomes of this time."""

STRIKES = 2
"""Number of workers that may die during a run before the run counts as failed."""


class Ledger:
    """The state of every point of a study."""

    def __init__(
        self,
        plan: Plan,
        results: Results,
        *,
        force: bool = False,
        retry_failed: bool = False,
        report: Report | None = None,
        until: float | None = None,
    ) -> None:
        self.plan = plan
        self.results = results
        self.ids: dict[int, str] = {}
        """Runs of the points that have been resolved."""
        self.alone: dict[str, tuple[AloneRun, ...]] = {}
        """Id of a point's run -> the runs of its targets alone, if the study compares with them."""
        self.errors: dict[int, str] = {}
        """Points that cannot be run, with their errors."""
        self.read: dict[str, str] | None = {}
        """The files that the resolutions depend on (`reading.recorded`); `None` if they depend on anything else."""
        self.simulated = 0
        """Runs simulated by this sweep."""
        self.kept = 0
        """Points whose run was finished before this sweep."""
        self.until = until
        """The time limit of the sweep, by `time.monotonic`; `None` without one."""
        self.estimate = Estimate(plan)
        statuses = {} if force else results.statuses(plan.mark)
        self._failed = {run for run, status in statuses.items() if status == "failed"}
        self._known = set(statuses) - (self._failed if retry_failed else set())
        self._failed &= self._known
        self._expected_kept = len(self._known)
        self._next = 0
        self._left = len(plan)
        self._cached: set[int] = set()
        self._again: deque[int] = deque()
        self._under_way: dict[str, int] = {}
        self._waiting: dict[str, set[int]] = {}
        self._missing: dict[int, set[str]] = {}
        self._strikes: Counter[int] = Counter()
        self._unsettled: list[pl.DataFrame] = []
        self._report = report
        self._settled = self._lost = 0
        self._last_flush = time.monotonic()

    @property
    def settled(self) -> int:
        """Points whose outcome is known and written."""
        return self._settled

    @property
    def failed(self) -> int:
        """Settled points that failed."""
        return len(self.errors) + self._lost

    def is_settled(self, number: int) -> bool:
        """Whether the outcome of this point is known."""
        return number in self.errors or (number in self.ids and self.runs_of(number) <= self._known)

    def runs_of(self, number: int) -> set[str]:
        """The runs that a point needs: its own, and those of its targets alone."""
        run = self.ids[number]
        return {run, *(alone.id for alone in self.alone.get(run, ()))}

    def take(self, count: int, worth_s: float) -> list[int]:
        """Take points that no worker has: at most this many, for about this time; an empty list if none are left.

        While the time of runs is unknown, it is a single point.
        """
        taken: list[int] = []
        worth = 0.0
        while len(taken) < count and self.untaken and (not taken or worth < worth_s):
            if self._again:
                taken.append(self._again.popleft())
            else:
                while self._next in self._cached:
                    self._next += 1
                taken.append(self._next)
                self._next += 1
                self._left -= 1
            worth += self.estimate.expected_s(taken[-1]) if self.estimate.runs else worth_s
        return taken

    @property
    def untaken(self) -> int:
        """Points that can be taken."""
        return len(self._again) + self._left

    def take_cached(self, resolutions: Mapping[int, Resolution], read: Mapping[str, str]) -> None:
        """Settles points whose resolutions and runs are known, before any point is taken.

        `read` are the files on which the resolutions depend.
        """
        for number, resolution in resolutions.items():
            runs = {resolution.id, *(alone.id for alone in resolution.alone)}
            if runs <= self._known:
                self._cached.add(number)
                self._left -= 1
                self.grant([resolution])
        self.read = {**read}

    def grant(self, resolutions: Iterable[Resolution]) -> list[Granted]:
        """Grant the runs of these resolved points that the calling worker must simulate."""
        granted: list[Granted] = []
        for resolution in resolutions:
            if resolution.id is None:
                self.errors[resolution.number] = resolution.error or "?"
                self._settled += 1
                continue
            self.ids[resolution.number] = resolution.id
            self._depend_on(resolution.read)
            if resolution.alone:
                self.alone[resolution.id] = resolution.alone
            missing = self.runs_of(resolution.number) - self._known
            if not missing:
                self.kept += 1
                self._settle(resolution.number)
                continue
            self._missing[resolution.number] = missing
            for run in missing:
                self._waiting.setdefault(run, set()).add(resolution.number)
            free = missing.difference(self._under_way)
            self._under_way |= dict.fromkeys(free, resolution.number)
            named = {
                resolution.id: None,
                **{alone.id: alone.name for alone in resolution.alone if alone.id != resolution.id},
            }
            if free:
                granted.append((resolution.number, tuple(name for run, name in named.items() if run in free)))
        self.tell()
        return granted

    def _depend_on(self, read: Mapping[str, str] | None) -> None:
        """Records the files of a resolution. If a file changed between resolutions, nothing can be recorded."""
        if self.read is not None and read is not None and read.items() <= {**read, **self.read}.items():
            self.read |= read
        else:
            self.read = None

    def hand_in(self, rows: pl.DataFrame, spent: Sequence[tuple[int, float]]) -> None:
        """Outcomes (`task.frame_of`) and the time that each point took; written with others before long."""
        if not rows.height:
            return
        self.results.add(rows)  # stored at once with all that `flush` needs, so that a signal loses nothing
        self.simulated += rows[f"{PREFIX}id"].n_unique()
        for number, seconds in spent:
            self.estimate.took(number, seconds)
        self.flush(FLUSH_S)

    def put_back(self, numbers: Iterable[int]) -> None:
        """Put back points that were taken or granted and that the worker will not return."""
        for number in numbers:
            for run in self._runs_under_way(number):
                del self._under_way[run]
            self._again.append(number)

    def _runs_under_way(self, number: int) -> list[str]:
        """The runs that were granted for this point and have not come back."""
        return [run for run in self.runs_of(number) if self._under_way.get(run) == number] if number in self.ids else []

    def strike(self, number: int, why: str) -> None:
        """A worker died during this point. The point is put back; if this happened before, it has failed."""
        self._strikes[number] += 1
        if self._strikes[number] < STRIKES:
            self.put_back([number])
            return
        self.lose(number, f"its worker died {STRIKES} times ({why})")

    def lose(self, number: int, error: str) -> None:
        """A point has failed without an outcome of its own."""
        if number not in self.ids:
            self.errors[number] = error
            self._settled += 1
        else:
            # Not only granted runs: its worker may have died before its next request.
            missing = self._missing.get(number, set())
            runs = sorted(run for run in missing if self._under_way.get(run, number) == number)
            lost = [failure(run, error, self.plan.mark) for run in runs]
            self.hand_in(frame_of(lost, [None] * len(runs)), [])

    def flush(self, after_s: float = 0.0) -> None:
        """Writes the outcomes if the last write was long enough ago. Raises RunError if they cannot be written.

        Raises OutOfTimeError, once, if points are left at the time when the sweep has to end. All workers call this
        twice a second.
        """
        if time.monotonic() - self._last_flush >= after_s:
            self._write()
        if self.until is not None and time.monotonic() >= self.until and not self.complete:
            self.until = None
            raise OutOfTimeError("the time is used up")

    def _write(self) -> None:
        """Writes the outcomes, and settles their points.

        A signal may end this at any step. It is called again then, and repeating a step changes nothing.
        """
        self._unsettled = [*self._unsettled, *self.results.waiting]
        self.results.flush()
        self._last_flush = time.monotonic()
        for rows in self._unsettled:
            for run, status in zip(rows[f"{PREFIX}id"].to_list(), rows[f"{PREFIX}status"].to_list(), strict=True):
                self._settle_run(run, status)
        if self._unsettled:
            self._unsettled = []
            self.tell()

    def _settle_run(self, run: str, status: str) -> None:
        """A run is written: the points that waited for it alone are settled."""
        if status == "failed":
            self._failed.add(run)
        self._known.add(run)
        self._under_way.pop(run, None)
        for number in self._waiting.get(run, ()):
            missing = self._missing.get(number, set())
            missing.discard(run)
            if number in self._missing and not missing:
                del self._missing[number]
                self._settle(number)
        self._waiting.pop(run, None)

    def _settle(self, number: int) -> None:
        # Counted here: with many points, a pass over all of them at each report would take longer than their runs.
        self._settled += 1
        self._lost += not self._failed.isdisjoint(self.runs_of(number))

    def left_s(self, workers: int) -> float | None:
        """Wall time that is left with this many workers, as estimated; `None` before a run is finished.

        Runs that were there at the start and have not been met yet are taken to be still to come, and take no time.
        """
        untaken: Sequence[int] = range(self._next, len(self.plan))
        if self._cached:
            untaken = [number for number in untaken if number not in self._cached]
        kept = min(max(0, self._expected_kept - self.kept), len(untaken))
        share = 1 - kept / len(untaken) if untaken else 1.0
        rest = self.estimate.work_s(untaken)
        under_way = self.estimate.work_s([*self._again, *dict.fromkeys(self._under_way.values())])
        if rest is None or under_way is None:
            return None
        return (rest * share + under_way) / max(1, min(workers, len(self.plan) - self._settled))

    def tell(self) -> None:
        """Reports progress."""
        if self._report is not None:
            self._report(self)

    @property
    def complete(self) -> bool:
        """Whether every point is settled."""
        return self._settled == len(self.plan)
