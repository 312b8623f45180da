"""MSER-5 against sums by hand and series whose begin is known."""

from __future__ import annotations

import numpy as np
import pytest

import odonata as od
from odonata.analysis.warm_up import BATCH, FEWEST, drifts, truncation, warm_up_of, warm_ups


def by_hand(values: list[float]) -> int:
    """The definition: the variance of what is left over its number, least first."""
    errors = [
        np.sum((np.array(values[d:]) - np.mean(values[d:])) ** 2) / (len(values) - d) ** 2
        for d in range(len(values) - BATCH)
    ]
    return int(np.argmin(errors))


@pytest.mark.parametrize("seed", range(5))
def test_the_truncation_is_that_of_the_definition(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    values = np.concatenate([np.linspace(9, 1, 12), drawn.normal(1, 0.2, 60)])
    assert truncation(values) == by_hand(values.tolist())
    assert 6 <= by_hand(values.tolist()) <= 30


def test_a_least_error_in_the_second_half_is_no_answer() -> None:
    assert truncation(np.concatenate([np.linspace(1, 50, 60), np.full(20, 50.0)])) is None


def test_the_warm_up_ends_when_the_queue_has_filled() -> None:
    """Observation n begins at 10 n ps; the first 200 rise."""
    noise = np.random.default_rng(1).normal(0, 0.05, 2000)
    values = np.minimum(np.arange(2000) / 200, 1.0) + 1 + noise
    found = warm_up_of("a", "messages", np.arange(2000) * 10, values)
    assert found.until_ps is not None
    assert 1400 <= found.until_ps <= 2300
    assert found.until_ps % (10 * BATCH) == 0


def test_a_series_that_rises_to_its_end_is_never_steady() -> None:
    noise = np.random.default_rng(2).normal(0, 0.5, 3000)
    found = warm_up_of("a", "messages", np.arange(3000), np.arange(3000) / 100 + noise)
    assert found.until_ps is None
    assert "never becomes steady" in found.why


def test_a_slow_drift_is_found_and_noise_is_not() -> None:
    noise = np.random.default_rng(3).normal(0, 1, 400)
    assert drifts(100 + noise) is None
    assert drifts(100 + noise + np.linspace(0, 20, 400)) == pytest.approx(0.09, abs=0.02)


def test_few_observations_are_too_few() -> None:
    found = warm_up_of("a", "iterations", np.arange(FEWEST - 1), np.ones(FEWEST - 1))
    assert found.until_ps is None
    assert "99 recorded iterations are too few" in found.why


def test_a_loaded_job_warms_up_and_a_saturated_one_never_does() -> None:
    def run(load: float) -> od.Run:
        app = {"pattern": "uniform-random", "message": "16 KB", "load": load, "messages": 200}
        return od.run({"system": "tiny", "job": [{"name": "all", "nodes": 16, "app": app}]})

    (light,) = warm_ups(run(0.15))
    assert light.until_ps is not None
    assert light.observations == 3200
    (saturated,) = warm_ups(run(0.9))
    assert saturated.until_ps is None
