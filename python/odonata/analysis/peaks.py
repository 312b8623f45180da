"""The number of peaks of a distribution: Silverman's test.

The number of modes of a Gaussian kernel density falls as its bandwidth grows. The critical bandwidth for k modes is the
smallest one at which there are no more than k. The test draws samples from the density at that bandwidth, rescaled to
the variance of the data, and counts how often their density has more than k modes at the same bandwidth: that share is
the p-value of "at most k modes" (Silverman, "Using kernel density estimates to investigate multimodality", JRSS B 43,
1981). k is raised from 1 until p exceeds `LEVEL`.

Limits:

- It is conservative: of unimodal samples it rejects fewer than 5 % (Hall and York, "On the calibration of Silverman's
  test for multimodality", Statistica Sinica 11, 2001).
- It supposes independent values. If times drift or jump from one level to another, the levels are peaks.
- The values below the 1 % and above the 99 % quantile are left out, since single outliers make modes of their own. A
  truncated unimodal density is unimodal; a peak that holds less than 1 % of the values is not seen.
- It works on logarithms, as tails are long. A distribution with one peak can have two on the logarithmic scale (an
  equal mixture of a narrow and a very wide one); then the times themselves spread over several orders of magnitude.
- Values on a coarse clock have peaks at its ticks. Series with fewer than `LEAST_DISTINCT` different values are not
  tested.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVEL = 0.05
MOST_PEAKS = 4
"""Peaks up to which they are counted."""
DRAWS = 400
"""Samples of the bootstrap: the standard error of a p-value near 5 % is 1.1 %."""
LEAST = 30
"""Fewest values that are tested. Assumed."""
LEAST_DISTINCT = 20
"""Fewest different values that are tested. Assumed."""
MOST_VALUES = 5_000
"""Values that are tested; of more, every k-th. Assumed: enough for a peak of a few percent."""

_GRID = 1024
_NOISE = 1e-9
"""Share of the highest density below which a maximum is rounding."""


@dataclass(frozen=True)
class Peaks:
    """Outcome of the test."""

    count: int
    """Peaks that the data demand: the least k with p > 5 %. `MOST_PEAKS` means that many or more."""
    p_one: float
    """p-value of "one peak"."""
    at: tuple[float, ...]
    """Where they are, ascending, in the unit of the values: the modes at the critical bandwidth of `count`."""
    heights: tuple[float, ...]
    """Density there, divided by the greatest density."""
    bimodality_coefficient: float
    """Sarle's coefficient (skewness^2 + 1) / kurtosis of what is tested: 5/9 for a uniform distribution, 1/3 for a
    normal one. Shown beside the test; skewed distributions with one peak exceed 5/9 as well."""


def count_peaks(values: NDArray[np.float64], *, seed: int = 1) -> Peaks | None:
    """Counts the peaks of a sample (shape `(n,)`); `None` if it is too small or too coarse (see above).

    The same values and seed give the same answer.
    """
    values = values[:: -(-len(values) // MOST_VALUES)]
    if len(values) < LEAST or len(np.unique(values)) < LEAST_DISTINCT:
        return None
    low, high = np.quantile(values, [0.01, 0.99])
    kept = values[(values >= low) & (values <= high)]
    if len(np.unique(kept)) < LEAST_DISTINCT:
        return None
    log = bool(kept.min() > 0)
    sample = np.log(kept) if log else kept
    spread = float(sample.std())
    unit = (sample - sample.mean()) / spread
    rng = np.random.default_rng(seed)
    count, first, width = MOST_PEAKS, 0.0, 0.0
    for peaks in range(1, MOST_PEAKS + 1):
        width = _critical(unit, peaks)
        if peaks == MOST_PEAKS:
            break
        p = _p_value(unit, peaks, width, rng)
        first = p if peaks == 1 else first
        if p > LEVEL:
            count = peaks
            break
    places, heights = _modes(unit, width)
    at = places * spread + sample.mean()
    return Peaks(
        count=count,
        p_one=first,
        at=tuple(float(place) for place in (np.exp(at) if log else at)),
        heights=tuple(float(height) for height in heights / heights.max()),
        bimodality_coefficient=_sarle(unit),
    )


def _sarle(unit: NDArray[np.float64]) -> float:
    """Of a sample of mean 0 and variance 1, in its form for large samples."""
    return float(((unit**3).mean() ** 2 + 1) / (unit**4).mean())


def _critical(unit: NDArray[np.float64], peaks: int) -> float:
    """The smallest bandwidth with at most so many modes, to a thousandth."""
    low, high = 1e-3, 1.0
    while len(_modes(unit, high)[0]) > peaks:
        low, high = high, 2 * high
    while high / low > 1.001:
        middle = float(np.sqrt(low * high))
        if len(_modes(unit, middle)[0]) > peaks:
            low = middle
        else:
            high = middle
    return high


def _p_value(unit: NDArray[np.float64], peaks: int, width: float, rng: np.random.Generator) -> float:
    more = 0
    for _ in range(DRAWS):
        drawn = rng.choice(unit, len(unit)) + width * rng.standard_normal(len(unit))
        # The density has the variance 1 + width^2; samples are to have that of the data (Silverman 1981, section 2).
        more += len(_modes(drawn / np.sqrt(1 + width**2), width)[0]) > peaks
    return more / DRAWS


def _modes(unit: NDArray[np.float64], width: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places and heights of the maxima of the kernel density, by linear binning and a Fourier transform."""
    margin = 4 * width
    low, high = float(unit.min()) - margin, float(unit.max()) + margin
    step = (high - low) / (_GRID - 1)
    exact = (unit - low) / step
    left = np.minimum(exact.astype(np.int64), _GRID - 2)
    right_share = exact - left
    counts = np.bincount(left, 1 - right_share, _GRID) + np.bincount(left + 1, right_share, _GRID)
    frequency = 2 * np.pi * np.fft.rfftfreq(2 * _GRID, step)
    smooth = np.fft.rfft(counts, 2 * _GRID) * np.exp(-0.5 * (width * frequency) ** 2)
    density = np.fft.irfft(smooth, 2 * _GRID)[:_GRID]
    inner = density[1:-1]
    top = (inner > density[:-2]) & (inner >= density[2:]) & (inner > _NOISE * density.max())
    where = np.flatnonzero(top) + 1
    return np.asarray(low + where * step, np.float64), np.asarray(density[where], np.float64)
