"""The iterations of a program, or the steps of its collective, in the order of time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.steady.mean import FEWEST, Mean, mean_of
from odonata.steady.steps import has_two_parts, orders_of_rings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


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


@dataclass(frozen=True, slots=True)
class Iterations:
    """The iterations of a program that all its ranks have ended."""

    start_ps: float
    begins: NDArray[np.float64]
    first_ends: NDArray[np.float64]
    ends: NDArray[np.float64]
    paces: NDArray[np.float64]
    of_ranks: NDArray[np.float64]
    waits: bool
    """Whether the program waits between iterations (`every`, `gap`). Its pace then says little of the time of one."""

    @classmethod
    def of(cls, spec: Mapping[str, Any], result: Mapping[str, Any], job: int) -> Iterations:
        """Those of a simulated run."""
        table, rows = result["iterations"], rows_of(result["iterations"], job)
        ranks = len(spec["jobs"][job]["nodes"])
        ended = table["ranks"][rows] == ranks
        names = ("first_begin_ps", "first_end_ps", "last_end_ps", "total_ps")
        begins, first_ends, ends, of_ranks = (table[name][rows][ended].astype(np.float64) for name in names)
        program = spec["jobs"][job]["program"]
        start, waits = float(program["start_ps"]), any(program.get(key) for key in ("every_ps", "gap_ps"))
        return cls(start, begins, first_ends, ends, np.diff(ends, prepend=start), of_ranks / ranks, waits)

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
        if self.waits:
            of_times = mean_of((self.ends - self.begins)[there])
            pace = replace(pace, error=max(pace.error, of_times.error if of_times else math.inf))
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


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a collective around rings that all recorded ranks have ended.

    A step of a rank waits for the step before it of the rank before. So the pace of a ring is the mean time from a rank
    to the next one, over all ranks, as long as none of these times grows. One grows if a rank or a link cannot keep
    pace: in the end all ranks wait for it, and the pace is longer by what it grows with each step. The value is the
    middle between the pace without and with the largest growth, and what they differ by belongs to the error, as does
    what the pace of the ring has changed by. An all-reduce has two such parts, whose paces differ.
    """

    start_ps: float
    ends: NDArray[np.float64]
    """When a rank had received what belongs to a step: rings by recorded ranks, in the order of the ring, by steps."""
    distances: NDArray[np.int64]
    """From each recorded rank to the next recorded one of the ring, in steps: rings by recorded ranks."""
    second: int
    """The first step of the second part; 0 if there is one part."""
    whole: int
    """Steps of the whole collective. Its begin and its end, when ranks are not in step, may take another step."""

    @classmethod
    def of(cls, spec: Mapping[str, Any], result: Mapping[str, Any], job: int, whole: int) -> Steps:
        """Those of a simulated run of some of the `whole` steps, which has recorded the tasks of CPUs."""
        nodes, program = spec["jobs"][job]["nodes"], spec["jobs"][job]["program"]
        ranks, ends = ends_of_steps(result["operations"], job)
        orders = orders_of_rings(program["body"])
        if not ends.size:  # the run ended before all ranks had ended a step
            return cls(float(program["start_ps"]), ends, np.zeros((0, 0), np.int64), 0, whole)
        places = np.stack([_places(ranks, orders[cpu]) for cpu in sorted(orders)])
        by_place = np.argsort(places, axis=1)
        places = np.take_along_axis(places, by_place, axis=1)
        distances = np.diff(places, append=places[:, :1] + len(nodes), axis=1)
        ends = np.take_along_axis(ends, by_place[:, :, None], axis=1)
        second = program["iterations"] // 2 if has_two_parts(program["body"]) else 0
        return cls(float(program["start_ps"]), ends, distances, second, whole)

    def inside(self, begin_ps: int, end_ps: int) -> Seen:
        """Those between two times."""
        last = self.ends.max(axis=(0, 1), initial=self.start_ps)
        begun = end_ps - float(np.max(last, where=last <= end_ps, initial=self.start_ps))
        there = np.flatnonzero((last >= begin_ps) & (last <= end_ps))
        parts = [there[there < self.second], there[there >= self.second]] if self.second else [there]
        paces = [pace for pace in (self._pace(self.ends[:, :, part]) for part in parts) if pace is not None]
        value = sum(pace.value for pace in paces) / max(1, len(paces))
        if value <= 0:
            return Seen(None, 0.0, 0.0, 0.0, begun)
        error = sum(pace.value * pace.error for pace in paces) / (len(paces) * value) + 1 / self.whole
        if len(paces) < len(parts):
            error = math.inf
        counts = (sum(getattr(pace, name) for pace in paces) for name in ("warm_up", "count"))
        return Seen(Mean(value, error, *counts), value, value, 0.0, begun)

    def _pace(self, ends: NDArray[np.float64]) -> Mean | None:
        """The pace of the slowest ring in some steps; `None` without a step."""
        rings = [mean_of(np.diff(of.mean(axis=0))) for of in ends]
        of_ring = max((of for of in rings if of is not None), key=lambda of: of.value, default=None)
        if of_ring is None or of_ring.value <= 0:
            return None
        bounds = [
            _pace_with_growth(of.value, *ring) for of, *ring in zip(rings, ends, self.distances, strict=True) if of
        ]
        longest, changed = max(longest for longest, _ in bounds), max(changed for _, changed in bounds)
        if math.isinf(longest):
            return replace(of_ring, error=math.inf)
        value = (of_ring.value + longest) / 2
        error = of_ring.error * of_ring.value + (longest - of_ring.value) / 2 + changed
        return replace(of_ring, value=value, error=error / value)


