"""Correlation of two quantities: Pearson's r, Spearman's rho, with intervals, and corrected for the time of day.

Salimi Beni 2022, section 5.2, correlates background utilisation with the mean time of 1,000 iterations: 22 points for
each collective and size. The load of a machine and much else follow the time of day, so a partial correlation leaves
out what the time of day explains.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.analysis.bootstrap import CONFIDENCE
from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Statistic = Callable[..., NDArray[np.float64]]

LEAST = 4
"""Fewest points. Of three, all permutations give one of four coefficients of rank."""

DRAWS = 2_000
"""Resamples: the ends of an interval vary by about a fiftieth of its width."""

_ROUNDING = 1e-12
"""Share of the variance that is rounding."""

CAUSE = (
    "Correlation is not causation: both may follow something else, such as the hour, the size of a job or its nodes. "
    "To tell, change one thing alone on the same nodes, in alternate iterations (De Sensi 2019, section 3.2)."
)
"""The note that is printed with every correlation."""


@dataclass(frozen=True)
class Coefficient:
    """A coefficient between -1 and 1 with its 95 % interval."""

    value: float
    interval: tuple[float, float] | None
    """BCa bootstrap over the points. Of few points, some resamples have no coefficient, and BCa gives no interval. Then
    it is that of the percentiles of the others; `None` if a tenth of the resamples has no coefficient."""


@dataclass(frozen=True)
class Correlation:
    """The correlation of two quantities."""

    n: int
    pearson: Coefficient
    """r: how close the points are to a straight line."""
    spearman: Coefficient
    """rho: how close their orders are to the same order, or to opposite ones."""
    partial_pearson: Coefficient | None = None
    """r of what the controls do not explain; `None` without controls, or with too few points for them."""
    partial_spearman: Coefficient | None = None
    """The same of the ranks."""


def correlate(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    controls: NDArray[np.float64] | None = None,
    *,
    names: tuple[str, str] = ("the first quantity", "the second quantity"),
    seed: int = 1,
) -> Correlation:
    """Correlates two quantities of the same points (shapes `(n,)`); `controls` have the shape `(n, k)`.

    `names` are those of the quantities in messages.

    Raises InputError for fewer than `LEAST` points, values that are not finite, and a quantity that does not vary. The
    same seed gives the same intervals.
    """
    if len(x) < LEAST:
        raise InputError(f"{len(x)} points are too few for a correlation; at least {LEAST} are needed")
    for values in (x, y) if controls is None else (x, y, controls):
        if not np.isfinite(values).all():
            raise InputError("a correlation needs finite values")
    for name, values in zip(names, (x, y), strict=True):
        if np.ptp(values) == 0:
            raise InputError(f"{name} has the same value, {values[0]:g}, at all {len(x)} points")
    columns = np.column_stack([x, y] if controls is None else [x, y, controls]).astype(np.float64)
    partial: list[Coefficient | None] = [None, None]
    # Of fewer points, resamples have so few different ones that the controls explain most of them wholly.
    if controls is not None and len(x) >= LEAST + 2 * controls.shape[1]:
        partial = [_coefficient(columns, statistic, seed) for statistic in (_partial, _partial_of_ranks)]
    return Correlation(
        len(x),
        _coefficient(columns[:, :2], _partial, seed),
        _coefficient(columns[:, :2], _partial_of_ranks, seed),
        *partial,
    )


def time_of_day(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Controls for the time of day (shape `(n, 2)`): sine and cosine of the part of the day that has passed.

    A daily wave of any phase is a sum of the two; midnight and one second before are near each other.
    """
    angle = 2 * np.pi * (seconds % 86_400) / 86_400
    return np.column_stack([np.sin(angle), np.cos(angle)])


def _coefficient(columns: NDArray[np.float64], statistic: Statistic, seed: int) -> Coefficient:
    value = float(statistic(*columns.T))
    return Coefficient(value, _interval(columns, statistic, seed) if np.isfinite(value) else None)


def _interval(columns: NDArray[np.float64], statistic: Statistic, seed: int) -> tuple[float, float] | None:
    from scipy.stats import DegenerateDataWarning, bootstrap

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # Few points give resamples without a coefficient, all of one point; SciPy warns of each.
        warnings.simplefilter("ignore", (DegenerateDataWarning, RuntimeWarning))
        resampled = bootstrap(
            tuple(columns.T),
            statistic,
            paired=True,
            vectorized=True,
            axis=-1,
            n_resamples=DRAWS,
            confidence_level=CONFIDENCE,
            method="BCa",
            rng=np.random.default_rng(seed),
        )
    low, high = (float(end) for end in resampled.confidence_interval)
    if not np.isfinite([low, high]).all():
        drawn = resampled.bootstrap_distribution
        drawn = drawn[np.isfinite(drawn)]
        if len(drawn) < 0.9 * DRAWS:
            return None
        low, high = (float(end) for end in np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]))
    return max(low, -1.0), min(high, 1.0)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=-1), np.float64)


def _partial(*columns: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:  # noqa: ARG001
    """Correlation of the first two quantities without what the others explain, along the last axis.

    NaN where a quantity does not vary, or where the others explain it wholly, since only rounding is left of it.
    """
    stacked = np.stack(columns, axis=-1)
    centred = stacked - stacked.mean(axis=-2, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=-2, keepdims=True))
    unit = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    matrix = np.swapaxes(unit, -1, -2) @ unit
    pair, between, of_controls = matrix[..., :2, :2], matrix[..., :2, 2:], matrix[..., 2:, 2:]
    left = pair
    if len(columns) > 2:
        left = pair - between @ np.linalg.pinv(of_controls, hermitian=True) @ np.swapaxes(between, -1, -2)
    ours, theirs = left[..., 0, 0], left[..., 1, 1]
    varies = (ours > _ROUNDING) & (theirs > _ROUNDING)
    coefficients = np.divide(
        left[..., 0, 1], np.sqrt(np.abs(ours * theirs)), out=np.full(ours.shape, np.nan), where=varies
    )
    return np.asarray(np.clip(coefficients, -1, 1))


def _partial_of_ranks(x: NDArray[np.float64], y: NDArray[np.float64], *controls: Any, axis: int = -1) -> Any:
    return _partial(_ranks(x), _ranks(y), *controls, axis=axis)
