"""A small machine and a short run for the tests of the extension module."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from odonata import _core

TOPOLOGY: dict[str, Any] = {
    "kind": "dragonfly-plus",
    "groups": 3,
    "leaves": 2,
    "spines": 2,
    "nodes_per_leaf": 2,
    "global_links_per_spine": 4,
    "links_per_pair": 4,
    "arrangement": "linear",
}

_LINK = {"bandwidth": 4_692_251_770_880_000, "latency_ps": 10_000, "buffer_bytes": 8_192, "credit_delay_ps": 0}

SPEC: dict[str, Any] = {
    "version": 1,
    "seed": 7,
    "compat": None,
    "topology": TOPOLOGY,
    "fabric": {
        "packet_bytes": 2_048,
        "router_delay_ps": 100_000,
        "channels": 3,
        "nic": {"overhead_ps": 0, "order": "fcfs"},
        "links": {"node": _LINK, "local": _LINK, "global": _LINK},
    },
    "routing": {"name": "minimal", "select": "random"},
    "jobs": [
        {
            "name": "every",
            "nodes": [0, 3, 5, 8, 11],
            "traffic": {
                "pattern": {"name": "uniform-random"},
                "message_bytes": 4_000,
                "interval_ps": 1_000_000,
                "intervals": 20,
                "arrival": {"name": "constant", "jitter_ps": 1_000},
                "first": "after-interval",
            },
            "record": "every-message",
        },
        {
            "name": "binned",
            "nodes": [1, 2, 4],
            "traffic": {
                "pattern": {"name": "tornado", "offset": 1},
                "message_bytes": 100,
                "interval_ps": 2_000_000,
                "intervals": 10,
                "arrival": {"name": "poisson"},
                "first": "at-zero",
            },
            "record": "histogram",
        },
    ],
    "stop": {"jobs": [0, 1], "at_ps": None},
    "measure": {"from_ps": 0, "until_ps": None, "arrivals_every_ps": 5_000_000},
}


@pytest.fixture
def topology() -> dict[str, Any]:
    """Description of 12 nodes in 3 groups of 2 leaves and 2 spines."""
    return json.loads(json.dumps(TOPOLOGY))


@pytest.fixture
def spec() -> dict[str, Any]:
    """Two jobs on that machine: 100 messages kept one by one, 30 in a histogram."""
    return json.loads(json.dumps(SPEC))


@pytest.fixture(scope="session")
def result() -> dict[str, Any]:
    """What that run returns."""
    return _core.run(json.dumps(SPEC))


@pytest.fixture
def edited(spec: dict[str, Any]) -> Callable[..., str]:
    """The specification as JSON with one value replaced: `edited(value, "jobs", 0, "nodes")`."""

    def edit(value: object, *path: str | int) -> str:
        at: Any = spec
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        return json.dumps(spec)

    return edit
