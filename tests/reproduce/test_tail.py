"""The prediction of the tail on queues whose probabilities are known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from odonata.analysis.forecasts import area
from odonata.reproduce.salimibeni2022 import runs, tail


def records(n: int, seed: int = 3) -> pl.DataFrame:
    """Two collectives beside each queue, whose time grows with neighbours and not with b."""
    generator = np.random.default_rng(seed)
    b, exposed = generator.uniform(0.1, 0.8, n), generator.uniform(0, 4, n)
    rows = [
        {
            "started": queue,
            "time_ps": 1e6 * factor * float(np.exp(exposed[queue] + generator.normal(0, 0.2))),
            "b": b[queue],
            "neighbours": exposed[queue],
            "pattern": app,
            "bytes": 32_768,
        }
        for queue in range(n)
        for app, factor in (("reduce", 1.0), ("broadcast", 2.0))
    ]
    return pl.DataFrame(rows)


def test_what_tells_the_tail_is_learnt_and_what_does_not_is_chance() -> None:
    table = records(100)
    without = tail.forecast(table, ("neighbours",))
    known = tail.forecast(table)
    assert len(known.tail) == len(without.tail) == 200
    assert known.tail.mean() == pytest.approx(0.15, abs=0.05)
    value, low, high = known.area()
    assert 0.9 < low < value < high <= 1
    caught, *_ = known.caught()
    assert caught > 95
    of_b, low, high = tail.by_b(table, without).area()
    assert low < 0.5 < high
    assert abs(of_b - 0.5) < 0.2


def test_every_queue_is_predicted_by_those_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    table = records(100)
    learnt: list[set[int]] = []
    train = tail.train

    def noted(known: pl.DataFrame) -> object:
        learnt.append(set(known["started"]))
        return train(known)

    monkeypatch.setattr(tail, "train", noted)
    made = tail.forecast(table)
    assert len(learnt) == tail.FOLDS
    assert sorted(np.unique(made.queue)) == list(range(100))
    assert set.intersection(*learnt) == set()
    assert all(len(known) == 80 for known in learnt)


def test_the_area_by_hand() -> None:
    assert area(np.array([1.0, 2, 3, 4]), np.array([0.0, 0, 1, 1])) == 1
    assert area(np.array([1.0, 2, 3, 4]), np.array([1.0, 1, 0, 0])) == 0
    assert area(np.array([1.0, 1, 1, 1]), np.array([0.0, 1, 0, 1])) == 0.5
    assert area(np.array([1.0, 3, 2]), np.array([0.0, 0, 1])) == 0.5


def test_the_measured_job_has_neighbours_beside_most_queues() -> None:
    exposed = [tail.exposed(draw, load) for draw, load in runs.DRAWS[:6]]
    assert min(exposed) >= 0
    assert max(exposed) > 0
