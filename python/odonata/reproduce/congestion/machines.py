"""The machines of incasts, by the name that the page gives them."""

from __future__ import annotations

from typing import Any

FREE_HOST = {"send": "100 ns", "receive": "100 ns", "call": "0 s", "copy": "100 GB/s", "rendezvous": "0 s"}
"""Costs of the host in an incast without end, so that the network limits it (assumed)."""
NO_HOST = {
    "send": "0 s",
    "receive": "0 s",
    "call": "0 s",
    "copy": "none",
    "eager": "4 GB",
    "rendezvous": "0 s",
    "reduce": "none",
}
"""No costs of the host: where an incast ends, a copy at its end would count."""


def _tree(leaves: int, spines: int, nodes: int, latency: str = "50 ns") -> dict[str, Any]:
    """A fat tree of one pod with links of 100 Gbit/s; everything else follows from them, or is assumed."""
    link = {"bandwidth": "100 Gbit/s", "latency": "50 ns"}
    return {
        "kind": "fat-tree",
        "pods": 1,
        "leaves": leaves,
        "spines": spines,
        "nodes_per_leaf": nodes,
        "host": "none",
        "fabric": {
            "packet": "4 KiB",
            "router_delay": "100 ns",
            "links": {"node": link, "leaf": link | {"latency": latency}},
        },
    }


ONE_NIC = {"nic": {"rail": "by-rank"}}
MACHINES: dict[str, dict[str, Any]] = {
    "frontier": {"preset": "frontier", "fabric": ONE_NIC},
    "frontier, 4 NICs": {"preset": "frontier"},
    "lumi, 4 NICs": {"preset": "lumi"},
    "fat tree": _tree(8, 8, 8),
    "long links": _tree(8, 8, 8, "5 us"),
    "two leaves": _tree(2, 1, 16),
}
NODES = {
    "frontier": 9_000,
    "frontier, 4 NICs": 9_000,
    "lumi, 4 NICs": 2_900,
    "fat tree": 64,
    "long links": 64,
    "two leaves": 32,
}
"""Nodes among which senders are spread."""


def system(machine: str, control: str) -> dict[str, Any]:
    """A machine with a kind of congestion control, whose numbers are those of the preset or follow from the machine."""
    table = MACHINES[machine]
    return table | {"fabric": table.get("fabric", {}) | {"congestion_control": {"kind": control}}}


def senders(machine: str, flows: int) -> list[int]:
    """Nodes that are spread over a machine; the root is node 0."""
    apart = (NODES[machine] - 1) // flows
    return [(place + 1) * apart for place in range(flows)]
