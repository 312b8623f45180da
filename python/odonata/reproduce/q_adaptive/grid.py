"""The grids of `q-adaptive`: the machine, the routings and the loads, in the order in which they are simulated.

The first grid was written before its first run. It showed that sources which catch up with what they could not send
keep Q-adaptive in overload, so a second grid was written, also before its first run: sources that pause.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.reproduce.reproduction import Points

OURS = "q-adaptive"
ADAPTIVE = ("ugal-g", "ugal-n", "par")
OBLIVIOUS = "valiant-n"
PACKET = 128
"""Bytes: a packet is one flit, and a message one packet (the authors' public configuration)."""
LINK, CROSSBAR, BUFFER, ROUTER = "4 GB/s", "40 GB/s", "2560 B", "20 ns"
"""The authors' public configuration; `BUFFER` of each input and virtual channel, and of each output; a router takes
10 ns at its input and 10 ns at its output."""
NS_PER_PACKET = 32
LATENCIES = {"node": "10 ns", "local": "30 ns", "global": "300 ns"}
CREDITS = "20 ns"
"""A credit takes the latencies of the output and the input of the routers too, as in SST's merlin."""
SHAPES: dict[str, dict[str, int]] = {
    "full": {"groups": 33, "routers": 8, "nodes_per_router": 4, "global_links_per_router": 4},
    "reduced": {"groups": 9, "routers": 4, "nodes_per_router": 2, "global_links_per_router": 2},
}
PATTERNS: dict[str, dict[str, Any]] = {
    "uniform": {"pattern": "uniform-random"},
    "adv+1": {"pattern": "group-shift", "shift": 1},
    "adv+4": {"pattern": "group-shift", "shift": 4},
}
WINDOWS: dict[str, tuple[str, str]] = {
    "full": ("150 us", "250 us"),
    "late": ("550 us", "650 us"),
    "learned": ("900 us", "1000 us"),
    "short": ("200 us", "300 us"),
    "reduced": ("60 us", "90 us"),
}
"""When the warm-up ends, and the run (assumed: the configuration sends 5,000 messages of a node at one load)."""
ON, OFF = "20 us", "30 us"
"""Bursts and pauses of the second grid (assumed): long beside latencies, and short enough that no backlog stays."""

FIRST_PS = 500_000
"""Added to the first times of ports that do not lead into the group, in place of 30 ns: an experiment (assumed)."""


@dataclass(frozen=True)
class Model:
    """A routing as the authors' simulator has it."""

    routing: str | dict[str, Any]
    channels: int
    window: str = "full"
    bursts: bool = False
    arrival: dict[str, Any] = field(default_factory=lambda: {"arrival": "constant", "first": "at-zero"})
    router: dict[str, Any] = field(
        default_factory=lambda: {
            "kind": "input-queued",
            "crossbar": CROSSBAR,
            "output_buffer": BUFFER,
            "arbitration": "least-recently-served",
        }
    )


BURSTS = "-bursts"
_TO_ROUTER = {"via": "router", "inside": "minimal"}
MODELS = {
    OURS: Model("q-adaptive", 5),
    "par": Model({"name": "par", **_TO_ROUTER}, 5),
    "ugal-n": Model({"name": "ugal-l", **_TO_ROUTER}, 4),
    "ugal-g": Model({"name": "ugal-l", "via": "group", "inside": "minimal"}, 3),
    OBLIVIOUS: Model({"name": "valiant", **_TO_ROUTER}, 4),
    "minimal": Model("minimal", 2),
    f"{OURS}-late": Model("q-adaptive", 5, window="late"),
    f"{OURS}-learned": Model("q-adaptive", 5, window="learned"),
    f"{OURS}-first-times": Model({"name": "q-adaptive", "parameters": {"latency_local": FIRST_PS}}, 5),
    f"{OURS}-poisson": Model("q-adaptive", 5, arrival={"arrival": "poisson"}),
    f"{OURS}-ideal": Model("q-adaptive", 5, router={"kind": "ideal"}),
}
MODELS |= {
    f"{name}{BURSTS}": replace(model, bursts=True, window="learned" if name == OURS else "short")
    for name, model in MODELS.items()
    if not name.startswith(f"{OURS}-")
}
"""The paper's names: UGALg, UGALn and VALn turn where they enter the intermediate group, or at a router of it."""
EXPERIMENTS = (f"{OURS}-late", f"{OURS}-learned", f"{OURS}-first-times", f"{OURS}-poisson", f"{OURS}-ideal")

_COMPARED = {
    "uniform": (OURS, *reversed(ADAPTIVE), "minimal"),
    "adv+1": (OURS, *reversed(ADAPTIVE), OBLIVIOUS),
    "adv+4": (OURS, *reversed(ADAPTIVE), OBLIVIOUS),
}
TIERS = (
    {"uniform": 80, "adv+1": 40, "adv+4": 40},
    {"uniform": 100, "adv+1": 50, "adv+4": 50},
    {"uniform": 60, "adv+1": 30, "adv+4": 30},
    {"uniform": 90, "adv+1": 45, "adv+4": 45},
)
"""Offered loads in percent of what a node can inject. The greatest are the bounds of uniform traffic, and of traffic
between groups on two global links."""
GRID: tuple[tuple[str, str, int], ...] = (
    *((model, traffic, tier[traffic]) for tier in TIERS for traffic, models in _COMPARED.items() for model in models),
    *((f"{OURS}-late", traffic, load) for traffic, load in TIERS[0].items()),
    *((f"{OURS}-poisson", traffic, load) for traffic, load in TIERS[0].items()),
    *((f"{OURS}-ideal", traffic, load) for traffic, load in TIERS[0].items()),
)
"""Model, traffic and load of every point of the first grid."""
_WITHOUT_OVERLOAD = (TIERS[0], TIERS[2], TIERS[3])
SECOND: tuple[tuple[str, str, int], ...] = (
    *(
        (f"{model}{BURSTS}", traffic, tier[traffic])
        for first in (True, False)
        for tier in _WITHOUT_OVERLOAD
        for traffic, models in _COMPARED.items()
        for model in models
        if (model == OURS) == first
    ),
    (f"{OURS}-learned", "uniform", TIERS[0]["uniform"]),
    *((f"{OURS}-first-times", traffic, load) for traffic, load in TIERS[0].items()),
)
"""The same of the second grid. The last three were added when it had been seen."""
REDUCED = tuple(
    (f"{model}{bursts}", traffic, load)
    for bursts in ("", BURSTS)
    for traffic, load in (("uniform", 60), ("adv+1", 30), ("adv+4", 30))
    for model in _COMPARED[traffic]
)


def points(reduced: bool) -> Points:
    """In the order of the grids."""
    form = "reduced" if reduced else "full"
    return [
        {"form": form, "model": model, "traffic": traffic, "load": load}
        for model, traffic, load in (REDUCED if reduced else (*GRID, *SECOND))
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """Every node sends packets without end, all at the same times but for a jitter of a nanosecond."""
    model, form = MODELS[point["model"]], point["form"]
    shape = SHAPES[form]
    same = {"bandwidth": LINK, "buffer": BUFFER, "credit_delay": CREDITS}
    system = {
        "kind": "dragonfly",
        "name": "kang2021",
        "arrangement": "absolute",
        **shape,
        "fabric": {
            "packet": f"{PACKET} B",
            "router_delay": ROUTER,
            "channels": model.channels,
            "switching": "store-and-forward",
            "links": {name: {**same, "latency": latency} for name, latency in LATENCIES.items()},
            "router": model.router,
        },
    }
    app = {
        **PATTERNS[point["traffic"]],
        "message": f"{PACKET} B",
        "interval": f"{round(NS_PER_PACKET * 100 / point['load'])} ns",
        **model.arrival,
    }
    warm_up, end = WINDOWS["reduced" if form == "reduced" else model.window]
    pauses = {"on": ON, "off": OFF} if model.bursts else {}
    nodes = shape["groups"] * shape["routers"] * shape["nodes_per_router"]
    return Scenario.of(
        {
            "system": system,
            "routing": model.routing,
            "sensing": "occupancy",
            "job": [{"name": "all", "nodes": nodes, "app": app, "record": "every-message", **pauses}],
            "run": {"until": end, "seed": 1},
            "measure": {"warm_up": warm_up},
        }
    )
