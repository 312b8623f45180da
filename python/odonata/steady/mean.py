"""The mean of a series of iteration times after its warm-up, with a confidence interval that knows of autocorrelation.

The warm-up is what MSER drops: the beginning without which the standard error of the mean is least (White 1997). The
rest is cut into up to ten batches. The half-width of the interval is Student's t times the standard error of the batch
means, times sqrt((1 + r) / (1 - r)), where r is their correlation with the next batch if it is positive: a series that
drifts or varies slowly has batch means that follow each other, and a wide interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST = 5
"""Fewest values after the warm-up for an interval (assumed: Student's t is below 3)."""
BATCHES = 10
"""Most batches (assumed, as is usual for batch means: Schmeiser 1982 finds that 10 to 30 suffice)."""
MOST_CORRELATION = 0.9
"""The correlation of batch means counts as at most this (assumed; the interval is then 4.4 times as wide)."""

_STUDENT = {4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
"""97.5 % quantiles of Student's t by degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a series."""

    value: float
    """The mean after the warm-up."""
    error: float
    """Half-width of its 95 % interval, divided by the mean; infinite if there are too few values."""
    warm_up: int
    """Number of values before it."""
    count: int
    """Number of values after the warm-up."""


def mean_of(values: NDArray[np.float64]) -> Mean | None:
    """The mean of a series in the order of time; `None` if it has no values."""
    if not len(values):
        return None
    warm_up = _warm_up(values)
    rest = values[warm_up:]
    mean = float(rest.mean())
    return Mean(mean, half_width(rest) / mean if mean > 0 else math.inf, warm_up, len(rest))


def _warm_up(values: NDArray[np.float64]) -> int:
    """How many values MSER drops, at most half of them and so that enough remain.

    `odonata.analysis.warm_up.truncation` has MSER too: of batches of five values, for long series, and it may find that
    a run has no steady state.
    """
    most = min(len(values) // 2, len(values) - FEWEST)
    if most <= 0:
        return 0
    errors = [float(values[dropped:].var()) / (len(values) - dropped) for dropped in range(most + 1)]
    return int(np.argmin(errors))


def half_width(values: NDArray[np.float64]) -> float:
    """Half-width of the 95 % interval of a mean; infinite for fewer than `FEWEST` values."""
    if len(values) < FEWEST:
        return math.inf
    parts = np.array_split(values, min(BATCHES, len(values)))
    means = np.array([part.mean() for part in parts])
    spread = float(means.std(ddof=1))
    if spread == 0:
        return 0.0
    away = means - means.mean()
    follows = float((away[:-1] * away[1:]).sum() / (away**2).sum())
    follows = min(max(follows, 0.0), MOST_CORRELATION)
    wider = math.sqrt((1 + follows) / (1 - follows))
    return _STUDENT[len(means) - 1] * spread / math.sqrt(len(means)) * wider
