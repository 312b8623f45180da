"""Correlations by hand, and how often their intervals contain the true value."""

import numpy as np
import pytest
from scipy import stats

from odonata.analysis import correlation
from odonata.analysis.correlation import correlate, time_of_day
from odonata.errors import InputError


def test_by_hand():
    """Deviations (-2, -1, 0, 1, 2) and (-2, 0, -1, 2, 1): r = 8 / 10, and the same of the ranks."""
    correlation = correlate(np.arange(5.0), np.array([1.0, 3, 2, 5, 4]))
    assert correlation.pearson.value == pytest.approx(0.8)
    assert correlation.spearman.value == pytest.approx(0.8)
    assert correlation.partial_pearson is None
    curved = correlate(np.arange(10.0), np.exp(np.arange(10.0)))
    assert curved.spearman.value == pytest.approx(1)
    assert curved.pearson.value < 0.8


def test_as_scipy_has_it():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 9, 30).astype(float)  # with ties
    y = x + rng.normal(0, 4, 30)
    correlation = correlate(x, y)
    assert correlation.pearson.value == pytest.approx(stats.pearsonr(x, y).statistic)
    assert correlation.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert correlation.pearson.interval[0] < correlation.pearson.value < correlation.pearson.interval[1]
    assert correlate(x, y) == correlation


def test_partial_by_hand():
    """With one control: (rxy - rxz ryz) / sqrt((1 - rxz^2) (1 - ryz^2))."""
    rng = np.random.default_rng(2)
    z = rng.normal(size=40)
    x, y = z + rng.normal(size=40), z + rng.normal(size=40)
    xy, xz, yz = (np.corrcoef(*pair)[0, 1] for pair in ((x, y), (x, z), (y, z)))
    correlation = correlate(x, y, z[:, None])
    assert correlation.partial_pearson.value == pytest.approx((xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2)))
    assert abs(correlation.partial_pearson.value) < correlation.pearson.value


def test_what_only_follows_the_hour_has_no_partial_correlation():
    rng = np.random.default_rng(3)
    seconds = rng.uniform(0, 86_400 * 30, 60)
    wave = np.sin(2 * np.pi * seconds / 86_400 + 1.0)
    x, y = wave + rng.normal(0, 0.3, 60), wave + rng.normal(0, 0.3, 60)
    correlation = correlate(x, y, time_of_day(seconds))
    assert correlation.pearson.value > 0.7
    assert correlation.partial_pearson.interval[0] < 0 < correlation.partial_pearson.interval[1]
    assert abs(correlation.partial_spearman.value) < 0.45


def test_the_time_of_day_goes_round():
    at = time_of_day(np.array([0.0, 86_399, 86_400, 43_200]))
    assert at[0] == pytest.approx(at[2])
    assert at[1] == pytest.approx(at[0], abs=1e-3)
    assert at[3] == pytest.approx(-at[0], abs=1e-9)
    assert at[:, 1] == pytest.approx([1, 1, 1, -1])


def test_a_quantity_that_the_controls_explain_wholly():
    z = np.arange(20.0)
    correlation = correlate(3 * z + 1, np.random.default_rng(4).normal(size=20), z[:, None])
    assert np.isnan(correlation.partial_pearson.value)
    assert correlation.partial_pearson.interval is None
    # Too few points for the controls.
    assert correlate(np.arange(5.0), np.array([1.0, 3, 2, 5, 4]), np.eye(5)[:, :2]).partial_pearson is None


def test_intervals_hold_the_truth_about_as_often_as_they_say(monkeypatch):
    monkeypatch.setattr(correlation, "DRAWS", 200)
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(80):
        x, noise = rng.normal(size=(2, 40))
        low, high = correlate(x, 0.6 * x + 0.8 * noise).pearson.interval
        held += low <= 0.6 <= high
    assert 0.87 <= held / 80 <= 1


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([1, 2, 3], [1, 2, 4], "3 points are too few for a correlation; at least 4 are needed"),
        ([1, 1, 1, 1], [1, 2, 3, 4], "the first quantity has the same value, 1, at all 4 points"),
        ([1, 2, 3, 4], [5, 5, 5, 5], "the second quantity has the same value, 5,"),
        ([1, 2, 3, np.nan], [1, 2, 3, 4], "finite"),
    ],
)
def test_bad_input(x, y, said):
    with pytest.raises(InputError, match=said):
        correlate(np.array(x, float), np.array(y, float))
