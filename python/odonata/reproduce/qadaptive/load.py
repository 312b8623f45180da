"""`q-adaptive`: throughput and latency of Q-adaptive routing against UGAL, PAR and Valiant on 1,056 nodes.

The published numbers are the four of the abstract of Kang, Wang and Lan, HPDC 2021 (arXiv 2403.16301). The settings are
those of the authors' public simulator (github.com/SPEAR-UIC/q-adaptive_sst, `tests/dragonfly_q-adaptive.py`): a
dragonfly of SST with links of 4 GB/s, packets of 128 B in buffers of 20, and their learning rates and thresholds.

A point is a `traffic`, a `routing` and a `load` in percent of what a node can inject.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.reproduce.markdown import reasons_by_model, side_by_side, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

PACKET, BANDWIDTH = 128, 4
"""Bytes, and GB/s of every link."""
LATENCIES = {"node": 10, "local": 30, "global": 300}
"""Nanoseconds of a link of each class."""
ROUTER = 20
"""Nanoseconds: 10 at the input and 10 at the output."""
BUFFER = 20
"""Packets of a virtual channel. The configuration gives the size of a port's buffer; that of a channel is assumed."""
TIMES = {"full": (150, 250), "reduced": (10, 20)}
"""Microseconds: when the warm-up ends, and when the run does. (Assumed; the paper shows no change after some 100.)"""
SHAPES = {
    "full": {"groups": 33, "routers": 8, "nodes_per_router": 4, "global_links_per_router": 4},
    "reduced": {"groups": 9, "routers": 4, "nodes_per_router": 2, "global_links_per_router": 2},
}
TRAFFIC: dict[str, dict[str, Any]] = {
    "uniform": {"pattern": "uniform-random"},
    "ADV+1": {"pattern": "group-shift", "shift": 1},
    "ADV+4": {"pattern": "group-shift", "shift": 4},
}
LOADS = {"uniform": (60, 80), "ADV+1": (30, 40), "ADV+4": (30, 40)}
UGAL = {"factor": 2, "bias": "0 B", "inside": "minimal"}
"""`adaptive_threshold` of the configuration, no bias, and minimal paths inside a group."""
ROUTINGS: dict[str, Any] = {
    "valiant": {"name": "valiant", "via": "router", "inside": "minimal"},
    "ugal-g": {"name": "ugal-l", "via": "group", **UGAL},
    "ugal-n": {"name": "ugal-l", "via": "router", **UGAL},
    "par": {"name": "par", "via": "router", **UGAL},
    "q-adaptive": "q-adaptive",
}
"""Name in the paper -> routing. UGALg turns where it enters the intermediate group, UGALn and PAR at a router of it."""
ADAPTIVE = ("ugal-g", "ugal-n", "par")
ABSTRACT = "Kang 2021, abstract"


