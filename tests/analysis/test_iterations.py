"""Iterations of programs, from a table written by hand."""

from types import SimpleNamespace

import polars as pl
import pytest

from odonata.analysis.iterations import iteration_times, iterations_of
from odonata.errors import InputError

RUN = SimpleNamespace(
    jobs=pl.DataFrame({"name": ["noise", "target"]}),
    iterations=pl.DataFrame(
        {
            "job": [1, 1, 1],
            "iteration": [1, 0, 2],
            "first_begin_ps": [90, 10, 250],
            "first_end_ps": [150, 60, 260],
            "last_end_ps": [200, 100, 300],
            "time_ps": [110, 90, None],
        },
        schema_overrides=dict.fromkeys(("first_begin_ps", "first_end_ps", "last_end_ps", "time_ps"), pl.UInt64),
    ),
)


def test_times_in_the_order_of_the_iterations():
    assert iteration_times(RUN, "target").to_list() == [90, 110]
    assert iteration_times(RUN, 1).to_list() == [90, 110]
    assert iteration_times(RUN, "noise").to_list() == []


def test_skew_and_pause():
    found = iterations_of(RUN, "target")
    assert found["skew_ps"].to_list() == [40, 50, 40]
    assert found["pause_ps"].to_list() == [None, -10, 50]


def test_an_unknown_job():
    with pytest.raises(InputError, match="unknown job `targt`") as caught:
        iterations_of(RUN, "targt")
    assert "`target`" in caught.value.hint
