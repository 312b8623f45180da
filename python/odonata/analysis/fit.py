"""One distribution family fitted to one sample by maximum likelihood, and how well it fits.

SciPy's optimiser (Nelder and Mead's) finds the nearest maximum, so each family starts from three places: the sample
shifted by its median, by its minimum, and not at all (a location of 0, in units of the median). The best of the three
counts. All families have a location and a scale, so the unit of the sample does not matter.

The likelihood of some families has no maximum: their density grows without bound where the location meets a value, and
such a spike would win any comparison. Where the density is so steep that an interval of the resolution around a value
would hold more than `STEEP` of all probability, the probability of that interval over its width counts instead. The
resolution is the least difference of two values, at least `FINEST` IQRs.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS = 100
"""Bins of the histogram between the least value and the 99 % quantile; one more takes the values above it. Assumed."""
FINEST = 0.01
"""Least width of these intervals in IQRs. Assumed: far below what a histogram of the values shows."""

_ROUNDING = 1e-6
PIECES, POINTS = 100, 4
"""Intervals between quantiles of the values, and points in each, of the integral of a density."""
MOST_OVER = 0.05
"""By how much that integral may exceed 1. Assumed: far above the error of the quadrature where there is no spike."""
STEEP = 0.05
"""Assumed: ten times what such an interval holds at the peak of a normal distribution."""


@dataclass(frozen=True)
class Fit:
    """A family with the parameters that fit best."""

    family: str
    parameters: tuple[float, ...]
    """As `scipy.stats` takes them: shapes, location, scale; the last two in the unit of the values."""
    log_likelihood: float
    """ln L, with intervals where the density is steep (see above)."""
    aic: float
    """Akaike's information criterion 2 k - 2 ln L, with k parameters (location and scale among them); lower is better.
    Differences count: 2 is little, 10 much (Burnham and Anderson, "Model Selection and Multimodel Inference", 2002)."""
    ks: float
    """Kolmogorov and Smirnov's distance: the greatest difference between the two distribution functions."""
    histogram_error: float
    """Sum of the squared differences between the shares of the bins and their probabilities."""


class NoFitError(Exception):
    """The reason why a family has no fit."""


def fit(family: str, values: NDArray[np.float64]) -> Fit:
    """Fits a family of `scipy.stats` to values (shape `(n,)`), which are not all equal.

    Raises NoFitError if SciPy finds no parameters with which all values have a density.
    """
    from scipy import stats

    distribution = getattr(stats, family)
    values = np.sort(values)
    median, iqr = float(np.median(values)), float(np.subtract(*np.quantile(values, [0.75, 0.25])))
    scale = iqr if iqr > 0 else float(values.std())
    origin = median if median > 0 else scale
    interval = max(float(np.diff(np.unique(values)).min()), FINEST * scale)
    starts = [(median, scale, {}), (float(values[0]) - 0.01 * scale, scale, {}), (0.0, origin, {"loc": 0.0})]
    best: tuple[float, tuple[float, ...]] | None = None
    problems = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for shift, unit, guess in starts:
            try:
                parameters = _fitted(distribution, (values - shift) / unit, guess)
                shapes, (location, width) = parameters[:-2], parameters[-2:]
                parameters = (*shapes, location * unit + shift, width * unit)
                likelihood = _log_likelihood(distribution, parameters, values, interval)
                _check_density(distribution, parameters, values)
            except NoFitError as problem:
                problems.append(str(problem))
                continue
            if best is None or likelihood > best[0]:
                best = likelihood, parameters
        if best is None:
            raise NoFitError(problems[0])
        likelihood, parameters = best
        return Fit(
            family,
            parameters,
            likelihood,
            2 * len(parameters) - 2 * likelihood,
            _ks(distribution, parameters, values),
            _histogram_error(distribution, parameters, values),
        )


def density(fitted: Fit, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Density of a fit, in the inverse unit of the values."""
    from scipy import stats

    with np.errstate(all="ignore"):
        return np.asarray(getattr(stats, fitted.family).pdf(at, *fitted.parameters), np.float64)


def _fitted(distribution: Any, values: NDArray[np.float64], guess: dict[str, float]) -> tuple[float, ...]:
    try:
        parameters = tuple(float(parameter) for parameter in distribution.fit(values, **guess))
    except Exception as problem:  # SciPy's exceptions differ from family to family
        raise NoFitError(f"SciPy: {_first_sentence(problem)}") from None
    if not np.isfinite(parameters).all():
        raise NoFitError("SciPy finds no finite parameters")
    return parameters


def _log_likelihood(
    distribution: Any, parameters: tuple[float, ...], values: NDArray[np.float64], width: float
) -> float:
    logs = np.asarray(distribution.logpdf(values, *parameters), np.float64)
    steep = np.flatnonzero(logs + np.log(width) > np.log(STEEP))
    if len(steep):
        below, above = (np.asarray(distribution.cdf(values[steep] + side * width / 2, *parameters)) for side in (-1, 1))
        logs[steep] = np.log(np.maximum(above - below, 0) / width)
    if not np.isfinite(logs).all():
        raise NoFitError("some values have no density at the parameters that SciPy finds")
    return float(logs.sum())


def _check_density(distribution: Any, parameters: tuple[float, ...], values: NDArray[np.float64]) -> None:
    """Raises NoFitError if the density holds more over the range of the values than a distribution can.

    SciPy computes density and distribution function of some families by different formulas, and the one may be right
    where the other is not. Gauss's quadrature between quantiles of the values; a density with a spike comes out too
    small, never too large.
    """
    edges = np.unique(np.quantile(values, np.linspace(0, 1, PIECES + 1)))
    points, weights = np.polynomial.legendre.leggauss(POINTS)
    half, middle = np.diff(edges) / 2, (edges[:-1] + edges[1:]) / 2
    at = (middle[:, None] + half[:, None] * points).ravel()
    parts = np.asarray(distribution.pdf(at, *parameters), np.float64).reshape(-1, POINTS) @ weights * half
    if not parts.sum() <= 1 + MOST_OVER:
        raise NoFitError("the density that SciPy computes does not integrate to 1 at the parameters that it finds")


def _ks(distribution: Any, parameters: tuple[float, ...], values: NDArray[np.float64]) -> float:
    share = np.asarray(distribution.cdf(values, *parameters), np.float64)
    if not np.isfinite(share).all():
        raise NoFitError("the distribution function is not finite at the parameters that SciPy finds")
    if share.min() < -_ROUNDING or share.max() > 1 + _ROUNDING:
        raise NoFitError("the density that SciPy computes does not integrate to 1 at the parameters that it finds")
    steps = np.arange(len(values) + 1) / len(values)
    return float(max((share - steps[:-1]).max(), (steps[1:] - share).max()))


def _histogram_error(distribution: Any, parameters: tuple[float, ...], values: NDArray[np.float64]) -> float:
    edges = np.linspace(values[0], np.quantile(values, 0.99), BINS + 1)
    counted = np.append(np.histogram(values, edges)[0], (values > edges[-1]).sum()) / len(values)
    below = np.asarray(distribution.cdf(edges, *parameters), np.float64)
    return float(((counted - np.append(np.diff(below), 1 - below[-1])) ** 2).sum())


def _first_sentence(problem: Exception) -> str:
    said = " ".join(str(problem).split()).split(". ")[0].removesuffix(".")
    return said or type(problem).__name__
