"""Silverman's test on samples whose peaks are known."""

import numpy as np
import pytest

from odonata.analysis import peaks
from odonata.analysis.peaks import count_peaks


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("normal", lambda rng: rng.normal(50, 2, 800)),
        ("lognormal", lambda rng: rng.lognormal(0, 0.5, 800)),
        ("shifted exponential", lambda rng: 1 + rng.exponential(1, 800)),
        ("heavy tail", lambda rng: 1 + rng.pareto(1.5, 800)),
        ("uniform", lambda rng: rng.uniform(1, 2, 800)),
        ("outliers", lambda rng: np.append(rng.normal(50, 2, 800), [500, 900, 5000])),
    ],
)
def test_one_peak(name, draw):
    peaks = count_peaks(draw(np.random.default_rng(4)))
    assert peaks.count == 1
    assert peaks.p_one > 0.05
    assert len(peaks.at) == 1


def test_two_peaks_with_their_places():
    rng = np.random.default_rng(5)
    peaks = count_peaks(np.concatenate([rng.normal(10, 0.5, 700), rng.normal(14, 0.5, 300)]))
    assert peaks.count == 2
    assert peaks.p_one < 0.01
    assert peaks.at == pytest.approx((10, 14), abs=0.3)
    assert peaks.heights[0] == 1
    assert 0.2 < peaks.heights[1] < 0.8


def test_three_peaks_and_a_small_one():
    rng = np.random.default_rng(6)
    assert count_peaks(np.concatenate([rng.normal(at, 0.4, 300) for at in (10, 13, 17)])).count == 3
    assert count_peaks(np.concatenate([rng.normal(10, 0.4, 950), rng.normal(16, 0.4, 50)])).count == 2


def test_the_unit_does_not_matter_and_the_answer_is_the_same_twice():
    values = np.random.default_rng(7).gamma(3, 1, 400)
    first, again, other = count_peaks(values), count_peaks(values), count_peaks(values * 1e6)
    assert first == again
    assert other.p_one == first.p_one
    assert other.at == pytest.approx(np.array(first.at) * 1e6)


def test_few_unimodal_samples_are_rejected(monkeypatch):
    """The test is conservative: at a level of 5 % it rejects less."""
    monkeypatch.setattr(peaks, "DRAWS", 100)
    rng = np.random.default_rng(8)
    rejected = sum(count_peaks(rng.lognormal(0, 0.4, 200)).count > 1 for _ in range(60))
    assert rejected <= 5


def test_what_is_not_tested():
    assert count_peaks(np.arange(20.0)) is None
    assert count_peaks(np.tile(np.arange(1.0, 11), 50)) is None
    assert count_peaks(np.full(500, 3.0)) is None


def test_sarle():
    rng = np.random.default_rng(9)
    assert count_peaks(rng.lognormal(0, 0.3, 4000)).bimodality_coefficient == pytest.approx(1 / 3, abs=0.08)
    two = np.concatenate([rng.normal(10, 0.1, 2000), rng.normal(20, 0.1, 2000)])
    assert count_peaks(two).bimodality_coefficient == pytest.approx(1, abs=0.05)
