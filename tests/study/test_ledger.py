"""The book of a sweep: nothing is lost, nothing done twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from odonata.study.estimate import Estimate
from odonata.study.ledger import Ledger
from odonata.study.results import Results
from odonata.study.task import Resolution, failure, frame_of

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Write

SAME = 'base = "base.toml"\n[sweep]\nrouting = ["fpar", { name = "fpar" }]\n"run.seed" = [1, 2, 3]\n'


OWN = (None,)
"""The run of the point itself."""


def rows(*runs: str) -> pl.DataFrame:
    facts = [{**failure(run, ""), "status": "done", "error": None} for run in runs]
    return frame_of(facts, [pl.DataFrame({"job": [0], "name": ["a"]})] * len(runs))


def runs(numbers: list[int], ids: str) -> list[Resolution]:
    return [Resolution(number, run) for number, run in zip(numbers, ids, strict=True)]


def test_points_that_are_one_run_wait_for_it(study: Write) -> None:
    ledger = Ledger(study(SAME), Results(None))
    assert ledger.take(10, 0.0) == [0]  # nothing is known of how long runs take
    assert ledger.grant(runs([0], "x")) == [(0, OWN)]
    ledger.hand_in(rows("x"), [(0, 1.0)])
    assert ledger.take(2, 100.0) == [1, 2]
    assert ledger.take(10, 100.0) == [3, 4, 5]
    assert ledger.grant(runs([1, 2], "yz")) == [(1, OWN), (2, OWN)]
    assert ledger.grant(runs([3, 4, 5], "xyz")) == []  # x is done or waits to be written, y and z are under way
    ledger.hand_in(rows("y"), [(1, 1.0)])
    ledger.flush()
    assert (ledger.settled, ledger.complete, ledger.simulated) == (4, False, 2)
    ledger.hand_in(rows("z"), [(2, 1.0)])
    ledger.flush()
    assert (ledger.settled, ledger.complete, ledger.simulated, ledger.kept) == (6, True, 3, 0)


def test_nothing_is_settled_before_it_is_written(study: Write, tmp_path: Path) -> None:
    ledger = Ledger(study(SAME), Results(tmp_path))
    ledger.grant(runs(ledger.take(1, 1.0), "x"))
    ledger.flush()
    ledger.hand_in(rows("x"), [(0, 1.0)])
    assert (ledger.settled, Results(tmp_path).statuses()) == (0, {})
    ledger.flush()
    assert (ledger.settled, Results(tmp_path).statuses()) == (1, {"x": "done"})


def test_what_is_put_back_is_granted_again_and_those_who_wait_are_served(study: Write) -> None:
    ledger = Ledger(study(SAME), Results(None))
    ledger.grant(runs(ledger.take(1, 1.0), "x"))
    ledger.grant([Resolution(3, "x")])
    ledger.put_back([0])
    assert ledger.take(1, 1.0) == [0]
    assert ledger.grant(runs([0], "x")) == [(0, OWN)]
    ledger.strike(0, "SIGKILL")
    assert ledger.settled == 0
    assert ledger.grant(runs(ledger.take(1, 1.0), "x")) == [(0, OWN)]
    ledger.strike(0, "SIGKILL")
    ledger.flush()
    assert (ledger.settled, ledger.failed) == (2, 2)
    assert ledger.results.statuses() == {"x": "failed"}


def test_a_worker_that_dies_again_before_it_asks_loses_the_point(study: Write) -> None:
    """Catches a sweep that waits forever for a point that was put back and is not granted again."""
    ledger = Ledger(study(SAME), Results(None))
    ledger.grant(runs(ledger.take(1, 1.0), "x"))
    ledger.grant([Resolution(3, "x")])
    ledger.strike(0, "SIGKILL")
    assert ledger.take(1, 1.0) == [0]
    ledger.strike(0, "SIGKILL")  # while it resolves the point
    ledger.flush()
    assert (ledger.settled, ledger.failed) == (2, 2)
    assert ledger.results.statuses() == {"x": "failed"}


def test_failures_that_were_kept_count_once_for_each_point(study: Write, tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(frame_of([failure("x", "it broke")], [None]))
    results.flush()
    ledger = Ledger(study(SAME), Results(tmp_path))
    assert ledger.grant([Resolution(0, "x"), Resolution(3, "x"), Resolution(1, None, "no such thing")]) == []
    assert (ledger.settled, ledger.failed) == (3, 3)
    again = Ledger(study(SAME), Results(tmp_path), retry_failed=True)
    assert again.grant([Resolution(0, "x"), Resolution(3, "x")]) == [(0, OWN)]
    again.hand_in(rows("x"), [(0, 1.0)])
    again.flush()
    assert (again.settled, again.failed) == (2, 0)


def test_failures_are_kept_unless_they_are_to_be_tried_again(study: Write, tmp_path: Path) -> None:
    plan = study(SAME)
    first = Results(tmp_path)
    first.add(frame_of([failure("x", "broken")], [None]))
    first.add(rows("y"))
    first.flush()

    def granted(**options: bool) -> list[int]:
        return [n for n, _ in Ledger(plan, Results(tmp_path), **options).grant(runs([0, 1], "xy"))]

    assert granted() == []
    assert granted(retry_failed=True) == [0]
    assert granted(force=True) == [0, 1]


def test_the_estimate_weighs_values_that_take_longer(study: Write) -> None:
    """Catches a plain mean: with the short runs done first it would be off by a factor of nearly ten."""
    plan = study(
        'base = "base.toml"\n[sweep]\n"job.target.app.messages" = [10, 100]\n"run.seed" = { from = 1, to = 100 }\n'
    )
    estimate = Estimate(plan)
    assert estimate.work_s(range(200)) is None
    for number in range(100):
        estimate.took(number, 1.0)
    for number in range(100, 120):
        estimate.took(number, 10.0)
    work = estimate.work_s(range(120, 200))
    assert work is not None
    assert 500 < work < 850  # 80 runs of 10 s; by the plain mean 200 s
    ledger = Ledger(plan, Results(None))
    ledger.estimate = estimate
    ledger._next, ledger._settled = 120, 120
    assert ledger.left_s(4) == work / 4
    assert ledger.left_s(1000) == work / 80
