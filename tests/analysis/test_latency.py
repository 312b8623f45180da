"""What others cost a job, and whether its latencies settle."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from odonata.analysis.latency import by_interval, slowdown, slowdowns, throughput
from odonata.store.latency import Latency


def _latency(*values: int) -> Latency:
    found = Latency.from_rows(np.array(values, np.uint64))
    assert found is not None
    return found


def test_slowdown_is_a_ratio_of_each_quantile_and_the_mean() -> None:
    found = slowdown(_latency(10, 20, 60), _latency(5, 20, 20))
    assert (found["min"], found["p50"], found["max"], found["mean"]) == (2.0, 1.0, 3.0, 2.0)


def test_a_latency_of_zero_alone_has_no_ratio() -> None:
    assert slowdown(_latency(1), _latency(0))["mean"] is None


def test_slowdowns_leave_out_jobs_that_were_not_run_alone() -> None:
    names = ("min", "p25", "p50", "p75", "p90", "p99", "p999", "max", "mean")
    jobs = pl.DataFrame(
        {"job": [0, 1], "name": ["target", "noise"]}
        | {f"latency_{name}_ps": [30.0, 7.0] for name in names}
        | {f"alone_{name}_ps": [20.0, None] for name in names}
    )
    found = slowdowns(jobs)
    assert found["name"].to_list() == ["target"]
    assert found["mean"].to_list() == found["p99"].to_list() == [1.5]


@pytest.fixture
def messages() -> pl.DataFrame:
    """Job 0 gets slower with every interval; one of its messages is still under way, and job 1 is in between."""
    return pl.DataFrame(
        {
            "job": [0, 0, 0, 0, 0, 1],
            "interval": [0, 0, 1, 2, 3, 0],
            "issue_ps": [0, 0, 1000, 2000, 3000, 0],
            "latency_ps": [10, 30, 100, 1500, None, 7],
        },
        schema_overrides={"issue_ps": pl.UInt64, "latency_ps": pl.UInt64, "interval": pl.UInt32},
    )


def test_latency_in_the_course_of_a_job(messages: pl.DataFrame) -> None:
    found = by_interval(messages, 0)
    assert found["interval"].to_list() == [0, 1, 2]
    assert found["count"].to_list() == [2, 1, 1]
    assert found["mean_ps"].to_list() == [20.0, 100.0, 1500.0]
    assert found["p50_ps"].to_list() == [10, 100, 1500]  # nearest rank, as everywhere
    assert found["p75_ps"].to_list() == [30, 100, 1500]


def test_intervals_are_taken_together(messages: pl.DataFrame) -> None:
    found = by_interval(messages, 0, every=2)
    assert found["interval"].to_list() == [0, 2]
    assert found["count"].to_list() == [3, 1]
    assert found["p50_ps"].to_list() == [30, 1500]


def test_throughput_counts_a_message_when_it_arrives(messages: pl.DataFrame) -> None:
    found = throughput(messages, 4000, 0, every_ps=1000)
    assert found["start_ps"].to_list() == [0, 1000, 2000, 3000]
    assert found["count"].to_list() == [2, 1, 0, 1]
    assert found["rate"].to_list() == pytest.approx([8e12, 4e12, 0.0, 4e12])


def test_a_job_without_deliveries_has_no_rows(messages: pl.DataFrame) -> None:
    assert by_interval(messages, 2).height == 0
    assert throughput(messages, 4000, 2, every_ps=1000).height == 0
