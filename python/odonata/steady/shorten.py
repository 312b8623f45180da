"""The shortened specification of a run with a wanted number of iterations in each epoch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    Epochs = frozenset[int]
    """The programs that run in an epoch."""

FIRST = 12
"""Iterations of each program in an epoch of the first shortened run. Measured: of runs that settle into another rhythm,
half have done so by then."""
LEAST_SHARE = 1 / 16
"""An epoch is simulated for at least this share of its length (assumed), so that a late change of rhythm is seen more
often. It bounds what can be saved."""
FIRST_STEPS, LEAST_SHARE_OF_STEPS = 64, 1 / 64
"""The same of the steps of a collective around rings, which are alike and many (assumed: 64 are 32 of each half of an
all-reduce, which pass four nodes of eight ranks)."""
MOST_SHARE = 0.5
"""An epoch of which more than this share is wanted is simulated in full: the rest would save less than the trials
cost."""
FEWEST, FEWEST_STEPS = int(FIRST / MOST_SHARE), int(FIRST_STEPS / MOST_SHARE)
"""A program with no more iterations, or steps, is simulated in full."""


@dataclass(frozen=True)
class Shortened:
    """A shortened specification."""

    spec: dict[str, Any]
    share: float
    """Its length, divided by that of the whole run, as far as the means are known."""
    whole_ps: float
    """The length of the whole run, as far as the means are known."""


class Known:
    """What earlier trials have shown: mean iterations by program and epoch, and how many are needed.

    Of the programs `steps`, steps are counted in place of iterations.
    """

    def __init__(self, steps: Collection[int] = ()) -> None:
        self.steps = steps
        self._paces: dict[tuple[int, Epochs], float] = {}
        self._needed: dict[tuple[int, Epochs], int] = {}
        self._apart: set[tuple[int, Epochs]] = set()

    def add(self, job: int, running: Epochs, pace_ps: float) -> None:
        """A mean of this program while these programs run."""
        self._paces[job, running] = pace_ps

    def need(self, job: int, running: Epochs, count: int) -> None:
        """That many iterations of a program are needed while these programs run."""
        self._needed[job, running] = max(count, self._needed.get((job, running), self.fewest(job)))

    def fewest(self, job: int) -> int:
        """The iterations of a program in an epoch of the first shortened run."""
        return FIRST_STEPS if job in self.steps else FIRST

    def least_share(self, running: Collection[int]) -> float:
        """The share of its length for which an epoch of these programs is simulated at least."""
        return LEAST_SHARE_OF_STEPS if set(running) <= set(self.steps) else LEAST_SHARE

    def moved_apart(self, job: int, running: Epochs) -> bool:
        """Notes that the ranks of a program moved apart while these ran; whether they did so in an earlier trial too:
        then they do so throughout."""
        before = (job, running) in self._apart
        self._apart.add((job, running))
        return before

    def pace(self, job: int, running: Epochs) -> float:
        """The mean of a program; if it has not been seen with these, the longest with others."""
        if (job, running) in self._paces:
            return self._paces[job, running]
        return max((pace for (of, _), pace in self._paces.items() if of == job), default=math.inf)

    def wanted_ps(self, running: Epochs) -> float:
        """The time of an epoch in which each program has as many iterations as are needed."""
        wanted = (self._needed.get((job, running), self.fewest(job)) * self.pace(job, running) for job in running)
        return max(wanted, default=0.0)


def first(spec: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """The first trial: all programs at once, each with a few iterations, because no time of an iteration is known."""
    start = min((job["program"]["start_ps"] for job in spec["jobs"] if "program" in job), default=0)
    changed = {}
    for number, job in enumerate(spec["jobs"]):
        if "program" in job:
            count = job["program"]["iterations"]
            few = (
                None
                if count is None
                else min(count, max(known.fewest(number), math.ceil(count * known.least_share([number]))))
            )
            changed[number] = {"start_ps": start, "iterations": few}
    return with_programs(spec, changed)


def shortened(spec: Mapping[str, Any], known: Known) -> Shortened | None:
    """The shortened specification by what is known; `None` if the end of the run cannot be foreseen."""
    programs = {number: job["program"] for number, job in enumerate(spec["jobs"]) if "program" in job}
    left = {
        number: math.inf if of["iterations"] is None else float(of["iterations"]) for number, of in programs.items()
    }
    waiting = sorted(programs, key=lambda number: (programs[number]["start_ps"], number))
    waited, running = set(spec["stop"]["jobs"]), frozenset[int]()
    skipped_ps, skipped = 0, dict.fromkeys(programs, 0.0)
    starts: dict[int, int] = {}
    now = whole = 0.0
    while waited:
        paces = {number: known.pace(number, running) for number in running}
        ends = {number: left[number] * paces[number] for number in running}
        ending = min(ends, key=lambda number: (ends[number], number), default=None)
        length = math.inf if ending is None else ends[ending]
        start = programs[waiting[0]]["start_ps"] - now if waiting else math.inf
        if math.isinf(min(length, start)):
            return None
        length, by_start = min(length, start), start <= length
        skip = _skip(length, max(known.wanted_ps(running), length * known.least_share(running))) if running else 0.0
        if not by_start and ending is not None:
            skip = math.floor(skip / paces[ending]) * paces[ending]
        skip = math.floor(skip)
        for number in running:
            left[number] -= length / paces[number]
            skipped[number] += skip / paces[number]
        skipped_ps, now, whole = skipped_ps + skip, now + length, whole + length
        if by_start:
            starts[waiting[0]] = programs[waiting[0]]["start_ps"] - skipped_ps
            running |= {waiting.pop(0)}
        elif ending is not None:
            running -= {ending}
            waited.discard(ending)
    changed = {
        number: {
            "start_ps": starts.get(number, of["start_ps"]),
            "iterations": None if of["iterations"] is None else max(1, of["iterations"] - round(skipped[number])),
        }
        for number, of in programs.items()
    }
    return Shortened(with_programs(spec, changed), 1 - skipped_ps / whole if whole else 1.0, whole)


def _skip(length: float, wanted: float) -> float:
    return length - wanted if wanted <= MOST_SHARE * length else 0.0


def with_programs(spec: Mapping[str, Any], changed: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """The specification with other values of its programs."""
    jobs = [
        {**job, "program": {**job["program"], **changed[number]}} if number in changed else job
        for number, job in enumerate(spec["jobs"])
    ]
    return {**spec, "jobs": jobs}
