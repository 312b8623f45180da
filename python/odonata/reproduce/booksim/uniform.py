"""`booksim-uniform`: latency against load of uniform traffic on two dragonflies, as BookSim 2 gives it.

The published numbers are the rows `booksim2` of `Baseline/compare/comparison_dragonfly.csv` of RAPS for SC 2026
(github.com/ZzZTripleZzZ/RAPS_SC26); the settings are those of its folder `Baseline/booksim2/configs`, and the latencies
of links those of BookSim's `dragonflynew`. A cycle is 1 ns here, and a flit 8 B.

A point is a `machine`, a kind of `routers` and a `load` in percent.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.reproduce.latency_load.load import keep
from odonata.reproduce.markdown import reasons_by_model, side_by_side, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

FLIT, PACKET = 8, 80
"""Bytes. A packet has 10 flits; the size of a flit is free, as a link carries one in a cycle."""
MACHINES = {"72 nodes": 2, "1,056 nodes": 4}
"""Machine -> p, for 2p routers in each of 2p² + 1 groups, with p nodes and p global links each."""
LOADS = (5, 10, 20, 30, 40, 50, 60, 70, 80)
BASE = 5
"""Load to whose latency the others are divided: RAPS divides by a latency at 0.1 % that it does not state."""
TOLERANCE = "5 %"
PUBLISHED: dict[str, tuple[float, ...]] = {
    "72 nodes": (377.840, 380.961, 388.994, 399.339, 413.432, 432.718, 461.472, 507.650, 592.400),
    "1,056 nodes": (355.973, 359.278, 367.987, 379.346, 394.937, 417.088, 450.283, 505.893, 622.800),
}
"""Mean latencies by load, in units of their own: only their ratios are compared."""
ROUTERS: dict[str, dict[str, Any]] = {
    "ideal": {},
    "input-queued": {"router": {"kind": "input-queued", "crossbar": "2x"}},
}
"""Model -> `fabric`. BookSim's routers have a queue for each input and channel, and a crossbar twice as fast."""
BUFFER = 256
"""Flits of a virtual channel."""
ROUTER = 1
"""Cycles. Its steps (allocation of a channel, of the switch, the crossing) are three internal cycles, of which a cycle
has two (`internal_speedup`): one or two cycles. One is nearer to the latencies of BookSim itself (`LOWEST`)."""
LOWEST = {"72 nodes": 122.8, "1,056 nodes": 134.7}
"""Mean latency at the lowest load, in cycles, that BookSim 2 (commit 28f43299) prints with RAPS's configuration."""
LATENCIES = {"node": 1, "local": 10, "global": 100}
"""Cycles of a link of each class."""
CYCLES = {"warm_up": 15_000, "end": 30_000}
"""As BookSim: three periods of 5,000 cycles before, and three that count."""


def points(reduced: bool) -> Points:
    """Machine, routers and load."""
    machines = list(MACHINES)[:1] if reduced else list(MACHINES)
    loads = (BASE, 50) if reduced else LOADS
    return [
        {"machine": machine, "routers": routers, "load": load}
        for machine in machines
        for routers in ROUTERS
        for load in loads
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """Every node sends packets at random times to nodes drawn uniformly, on minimal paths."""
    p = MACHINES[point["machine"]]
    same = {"bandwidth": f"{FLIT} GB/s", "buffer": f"{BUFFER * FLIT} B", "credit_delay": "2 ns"}
    links = {name: {**same, "latency": f"{cycles} ns"} for name, cycles in LATENCIES.items()}
    system = {
        "kind": "dragonfly",
        "name": "dragonflynew",
        "arrangement": "absolute",
        "groups": 2 * p * p + 1,
        "routers": 2 * p,
        "nodes_per_router": p,
        "global_links_per_router": p,
        "fabric": {
            "packet": f"{PACKET} B",
            "flit": f"{FLIT} B",
            "router_delay": f"{ROUTER} ns",
            "channels": 2,
            "switching": "cut-through",
            "links": links,
            **ROUTERS[point["routers"]],
        },
    }
    app = {
        "pattern": "uniform-random",
        "message": f"{PACKET} B",
        "interval": f"{100_000 * PACKET // FLIT // point['load']} ps",
        "arrival": "poisson",
    }
    made = {
        "system": system,
        "routing": "minimal",
        "job": [{"name": "all", "nodes": p * 2 * p * (2 * p * p + 1), "app": app, "record": "every-message"}],
        "run": {"until": f"{CYCLES['end']} ns", "seed": 1},
        "measure": {"warm_up": f"{CYCLES['warm_up']} ns"},
    }
    return Scenario.of(made)


def compare(runs: Runs) -> list[Row]:
    """Latency over that at the lowest load, for each machine, load and kind of routers."""
    means = {(run["machine"], run["routers"], run["load"]): float(run["mean_ps"]) for run in runs}
    rows = []
    for machine, routers, load in means:
        if load == BASE:
            continue
        published = PUBLISHED[machine]
        row = statement(
            "RB1",
            f"{machine}, load of {load} %: latency over that at {BASE} %",
            means[machine, routers, load] / means[machine, routers, BASE],
            published[LOADS.index(load)] / published[LOADS.index(BASE)],
            "x",
            TOLERANCE,
            "RAPS for SC 2026, comparison_dragonfly.csv",
            model=routers,
        )
        rows.append(row)
    return rows


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    return {
        "rows": side_by_side(rows, list(ROUTERS)),
        "reasons": reasons_by_model(rows),
        "tolerance": TOLERANCE,
        "machines": " and of ".join(MACHINES),
        "flits": str(PACKET // FLIT),
        "buffer": str(BUFFER),
        "latencies": ", ".join(f"{cycles} ({name})" for name, cycles in LATENCIES.items()),
        "router": str(ROUTER),
        "lowest": " and ".join(f"{cycles:g}" for cycles in LOWEST.values()),
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    lines = [
        [machine, routers, *(f"{run['mean_ps'] / 1e3:.1f}" for run in runs if (run["machine"], run["routers"]) == key)]
        for key in dict.fromkeys((run["machine"], run["routers"]) for run in runs)
        for machine, routers in [key]
    ]
    return {"means": table(["machine", "routers", *(f"{load} %" for load in LOADS)], lines, "ll" + "r" * len(LOADS))}


REPRODUCTION = Reproduction(
    name="booksim-uniform",
    title="Latency against load of uniform traffic on two dragonflies (BookSim 2)",
    points=points,
    make=make,
    rows=compare,
    text=Page(lambda: (files("odonata.reproduce.booksim") / "uniform.md").read_text("utf-8"), _of_rows, _of_runs),
    keep=keep,
)
