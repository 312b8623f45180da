"""The cost of large machines: the table of `odonata bench --large`.

Dragonfly+ machines of about 105,000 and 1,000,000 nodes. Every node sends uniform random traffic. Each repetition is a
process of its own, as in the main case, so the peak memory is that of one simulation.
"""

from __future__ import annotations

import json
import sys
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from odonata.text import aligned

if TYPE_CHECKING:
    from collections.abc import Callable

CASES: dict[str, tuple[dict[str, Any], int]] = {
    "105,000 nodes": ({"preset": "kang2019", "groups": 273, "links_per_pair": 1}, 20),
    "1,000,000 nodes": (
        {
            "preset": "kang2019",
            "groups": 977,
            "leaves": 32,
            "spines": 32,
            "nodes_per_leaf": 32,
            "global_links_per_spine": 32,
            "links_per_pair": 1,
            "radix": 64,
        },
        2,
    ),
}
"""Case -> machine, and the messages of each node."""


def specification(system: dict[str, Any], messages: int) -> tuple[int, str]:
    """The number of nodes and the specification, as JSON, of uniform random traffic of all nodes."""
    from odonata import scenario
    from odonata.machine import load

    nodes = load(system).shape.nodes
    changes = [("job.target.nodes", nodes), ("job.target.place", "contiguous"), ("job.target.app.messages", messages)]
    with as_file(files("odonata.cli") / "bench_machines.toml") as path:
        made = scenario.load(path, changes)
    return nodes, json.dumps(made.set("system", system).resolve().spec)


def measure(
    repetitions: int,
    child: Callable[[str], dict[str, Any]],
    summarise: Callable[[list[dict[str, Any]]], dict[str, Any]],
) -> dict[str, dict[str, Any]]:
    """For each case its nodes, and the medians of its repetitions."""
    measured = {}
    for name, (system, messages) in CASES.items():
        nodes, spec = specification(system, messages)
        runs = []
        for number in range(1, repetitions + 1):
            print(f"{name}: repetition {number} of {repetitions}", file=sys.stderr, flush=True)
            runs.append(child(spec))
        measured[name] = {"nodes": nodes, **summarise(runs)}
    return measured


def as_text(measured: dict[str, dict[str, Any]]) -> str:
    """The table: a column for each case."""
    rows = [
        ["", *measured],
        ["nodes", *(f"{case['nodes']:,}" for case in measured.values())],
        ["time per packet-hop", *(f"{case['ns_per_packet_hop']:.1f} ns" for case in measured.values())],
        ["events per packet-hop", *(f"{case['events_per_packet_hop']:.3f}" for case in measured.values())],
        ["peak memory", *(f"{case['peak_rss_bytes'] / 1e6:,.0f} MB" for case in measured.values())],
        ["wall time", *(f"{case['wall_s']:.3f} s" for case in measured.values())],
        ["packet-hops", *(f"{case['packet_hops']:,}" for case in measured.values())],
        ["repetitions", *(f"{case['repetitions']}" for case in measured.values())],
    ]
    return "\n".join(aligned(rows, [False, *[True] * len(measured)]))
