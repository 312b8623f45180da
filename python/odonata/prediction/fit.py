"""Fits the terms of a predictor: which ones the number of runs permits, their weights, and calibration.

Two rules say what is enough data.

- A history needs so many runs that its order statistics hold the quantile of the tail with 95 % confidence:
  1 - q^n - (1 - q)^n >= 0.95, which is 19 runs for 0.85.
- A regression gets a coefficient for every ten events (Peduzzi et al., "A simulation study of the number of events per
  variable in logistic regression analysis", J. Clin. Epidemiol. 49, 1996). Events are the rarer of the two outcomes;
  of the regression of a quantile, by analogy, the runs on its rarer side. Terms come in a fixed order, b first.

Calibration uses predictions for blocks of time that were left out one after the other: the ridge penalty with the least
log loss, Platt's recalibration of the probabilities, and the shift of each quantile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from odonata.analysis import regression
from odonata.prediction.predictor import (
    PATTERN,
    Chance,
    Linear,
    Quantile,
    Term,
    Variable,
    columns,
    linear,
    raw,
    standardised,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from odonata.prediction.runs import Key, Runs

    Vector = NDArray[np.float64]

EVENTS_PER_TERM = 10
BLOCKS = 5
PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0)
"""Ridge penalties that are tried. Assumed: from hardly any effect on a hundred runs to a strong one."""
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.85, 0.9, 0.95)
NUMBERS = ("b", "neighbours", "groups", "leaves", "bytes", "nodes")

ORDER: tuple[tuple[str, ...], ...] = (
    ("b",),
    ("neighbours",),
    ("groups",),
    ("leaves",),
    ("b", "bytes"),
    ("b", "groups"),
    ("b", PATTERN),
    ("b", "nodes"),
    ("bytes",),
    ("nodes",),
    (PATTERN,),
)
"""Terms in the order in which they are taken while there is enough data; `pattern=` stands for all patterns but one.
Assumed: what Salimi Beni 2022 names, the strongest first (b; locality; b by size and by pattern). `neighbours` is not
the paper's; it is closer to the links of a run than locality (validation/salimi-beni2022-leonardo.md)."""


@dataclass(frozen=True)
class Labelled:
    """Runs with enough history, their outcomes, and what their jobs did before."""

    runs: Runs
    tail: Vector
    """1 for a run above the threshold of its history, else 0."""
    ratio: Vector
    """Logarithm of its time over the median of its history."""


@dataclass(frozen=True)
class Fitted:
    """What was fitted; the fields of a predictor."""

    variables: dict[str, Variable]
    patterns: dict[str, float]
    chance: Chance
    quantiles: list[Quantile]
    left_out: list[str]
    cut: float
    """Probability from which flagging gave the largest F1 on the left-out blocks."""


def least_history(tail: float) -> int:
    """Fewest runs of a history whose quantile has an interval of 95 %."""
    return next(n for n in range(1, 10_000) if 1 - tail**n - (1 - tail) ** n >= 0.95)


def histories(runs: Runs, tail: float) -> dict[Key, tuple[int, float, float]]:
    """Key of a job with enough runs -> their number, median and threshold, in picoseconds."""
    rows: dict[Key, list[int]] = {}
    for row, key in enumerate(runs.keys):
        rows.setdefault(key, []).append(row)
    times_of = {}
    for key, mine in rows.items():
        if len(mine) >= least_history(tail):
            median, threshold = np.quantile(runs.time_ps[mine], [0.5, tail])
            times_of[key] = (len(mine), float(median), float(threshold))
    return times_of


def label(runs: Runs, of: dict[Key, tuple[int, float, float]]) -> Labelled:
    """The runs whose job has a history in `of`, compared with it."""
    kept = runs.take(np.flatnonzero([key in of for key in runs.keys]))
    median = np.array([of[key][1] for key in kept.keys])
    threshold = np.array([of[key][2] for key in kept.keys])
    return Labelled(kept, (kept.time_ps > threshold).astype(np.float64), np.log(kept.time_ps / median))