def _rise(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """By how much series rise with each step, from their second third to the last one."""
    third = series.shape[-1] // 3
    rise: NDArray[np.float64] = np.mean(series[..., -third:] - series[..., -2 * third : -third], axis=-1) / third
    return rise


def _pace_with_growth(pace: float, ends: NDArray[np.float64], distances: NDArray[np.int64]) -> tuple[float, float]:
    """The pace of a ring if that of the rank where the time from the rank before grows most becomes that of all, and by
    how much the pace of the ring has changed; infinite if there are too few steps.

    Such a rank has the pace of the one before it, or of the ring if that is shorter, and the growth.
    """
    longest, steps = pace, ends.shape[1]
    if (steps - int(distances.max())) // 3 < FEWEST:
        return math.inf, math.inf
    for distance in np.unique(distances):
        own = np.flatnonzero(distances == distance)
        before, following = ends[own, : steps - distance], ends[(own + 1) % len(ends), distance:]
        of_rank = _rise(following - before) + np.minimum(_rise(before), pace)
        longest = max(longest, float(of_rank.max()))
    paces = np.diff(ends.mean(axis=0))
    third = len(paces) // 3
    return longest, abs(float(paces[-third:].mean() - paces[-2 * third : -third].mean()))


def _places(ranks: NDArray[np.uint32], order: Sequence[int]) -> NDArray[np.int64]:
    """The places of ranks in a ring that visits the ranks of each node in an order."""
    in_node = np.argsort(order)
    own = ranks.astype(np.int64)
    return own - own % len(order) + in_node[own % len(order)]


def ends_of_steps(operations: Mapping[str, Any], job: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """The recorded ranks of a job, and when they had received what belongs to a step: rings by ranks by steps, in
    picoseconds.

    On each CPU of a rank one ring goes around, and it receives once in each step. (The core records the tasks of all
    ranks, or of every second, fourth, ... of them.) None if a ring has not come to a rank.
    """
    rows = rows_of(operations, job)
    receives = np.asarray(operations["task"][rows]) == "receive"
    ranks, cpus, ends = (operations[name][rows][receives] for name in ("rank", "cpu", "end_ps"))
    order = np.lexsort((ranks, cpus))  # stable: the tasks of a CPU of a rank stay in their order
    ranks, cpus, ends = ranks[order], cpus[order], ends[order].astype(np.float64)
    borders = np.flatnonzero((ranks[1:] != ranks[:-1]) | (cpus[1:] != cpus[:-1])) + 1
    series = np.split(ends, borders)
    rings, recorded = len(np.unique(cpus)), np.unique(ranks)
    least = min(len(of) for of in series) if len(series) == rings * len(recorded) else 0
    return recorded, np.array([of[:least] for of in series]).reshape(rings, -1, least) if least else np.zeros((0, 0, 0))


def rows_of(table: Mapping[str, Any], job: int) -> slice:
    """The rows of a job in a table of the core, which has job after job."""
    jobs = table["job"]
    first, end = (int(np.searchsorted(jobs, jobs.dtype.type(job), side)) for side in ("left", "right"))
    return slice(first, end)
