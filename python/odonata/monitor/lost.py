"""Node-hours that jobs lost to neighbours, from the slowdowns that `odonata cluster watch` recorded."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from odonata.monitor.state import Slowdown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALONE_S = 3600.0
"""How long the only simulation of a record stands for (assumed: the time between two by default)."""

DAY_S = 86_400.0


@dataclass(frozen=True)
class Row(Slowdown):
    """A job in a simulation, as it is recorded."""

    time: float
    """When the simulation ended (seconds since 1970)."""


@dataclass(frozen=True)
class Span:
    """The time for which a simulation stands."""

    begin: float
    end: float

    def within(self, begin: float, end: float) -> float:
        """Seconds of it between two moments."""
        return max(0.0, min(self.end, end) - max(self.begin, begin))


@dataclass(frozen=True)
class Lost:
    """What a job lost."""

    job: str
    nodes: int
    node_hours: float
    """While simulations say how it is slowed down."""
    slowdown: float
    """Of its communication: mean over time."""
    lost: float
    """Node-hours."""
    low: float | None
    """Over the assumptions of the traffic book; None where one was simulated."""
    high: float | None
    by: str | None
    """The job to which it lost most; None if it lost nothing."""
    by_lost: float
    """What it lost in the simulations in which it waited longest for that job."""


def spans(times: Sequence[float]) -> dict[float, Span]:
    """The time for which each simulation stands: half-way to the one before and to the next one, but no longer than is
    usual, because the watching may have been interrupted.
    """
    ordered = sorted(set(times))
    gaps = [after - before for before, after in pairwise(ordered)]
    usual = median(gaps) if gaps else ALONE_S
    sides = [min(gap, usual) / 2 for gap in gaps]
    before, after = [usual / 2, *sides], [*sides, usual / 2]
    return {at: Span(at - b, at + a) for at, b, a in zip(ordered, before, after, strict=True)}


def clipped(stands: Mapping[float, Span], begin: float, end: float) -> dict[float, Span]:
    """The same, but no time before or after the given ones."""
    return {at: Span(max(span.begin, begin), max(min(span.end, end), begin)) for at, span in stands.items()}


def longer(slowdown: float, communicates: float) -> float:
    """How many times as long a run takes, if the given part of it alone is communication, which is slowed down."""
    return 1 - communicates + communicates * max(1.0, slowdown)


def part_lost(slowdown: float, communicates: float) -> float:
    """Part of a time that is lost."""
    return 1 - 1 / longer(slowdown, communicates)


def lost(
    rows: Sequence[Row],
    stands: Mapping[float, Span],
    begin: float,
    end: float,
    lives: Mapping[str, tuple[float, float]],
    communicates: float,
) -> list[Lost]:
    """What each job lost between two moments, the largest loss first. `stands` has the time for which each
    simulation stands, and `lives` start and end of jobs, as far as they are known.
    """
    of_job: dict[str, list[tuple[Row, float]]] = defaultdict(list)
    for row in rows:
        born, died = lives.get(row.job, (begin, end))
        seconds = stands[row.time].within(max(begin, born), min(end, died))
        if seconds > 0:
            of_job[row.job].append((row, seconds))
    made = [_of_job(job, entries, communicates) for job, entries in of_job.items()]
    return sorted(made, key=lambda of: (-of.lost, of.job))


def lost_by_day(
    rows: Sequence[Row],
    stands: Mapping[float, Span],
    begin: float,
    end: float,
    lives: Mapping[str, tuple[float, float]],
    communicates: float,
) -> dict[int, float]:
    """Node-hours lost on each day on which any could be (days since 1970, UTC)."""
    days: dict[int, float] = defaultdict(float)
    for row in rows:
        born, died = lives.get(row.job, (begin, end))
        span = Span(max(begin, born), min(end, died))
        stand, part = stands[row.time], row.nodes * part_lost(row.slowdown, communicates) / 3600
        for day in range(int(stand.begin // DAY_S), int(stand.end // DAY_S) + 1):
            days[day] += part * stand.within(max(span.begin, day * DAY_S), min(span.end, (day + 1) * DAY_S))
    return days


def _of_job(job: str, entries: Sequence[tuple[Row, float]], communicates: float) -> Lost:
    total = low = high = 0.0
    node_hours = weighted = seconds_of_all = 0.0
    by: dict[str, float] = defaultdict(float)
    ranged = True
    for row, seconds in entries:
        hours = row.nodes * seconds / 3600
        mine = hours * part_lost(row.slowdown, communicates)
        total += mine
        node_hours += hours
        weighted += row.slowdown * seconds
        seconds_of_all += seconds
        if row.low is None or row.high is None:
            ranged = False
        else:
            low += hours * part_lost(row.low, communicates)
            high += hours * part_lost(row.high, communicates)
        if row.by is not None and mine > 0:
            by[row.by] += mine
    worst = min(by, key=lambda name: (-by[name], name)) if by else None
    return Lost(
        job,
        max(row.nodes for row, _ in entries),
        node_hours,
        weighted / seconds_of_all,
        total,
        low if ranged else None,
        high if ranged else None,
        worst,
        by[worst] if worst is not None else 0.0,
    )
