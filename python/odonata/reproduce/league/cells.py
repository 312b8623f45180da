"""The points of the league: machines, their routings, traffic and seeds.

A point is a `machine`, a `routing`, a `measure` (`uniform`, `adverse`, `alone` or `neighbour`), a `load` in percent of
what a node can inject, and a `seed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.reproduce.reproduction import Points

CHANNELS = 6
"""Of every machine: as many as the routing with most of them needs, so that all have the same buffers."""
PACKET = "2 KiB"
SEEDS = (1, 2, 3)
LOADS = {"uniform": (30, 70, 100), "adverse": (30, 100), "alone": (0,), "neighbour": (0,)}
TIMES = ("100 us", "300 us")
"""When the warm-up of traffic ends, and when its run does."""


def _links(*classes: str) -> dict[str, Any]:
    latency = {"node": "25 ns"}
    link = {"bandwidth": "100 Gbit/s", "buffer": "32 KiB"}
    return {name: {**link, "latency": latency.get(name, "100 ns")} for name in classes}


def _fabric(*classes: str) -> dict[str, Any]:
    return {"packet": PACKET, "router_delay": "100 ns", "channels": CHANNELS, "links": _links("node", *classes)}


MACHINES: dict[str, dict[str, Any]] = {
    "dragonfly": {
        "kind": "dragonfly",
        "groups": 9,
        "routers": 4,
        "nodes_per_router": 2,
        "global_links_per_router": 2,
        "fabric": _fabric("local", "global"),
    },
    "dragonfly-plus": {
        "kind": "dragonfly-plus",
        "groups": 5,
        "leaves": 4,
        "spines": 4,
        "nodes_per_leaf": 4,
        "global_links_per_spine": 4,
        "fabric": _fabric("local", "global"),
    },
    "fat-tree": {
        "kind": "fat-tree",
        "pods": 4,
        "leaves": 4,
        "spines": 4,
        "cores": 16,
        "nodes_per_leaf": 4,
        "fabric": _fabric("leaf", "core"),
    },
    "hyperx": {"kind": "hyperx", "dimensions": [5, 5], "nodes_per_router": 3, "fabric": _fabric("dim1", "dim2")},
    "slim-fly": {
        "kind": "graph",
        "links": {"generator": "slim-fly", "q": 5},
        "nodes_per_router": 2,
        "fabric": _fabric("link"),
    },
}
"""Machines of 64 to 100 nodes whose links carry uniform traffic, or nearly so. On the Slim Fly a router has fewer nodes
than its links could carry, as half of them lead to intermediate routers."""
NODES = {"dragonfly": 72, "dragonfly-plus": 80, "fat-tree": 64, "hyperx": 75, "slim-fly": 100}
ROUTINGS: dict[str, dict[str, Any]] = {
    "dragonfly": {
        "minimal": "minimal",
        "valiant": "valiant",
        "ugal-l": "ugal-l",
        "ugal-g": "ugal-g",
        "par": "par",
        "adaptive-local": "adaptive-local",
        "adaptive-0": "adaptive-0",
        "adaptive-3": "adaptive-3",
        "q-adaptive": "q-adaptive",
    },
    "dragonfly-plus": {name: name for name in ("minimal", "valiant", "prog-adaptive", "fpar")},
    "fat-tree": {
        f"up-down, {spread}": {"name": "up-down", "spread": spread}
        for spread in ("hash", "d-mod-k", "packet", "least-loaded")
    },
    "hyperx": {name: name for name in ("minimal", "dimension-order", "valiant", "omni-war")},
    "slim-fly": {
        "minimal": "minimal",
        "minimal, least-loaded": {"name": "minimal", "select": "least-loaded"},
        "valiant": "valiant",
        "ugal-hops": "ugal-hops",
    },
}
"""Routings with their defaults, which are those of this package and not those of each paper."""
ADVERSE: dict[str, dict[str, Any]] = {
    "dragonfly": {"pattern": "group-shift"},
    "dragonfly-plus": {"pattern": "group-shift"},
    "fat-tree": {"pattern": "tornado", "offset": 32},
    "hyperx": {"pattern": "group-shift"},
    "slim-fly": {"pattern": "tornado", "offset": 50},
}
"""Traffic with few minimal paths: all of a group to the next one, or of each node to one far away."""
TARGET = {"collective": "allreduce", "algorithm": "ring", "message": "200 KB"}
ITERATIONS = 20


def points(reduced: bool) -> Points:
    """Machine, routing, measure, load and seed."""
    machines = ("hyperx",) if reduced else tuple(MACHINES)
    return [
        {"machine": machine, "routing": routing, "measure": measure, "load": load, "seed": seed}
        for machine in machines
        for routing in ROUTINGS[machine]
        for measure, loads in LOADS.items()
        for load in loads
        if not (reduced and load == 70)
        for seed in (SEEDS[:1] if reduced else SEEDS)
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """Traffic of all nodes, or a ring on half of the nodes beside random traffic on the others."""
    machine, nodes = point["machine"], NODES[point["machine"]]
    made: dict[str, Any] = {
        "system": {"name": machine, **MACHINES[machine]},
        "routing": ROUTINGS[machine][point["routing"]],
        "run": {"seed": point["seed"]},
    }
    if point["measure"] in ("alone", "neighbour"):
        half = nodes // 2
        noise = {"pattern": "uniform-random", "message": "64 KB", "load": "60 %", "arrival": "poisson"}
        target = {"name": "target", "nodes": half, "place": "random-nodes", "app": TARGET, "iterations": ITERATIONS}
        beside = {"name": "noise", "nodes": nodes - half, "place": "random-nodes", "app": noise, "background": True}
        made["job"] = [target, beside] if point["measure"] == "neighbour" else [target]
        return Scenario.of(made)
    traffic = {"pattern": "uniform-random"} if point["measure"] == "uniform" else ADVERSE[machine]
    app = {**traffic, "message": PACKET, "load": f"{point['load']} %", "arrival": "poisson"}
    made["job"] = [{"name": "all", "nodes": nodes, "app": app, "record": "histogram"}]
    made["run"]["until"] = TIMES[1]
    made["measure"] = {"warm_up": TIMES[0]}
    return Scenario.of(made)
