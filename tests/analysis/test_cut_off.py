"""Runs that are cut off are left out where they would look fast, and said to be."""

from __future__ import annotations

import polars as pl
import pytest

from odonata.analysis.compare import compare
from odonata.analysis.cut_off import is_censored, saturated, without_cut_off
from odonata.store import columns_of

JOBS = pl.DataFrame(
    {
        "name": ["a"] * 4,
        "complete": [True, False, None, True],
        "alone_complete": [True, True, None, False],
        "saturated": [True, False, None, None],
        "latency_mean_ps": [10.0, 1.0, 9.0, 8.0],
        "alone_mean_ps": [5.0, 5.0, None, 1.0],
        "messages_delivered": [8, 2, 8, 8],
    }
)


def test_what_is_known_to_be_cut_off_is_left_out() -> None:
    kept, left_out = without_cut_off(JOBS, "latency_mean_ps")
    assert (kept["latency_mean_ps"].to_list(), left_out) == ([10.0, 9.0, 8.0], 1)
    assert without_cut_off(JOBS, "alone_mean_ps")[0]["alone_mean_ps"].to_list() == [5.0, None]
    assert without_cut_off(JOBS, "messages_delivered")[1] == 0


def test_a_study_of_an_older_version_is_taken_as_it_is() -> None:
    assert without_cut_off(JOBS.drop("complete", "alone_complete"), "latency_mean_ps")[1] == 0


def test_times_latencies_and_slowdowns_are_censored_and_counts_are_not() -> None:
    censored = {column.name for column in columns_of("jobs") if is_censored(column.name)}
    assert {"latency_mean_ps", "latency_p99_ps", "iteration_p50_ps", "alone_time_ps", "time_ps", "slowdown"} <= censored
    assert not {"latency_count", "iterations", "throughput", "messages_sent", "alone_complete", "hops_mean"} & censored


def test_saturated_runs_are_counted_for_latencies_only() -> None:
    assert saturated(JOBS, "latency_mean_ps") == 1
    assert saturated(JOBS, "messages_delivered") == 0


@pytest.mark.parametrize(("cut_off", "full", "said"), [(0, 0, 0), (2, 0, 1), (2, 3, 2)])
def test_a_comparison_says_what_it_left_out(cut_off: int, full: int, said: int) -> None:
    from dataclasses import replace

    jobs = pl.DataFrame({"name": ["a"] * 12, "by": ["x", "y"] * 6, "seed": [k // 2 for k in range(12)]})
    comparison = compare(
        jobs.with_columns(latency_mean_ps=pl.int_range(1.0, 13.0)), "by", "latency_mean_ps", others=["seed"]
    )
    text = str(replace(comparison, cut_off=cut_off, saturated=full))
    assert ("left out: cut off" in text) + ("the job is saturated" in text) == said
