"""Loads of links and groups, from frames made by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from odonata.analysis.traffic import arrival_rates, group_capacity, group_matrix, local_matrix


@pytest.fixture
def links() -> pl.DataFrame:
    """Three groups; group 0 has routers 0 and 1, the others one each. There is no cable between 1 and 2."""
    rows = [
        # from_kind, from_id, from_group, to_kind, to_id, to_group, GiB/s, busy
        ("router", 0, 0, "router", 2, 1, 4.0, 0.2),
        ("router", 1, 0, "router", 2, 1, 4.0, 0.4),
        ("router", 0, 0, "router", 3, 2, 4.0, 0.9),
        ("router", 2, 1, "router", 0, 0, 4.0, 0.1),
        ("router", 3, 2, "router", 0, 0, 4.0, 0.0),
        ("router", 1, 0, "router", 0, 0, 5.0, 0.6),
        ("router", 0, 0, "node", 0, 0, 16.0, 0.8),
        ("node", 0, 0, "router", 0, 0, 16.0, 0.7),
    ]
    names = ["from_kind", "from_id", "from_group", "to_kind", "to_id", "to_group", "bandwidth", "busy"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.with_columns(pl.col("bandwidth") * 2**30)


def test_the_matrix_goes_from_row_to_column_and_averages_parallel_links(links: pl.DataFrame) -> None:
    nan = np.nan
    expected = [[nan, 0.3, 0.9], [0.1, nan, nan], [0.0, nan, nan]]
    np.testing.assert_allclose(group_matrix(links), expected)


def test_local_links_are_those_between_routers_of_a_group(links: pl.DataFrame) -> None:
    nan = np.nan
    np.testing.assert_allclose(local_matrix(links), [[nan, 0.6], [nan, nan], [nan, nan]])


def test_capacity_is_one_way(links: pl.DataFrame) -> None:
    np.testing.assert_allclose(group_capacity(links), [12.0, 4.0, 4.0])


@pytest.fixture
def counters() -> pl.DataFrame:
    """Two windows of 30 ps and a third that the end of the run cuts to 2 ps; two jobs, one group."""
    return pl.DataFrame(
        {
            "start_ps": [0, 0, 30, 30, 60, 60],
            "width_ps": [30, 30, 30, 30, 2, 2],
            "job": [0, 1, 0, 1, 0, 1],
            "group": [4] * 6,
            "rate_in": [1.0, 2.0, 3.0, 4.0, 900.0, 900.0],
            "rate_out": [0.5] * 6,
            "rate_both": [1.5, 2.5, 3.5, 4.5, 900.5, 900.5],
        }
    )


def test_rates_of_all_jobs_are_summed(counters: pl.DataFrame) -> None:
    assert arrival_rates(counters, "in").select("start_ps", "group", "rate").rows() == [(0, 4, 3.0), (30, 4, 7.0)]
    assert arrival_rates(counters)["rate"].to_list() == [4.0, 8.0]


def test_rates_of_one_job(counters: pl.DataFrame) -> None:
    assert arrival_rates(counters, "out", job=1)["rate"].to_list() == [0.5, 0.5]


def test_the_last_window_is_there_unless_it_is_very_short(counters: pl.DataFrame) -> None:
    longer = counters.with_columns(width_ps=pl.when(pl.col("start_ps") == 60).then(3).otherwise("width_ps"))
    assert arrival_rates(longer, "in").select("start_ps", "width_ps").rows() == [(0, 30), (30, 30), (60, 3)]


def test_a_run_shorter_than_a_window_still_has_one(counters: pl.DataFrame) -> None:
    assert arrival_rates(counters.filter(pl.col("start_ps") == 60), "in")["rate"].to_list() == [1800.0]
