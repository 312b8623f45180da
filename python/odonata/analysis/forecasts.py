"""How good forecasts of probabilities and quantiles are, on outcomes that they were not made from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
"""Edges of the bins of a reliability table. Assumed: narrow where the forecasts of a rare event are."""

DRAWS = 2_000


@dataclass(frozen=True)
class Bin:
    """A line of a reliability table: forecasts between two probabilities."""

    low: float
    high: float
    runs: int
    forecast: float
    """Mean probability."""
    observed: float
    """Share of the runs in which it happened."""
    interval: tuple[float, float]
    """95 % interval of the probability that explains `observed` (Wilson 1927)."""


def brier(probability: Vector, y: Vector) -> float:
    """Mean squared difference of probability and outcome (Brier 1950): 0 is perfect."""
    return float(((probability - y) ** 2).mean())


def reliability(probability: Vector, y: Vector) -> list[Bin]:
    """Forecast against observed probability, for each bin with forecasts."""
    from scipy.stats import binomtest

    made = []
    for low, high in pairwise(EDGES):
        inside = (probability >= low) & ((probability < high) | (high == 1.0))
        n, happened = int(inside.sum()), int(y[inside].sum())
        if n:
            ends = binomtest(happened, n).proportion_ci(0.95, "wilson")
            between = (float(ends.low), float(ends.high))
            made.append(Bin(low, high, n, float(probability[inside].mean()), happened / n, between))
    return made


def recall_and_precision(flagged: NDArray[np.bool_], y: Vector) -> tuple[float | None, float | None]:
    """Share of the events that were flagged, and share of the flagged that were events; `None` without any."""
    hits = float(y[flagged].sum())
    events, flags = float(y.sum()), int(flagged.sum())
    return (hits / events if events else None), (hits / flags if flags else None)


def best_cut(probability: Vector, y: Vector) -> float:
    """The probability from which flagging gives the largest F1, 2 hits / (events + flagged); the highest of equals."""
    order = np.argsort(-probability, kind="stable")
    hits = np.cumsum(y[order])
    f1 = 2 * hits / (y.sum() + np.arange(1, len(y) + 1))
    # Equal probabilities are flagged together.
    last = np.append(np.diff(probability[order]) != 0, True)
    return float(probability[order][int(np.argmax(np.where(last, f1, -1.0)))])


def area(score: Vector, y: Vector) -> float:
    """Area under the receiver operating characteristic: how often an event has a higher score than another run.

    0.5 is chance, 1 is perfect; equal scores count a half (Mann and Whitney 1947). NaN if all or no runs are events.
    """
    from scipy.stats import rankdata

    events = float(y.sum())
    others = len(y) - events
    if not events or not others:
        return float("nan")
    return float((rankdata(score)[y > 0].sum() - events * (events + 1) / 2) / (events * others))


def pinball(values: Vector, forecast: Vector, q: float) -> float:
    """Mean pinball loss of a forecast of a quantile, in the unit of the values."""
    over = values - forecast
    return float(np.maximum(q * over, (q - 1) * over).mean())


def difference_interval(ours: Vector, theirs: Vector, moments: Vector, *, seed: int) -> tuple[float, float]:
    """95 % interval of the mean of `ours - theirs`, losses of the same runs.

    Percentiles of a bootstrap of `moments`: runs of one moment err together, so they are drawn together.
    """
    _, of = np.unique(moments, return_inverse=True)
    counts = np.bincount(of).astype(np.float64)
    sums = np.bincount(of, ours - theirs)
    drawn = np.random.default_rng(seed).integers(0, len(counts), (DRAWS, len(counts)))
    low, high = np.quantile(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)