def points(reduced: bool) -> Points:
    """Traffic, routing and load."""
    form = "reduced" if reduced else "full"
    return [
        {"form": form, "traffic": traffic, "routing": routing, "load": load}
        for traffic, loads in LOADS.items()
        for routing in ROUTINGS
        for load in (loads if not reduced else loads[-1:])
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """Every node sends packets at random times."""
    form = point["form"]
    shape = SHAPES[form]
    same = {"bandwidth": f"{BANDWIDTH} GB/s", "buffer": f"{BUFFER * PACKET} B"}
    links = {name: {**same, "latency": f"{latency} ns"} for name, latency in LATENCIES.items()}
    fabric = {"packet": f"{PACKET} B", "router_delay": f"{ROUTER} ns", "channels": 5, "links": links}
    app = {**TRAFFIC[point["traffic"]], "message": f"{PACKET} B", "load": f"{point['load']} %", "arrival": "poisson"}
    warm_up, end = TIMES[form]
    made = {
        "system": {"kind": "dragonfly", "name": "balanced", "arrangement": "absolute", **shape, "fabric": fabric},
        "routing": ROUTINGS[point["routing"]],
        "sensing": "occupancy",
        "job": [
            {
                "name": "all",
                "nodes": shape["groups"] * shape["routers"] * shape["nodes_per_router"],
                "app": app,
                "record": "histogram",
            }
        ],
        "run": {"until": f"{end} us", "seed": 1},
        "measure": {"warm_up": f"{warm_up} us"},
    }
    return Scenario.of(made)


def accepted(run: Mapping[str, Any]) -> float:
    """Accepted load in percent, from the growth of what is under way in the second half of a run."""
    return float(run["load"]) * (1 - max(float(run["backlog_growth"] or 0), 0.0))


def _gain(runs: Runs, traffic: Sequence[str], others: Sequence[str], of: Callable[[Any, Any], float]) -> float:
    """The most that a number of Q-adaptive exceeds, at the same load, the best of other routings by."""
    by = {(run["traffic"], run["routing"], run["load"]): run for run in runs}
    gains = []
    for name, routing, load in by:
        if name in traffic and routing == "q-adaptive":
            gains.append(min(of(by[name, "q-adaptive", load], by[name, other, load]) for other in others))
    return max(gains)


def compare(runs: Runs) -> list[Row]:
    """The four numbers of the abstract, each "up to", and what they imply for each traffic."""

    def throughput(ours: Any, theirs: Any) -> float:
        return accepted(ours) / accepted(theirs)

    def latency(ours: Any, theirs: Any) -> float:
        return float(theirs["latency_mean_ps"]) / float(ours["latency_mean_ps"])

    every = list(TRAFFIC)
    stated = [
        ("QA1", "most throughput over the best of UGAL and PAR", every, ADAPTIVE, throughput, 1.105, "5 %"),
        ("QA2", "most of the best mean latency of UGAL and PAR over its own", every, ADAPTIVE, latency, 5.2, "50 %"),
        ("QA3", "ADV+1: most throughput over Valiant", ["ADV+1"], ("valiant",), throughput, 1.03, "5 %"),
        ("QA4", "ADV+1: most of Valiant's mean latency over its own", ["ADV+1"], ("valiant",), latency, 4.0, "50 %"),
    ]
    rows = [
        statement(id_, what, _gain(runs, traffic, others, of), value, "x", tolerance, ABSTRACT, model="q-adaptive")
        for id_, what, traffic, others, of, value, tolerance in stated
    ]
    for number, traffic in enumerate(TRAFFIC, 5):
        at = max(run["load"] for run in runs if run["traffic"] == traffic)
        best = {run["routing"]: accepted(run) for run in runs if run["traffic"] == traffic and run["load"] == at}
        row = statement(
            f"QA{number}",
            f"{traffic} at {at} %: as much throughput as the best of UGAL and PAR, or more",
            best["q-adaptive"],
            max(best[other] for other in ADAPTIVE),
            "%",
            f">= {0.97 * max(best[other] for other in ADAPTIVE):.4g}",
            ABSTRACT,
            model="q-adaptive",
        )
        rows.append(row)
    return rows


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    return {"rows": side_by_side(rows, ["q-adaptive"]), "reasons": reasons_by_model(rows)}


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    lines = [
        [
            run["traffic"],
            f"{run['load']} %",
            *(
                f"{accepted(of):.1f} % / {of['latency_mean_ps'] / 1e6:.2f}"
                for routing in ROUTINGS
                for of in runs
                if (of["traffic"], of["routing"], of["load"]) == (run["traffic"], routing, run["load"])
            ),
        ]
        for run in runs
        if run["routing"] == "q-adaptive"
    ]
    return {"loads": table(["traffic", "load", *ROUTINGS], lines, "lr" + "r" * len(ROUTINGS))}


REPRODUCTION = Reproduction(
    name="q-adaptive",
    title="Q-adaptive routing beside UGAL, PAR and Valiant on a dragonfly of 1,056 nodes (Kang 2021)",
    points=points,
    make=make,
    rows=compare,
    text=Page(lambda: (files("odonata.reproduce.qadaptive") / "load.md").read_text("utf-8"), _of_rows, _of_runs),
)
