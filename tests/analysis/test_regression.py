"""Regressions against their definitions, and the scores of forecasts against sums by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odonata.analysis import forecasts, regression


@pytest.mark.parametrize("penalty", [0.0, 10.0])
def test_logistic_is_where_the_gradient_is_zero(penalty: float) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 2))
    y = (rng.random(4000) < regression.sigmoid(-1 + 2 * x[:, 0])).astype(float)
    beta = regression.logistic(x, y, penalty)
    error = regression.sigmoid(beta[0] + x @ beta[1:]) - y
    assert error.sum() == pytest.approx(0, abs=1e-4)
    assert x.T @ error + penalty * beta[1:] == pytest.approx([0, 0], abs=1e-4)
    assert beta == pytest.approx([-1, 2, 0], abs=0.15)


@given(q=st.floats(0.05, 0.95), seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_no_other_line_has_a_smaller_loss(q: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 2))
    y = x[:, 0] + rng.gumbel(size=60)
    beta = regression.quantile(x, y, q)
    least = forecasts.pinball(y, beta[0] + x @ beta[1:], q)
    for change in rng.normal(0, 0.1, (20, 3)):
        other = beta + change
        assert forecasts.pinball(y, other[0] + x @ other[1:], q) >= least - 1e-9


def test_recalibration_undoes_a_distortion() -> None:
    rng = np.random.default_rng(3)
    true = rng.uniform(0.02, 0.9, 20_000)
    y = (rng.random(20_000) < true).astype(float)
    distorted = regression.sigmoid(1 + 0.5 * regression.logit(true))
    a, c = regression.recalibrate(distorted, y)
    assert (a, c) == (pytest.approx(-2, abs=0.15), pytest.approx(2, abs=0.1))
    # What says the opposite is not turned round.
    assert regression.recalibrate(1 - true, y)[1] == 0


def test_scores_by_hand() -> None:
    p, y = np.array([0.1, 0.6, 0.6, 0.9]), np.array([0.0, 1.0, 0.0, 1.0])
    assert forecasts.brier(p, y) == pytest.approx((0.01 + 0.16 + 0.36 + 0.01) / 4)
    assert forecasts.recall_and_precision(p >= 0.6, y) == (1.0, 2 / 3)
    assert forecasts.recall_and_precision(p > 1, y) == (0.0, None)
    assert forecasts.recall_and_precision(p > 0, y * 0) == (None, 0.0)
    assert forecasts.best_cut(p, y) == 0.6  # F1 of 0.8; that of 0.9 is 2/3
    low, middle, high = forecasts.reliability(p, y)
    assert (low.runs, low.forecast, low.observed) == (1, pytest.approx(0.1), 0)
    assert (middle.low, middle.runs, middle.observed) == (0.5, 2, 0.5)
    assert high.high == 1.0
    assert forecasts.pinball(np.array([1.0, 4.0]), np.array([2.0, 2.0]), 0.75) == pytest.approx((0.25 + 1.5) / 2)


def test_runs_of_one_moment_are_drawn_together() -> None:
    ours, theirs = np.array([0.0, 0.0, 1.0, 1.0]), np.zeros(4)
    apart = forecasts.difference_interval(ours, theirs, np.arange(4.0), seed=1)
    together = forecasts.difference_interval(ours, theirs, np.array([0.0, 0.0, 1.0, 1.0]), seed=1)
    assert together == (0.0, 1.0)
    assert apart == forecasts.difference_interval(ours, theirs, np.arange(4.0), seed=1)
    assert forecasts.difference_interval(theirs, theirs, np.arange(4.0), seed=1) == (0.0, 0.0)
