"""Quantiles are nearest rank, exactly, whichever way they come."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.store.columns import QUANTILES
from odonata.store.latency import Latency


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=60))
def test_rows_give_the_nearest_rank_of_a_sorted_list(values: list[int]) -> None:
    latency = Latency.from_rows(np.array(values, np.uint64))
    assert latency is not None
    ordered = sorted(values)
    for name, (top, bottom) in QUANTILES.items():
        rank = max(math.ceil(top * len(values) / bottom), 1)
        assert latency.quantiles[name] == ordered[rank - 1], name
    assert latency.mean == sum(values) / len(values)
    assert latency.count == len(values)


def test_the_sum_of_huge_latencies_does_not_overflow() -> None:
    latency = Latency.from_rows(np.full(5, 2**63, np.uint64))
    assert latency is not None
    assert latency.mean == 2.0**63


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=60))
def test_a_histogram_is_within_its_bins_of_the_rows(values: list[int]) -> None:
    bins: dict[tuple[int, int], int] = {}
    for value in values:
        shift = max(value.bit_length() - 11, 0)
        lower = value >> shift << shift
        bins[lower, lower + (1 << shift)] = bins.get((lower, lower + (1 << shift)), 0) + 1
    edges = sorted(bins)
    latency = Latency.from_histogram(
        np.array([lower for lower, _ in edges], np.uint64),
        np.array([upper for _, upper in edges], np.uint64),
        np.array([bins[edge] for edge in edges], np.uint64),
        total=sum(values),
        least=min(values),
        greatest=max(values),
    )
    exact = Latency.from_rows(np.array(values, np.uint64))
    assert latency is not None
    assert exact is not None
    for name, value in exact.quantiles.items():
        assert abs(latency.quantiles[name] - value) <= value * 0.0005 + 0.5, name
    assert (latency.quantiles["min"], latency.quantiles["max"]) == (min(values), max(values))
    assert len(values) >= 1000 or latency.quantiles["p999"] == max(values)
    assert latency.mean == exact.mean


def test_nothing_has_no_latency() -> None:
    none = np.array([], np.uint64)
    assert Latency.from_rows(none) is None
    assert Latency.from_histogram(none, none, none, total=0, least=0, greatest=0) is None


def test_quantiles_come_in_order() -> None:
    latency = Latency.from_rows(np.arange(1, 1001, dtype=np.uint64))
    assert latency is not None
    assert latency.as_dict() == pytest.approx(
        {"min": 1, "p25": 250, "p50": 500, "p75": 750, "p90": 900, "p99": 990, "p999": 999, "max": 1000, "mean": 500.5}
    )
