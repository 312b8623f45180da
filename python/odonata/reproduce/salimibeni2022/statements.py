"""What Salimi Beni 2022 and De Sensi 2019 say of measured times, as relations, and whether it holds on Leonardo."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from odonata.analysis.correlation import Coefficient, Correlation, correlate
from odonata.analysis.dispersion import TAIL_OF_NORMAL
from odonata.reproduce.rows import Row, statement
from odonata.reproduce.salimibeni2022.measured import Measured, series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from odonata.reproduce.reproduction import Runs

MODEL = "Leonardo"

SYMMETRIC = frozenset(
    [
        *("anglit", "arcsine", "cauchy", "cosine", "dgamma", "dweibull", "gennorm", "hypsecant", "laplace", "logistic"),
        *("norm", "rdist", "semicircular", "t", "tukeylambda", "uniform", "vonmises_line"),
    ]
)
"""Families whose densities are symmetric whatever their parameters."""

STEADY = 0.2
"""Rank correlation of neighbours up to which a series counts as free of drift. Assumed, as in `cluster analyse`."""

MEASURES: dict[str, Callable[[Measured], float]] = {
    "QCD": lambda measured: measured.dispersion.qcd or 0.0,
    "share of the tail": lambda measured: measured.dispersion.tail_share,
    "p99 over the median": lambda measured: measured.dispersion.tail_length or 0.0,
}
"""What may grow with the spread of an allocation."""

SPREADS: dict[str, Callable[[Measured], float]] = {
    "groups": lambda measured: float(measured.groups),
    "leaves": lambda measured: float(measured.leaves),
    "nodes": lambda measured: float(measured.nodes),
}

_SOURCE = "Salimi Beni 2022"
_FEW = "the interval holds 0: so few allocations cannot tell"


@dataclass(frozen=True)
class Relation:
    """How a measure goes with the spread of the allocations."""

    spread: str
    measure: str
    correlation: Correlation


def compare(runs: Runs) -> list[Row]:
    """A row for each statement."""
    measurements = series(runs)
    fitted = [measured for measured in measurements if measured.fits is not None]
    n = measurements[0].dispersion.n
    asymmetry = median(measured.dispersion.asymmetry or 1.0 for measured in measurements)
    reach = max(measured.dispersion.maximum / measured.dispersion.mean for measured in measurements)
    by_definition = "15 % of any sample are above its 85 % quantile"
    told: list[tuple[str, str, float, float, str, str, str]] = [
        ("V6", "series whose mean is above the median", _share(measurements, _mean_above), 100, "%", ">= 90", ""),
        (
            "V6",
            "series whose tail exceeds that of a normal distribution",
            _share(measurements, _tail),
            100,
            "%",
            ">= 90",
            "",
        ),
        ("V6", "(p99 - median) / (median - p1), median of the series", asymmetry, 1, "x", "> 1", ""),
        ("V6", "iterations above the 85 % quantile", _above_p85(measurements), 15, "%", ">= 15", by_definition),
        # Reduce on different islands: mean 1.4 ms, tail up to 10 ms.
        ("V7", "greatest time over the mean, largest of the series", reach, 10 / 1.4, "x", ">= 7.14", ""),
        ("V5", "families tried for each series", min(map(_tried, fitted)), 100, "families", "> 100", ""),
        ("V5", "fitted series whose best family is not symmetric", _share(fitted, _skewed), 100, "%", ">= 90", ""),
        ("V13", "series with two peaks or more", _share(measurements, _peaked), 5, "%", "> 5", ""),
    ]
    sections = {"V6": "section 1.1", "V7": "section 4.1", "V5": "section 4", "V13": "section 5.3"}
    rows = [
        _row(*statement[:6], sections[statement[0]], n, comparable=statement[6] != by_definition, why=statement[6])
        for statement in told
    ]
    steady = [measured for measured in measurements if (measured.dispersion.autocorrelation or 0) < STEADY]
    if steady:
        what = f"the same of the {len(steady)} series without drift"
        rows.append(_row("V13", what, _share(steady, _peaked), 5, "%", "> 5", "section 5.3", n))
    for relation in relations(measurements):
        if relation.spread == "nodes":
            continue
        what = f"rank correlation of the {relation.spread} of an allocation with {relation.measure}"
        of = relation.correlation.spearman
        rows.append(
            _row(
                "V7",
                what,
                of.value,
                0,
                "rho",
                "> 0",
                "section 4.1, figure 3",
                n,
                comparable=_clear(of),
                why=_FEW,
                interval=of.interval,
            )
        )
    falls = [value for value in size_trends(measurements).values() if np.isfinite(value)]
    if falls:
        what = "rank correlation of QCD with size, median of allocations and collectives"
        rows.append(
            statement(
                "D26", what, median(falls), 0, "rho", "< 0", "De Sensi 2019, section 5.1", model=MODEL, messages=n
            )
        )
    return rows


def relations(measurements: Sequence[Measured]) -> list[Relation]:
    """Every measure, the median of the series of an allocation, against every spread; a point is an allocation."""
    allocations = [list(part) for _, part in groupby(measurements, key=lambda measured: measured.run)]
    made = []
    for spread, across in SPREADS.items():
        x = np.array([across(part[0]) for part in allocations])
        for name, measure in MEASURES.items():
            y = np.array([median(measure(measured) for measured in part) for part in allocations])
            made.append(Relation(spread, name, correlate(x, y, names=(spread, name))))
    return made


def size_trends(measurements: Sequence[Measured]) -> dict[tuple[str, str], float]:
    """Allocation and collective -> Spearman's rho of QCD with size, where there are at least four sizes."""
    made = {}
    for key, part in groupby(measurements, key=lambda measured: (measured.run, measured.collective)):
        several = list(part)
        if len(several) >= 4:
            sizes = np.array([float(measured.size) for measured in several])
            qcd = np.array([measured.dispersion.qcd or 0.0 for measured in several])
            made[key] = correlate(sizes, qcd).spearman.value
    return made


