"""The mean of a series after its warm-up, and its interval."""

import math

import numpy as np
import pytest

from odonata.steady.mean import BATCHES, FEWEST, mean_of


def test_equal_values_are_known_exactly_from_the_fewest_on():
    assert mean_of(np.full(FEWEST, 7.0)).value == 7.0
    assert mean_of(np.full(FEWEST, 7.0)).error == 0
    assert mean_of(np.full(FEWEST - 1, 7.0)).error == math.inf
    assert mean_of(np.array([])) is None


def test_a_slow_beginning_is_dropped_and_no_more():
    found = mean_of(np.array([50.0, 20.0, *[10.0, 10.1] * 10]))
    assert found.warm_up == 2
    assert found.value == pytest.approx(10.05)


def test_half_width_of_independent_values_by_hand():
    # Ten values, so ten batches of one: t (9 degrees) x s / sqrt(10); neighbours differ, so r = 0.
    values = np.array([9.0, 11.0] * 5)
    found = mean_of(values)
    assert (found.warm_up, found.count) == (0, BATCHES)
    assert found.error == pytest.approx(2.262 * np.std(values, ddof=1) / math.sqrt(10) / 10)


def test_a_drift_widens_the_interval():
    steps = np.repeat(np.linspace(9, 11, 10), 4)
    shuffled = steps.reshape(10, 4).T.reshape(-1)
    assert mean_of(steps).error > 1.5 * mean_of(shuffled).error


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_intervals_hold_the_mean_about_as_often_as_they_say(correlation):
    random = np.random.default_rng(1)
    inside = 0
    for _ in range(400):
        noise = random.normal(size=60)
        for at in range(1, 60):
            noise[at] += correlation * noise[at - 1]
        found = mean_of(100 + noise)
        inside += abs(found.value - 100) <= found.error * found.value
    assert inside / 400 > 0.88
