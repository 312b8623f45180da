"""How right predictions were: the risk of the long tail, and slowdowns, against the run times of jobs that ended."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from odonata.analysis.forecasts import reliability
from odonata.monitor.lost import longer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.analysis.forecasts import Bin
    from odonata.monitor.lost import Lost
    from odonata.queue.accounting import Run

LEAST_RUNS = 5
"""Fewest other runs with the name and the nodes of a job for its usual time (assumed)."""
LEAST_PAIRS = 10
"""Fewest jobs for a rank correlation (assumed)."""
FAR = 10.0
"""Run times that differ from the histories of the predictor by this factor are other times (assumed)."""
SLOWDOWN_EDGES = (1.0, 1.02, 1.1, 1.25, 1.5, 2.0, float("inf"))
"""Edges of the bins of predicted slowdowns (assumed)."""


@dataclass(frozen=True)
class Start:
    """A prediction at the start of a job, as it is recorded."""

    job: str
    probability: float
    flagged: bool
    threshold_s: float
    median_s: float


@dataclass(frozen=True)
class Risk:
    """Predicted risks against what happened."""

    bins: tuple[Bin, ...]
    jobs: int
    in_tail: int
    flagged: int
    flagged_in_tail: int


@dataclass(frozen=True)
class SlowdownBin:
    """Jobs whose predicted slowdown is between two values."""

    low: float
    high: float
    jobs: int
    predicted: float
    """Mean."""
    measured: float
    """Median of run time over usual run time."""
    interval: tuple[float, float] | None
    """95 %, by order statistics; None for fewer than six jobs."""


@dataclass(frozen=True)
class Slowdowns:
    """Predicted slowdowns against measured run times over usual ones."""

    bins: tuple[SlowdownBin, ...]
    jobs: int
    correlation: float | None
    """Spearman's, with the p value that it is none; None for too few jobs, or equal values."""
    p: float | None


def risk(starts: Sequence[Start], runs: Sequence[Run]) -> Risk | str:
    """How right the risks were, or why that cannot be told."""
    if not starts:
        return "no prediction was recorded at the start of a job: give `watch` a --predictor"
    times = _times(runs)
    both = [(start, times[start.job]) for start in starts if start.job in times]
    if not both:
        return "no job with a recorded prediction has ended in the file of past jobs"
    if not 1 / FAR < median(took / start.median_s for start, took in both) < FAR:
        return "the predictor's records are not times of whole runs, so run times do not say whether it was right"
    tail = np.array([float(took > start.threshold_s) for start, took in both])
    chances = np.array([start.probability for start, _ in both])
    flagged = np.array([start.flagged for start, _ in both])
    return Risk(
        tuple(reliability(chances, tail)), len(both), int(tail.sum()), int(flagged.sum()), int(tail[flagged].sum())
    )


def slowdowns(lost: Sequence[Lost], runs: Sequence[Run], communicates: float) -> Slowdowns | str:
    """How right the slowdowns were, or why that cannot be told."""
    usual = _usual(runs)
    times = _times(runs)
    pairs = [(longer(of.slowdown, communicates), times[of.job] / usual[of.job]) for of in lost if of.job in usual]
    if not pairs:
        return f"no simulated job has ended that has {LEAST_RUNS} other runs with its name and number of nodes"
    predicted, measured = np.array(pairs).T
    made = []
    for low, high in pairwise(SLOWDOWN_EDGES):
        inside = (predicted >= low) & (predicted < high)
        if inside.any():
            values = np.sort(measured[inside])
            made.append(
                SlowdownBin(
                    low,
                    high,
                    len(values),
                    float(predicted[inside].mean()),
                    float(np.median(values)),
                    _of_median(values),
                )
            )
    rho = p = None
    if len(pairs) >= LEAST_PAIRS and len(set(predicted)) > 1 and len(set(measured)) > 1:
        from scipy.stats import spearmanr

        rho, p = (float(value) for value in spearmanr(predicted, measured))
    return Slowdowns(tuple(made), len(pairs), rho, p)


def _times(runs: Sequence[Run]) -> dict[str, float]:
    return {run.id: run.work_s for run in runs if run.id and run.work_s > 0}


def _usual(runs: Sequence[Run]) -> Mapping[str, float]:
    """Id of a job -> median time of the other runs with its name and number of nodes, if these are enough."""
    alike: dict[tuple[str, int], list[tuple[float, str]]] = defaultdict(list)
    for run in runs:
        if run.id and run.name and run.work_s > 0:
            alike[run.name, run.count].append((run.work_s, run.id))
    usual: dict[str, float] = {}
    for of in alike.values():
        if len(of) > LEAST_RUNS:
            of.sort()
            for at, (_, job) in enumerate(of):
                usual[job] = _median_without(of, at)
    return usual


def _median_without(ordered: Sequence[tuple[float, str]], at: int) -> float:
    """The median of all times but one."""
    rest = len(ordered) - 1
    low, high = ((middle + (middle >= at)) for middle in ((rest - 1) // 2, rest // 2))
    return (ordered[low][0] + ordered[high][0]) / 2


def _of_median(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float] | None:
    from scipy.stats import binom

    if len(values) < 6:
        return None
    k = int(binom.ppf(0.025, len(values), 0.5))
    return float(values[max(0, k - 1)]), float(values[min(len(values) - 1, len(values) - k)])