def _row(
    id_: str,
    what: str,
    ours: float,
    theirs: float,
    unit: str,
    tolerance: str,
    where: str,
    n: int,
    *,
    comparable: bool = True,
    why: str = "",
    interval: tuple[float, float] | None = None,
) -> Row:
    where = f"{_SOURCE}, {where}"
    return statement(
        id_,
        what,
        ours,
        theirs,
        unit,
        tolerance,
        where,
        model=MODEL,
        why="" if comparable else why,
        messages=n,
        comparable=comparable,
        interval=interval,
    )


def _clear(of: Coefficient) -> bool:
    """Whether the interval, to the two decimals of the page, leaves no doubt of the sign."""
    return of.interval is not None and (round(of.interval[0], 2) > 0 or round(of.interval[1], 2) < 0)


def _share(measurements: Sequence[Measured], holds: Callable[[Measured], bool]) -> float:
    return 100 * sum(map(holds, measurements)) / len(measurements)


def _mean_above(measured: Measured) -> bool:
    return measured.dispersion.mean > measured.dispersion.median


def _tail(measured: Measured) -> bool:
    return measured.dispersion.tail_share > TAIL_OF_NORMAL


def _peaked(measured: Measured) -> bool:
    return measured.peaks is not None and measured.peaks.count > 1


def _skewed(measured: Measured) -> bool:
    best = measured.fits.best() if measured.fits else None
    return best is not None and best.family not in SYMMETRIC


def _tried(measured: Measured) -> int:
    return len(measured.fits.fits) + len(measured.fits.failures) if measured.fits else 0


def _above_p85(measurements: Sequence[Measured]) -> float:
    return median(100 * float((measured.times_ps > measured.dispersion.p85).mean()) for measured in measurements)
