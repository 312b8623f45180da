"""The error of slowdowns beside the errors of two models that simulate nothing.

*No interference* says 1 everywhere. *The mean of the class* says the geometric mean of the other measured cells with
the same victim, size, aggressor and number of nodes: what somebody knows who has measured the same before on other
nodes. A prediction is confirmed if its error is smaller than both of theirs, with 95 % intervals of the ratios by a
paired bootstrap over cells.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Protocol

import numpy as np

from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.interference.data import Measured
    from odonata.reproduce.rows import Row

EFFECT = 1.05
"""A measured cell has an effect if its interval begins above. Where nothing is to be predicted, it is also the largest
geometric mean error of a simulation that shows nothing."""
CHANCE = 0.025
"""Part of the cells that may have an effect where nothing is to be predicted: that of 95 % intervals of no effect."""
DRAWS = 4_000
NOTHING = "nothing to predict: the machine shows no effect"
NULLS = ("no interference", "the mean of the class")
WHERE = "arXiv 2604.11432, data"


class Compared(Protocol):
    """A measured cell and its simulated slowdown."""

    @property
    def measured(self) -> Measured:
        """What was measured."""

    @property
    def slowdown(self) -> float:
        """What was simulated."""


def nothing_to_predict(cells: Sequence[Measured]) -> bool:
    """Whether no more cells have an effect than intervals of 95 % give by chance."""
    return sum(cell.low > EFFECT for cell in cells) <= CHANCE * len(cells)


def logs_of_class(cells: Sequence[Measured]) -> list[float | None]:
    """The logarithm of what the mean of its class says of each cell; None where it has no other cell."""
    classes = defaultdict[tuple[object, ...], list[float]](list)

    def kind(cell: Measured) -> tuple[object, ...]:
        return cell.beside.victim, cell.beside.size, cell.beside.aggressor, cell.nodes

    for cell in cells:
        classes[kind(cell)].append(math.log(cell.slowdown))
    said: list[float | None] = []
    for cell in cells:
        logs = classes[kind(cell)]
        others = len(logs) - 1
        said.append((sum(logs) - math.log(cell.slowdown)) / others if others else None)
    return said


def errors_of_class(cells: Sequence[Measured]) -> list[float]:
    """Logarithms of measured slowdowns by what the mean of the class says, for the cells that have one."""
    said = logs_of_class(cells)
    return [math.log(cell.slowdown) - log for cell, log in zip(cells, said, strict=True) if log is not None]


def over(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """The mean error of ours over that of a null model, as a factor, and its 95 % interval; logarithms, paired."""
    differences = np.abs(ours) - np.abs(theirs)
    drawn = np.random.default_rng(1).integers(0, len(differences), (DRAWS, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), (0.025, 0.975))
    return math.exp(fmean(differences)), (math.exp(low), math.exp(high))


def null_rows(name: str, cells: Sequence[Compared], model: str) -> list[Row]:
    """A row for each null model: our error over its."""
    measured = [cell.measured for cell in cells]
    logs = [math.log(cell.measured.slowdown) for cell in cells]
    pairs = [(math.log(cell.slowdown) - log, log) for cell, log in zip(cells, logs, strict=True)]
    of_class = [
        (ours, log - said) for (ours, log), said in zip(pairs, logs_of_class(measured), strict=True) if said is not None
    ]
    nothing = nothing_to_predict(measured)
    rows = []
    for null, errors in zip(NULLS, (pairs, of_class), strict=True):
        if not errors:
            continue
        ratio, interval = over([ours for ours, _ in errors], [theirs for _, theirs in errors])
        row = statement(
            "null", f"{name}: error over that of {null}", ratio, 1.0, "x", "< 1", WHERE,
            model=model, interval=interval, comparable=not nothing, why=NOTHING if nothing else "",
        )  # fmt: skip
        rows.append(replace(row, repetitions=len(errors)))
    return rows


def verdict(error: Row, nulls: Sequence[Row]) -> str:
    """In words: whether a prediction is confirmed. `nulls` are rows of `null_rows`, `error` is ours."""
    if any(row.why == NOTHING for row in nulls):
        if error.verdict == "direction":
            return "nothing to predict: **correctly none**"
        return "nothing to predict, and the simulation shows an effect: **wrongly some**"
    if len(nulls) == len(NULLS) and all(row.verdict == "direction" for row in nulls):
        return "**confirmed**"
    said = [f"{_compared(row)} {row.what.rpartition(' that of ')[2]}" for row in nulls]
    return f"**not confirmed**: {' and '.join(said)}"


def _compared(row: Row) -> str:
    assert row.interval is not None
    if row.verdict == "direction":
        return "nearer than"
    return "farther than" if row.interval[0] > 1 else "not significantly nearer than"
