"""The dispersion of the times of one series: quartiles, notch, outliers and tail.

Quantiles interpolate linearly between order statistics (NumPy's default). The intervals suppose independent values;
times measured one after the other often are not, and `autocorrelation` says how far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from odonata.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 5
"""Fewest values of a series. Assumed: quartiles of fewer are its extremes."""

NOTCH = 1.57
"""Half-width of a notch in units of IQR / sqrt(n) (McGill, Tukey and Larsen, "Variations of box plots", The American
Statistician 32, 1978; the notch of matplotlib). Two notches that do not overlap differ at a level of about 5 %. A notch
alone is narrower than the 95 % interval of its median: for a normal distribution it is the interval of 91 %."""

FENCE = 1.5
"""IQRs from the box beyond which a value is an outlier (Tukey, "Exploratory Data Analysis", 1977)."""

TAIL_OF_NORMAL = 0.00349
"""Share of a normal distribution above its upper fence."""
TAIL_OF_EXPONENTIAL = 0.0481
"""Share of an exponential distribution above its upper fence: exp(-ln 4 - 1.5 ln 3)."""


@dataclass(frozen=True)
class Dispersion:
    """Location, spread and tail of one series; times in the unit of its values."""

    n: int
    minimum: float
    q1: float
    median: float
    q3: float
    p85: float
    """The 85 % quantile, from which Salimi Beni 2022 counts the tail. By definition 15 % of the values are above it."""
    p99: float
    maximum: float
    mean: float
    iqr: float
    """Q3 - Q1."""
    qcd: float | None
    """Quartile coefficient of dispersion (Q3 - Q1) / (Q3 + Q1) (De Sensi 2019, section 3.3); `None` if both are 0."""
    notch: tuple[float, float]
    """median -+ 1.57 IQR / sqrt(n): see `NOTCH`."""
    interval: tuple[float, float] | None
    """95 % interval of the median from order statistics, which holds for any distribution (De Sensi 2019, section 3.1,
    draws it as the notch); `None` for fewer than six values, which cannot give one."""
    outliers_low: int
    """Values below Q1 - 1.5 IQR."""
    outliers_high: int
    """Values above Q3 + 1.5 IQR: the tail."""
    tail_share: float
    """Share of the values in the tail: 0.3 % of a normal distribution, 4.8 % of an exponential one."""
    tail_time_share: float | None
    """Share of the sum of all values that the tail takes; `None` if the sum is 0."""
    tail_length: float | None
    """p99 over the median; `None` if the median is 0."""
    asymmetry: float | None
    """(p99 - median) / (median - p1): 1 for a symmetric distribution; `None` if p1 is the median."""
    autocorrelation: float | None
    """Spearman's correlation of a value with the next one; `None` for a constant series."""


def describe(values: NDArray[np.float64]) -> Dispersion:
    """Describes values (shape `(n,)`) in the order in which they were measured.

    Raises InputError for fewer than `LEAST` values, and for values that are not finite.
    """
    if len(values) < LEAST:
        raise InputError(f"a series has {_count(len(values))}; at least {LEAST} are needed")
    if not np.isfinite(values).all():
        raise InputError("a series has values that are not finite")
    p1, q1, median, q3, p85, p99 = (float(q) for q in np.quantile(values, [0.01, 0.25, 0.5, 0.75, 0.85, 0.99]))
    iqr = q3 - q1
    tail = values > q3 + FENCE * iqr
    total = float(values.sum())
    return Dispersion(
        n=len(values),
        minimum=float(values.min()),
        q1=q1,
        median=median,
        q3=q3,
        p85=p85,
        p99=p99,
        maximum=float(values.max()),
        mean=float(values.mean()),
        iqr=iqr,
        qcd=iqr / (q3 + q1) if q3 + q1 else None,
        notch=notch(values),
        interval=_interval(values),
        outliers_low=int((values < q1 - FENCE * iqr).sum()),
        outliers_high=int(tail.sum()),
        tail_share=float(tail.mean()),
        tail_time_share=float(values[tail].sum()) / total if total else None,
        tail_length=p99 / median if median else None,
        asymmetry=(p99 - median) / (median - p1) if median > p1 else None,
        autocorrelation=_autocorrelation(values),
    )


def notch(values: NDArray[np.float64]) -> tuple[float, float]:
    """The notch of values (shape `(n,)`), as in `Dispersion`."""
    q1, median, q3 = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
    half = NOTCH * (q3 - q1) / float(np.sqrt(len(values)))
    return median - half, median + half


def qcd(values: NDArray[np.float64]) -> float | None:
    """The quartile coefficient of dispersion of values (shape `(n,)`), as in `Dispersion`."""
    q1, q3 = (float(q) for q in np.quantile(values, [0.25, 0.75]))
    return (q3 - q1) / (q3 + q1) if q3 + q1 else None


def _interval(values: NDArray[np.float64]) -> tuple[float, float] | None:
    from scipy.stats import quantile_test

    low, high = (float(end) for end in quantile_test(values, p=0.5).confidence_interval(0.95))
    return (low, high) if np.isfinite([low, high]).all() else None


def _autocorrelation(values: NDArray[np.float64]) -> float | None:
    from scipy.stats import rankdata

    before, after = rankdata(values[:-1]), rankdata(values[1:])
    if np.ptp(before) == 0 or np.ptp(after) == 0:
        return None
    return float(np.corrcoef(before, after)[0, 1])


def _count(number: int) -> str:
    return "1 value" if number == 1 else f"{number} values"
