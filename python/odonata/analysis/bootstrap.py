"""Bootstrap intervals of medians, by SciPy.

The method is BCa, bias-corrected and accelerated (Efron, "Better bootstrap confidence intervals", JASA 82, 1987). Its
jackknife takes time and memory for the square of the sample, so samples above `MOST_BCA` values take the percentile
method, which gives nearly the same interval for them. Fewer than six values cannot give an interval of 95 %: see
`ENOUGH`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

RESAMPLES = 10_000
FEWEST = 1_000
"""Resamples of very large samples, for which more would take minutes and change no printed digit."""
MOST_DRAWS = 20_000_000
"""Limit on the total number of drawn values, which limits the resamples of large samples."""
MOST_BCA = 1_000
CONFIDENCE = 0.95
ENOUGH = 6
"""Values from which an interval of 95 % is possible at all: 2 / 2^6 < 5 %, 2 / 2^5 > 5 %."""

_BATCH = 4_000_000


def interval(values: NDArray[np.float64], *, seed: int) -> tuple[float, float] | None:
    """The 95 % interval of the median; `None` for fewer than two values.

    The unit is that of `values` (shape `(n,)`). The same seed gives the same interval.
    """
    return _interval((values,), np.median, seed)


def mean_interval(values: NDArray[np.float64], *, seed: int) -> tuple[float, float] | None:
    """The 95 % interval of the mean, as `interval` gives it of the median."""
    return _interval((values,), np.mean, seed)


def ratio_interval(
    values: NDArray[np.float64], baseline: NDArray[np.float64], *, seed: int
) -> tuple[float, float] | None:
    """The 95 % interval of the ratio of the medians of two independent samples (shapes `(n,)` and `(m,)`).

    `None` for fewer than two values in either, and if the median of a resampled baseline can be 0.
    """
    interval = _interval((values, baseline), _ratio_of_medians, seed)
    return interval if interval is not None and np.isfinite(interval).all() else None


def _ratio_of_medians(
    values: NDArray[np.float64], baseline: NDArray[np.float64], axis: int = -1
) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.median(values, axis=axis) / np.median(baseline, axis=axis))


def _interval(
    samples: tuple[NDArray[np.float64], ...], statistic: Callable[..., NDArray[np.float64]], seed: int
) -> tuple[float, float] | None:
    from scipy.stats import DegenerateDataWarning, bootstrap

    most = max(map(len, samples))
    if min(map(len, samples)) < 2:
        return None
    exact = [float(statistic(*samples))] * 2
    if all((sample == sample[0]).all() for sample in samples):
        return exact[0], exact[1]
    options = {
        "n_resamples": max(FEWEST, min(RESAMPLES, MOST_DRAWS // most)),
        "batch": max(1, _BATCH // most),
        "vectorized": True,
        "axis": -1,
        "confidence_level": CONFIDENCE,
    }
    methods = ("BCa", "percentile") if most <= MOST_BCA else ("percentile",)
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        # If nearly all values are equal, the acceleration is 0 / 0, and SciPy warns; the percentiles are still valid.
        warnings.simplefilter("ignore", (DegenerateDataWarning, RuntimeWarning))
        for method in methods:
            resampled = bootstrap(samples, statistic, method=method, rng=np.random.default_rng(seed), **options)
            low, high = (float(end) for end in resampled.confidence_interval)
            if np.isfinite([low, high]).all():
                return low, high
    return None
