"""Predictions of slowdowns beside models that simulate nothing: the verdict, and what it rests on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from odonata.reproduce import find
from odonata.reproduce.interference import page
from odonata.reproduce.interference.data import Measured
from odonata.reproduce.interference.loops import Loop
from odonata.reproduce.interference.nulls import (
    errors_of_class,
    logs_of_class,
    nothing_to_predict,
    null_rows,
    over,
    verdict,
)
from odonata.reproduce.rows import statement

SIZES = (512, 4_096, 32_768, 262_144)


def measured(slowdown: float, *, size: int = 4_096, nodes: int = 8, width: float = 0.01) -> Measured:
    loop = Loop("alltoall", size, (0, 1), "incast", (2, 3))
    low, high = slowdown * (1 - width), slowdown * (1 + width)
    return Measured(nodes, loop, Loop("alltoall", size, (0, 1)), slowdown, low, high, 10.0, 0.2)


def cells(pairs: list[tuple[float, float]]) -> list[page.Cell]:
    """Measured and simulated slowdowns, in classes of two."""
    return [
        page.Cell(measured(theirs, size=SIZES[number // 2 % 4], nodes=8 << number // 8), ours, ours, ours, 9, 10.0, 0.0)
        for number, (theirs, ours) in enumerate(pairs)
    ]


def judged(pairs: list[tuple[float, float]], system: str = "leonardo") -> str:
    """The sentence of the page on victims beside an incast."""
    chosen = find(f"interference-{system}")
    runs = [
        {"system": system, "host": {"by_size": []}, "cells": cells(pairs), "left": [], "asked": 1, "packaged": True}
    ]
    text = chosen.page(chosen.rows(runs), runs)
    return next(part for part in " ".join(text.split()).split("- ") if part.startswith("Slowdowns beside an incast"))


RNG = np.random.default_rng(7)
APART = [float(x) for x in np.exp(RNG.uniform(0.2, 1.5, 24))]
"""Slowdowns that differ inside their class too."""


def test_a_prediction_that_beats_both_null_models_is_confirmed() -> None:
    assert "**confirmed**" in judged([(x, x * 1.05) for x in APART])


def test_no_interference_is_never_confirmed() -> None:
    assert "**not confirmed**" in judged([(x, 1.0) for x in APART])
    assert "nearer than no interference" not in judged([(x, 1.0) for x in APART]).replace("significantly nearer", "")


def test_what_a_measurement_on_other_nodes_tells_is_not_confirmed() -> None:
    """Two cells of a class are alike, and the simulation is nearer than 1 but farther than the other cell."""
    twins = [x for x in APART[:12] for _ in range(2)]
    said = judged([(x * (1 + 0.01 * (n % 2)), x * 1.1) for n, x in enumerate(twins)])
    assert "**not confirmed**: nearer than no interference and farther than the mean of the class" in said


def test_a_gain_that_few_cells_carry_is_not_significant() -> None:
    """One cell of 24 is much nearer, the others are somewhat farther: the mean is smaller, its interval is not."""
    pairs = [(1.2, 1.5)] * 23 + [(6.0, 6.0)]
    assert "not significantly nearer than no interference" in judged(pairs)


def test_where_the_machine_shows_nothing_there_is_nothing_to_predict() -> None:
    """The case that was called predicted: x 1.05 where 1 everywhere is x 1.01."""
    quiet = [(1.01 if n % 2 else 0.99, 1.02) for n in range(24)]
    said = judged(quiet, "lumi")
    assert "nothing to predict: **correctly none**" in said
    assert "confirmed" not in said
    assert "**wrongly some**" in judged([(theirs, 1.2) for theirs, _ in quiet], "lumi")
    rows = null_rows("beside incast", cells(quiet), "lumi")
    assert {row.verdict for row in rows} == {"not comparable"}


def test_an_effect_is_an_interval_that_begins_above() -> None:
    none = [measured(1.02, width=0.02)] * 39
    assert nothing_to_predict([*none, measured(2.0)]), "one of 40 is chance"
    assert not nothing_to_predict([*none[:37], *[measured(1.1)] * 3])
    assert nothing_to_predict([measured(1.1, width=0.1)] * 40), "an interval that holds 1 is no effect"


def test_the_mean_of_a_class_is_that_of_the_other_cells() -> None:
    """Catches a cell that predicts itself, and classes that are mixed."""
    some = [measured(1.0), measured(4.0), measured(2.0), measured(3.0, size=512), measured(5.0, nodes=64)]
    said = logs_of_class(some)
    assert said[:3] == [pytest.approx(math.log(x)) for x in (8**0.5, 2**0.5, 2.0)]
    assert said[3:] == [None, None]
    assert len(errors_of_class(some)) == 3


def test_errors_are_paired() -> None:
    """A difference that is the same in each cell has a narrow interval, however much cells differ."""
    ratio, (low, high) = over([0.1 * n + 0.05 for n in range(20)], [0.1 * n for n in range(20)])
    assert (ratio, low, high) == (pytest.approx(math.exp(0.05)),) * 3


def test_a_verdict_without_a_class_is_not_confirmed() -> None:
    error = statement("slowdown", "beside incast", 1.1, 1.0, "x", "<= 1.25", "", model="leonardo")
    single = [page.Cell(measured(x, size=n), x, x, x, 9, 10.0, 0.0) for n, x in enumerate(APART, 1)]
    rows = null_rows("beside incast", single, "leonardo")
    assert len(rows) == 1
    assert verdict(error, rows).startswith("**not confirmed**")
