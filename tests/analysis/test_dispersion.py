"""Quartiles, notch and tail, by hand."""

import numpy as np
import pytest

from odonata.analysis.dispersion import TAIL_OF_EXPONENTIAL, TAIL_OF_NORMAL, describe
from odonata.errors import InputError


def test_by_hand():
    """1 to 9: Q1 = 3, Q3 = 7, so QCD = 4 / 10; notch 5 -+ 1.57 * 4 / 3."""
    dispersion = describe(np.arange(1.0, 10.0))
    assert (dispersion.n, dispersion.q1, dispersion.median, dispersion.q3, dispersion.iqr, dispersion.qcd) == (
        9,
        3,
        5,
        7,
        4,
        0.4,
    )
    assert dispersion.notch == pytest.approx((5 - 1.57 * 4 / 3, 5 + 1.57 * 4 / 3))
    assert (dispersion.minimum, dispersion.maximum, dispersion.mean) == (1, 9, 5)
    assert (dispersion.outliers_low, dispersion.outliers_high, dispersion.tail_share) == (0, 0, 0)
    assert dispersion.autocorrelation == pytest.approx(1)


def test_tail_by_hand():
    """Upper fence 7 + 1.5 * 4 = 13, lower fence -3."""
    values = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 14])
    dispersion = describe(values)
    assert (dispersion.q1, dispersion.q3) == (3, 7)
    assert (dispersion.outliers_low, dispersion.outliers_high) == (0, 1)
    assert dispersion.tail_share == pytest.approx(1 / 9)
    assert dispersion.tail_time_share == pytest.approx(14 / 50)
    assert dispersion.tail_length == pytest.approx(np.quantile(values, 0.99) / 5)
    assert dispersion.maximum == 14
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
        dispersion = describe(rng.normal(0, 1, 101))
        inside += [low <= 0 <= high for low, high in (dispersion.notch, dispersion.interval)]
    assert 0.86 < inside[0] / 300 < 0.95
    assert 0.92 < inside[1] / 300 < 0.99


def test_interval_by_hand():
    """P(Binomial(9, 1/2) <= 1) = 10 / 512 < 2.5 %, so the interval goes from the second value to the second last."""
    assert describe(np.arange(1.0, 10)).interval == (2, 8)
    assert describe(np.arange(1.0, 6)).interval is None


def test_a_constant_series():
    dispersion = describe(np.full(7, 3.0))
    assert (dispersion.qcd, dispersion.iqr, dispersion.notch, dispersion.tail_share) == (0, 0, (3, 3), 0)
    assert (dispersion.asymmetry, dispersion.autocorrelation) == (None, None)
    nothing = describe(np.zeros(7))
    assert (nothing.qcd, nothing.tail_length, nothing.tail_time_share) == (None, None, None)


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 4])
def test_too_few(values):
    with pytest.raises(InputError, match=f"has {len(values)} value"):
        describe(np.array(values))


def test_not_finite():
    with pytest.raises(InputError, match="not finite"):
        describe(np.array([1, 2, np.nan, 4, 5]))
