"""The epochs of a simulated run: times in which the same programs run, and the iterations of each program in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from odonata.steady.mean import mean_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from odonata.steady.mean import Mean

NOT_FINISHED = np.uint64(2**64 - 1)
"""The core's end time of a rank that has not finished."""


@dataclass(frozen=True, slots=True)
class Border:
    """What ends an epoch."""

    at_ps: int
    kind: Literal["start", "end"]
    """A program starts, or its last rank ends."""
    job: int


@dataclass(frozen=True, slots=True)
class Seen:
    """The iterations of a program that lie in an epoch."""

    pace: Mean | None
    """The time from the end of an iteration to the end of the next one; `None` without an iteration that takes time."""
    time_ps: float
    """Mean time of the same iterations after the warm-up, from the first rank's begin to the last rank's end."""
    rank_ps: float
    """Mean time of a rank for one of these."""
    apart: float
    """By how much of the mean time the first and the last rank move apart with each of these. Ranks that run ahead of
    others fill queues, so the program is not steady however equal its times are."""
    begun_ps: float
    """The time from the end of the last iteration before the end of the epoch, or from the start of the program, to the
    end of the epoch: for this long the next iteration has run."""


@dataclass(frozen=True)
class Epoch:
    """An epoch of a simulated run."""

    begin_ps: int
    end: Border
    seen: Mapping[int, Seen] = field(repr=False)
    """The programs that run in it."""

    @property
    def jobs(self) -> frozenset[int]:
        """The numbers of the programs that run in it."""
        return frozenset(self.seen)

    @property
    def length_ps(self) -> int:
        """Its length."""
        return self.end.at_ps - self.begin_ps


@dataclass(frozen=True, slots=True)
class _Iterations:
    """The iterations of a program that all its ranks have ended."""

    start_ps: float
    begins: NDArray[np.float64]
    first_ends: NDArray[np.float64]
    ends: NDArray[np.float64]
    paces: NDArray[np.float64]
    of_ranks: NDArray[np.float64]

    def inside(self, begin_ps: int, end_ps: int) -> Seen:
        """Those between two times."""
        there = (self.ends - self.paces >= begin_ps) & (self.ends <= end_ps)
        pace = mean_of(self.paces[there])
        begun = end_ps - float(np.max(self.ends, where=self.ends <= end_ps, initial=self.start_ps))
        if pace is None or pace.value <= 0:
            return Seen(None, 0.0, 0.0, 0.0, begun)
        times, of_ranks, between = (
            values[there][pace.warm_up :]
            for values in (self.ends - self.begins, self.of_ranks, self.ends - self.first_ends)
        )
        apart = abs(_growth(between)) / pace.value
        return Seen(pace, float(times.mean()), float(of_ranks.mean()), apart, begun)


def _growth(values: NDArray[np.float64]) -> float:
    """By how much a series grows with each value: the mean of its second half less that of its first half; 0 if it is
    no more than twice the standard error of this difference."""
    half = len(values) // 2
    if not half:
        return 0.0
    more = float(values[-half:].mean() - values[:half].mean())
    noise = float(values.std()) * 2 / np.sqrt(len(values))
    return more / (len(values) - half) if abs(more) > 2 * noise else 0.0


def epochs_of(spec: Mapping[str, Any], result: Mapping[str, Any]) -> list[Epoch]:
    """The epochs of a run, in the order of time, up to the end of the last job that it waits for."""
    programs = [number for number, job in enumerate(spec["jobs"]) if "program" in job]
    finish = {number: _finish(result, number) for number in programs}
    ends = [finish[number] for number in spec["stop"]["jobs"]]
    last = max((end for end in ends if end is not None), default=0)
    made = {number: _iterations(spec, result, number) for number in programs}
    epochs: list[Epoch] = []
    running: set[int] = set()
    now = 0
    for border in _borders(spec, finish, last):
        seen = {number: made[number].inside(now, border.at_ps) for number in sorted(running)}
        epochs.append(Epoch(now, border, seen))
        running ^= {border.job}
        now = border.at_ps
    return epochs


def _borders(spec: Mapping[str, Any], finish: Mapping[int, int | None], last: int) -> Iterator[Border]:
    starts = {number: int(spec["jobs"][number]["program"]["start_ps"]) for number in finish}
    borders = [Border(start, "start", number) for number, start in starts.items()]
    borders += [Border(end, "end", number) for number, end in finish.items() if end is not None]
    # Of borders at one time, a start comes before an end, for no program ends when it starts.
    ordered = sorted(borders, key=lambda border: (border.at_ps, border.kind == "end", border.job))
    yield from (border for border in ordered if border.at_ps <= last)


def _rows(table: Mapping[str, Any], job: int) -> slice:
    jobs = table["job"]
    first, end = (int(np.searchsorted(jobs, jobs.dtype.type(job), side)) for side in ("left", "right"))
    return slice(first, end)


def _finish(result: Mapping[str, Any], job: int) -> int | None:
    """When the last rank ended; `None` if one has not."""
    ends = result["ranks"]["finish_ps"][_rows(result["ranks"], job)]
    return int(ends.max()) if len(ends) and bool((ends != NOT_FINISHED).all()) else None


def _iterations(spec: Mapping[str, Any], result: Mapping[str, Any], job: int) -> _Iterations:
    table, rows = result["iterations"], _rows(result["iterations"], job)
    ranks = len(spec["jobs"][job]["nodes"])
    ended = table["ranks"][rows] == ranks
    names = ("first_begin_ps", "first_end_ps", "last_end_ps", "total_ps")
    begins, first_ends, ends, of_ranks = (table[name][rows][ended].astype(np.float64) for name in names)
    start = float(spec["jobs"][job]["program"]["start_ps"])
    return _Iterations(start, begins, first_ends, ends, np.diff(ends, prepend=start), of_ranks / ranks)
