"""The cost of machines and routings: the table of `odonata bench --machines`.

All machines have as many nodes and carry the same traffic over links of the same speed. A round measures every machine
with every routing and the main job of `odonata bench` once, so that other load on the computer
affects all equally. Numbers are medians over the rounds.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Any

from odonata.text import aligned

#: The machine and the routing of the main job, with the traffic of all others here.
BASE = ("kang2019", "fpar")
#: The main job itself among the cases.
MAIN = ("main job", "")

_LINK = {"bandwidth": "5.25 GiB/s", "buffer": "8 KiB"}
_GLOBAL = {"bandwidth": "4.37 GiB/s", "buffer": "16 KiB"}
_FABRIC = {"packet": "2 KiB", "router_delay": "100 ns", "channels": 8}
_NODE = {"bandwidth": "16 GiB/s", "buffer": "8 KiB"}

#: Name in the table -> machine, 3,456 nodes each.
_SYSTEMS: dict[str, Any] = {
    "kang2019": "kang2019",
    "dragonfly": {
        "kind": "dragonfly",
        "groups": 27,
        "routers": 16,
        "nodes_per_router": 8,
        "global_links_per_router": 8,
        "fabric": {**_FABRIC, "links": {"node": _NODE, "local": _LINK, "global": _GLOBAL}},
    },
    "cascade": {
        "kind": "cascade",
        "groups": 9,
        "rows": 6,
        "columns": 16,
        "nodes_per_router": 4,
        "global_links_per_router": 10,
        "links_per_pair": 96,
        "fabric": {**_FABRIC, "links": {"node": _NODE, "chassis": _LINK, "group": _LINK, "optical": _GLOBAL}},
    },
}
#: Machines of about 100,000 nodes of each kind, for the time to prepare a run.
_LARGE: dict[str, Any] = {
    "kang2019": {"preset": "kang2019", "groups": 257, "links_per_pair": 1},
    "dragonfly": {**_SYSTEMS["dragonfly"], "groups": 196, "routers": 32, "nodes_per_router": 16},
    "cascade": {**_SYSTEMS["cascade"], "groups": 260, "links_per_pair": 3},
}


def names() -> list[tuple[str, str]]:
    """All pairs of a machine and a routing that it knows, machine by machine.

    Without application-aware routing, whose NICs answer packets: a packet-hop is something else there.
    """
    from odonata.machine import load
    from odonata.scenario.routings import routings_of

    machines = []
    for name, system in _SYSTEMS.items():
        routings = routings_of(load(system).table.kind)
        machines += [(name, routing) for routing in routings if routing != "application-aware"]
    return machines


def specification(system: Any, routing: str, messages: int) -> str:
    """The specification of one case, as JSON."""
    from odonata import scenario

    with as_file(files("odonata.cli") / "bench_machines.toml") as path:
        made = scenario.load(path, [("job.target.app.messages", messages), ("routing", routing)])
    return json.dumps(made.set("system", system).resolve().spec)


def measure(
    rounds: int, messages: int, main: str, child: Callable[[str], dict[str, Any]]
) -> dict[tuple[str, str], dict[str, Any]]:
    """Nanoseconds per packet-hop of every machine with every routing, over the main job's and over the base's.

    `main` is the specification of the main job.
    """
    specs = {MAIN: main, **{case: specification(_SYSTEMS[case[0]], case[1], messages) for case in names()}}
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {case: [] for case in specs}
    for number in range(1, rounds + 1):
        print(f"machines: round {number} of {rounds}, {len(specs)} runs", file=sys.stderr, flush=True)
        for case, spec in specs.items():
            runs[case].append(child(spec))
    nanoseconds = {case: [run["wall_s"] / run["packet_hops"] * 1e9 for run in of] for case, of in runs.items()}
    measured = {}
    for case, of in runs.items():
        measured[case] = {
            "ns_per_packet_hop": statistics.median(nanoseconds[case]),
            "times_main": _times(nanoseconds[case], nanoseconds[MAIN]),
            "times_base": _times(nanoseconds[case], nanoseconds[BASE]),
            "events_per_packet_hop": of[0]["events"] / of[0]["packet_hops"],
            "packet_hops": of[0]["packet_hops"],
        }
    return measured


def _times(own: list[float], others: list[float]) -> float:
    """The median of the ratios, round by round."""
    return statistics.median(a / b for a, b in zip(own, others, strict=True))


def preparation(rounds: int) -> dict[str, tuple[int, float]]:
    """For about 100,000 nodes of each kind: how many there are, and the seconds to wire and check a run (median)."""
    from odonata.machine import load
    from odonata.machine.core import wire_and_check

    prepared = {}
    for name, system in _LARGE.items():
        spec = json.loads(specification(system, "minimal", 1))
        spec["jobs"][0]["nodes"] = spec["jobs"][0]["nodes"][:2]
        text, times = json.dumps(spec), []
        for _ in range(rounds):
            start = time.perf_counter()
            wire_and_check(text)
            times.append(time.perf_counter() - start)
        prepared[name] = (load(system).shape.nodes, statistics.median(times))
    return prepared


def as_text(measured: dict[tuple[str, str], dict[str, Any]], prepared: dict[str, tuple[int, float]]) -> str:
    """The table: a row for each routing, a column for each machine, nanoseconds and how many times the main job's."""
    cases = [case for case in measured if case != MAIN]
    systems = list(dict.fromkeys(name for name, _ in cases))
    routings = list(dict.fromkeys(routing for _, routing in cases))
    main = measured[MAIN]["ns_per_packet_hop"]
    rows = [["", *(cell for name in systems for cell in (name, ""))]]
    for routing in routings:
        cells = [routing]
        for name in systems:
            case = measured.get((name, routing))
            cells += ["", ""] if case is None else [f"{case['ns_per_packet_hop']:.1f}", f"({case['times_main']:.2f})"]
        rows.append(cells)
    wired = ["to wire and check a run", *(f"{nodes:,} nodes: {seconds:.2f} s" for nodes, seconds in prepared.values())]
    title = f"ns per packet-hop (times the main job's, {main:.1f} ns)"
    return "\n".join([title, *aligned(rows, [False, *[True] * 2 * len(systems)]), "", *aligned([wired])])
