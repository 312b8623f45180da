"""A run as the core would return it, small enough to check by hand.

Two groups of one leaf (two nodes each) and one spine; every spine has a second global port without a cable. Two
virtual channels. Slots: leaf 0 = router 0: 0, 1 to nodes, 2 to spine; spine = router 1: 3 to leaf, 4 global, 5 unwired;
then the same for group 1 (routers 2 and 3, slots 6 to 11).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from odonata.store.frame import frame
from odonata.store.manifest import manifest
from odonata.store.result import Run
from odonata.store.tables import (
    blame_frame,
    counters_frame,
    iterations_frame,
    jobs_frame,
    links_frame,
    messages_frame,
    nic_messages_frame,
    nics_frame,
    operations_frame,
    ranks_frame,
    roots_frame,
    routes_frame,
    series_frame,
)

LATE = 2**64 - 1
FLOW: dict[str, Any] = {
    "job": [1],
    "iteration": [0],
    "flow": [0],
    "source": [0],
    "destination": [1],
    "bytes": [100],
    "start_ps": [5],
    "fct_ps": [30],
    "ideal_ps": [20],
    "slowdown": [1.5],
}
RANKS: dict[str, Any] = {"job": np.uint16, "rank": np.uint32, "finish_ps": np.uint64, "work_ps": np.uint64}
ITERATIONS: dict[str, Any] = {
    "job": np.uint16,
    "iteration": np.uint32,
    "ranks": np.uint32,
    "first_begin_ps": np.uint64,
    "last_begin_ps": np.uint64,
    "first_end_ps": np.uint64,
    "last_end_ps": np.uint64,
    "longest_ps": np.uint64,
    "total_ps": np.uint64,
}


@pytest.fixture
def system() -> dict[str, Any]:
    u32, i64 = np.uint32, np.int64
    return {
        "nodes": 4,
        "routers": 4,
        "groups": 2,
        "links": {"node": 4, "local": 2, "global": 1},
        "classes": ["node", "local", "global"],
        "links_per_pair": 1,
        "node_router": np.array([0, 0, 2, 2], u32),
        "node_group": np.array([0, 0, 1, 1], u32),
        "router_group": np.array([0, 0, 1, 1], u32),
        "router_is_leaf": np.array([True, False, True, False]),
        "slot_router": np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3], u32),
        "slot_port": np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2], np.uint16),
        "slot_class": np.array([0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2], np.uint8),
        "slot_peer_router": np.array([-1, -1, 1, 0, 3, -1, -1, -1, 3, 2, 1, -1], i64),
        "slot_peer_node": np.array([0, 1, -1, -1, -1, -1, 2, 3, -1, -1, -1, -1], i64),
        "slot_failed": np.zeros(12, bool),
        "endpoint_slot": np.array([0, 1, 6, 7], u32),
        "rails": 1,
    }


@pytest.fixture
def spec() -> dict[str, Any]:
    def link(gb: int) -> dict[str, int]:
        return {"bandwidth": gb * 10**15, "latency_ps": 0, "buffer_bytes": 8192, "credit_delay_ps": 0}

    traffic = {"pattern": {"name": "uniform-random"}, "interval_ps": 1000, "intervals": 3}
    traffic["arrival"] = {"name": "constant", "jitter_ps": 0}
    return {
        "version": 1,
        "seed": 7,
        "compat": None,
        "fabric": {
            "packet_bytes": 1024,
            "channels": 2,
            "links": {"node": link(2), "local": link(1), "global": link(1)},
        },
        "jobs": [
            {"name": "target", "nodes": [0, 2], "record": "every-message", "traffic": traffic},
            {
                "name": "noise",
                "nodes": [1, 3],
                "record": "histogram",
                "traffic": {**traffic, "intervals": None},
            },
        ],
        "measure": {"from_ps": 0, "until_ps": None, "arrivals_every_ps": 1_000_000},
    }


def _latency(bins: dict[int, int]) -> dict[str, Any]:
    """Bins of width 1 ps: every value exact."""
    values = np.array(sorted(bins), np.uint64)
    return {
        "count": sum(bins.values()),
        "sum": sum(value * count for value, count in bins.items()),
        "min": min(bins, default=0),
        "max": max(bins, default=0),
        "lower": values,
        "upper": values + np.uint64(1),
        "bin_count": np.array([bins[int(value)] for value in values], np.uint64),
    }


def _measured(issued: int, delivered: int, *, intervals: int, first_delivery_ps: int | None) -> dict[str, Any]:
    """All messages in one slice of time."""
    slices: dict[str, Any] = {"width_ps": 2**22}
    slices |= {"issued": np.array([issued], np.uint64), "issue_offset_ps": np.array([issued * 1000.0])}
    slices |= {"delivered": np.array([delivered], np.uint64), "delivery_offset_ps": np.array([delivered * 3000.0])}
    return {
        "measured_issued": issued,
        "measured_delivered": delivered,
        "intervals": intervals,
        "first_delivery_ps": first_delivery_ps,
        "backlog": slices,
    }


@pytest.fixture
def result() -> dict[str, Any]:
    u64 = np.uint64
    links = np.zeros(12 * 2 + 4, u64)
    links[2 * 2], links[2 * 2 + 1] = 3, 1  # leaf 0 to its spine: three packets on channel 0, one on channel 1
    links[4 * 2] = 4  # the global link from group 0
    links[24] = 4  # the injection link of node 0
    arrivals = np.zeros((3, 2, 2), u64)
    arrivals[0, 0, 1], arrivals[2, 1, 0] = 3, 1
    return {
        "end_ps": 2_500_000,
        "packet_hops": 16,
        "events": 20,
        "wall_s": 0.5,
        "jobs": [
            {
                "issued": 5,
                "delivered": 4,
                "packets": 4,
                "bytes": 4096,
                "hops": 12,
                "minimal": 3,
                "first_issue_ps": 100,
                "last_delivery_ps": 2_048_100,
                "intra_node": 0,
                "control": 0,
                "latency": _latency({1000: 1, 1500: 1, 1800: 1, 2000: 1}),
                **_measured(5, 4, intervals=5, first_delivery_ps=1700),
            },
            {
                "issued": 3,
                "delivered": 0,
                "packets": 0,
                "bytes": 0,
                "hops": 0,
                "minimal": 0,
                "first_issue_ps": 0,
                "last_delivery_ps": None,
                "intra_node": 0,
                "control": 0,
                "latency": _latency({}),
                **_measured(3, 0, intervals=3, first_delivery_ps=None),
            },
        ],
        "messages": {
            "job": np.zeros(5, np.uint16),
            "interval": np.array([0, 0, 1, 1, 2], np.uint32),
            "source": np.array([0, 1, 0, 1, 0], np.uint32),
            "destination": np.array([1, 0, 1, 0, 1], np.uint32),
            "issue_ps": np.array([100, 200, 1100, 1200, 2_400_000], u64),
            "latency_ps": np.array([2000, 1500, 1800, 1000, LATE], u64),
        },
        "links": {"packets": links, "bytes": links * u64(1000), "stalled_ps": links * u64(10)},
        "arrivals": {
            "every_ps": 1_000_000,
            "windows": 3,
            "packets_in": arrivals,
            "bytes_in": arrivals * u64(1024),
            "packets_out": arrivals[:, :, ::-1],
            "bytes_out": arrivals[:, :, ::-1] * u64(1024),
        },
        "ranks": {name: np.zeros(0, kind) for name, kind in RANKS.items()},
        "iterations": {name: np.zeros(0, kind) for name, kind in ITERATIONS.items()},
        "class_bytes": np.zeros((2, 0), u64),
    }


@pytest.fixture
def run_in_memory(result: dict[str, Any], spec: dict[str, Any], system: dict[str, Any]) -> Run:
    wall = {"started": "2019-05-29T12:00:00+00:00", "wall_s": 0.5, "alone_wall_s": 0.0}
    facts = manifest(
        run_id="0123456789abcdef",
        core_version="0.0.0",
        seed=7,
        channels=2,
        result=result,
        alone=[],
        wall={**wall, "packet_hops_per_s": 32.0, "peak_rss_bytes": 1_000_000},
        link_classes=system["classes"],
    )
    tables = {
        "jobs": jobs_frame(result, spec, [False, True], {}),
        "messages": messages_frame(result),
        "links": links_frame(result, spec, system),
        "iterations": iterations_frame(result, spec),
        "ranks": ranks_frame(result, spec),
        "counters": counters_frame(result),
        "nics": nics_frame(result, spec, system),
        "nic_messages": nic_messages_frame(result, spec),
        "blame": blame_frame(result, system),
        "roots": roots_frame(result, system),
        "series": series_frame(result, system),
        "routes": routes_frame(result),
        "operations": operations_frame(result),
        "flow_times": frame("flow_times", FLOW),
    }
    return Run(facts, {"spec": spec}, 'system = "by hand"\n', tables)