def fit(labelled: Labelled, *, only_b: bool = False) -> Fitted | None:
    """Fits runs; `None` if there is not enough data for b alone."""
    runs, n = labelled.runs, len(labelled.runs)
    variables = _variables(runs)
    names = None if only_b else runs.patterns
    patterns = {} if names is None else {pattern: names.count(pattern) / n for pattern in sorted(set(names))}
    if len(patterns) < 2:
        patterns, names = {}, None
    events = min(labelled.tail.sum(), n - labelled.tail.sum())
    possible = [("b",)] if only_b else [of for of in ORDER if _known(of, variables, patterns)]
    terms, left_out = _affordable(possible, patterns, int(events) // EVENTS_PER_TERM)
    if not terms:
        return None
    values = standardised(variables, patterns, runs.numbers, names)
    block = blocks(runs.when)
    x = columns(terms, values)
    penalty, out_of_block = _choose(x, labelled.tail, block)
    a, c = regression.recalibrate(out_of_block, labelled.tail)
    beta = regression.logistic(x, labelled.tail, penalty)
    chance = Chance(
        **_linear(beta, terms).model_dump(), recalibration_intercept=a, recalibration_slope=c, penalty=penalty
    )
    calibrated = regression.sigmoid(a + c * regression.logit(out_of_block))
    from odonata.analysis.forecasts import best_cut

    made = []
    for q in QUANTILES:
        most = int(min(q, 1 - q) * n + 1e-9) // EVENTS_PER_TERM
        of, _ = _affordable(possible, patterns, most)
        if of:
            made.append(_quantile(columns(of, values), of, labelled.ratio, q, block))
    return Fitted(variables, patterns, chance, made, left_out, best_cut(calibrated, labelled.tail))


def predicted(of: Fitted, runs: Runs) -> tuple[Vector, dict[float, Vector]]:
    """Probability and quantiles (logarithms of time over median) of runs; a run of an unknown pattern has its mean."""
    names = runs.patterns if of.patterns else None
    values = standardised(of.variables, of.patterns, runs.numbers, names)
    z = of.chance.recalibration_intercept + of.chance.recalibration_slope * linear(of.chance, values)
    rows = np.sort([linear(line, values) + line.shift for line in of.quantiles], axis=0)
    return regression.sigmoid(z), {line.q: row for line, row in zip(of.quantiles, rows, strict=True)}


def blocks(when: Vector) -> NDArray[np.int64]:
    """The block of time of each run (ascending): about as many runs in each, runs of one moment in the same."""
    _, first = np.unique(when, return_index=True)
    start = np.zeros(len(when), dtype=np.int64)
    start[first] = first
    return np.maximum.accumulate(start) * BLOCKS // len(when)


def _variables(runs: Runs) -> dict[str, Variable]:
    made = {}
    for name in NUMBERS:
        if name in runs.numbers:
            values = runs.numbers[name]
            log2 = name != "b"
            of = raw(name, values, log2)
            if (sd := float(of.std())) > 0:
                made[name] = Variable(
                    log2=log2, mean=float(of.mean()), sd=sd, least=float(values.min()), greatest=float(values.max())
                )
    return made


def _known(of: tuple[str, ...], variables: dict[str, Variable], patterns: dict[str, float]) -> bool:
    return all(name in variables if name != PATTERN else bool(patterns) for name in of)


def _affordable(
    possible: Sequence[tuple[str, ...]], patterns: dict[str, float], most: int
) -> tuple[list[list[str]], list[str]]:
    """The first terms for which there are enough events, and the names of the others."""
    terms: list[list[str]] = []
    left_out = []
    for of in possible:
        # The indicators of all patterns add up to zero, so one is left out.
        several = [[f"{PATTERN}{wanted}"] for wanted in list(patterns)[1:]] if PATTERN in of else [[]]
        more = [[*(name for name in of if name != PATTERN), *wanted] for wanted in several]
        if len(terms) + len(more) <= most:
            terms += more
        else:
            left_out.append(" x ".join(of).replace(PATTERN, "pattern"))
    # Without b there is nothing to predict from that this is about.
    return (terms, left_out) if ["b"] in terms else ([], left_out)


def _choose(x: NDArray[np.float64], y: Vector, block: NDArray[np.int64]) -> tuple[float, Vector]:
    """The penalty with the least log loss on left-out blocks, and the probabilities there."""
    best: tuple[float, float, Vector] | None = None
    for penalty in PENALTIES:
        made = np.full(len(y), y.mean())
        for left_out in np.unique(block):
            inside = block == left_out
            rest = y[~inside]
            if len(rest):
                beta = regression.logistic(x[~inside], rest, penalty)
                made[inside] = regression.sigmoid(beta[0] + x[inside] @ beta[1:])
        limited = np.clip(made, 1e-12, 1 - 1e-12)
        loss = -float((y * np.log(limited) + (1 - y) * np.log(1 - limited)).mean())
        if best is None or loss < best[0]:
            best = (loss, penalty, made)
    assert best is not None
    return best[1], best[2]


def _quantile(
    x: NDArray[np.float64], terms: list[list[str]], y: Vector, q: float, block: NDArray[np.int64]
) -> Quantile:
    """A quantile regression, shifted so that a share q of the left-out runs is below its predictions."""
    errors = np.zeros(len(y))
    for left_out in np.unique(block):
        inside = block == left_out
        if not inside.all():
            beta = regression.quantile(x[~inside], y[~inside], q)
            errors[inside] = y[inside] - beta[0] - x[inside] @ beta[1:]
    rank = min(math.ceil(q * (len(y) + 1)), len(y))
    shift = float(np.sort(errors)[rank - 1])
    return Quantile(**_linear(regression.quantile(x, y, q), terms).model_dump(), q=q, shift=shift)


def _linear(beta: Vector, terms: list[list[str]]) -> Linear:
    pairs = zip(terms, beta[1:], strict=True)
    return Linear(intercept=float(beta[0]), terms=[Term(of=of, weight=float(weight)) for of, weight in pairs])
