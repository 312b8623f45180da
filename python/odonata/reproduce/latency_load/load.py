"""`latency-load`: latency and throughput of five routings against offered load, on a balanced dragonfly.

a = 2p = 2h and all links alike, as in Kim 2008, figure 8, and Jiang 2009. A point is a `traffic`, a `routing`, an
offered `load` in percent of what a node can inject, and a `buffer` in place of the machine's ("" for none).
"""

from __future__ import annotations

import textwrap
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from odonata import machine, units
from odonata.reproduce.latency_load.checks import BIASED, compare
from odonata.reproduce.latency_load.page import draw, page_of
from odonata.reproduce.reproduction import Reproduction
from odonata.scenario import Scenario
from odonata.store.latency import Latency

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.machine import System
    from odonata.reproduce.reproduction import Points
    from odonata.store import Run

MESSAGE = "512 B"
"""One packet."""
BANDWIDTH, BUFFER = "12.5 GB/s", "32 KiB"
LATENCIES = {"node": "10 ns", "local": "10 ns", "global": "100 ns"}
FABRIC: dict[str, Any] = {
    "packet": MESSAGE,
    "router_delay": "50 ns",
    "channels": 4,  # as many as PAR needs, for all routings
    "links": {name: {"bandwidth": BANDWIDTH, "latency": late, "buffer": BUFFER} for name, late in LATENCIES.items()},
}
SHAPES: dict[str, dict[str, int]] = {
    "full": {"groups": 33, "routers": 8, "nodes_per_router": 4, "global_links_per_router": 4},
    "reduced": {"groups": 9, "routers": 4, "nodes_per_router": 2, "global_links_per_router": 2},
}
TIMES = {"full": ("60 us", "120 us"), "reduced": ("50 us", "150 us")}
"""Form -> when the warm-up ends, and when the run does; what happens between counts."""
LOADS: dict[str, dict[str, list[float]]] = {
    "full": {
        "uniform": [10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 100],
        "worst-case": [2.5, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100],
    },
    "reduced": {"uniform": [10, 80, 100], "worst-case": [10, 30, 100]},
}
BUFFERS = ["1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "64 KiB"]
"""Other sizes of all input buffers, with which minimal routing is simulated under the full load of uniform traffic."""
PATTERNS = {"uniform": "uniform-random", "worst-case": "group-shift"}
ROUTINGS: dict[str, Any] = {
    "minimal": "minimal",
    "valiant": "valiant",
    "ugal-l": "ugal-l",
    "ugal-g": "ugal-g",
    "par": "par",
    BIASED: {"name": "ugal-l", "bias": "2 KiB"},
}


def points(reduced: bool) -> Points:
    """In the order of traffic, routing, load."""
    form = "reduced" if reduced else "full"
    experiments: Points = [
        {"form": form, "traffic": traffic, "routing": routing, "load": float(load), "buffer": ""}
        for traffic, loads in LOADS[form].items()
        for routing in ROUTINGS
        for load in loads
    ]
    if not reduced:
        full_load = {"form": form, "traffic": "uniform", "routing": "minimal", "load": 100.0}
        experiments += [{**full_load, "buffer": buffer} for buffer in BUFFERS]
    return experiments


def table_of(form: str) -> dict[str, Any]:
    """`system` of the scenario."""
    return {"kind": "dragonfly", "name": "balanced", "arrangement": "absolute", **SHAPES[form], "fabric": FABRIC}


@lru_cache
def system(form: str) -> System:
    """The machine."""
    return machine.load(table_of(form))


def interval_ps(load: float) -> int:
    """Mean time between two messages of a node at this load."""
    bandwidth, size = units.bandwidth_micro(BANDWIDTH), units.size_bytes(MESSAGE)
    return round(Fraction(size * 10**18 * 100, bandwidth) / Fraction(str(load)))


def make(point: Mapping[str, Any]) -> Scenario:
    """Every node sends messages at exponential intervals, without end."""
    form, buffer = point["form"], point["buffer"]
    warm_up, horizon = TIMES[form]
    app = {"pattern": PATTERNS[point["traffic"]], "message": MESSAGE}
    app |= {"interval": f"{interval_ps(point['load'])} ps", "arrival": "poisson"}
    table: dict[str, Any] = {
        "system": table_of(form),
        "routing": ROUTINGS[point["routing"]],
        "job": [{"name": "all", "nodes": system(form).shape.nodes, "app": app, "record": "every-message"}],
        "run": {"until": horizon, "seed": 1},
        "measure": {"warm_up": warm_up},
    }
    if buffer:
        table["fabric"] = {"links": {name: {"buffer": buffer} for name in LATENCIES}}
    return Scenario.of(table)


def keep(run: Run) -> dict[str, Any]:
    """What happened in the window after the warm-up.

    - `offered`, `accepted`: messages issued and delivered, as fractions of what the nodes could inject.
    - `mean_ps`, `p99_ps`: latency of the messages delivered, from issue to last byte.

    Raises ValueError if nothing was delivered.
    """
    spec = run.resolved["spec"]
    start, end = spec["measure"]["from_ps"], spec["stop"]["at_ps"]
    issued = run.messages["issue_ps"].to_numpy()
    there = run.messages.drop_nulls("latency_ps")
    latency = there["latency_ps"].to_numpy()
    arrived = there["issue_ps"].to_numpy() + latency
    arrived_latency = Latency.from_rows(latency[(arrived > start) & (arrived <= end)])
    if arrived_latency is None:
        raise ValueError("no message was delivered after the warm-up")
    job = spec["jobs"][0]
    bandwidth = spec["fabric"]["links"]["node"]["bandwidth"] / 1e6
    capacity = len(job["nodes"]) * bandwidth * (end - start) * 1e-12 / job["traffic"]["message_bytes"]
    return {
        "offered": ((issued > start) & (issued <= end)).sum() / capacity,
        "accepted": arrived_latency.count / capacity,
        "mean_ps": arrived_latency.mean,
        "p99_ps": arrived_latency.quantiles["p99"],
    }


def machine_words() -> str:
    """The machine and the times of the full form, for the page."""
    p, a, h, g = (SHAPES["full"][key] for key in ("nodes_per_router", "routers", "global_links_per_router", "groups"))
    warm_up, horizon = TIMES["full"]
    links = ", ".join(f"{name} {latency}" for name, latency in LATENCIES.items())
    words = (
        f"The machine has {g * a * p:,} nodes: p = {p} nodes a router, a = {a} routers a group, h = {h} global links a "
        f"router, g = {g} groups, one cable between each two (absolute arrangement). All links "
        f"carry {BANDWIDTH}; latencies: {links}; a router decides after {FABRIC['router_delay']}; "
        f"{FABRIC['channels']} virtual channels with {BUFFER} each. Every node sends messages of "
        f"{MESSAGE}, one packet, at exponential intervals; what happens from {warm_up} to "
        f"{horizon} counts. Routings have their defaults; adaptive ones sense backlogs; "
        f"`{BIASED}` has a bias."
    )
    return textwrap.fill(words, 120, break_long_words=False)


def messages(run: Mapping[str, Any]) -> int:
    """Messages that a node issues on average."""
    return units.time_ps(TIMES[run["form"]][1]) // interval_ps(run["load"])


REPRODUCTION = Reproduction(
    name="latency-load",
    title="Latency and throughput of five routings against load on a balanced dragonfly (Kim 2008, Jiang 2009)",
    points=points,
    make=make,
    rows=lambda runs: compare(runs, system(runs[0]["form"]), max(map(messages, runs))),
    text=page_of(machine_words),
    picture=lambda _, runs: draw(runs, system(runs[0]["form"])),
    keep=keep,
)
