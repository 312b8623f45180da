"""Random workloads as points: times under a baseline over those under Level-Spread (figures 10 to 13)."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, median
from typing import TYPE_CHECKING

from odonata.reproduce.zhang2018.gathered import LEVEL_SPREAD
from odonata.reproduce.zhang2018.statement import share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from odonata.reproduce.zhang2018.comm_outcome import CommOutcome
    from odonata.reproduce.zhang2018.gathered import Runs


@dataclass(frozen=True)
class Point:
    """A workload under a baseline."""

    workload: str
    policy: str
    small: float
    """Time of the small jobs over that under Level-Spread."""
    large: float


def points(runs: Iterable[Runs], policies: Sequence[str], *, coded: bool = False) -> list[Point]:
    """The points in the order of workloads, then policies; `coded` takes the highest-numbered rank's time (L18)."""

    def times(outcome: CommOutcome) -> dict[str, float]:
        return outcome.coded if coded else outcome.times

    found = []
    for one in runs:
        (reference,) = one.by_policy[LEVEL_SPREAD]
        for policy in policies:
            (other,) = one.by_policy[policy]
            ratios = {name: times(other)[name] / times(reference)[name] for name in ("small", "large")}
            found.append(Point(one.setup.name, policy, **ratios))
    return found


@dataclass(frozen=True)
class Headline:
    """What the paper says of its points, in percent."""

    better: float
    """Points with Level-Spread strictly better: for small and for large jobs."""
    worse: float
    """Points with the baseline strictly better."""
    equal: float
    """Points with a class whose time is the same: the same nodes, and nobody in between."""
    best: float
    """Largest reduction of a time."""
    averages: dict[str, float]
    """Mean reductions, by how they are taken (AVERAGES)."""


AVERAGES = {
    "points": "mean over workloads, baselines and classes of 1 - LS / baseline",
    "workloads": "mean over workloads of 1 - LS / (mean over baselines of the time relative to LS), classes together",
    "overhead": "mean over workloads, baselines and classes of baseline / LS - 1",
    "small": "as the first, small jobs alone",
    "large": "as the first, large jobs alone",
    "median": "median of 1 - LS / baseline over all of them",
}
"""Ways to average "over both small and large jobs and over all 1000 workloads"."""


def headline(of: Sequence[Point]) -> Headline:
    """The numbers of some points."""
    ratios = [ratio for point in of for ratio in (point.small, point.large)]
    by_workload: dict[str, list[float]] = {}
    for point in of:
        by_workload.setdefault(point.workload, []).extend((point.small, point.large))
    averages = {
        "points": mean(1 - 1 / ratio for ratio in ratios),
        "workloads": mean(1 - 1 / mean(some) for some in by_workload.values()),
        "overhead": mean(ratios) - 1,
        "small": mean(1 - 1 / point.small for point in of),
        "large": mean(1 - 1 / point.large for point in of),
        "median": median(1 - 1 / ratio for ratio in ratios),
    }
    return Headline(
        better=share([point.small > 1 and point.large > 1 for point in of]),
        worse=share([point.small < 1 and point.large < 1 for point in of]),
        equal=share([1 in (point.small, point.large) for point in of]),
        best=100 * (1 - 1 / max(ratios)),
        averages={name: 100 * value for name, value in averages.items()},
    )
