"""Quartiles, notch and tail, by hand."""

import numpy as np
import pytest

from odonata.analysis.dispersion import TAIL_OF_EXPONENTIAL, TAIL_OF_NORMAL, describe
from odonata.errors import InputError


def test_by_hand():
    """1 to 9: Q1 = 3, Q3 = 7, so QCD = 4 / 10; notch 5 -+ 1.57 * 4 / 3."""
    found = describe(np.arange(1.0, 10.0))
    assert (found.n, found.q1, found.median, found.q3, found.iqr, found.qcd) == (9, 3, 5, 7, 4, 0.4)
    assert found.notch == pytest.approx((5 - 1.57 * 4 / 3, 5 + 1.57 * 4 / 3))
    assert (found.minimum, found.maximum, found.mean) == (1, 9, 5)
    assert (found.outliers_low, found.outliers_high, found.tail_share) == (0, 0, 0)
    assert found.autocorrelation == pytest.approx(1)


def test_tail_by_hand():
    """Upper fence 7 + 1.5 * 4 = 13, lower fence -3."""
    values = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 14])
    found = describe(values)
    assert (found.q1, found.q3) == (3, 7)
    assert (found.outliers_low, found.outliers_high) == (0, 1)
    assert found.tail_share == pytest.approx(1 / 9)
    assert found.tail_time_share == pytest.approx(14 / 50)
    assert found.tail_length == pytest.approx(np.quantile(values, 0.99) / 5)
    assert found.maximum == 14
    assert describe(np.append(values, -10.0)).outliers_low == 1


def test_tails_of_known_distributions():
    rng = np.random.default_rng(1)
    assert describe(rng.normal(10, 1, 200_000)).tail_share == pytest.approx(TAIL_OF_NORMAL, rel=0.1)
    exponential = describe(rng.exponential(1, 200_000))
    assert exponential.tail_share == pytest.approx(TAIL_OF_EXPONENTIAL, rel=0.03)
    assert exponential.qcd == pytest.approx(np.log(3) / np.log(16 / 3), rel=0.02)
    assert exponential.autocorrelation == pytest.approx(0, abs=0.01)
    assert describe(rng.normal(10, 1, 200_000)).asymmetry == pytest.approx(1, abs=0.05)
    assert exponential.asymmetry > 3


def test_notch_and_interval_hold_the_median_about_as_often_as_they_say():
    rng = np.random.default_rng(2)
    inside = np.zeros(2)
    for _ in range(300):
        found = describe(rng.normal(0, 1, 101))
        inside += [low <= 0 <= high for low, high in (found.notch, found.interval)]
    assert 0.86 < inside[0] / 300 < 0.95
    assert 0.92 < inside[1] / 300 < 0.99


def test_interval_by_hand():
    """P(Binomial(9, 1/2) <= 1) = 10 / 512 < 2.5 %, so the interval goes from the second value to the second last."""
    assert describe(np.arange(1.0, 10)).interval == (2, 8)
    assert describe(np.arange(1.0, 6)).interval is None


def test_a_constant_series():
    found = describe(np.full(7, 3.0))
    assert (found.qcd, found.iqr, found.notch, found.tail_share) == (0, 0, (3, 3), 0)
    assert (found.asymmetry, found.autocorrelation) == (None, None)
    nothing = describe(np.zeros(7))
    assert (nothing.qcd, nothing.tail_length, nothing.tail_time_share) == (None, None, None)


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 4])
def test_too_few(values):
    with pytest.raises(InputError, match=f"has {len(values)} value"):
        describe(np.array(values))


def test_not_finite():
    with pytest.raises(InputError, match="not finite"):
        describe(np.array([1, 2, np.nan, 4, 5]))
