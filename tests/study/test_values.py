"""Ranges and random axes."""

from __future__ import annotations

import json
import time
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import odonata as od
from odonata import units
from odonata.study.axis import Axis
from odonata.study.draws import draw
from odonata.study.plan import Plan
from odonata.study.values import values


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"from": 1, "to": 4}, (1, 2, 3, 4)),
        ({"from": 1, "to": 10, "step": 4}, (1, 5, 9)),
        ({"from": 0.1, "to": 0.5, "step": 0.1}, (0.1, 0.2, 0.3, 0.4, 0.5)),
        ({"from": 0, "to": 1, "count": 3}, (0.0, 0.5, 1.0)),
        ({"from": 2, "to": 8, "count": 4}, (2, 4, 6, 8)),
        ({"from": "1 us", "to": "2 us", "step": "500 ns"}, ("1 us", "1.5 us", "2 us")),
        ({"from": "1 KB", "to": "3 KB", "count": 2}, ("1 KB", "3 KB")),
        ({"from": "10 %", "to": "30 %", "step": "10 %"}, ("10 %", "20 %", "30 %")),
        ({"from": "1 GB/s", "to": "2 GB/s", "step": "1 GB/s"}, ("1 GB/s", "2 GB/s")),
    ],
)
def test_ranges_hold_both_ends_and_the_kind_of_their_bounds(given: Any, expected: tuple[Any, ...]) -> None:
    listed = values(given)
    assert listed == expected
    assert [type(value) for value in listed] == [type(value) for value in expected]


def test_draws_do_not_change() -> None:
    """Catches another generator, or a library's: results of a study would be others."""
    assert draw("routing", {"choice": ["a", "b", "c"]}, samples=6, seed=1) == GOLDEN["choice"]
    assert draw("run.seed", {"integers": [1, 1000]}, samples=4, seed=1) == GOLDEN["integers"]
    assert draw("x", {"uniform": [0.25, 0.75]}, samples=3, seed=1) == GOLDEN["uniform"]
    assert draw("x", {"log-uniform": ["100 ns", "100 us"]}, samples=3, seed=1) == GOLDEN["log-uniform"]
    assert draw("x", {"log-integers": [1, 4096]}, samples=4, seed=2) == GOLDEN["log-integers"]


def test_more_samples_and_other_keys_leave_what_was_drawn() -> None:
    few = draw("x", {"uniform": [0, 1]}, samples=3, seed=5)
    assert draw("x", {"uniform": [0, 1]}, samples=9, seed=5)[:3] == few
    assert draw("y", {"uniform": [0, 1]}, samples=3, seed=5) != few
    assert draw("x", {"uniform": [0, 1]}, samples=3, seed=6) != few


@given(st.integers(0, 2**32), st.sampled_from(["uniform", "log-uniform"]))
def test_drawn_quantities_are_within_their_bounds_and_can_be_read(seed: int, name: str) -> None:
    for value in draw("x", {name: ["0.3 ns", "7 us"]}, samples=5, seed=seed):
        assert 300 <= units.time_ps(value) <= 7_000_000


def test_integers_reach_both_ends_evenly() -> None:
    drawn = draw("x", {"integers": [3, 5]}, samples=3000, seed=1)
    assert all(900 < drawn.count(value) < 1100 for value in (3, 4, 5))
    spread = draw("x", {"log-integers": [1, 3]}, samples=3000, seed=1)
    # [1, 2), [2, 3) and [3, 4) have 1/2, 0.29 and 0.21 of the logarithmic length of [1, 4).
    assert [round(spread.count(value) / 3000, 1) for value in (1, 2, 3)] == [0.5, 0.3, 0.2]


GOLDEN: dict[str, tuple[Any, ...]] = {
    "choice": ("a", "c", "c", "c", "b", "a"),
    "integers": (806, 449, 456, 295),
    "uniform": (0.68309, 0.322367, 0.685321),
    "log-uniform": ("39.6772 us", "271.769 ns", "40.919 us"),
    "log-integers": (8, 2590, 7, 70),
}


ONE = {"system": "tiny", "job": [{"name": "a", "nodes": 2, "app": {"collective": "barrier"}}]}
_KEYS = st.text("ab-_1. é", min_size=1, max_size=3)
_TOML = st.recursive(
    st.text() | st.integers() | st.floats() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(_TOML, min_size=1, max_size=3))
def test_the_file_of_a_study_made_in_python_has_its_values(values: list[Any]) -> None:
    axes = (Axis(("a.b",), tuple((value,) for value in values)), Axis(("c", "d"), ((1, values), (2, values))))
    plan = Plan("study", od.Scenario.of(ONE), axes).with_alone()
    assert json.dumps(tomllib.loads(plan.as_text())) == json.dumps(
        {
            "alone": True,
            "base": "scenario.toml",
            "sweep": {"a.b": values},
            "zip": [{"c": [1, 2], "d": [values, values]}],
        }
    )
    made = Plan("study", pow, axes)
    assert made.as_text().startswith("# Scenarios are made by the function pow.\n")
    assert list(tomllib.loads(made.as_text())) == ["sweep", "zip"]


def test_the_file_of_a_long_study_is_written_fast() -> None:
    """Catches a writer whose time grows with the square of the length: 31 s for these points."""
    axis = Axis(("run.seed",), tuple((seed,) for seed in range(10_000)))
    began = time.process_time()
    Plan("study", od.Scenario.of(ONE), (axis,)).as_text()
    assert time.process_time() - began < 2
