"""Bootstrap intervals of medians, the same on every machine and with every version of NumPy.

Percentile bootstrap (Efron, "Bootstrap methods: another look at the jackknife", Ann. Statist. 7, 1979): as many values
are drawn with replacement as there are, again and again; between the 2.5 % and the 97.5 % quantile of the medians of
the draws lies the median with a confidence of about 95 %. From few values the interval is too narrow: below six, no
interval of order statistics reaches 95 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 10_000
FEWEST = 1_000
"""Resamples of very many values, of which more would take minutes and change nothing that is shown."""
MOST_DRAWS = 20_000_000
CONFIDENCE = 0.95
ENOUGH = 6
"""Values from which an interval of 95 % is possible at all: 2 / 2^6 < 5 %, 2 / 2^5 > 5 %."""

_STEP = np.uint64(0x9E3779B97F4A7C15)
_CHUNK = 4_000_000


def interval(values: NDArray[np.float64], *, seed: int) -> tuple[float, float] | None:
    """The interval of the median of these values; `None` for fewer than two."""
    if len(values) < 2:
        return None
    return _quantiles(medians(values, seed=seed))


def ratio_interval(
    values: NDArray[np.float64], baseline: NDArray[np.float64], *, seed: int
) -> tuple[float, float] | None:
    """The interval of the ratio of two medians of samples that do not pair up; `None` for fewer than two values."""
    if min(len(values), len(baseline)) < 2:
        return None
    above, below = medians(values, seed=seed), medians(baseline, seed=seed + 1)
    return _quantiles(above / below) if below.all() else None


def medians(values: NDArray[np.float64], *, seed: int, resamples: int | None = None) -> NDArray[np.float64]:
    """Medians of so many samples of `len(values)` values each, drawn with replacement."""
    count = len(values)
    if resamples is None:
        resamples = max(FEWEST, min(RESAMPLES, MOST_DRAWS // count))
    rows = max(1, _CHUNK // count)
    found = []
    for first in range(0, resamples, rows):
        words = _words(seed, first * count, min(rows, resamples - first) * count)
        # The upper half of a word times n, shifted: uniform to one part in 2^32 / n.
        drawn = ((words >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)
        found.append(np.median(values[drawn.astype(np.int64)].reshape(-1, count), axis=1))
    return np.concatenate(found)


def _words(seed: int, first: int, count: int) -> NDArray[np.uint64]:
    """Words of splitmix64 (`placement/splitmix.py`), from the `first` on."""
    z = np.arange(first + 1, first + count + 1, dtype=np.uint64) * _STEP + np.uint64(seed % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _quantiles(found: NDArray[np.float64]) -> tuple[float, float]:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(found, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)
