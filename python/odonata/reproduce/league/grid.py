"""The machines, routings and loads of `league`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from odonata import units
from odonata.reproduce.latency_load.load import keep as keep_of_load
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.reproduce.reproduction import Points
    from odonata.store import Run

MESSAGE, BANDWIDTH, BUFFER = "1 KiB", "12.5 GB/s", "32 KiB"
WARM_UP, END = "60 us", "100 us"
"""Q-adaptive learns while the others settle."""
SEEDS = (1, 2, 3)
UNIFORM, ADVERSARIAL = (50, 80, 100), (20, 40, 100)
"""Offered loads in percent of what a node can inject."""
PLACED = {"uniform": 80, "adversarial": 100}
"""The loads by which routings are placed: a latency that most of them can give, and the throughput."""
ITERATIONS, TARGET, NEIGHBOUR = 6, "4 KiB", 90
"""The all-to-all of the target, and the load of its neighbour in percent."""
TESTS = ("alone", "beside")


@dataclass(frozen=True)
class Machine:
    """A small machine, and its routings."""

    table: Mapping[str, Any]
    latencies: Mapping[str, str]
    channels: int
    nodes: int
    adversarial: Mapping[str, Any]
    """Traffic that shortest paths carry badly."""
    words: str
    routings: Mapping[str, Any]
    """Name -> the routing. The first is the default of the machine."""


_SHIFT = {"pattern": "group-shift"}
MACHINES: dict[str, Machine] = {
    "dragonfly": Machine(
        {"kind": "dragonfly", "groups": 9, "routers": 4, "nodes_per_router": 2, "global_links_per_router": 2},
        {"node": "10 ns", "local": "10 ns", "global": "100 ns"},
        5,
        72,
        _SHIFT,
        "9 groups of 4 routers with 2 nodes, one link between each two groups",
        {
            "ugal-l": "ugal-l",
            "minimal": "minimal",
            "valiant": "valiant",
            "ugal-g": "ugal-g",
            "par": "par",
            "adaptive-local": "adaptive-local",
            "adaptive-0": "adaptive-0",
            "adaptive-3": "adaptive-3",
            "q-adaptive": "q-adaptive",
        },
    ),
    "dragonfly-plus": Machine(
        {
            "kind": "dragonfly-plus",
            "groups": 5,
            "leaves": 4,
            "spines": 4,
            "nodes_per_leaf": 4,
            "global_links_per_spine": 4,
        },
        {"node": "10 ns", "local": "10 ns", "global": "100 ns"},
        2,
        80,
        _SHIFT,
        "5 groups of 4 leaves with 4 nodes and 4 spines, four links between each two groups",
        {name: name for name in ("fpar", "minimal", "valiant", "prog-adaptive")},
    ),
    "fat-tree": Machine(
        {"kind": "fat-tree", "pods": 4, "leaves": 4, "spines": 4, "cores": 16, "nodes_per_leaf": 4},
        {"node": "10 ns", "leaf": "10 ns", "core": "50 ns"},
        1,
        64,
        {"pattern": "tornado", "offset": 20},
        "4 pods of 4 leaves with 4 nodes and 4 spines, 16 cores, not tapered",
        {
            f"up-down {spread}": {"name": "up-down", "spread": spread}
            for spread in ("least-loaded", "packet", "hash", "d-mod-k")
        },
    ),
    "graph": Machine(
        {"kind": "graph", "links": {"generator": "slim-fly", "q": 3}, "nodes_per_router": 3},
        {"node": "10 ns", "link": "50 ns"},
        4,
        54,
        {"pattern": "tornado", "offset": 6},
        "a Slim Fly of 18 routers with 3 nodes and 5 links to others",
        {
            **{
                f"minimal {select}": {"name": "minimal", "select": select}
                for select in ("random", "hash", "least-loaded")
            },
            **{name: name for name in ("valiant", "ugal-hops", "autonet")},
        },
    ),
}
LEFT_OUT = {
    "adaptive-1": "between `adaptive-0` and `adaptive-3`",
    "adaptive-2": "so is this",
    "min-hash": "`minimal`, as a message is one packet and groups have one link",
    "in-order": "so is this",
    "nmin-hash": "`valiant`, as a message is one packet",
    "application-aware": "for NICs of Aries and programs",
}
"""Routings of these machines that are not simulated, and why."""


def points(reduced: bool) -> Points:
    """Each machine and routing: both traffics at each load, the target alone and beside its neighbour; all seeds."""
    machines = ["fat-tree"] if reduced else list(MACHINES)
    seeds = SEEDS[:2] if reduced else SEEDS
    loads = {"uniform": UNIFORM, "adversarial": ADVERSARIAL}
    tests = [(traffic, load) for traffic, of in loads.items() for load in of if not reduced or PLACED[traffic] == load]
    return [
        {"machine": machine, "routing": routing, "test": test, "load": load, "seed": seed}
        for machine in machines
        for routing in MACHINES[machine].routings
        for test, load in [*tests, *((test, NEIGHBOUR if test == "beside" else 0) for test in TESTS)]
        for seed in seeds
    ]


def interval_ps(load: int) -> int:
    """Mean time between two messages of a node at this load."""
    bandwidth, size = units.bandwidth_micro(BANDWIDTH), units.size_bytes(MESSAGE)
    return round(Fraction(size * 10**18 * 100, bandwidth * load))


def make(point: Mapping[str, Any]) -> Scenario:
    """All nodes send at exponential intervals, or half of the nodes run the target, and the others its neighbour."""
    machine = MACHINES[point["machine"]]
    links = {
        name: {"bandwidth": BANDWIDTH, "latency": latency, "buffer": BUFFER}
        for name, latency in machine.latencies.items()
    }
    fabric = {"packet": MESSAGE, "router_delay": "50 ns", "channels": machine.channels, "links": links}
    table: dict[str, Any] = {
        "system": {**machine.table, "fabric": fabric},
        "routing": machine.routings[point["routing"]],
        "run": {"seed": point["seed"]},
    }
    if point["test"] in TESTS:
        return Scenario.of(table | {"job": _jobs(machine, point)})
    traffic = {"pattern": "uniform-random"} if point["test"] == "uniform" else machine.adversarial
    app = {**traffic, "message": MESSAGE, "interval": f"{interval_ps(point['load'])} ps", "arrival": "poisson"}
    table["job"] = [{"name": "all", "nodes": machine.nodes, "app": app, "record": "every-message"}]
    table["run"]["until"] = END
    table["measure"] = {"warm_up": WARM_UP}
    return Scenario.of(table)


def _jobs(machine: Machine, point: Mapping[str, Any]) -> list[dict[str, Any]]:
    """An all-to-all, and beside it a permutation without end, on random nodes."""
    half, place = machine.nodes // 2, {"policy": "random"}
    target = {
        "name": "target",
        "nodes": half,
        "place": place,
        "app": {"collective": "alltoall", "algorithm": "pairwise", "message": TARGET},
        "iterations": ITERATIONS,
    }
    if point["test"] == "alone":
        return [target]
    permutation = {
        "pattern": "tornado",
        "offset": half // 2 + 1,
        "message": MESSAGE,
        "interval": f"{interval_ps(point['load'])} ps",
        "arrival": "poisson",
    }
    return [target, {"name": "neighbour", "nodes": half, "place": place, "app": permutation, "background": True}]


def keep(run: Run) -> dict[str, Any]:
    """What happened in the window after the warm-up; of the target nothing besides its time."""
    if run.resolved["spec"]["jobs"][0].get("traffic") is None:
        return dict.fromkeys(("offered", "accepted", "mean_ps", "p99_ps"))
    return keep_of_load(run)
