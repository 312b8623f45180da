"""GPCNeT's canaries and congestors as jobs (Chunduri et al., SC 2019; netbench/GPCNET, version 1.3).

A fifth of the nodes measures, four fifths are four congestors, all on random nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CANARY, CONGESTOR = "8 B", "4 KiB"
"""Sizes of GPCNeT: one double, and 512 doubles (`NUM_LAT_TESTS`, `A2A_MSG_COUNT` and so on in its code)."""
GPCNET = {64: 8, 1_000: 2}
"""Nodes -> ranks of a node. GPCNeT runs with all cores; this is what can be simulated."""
REDUCED = {16: 2}
"""The same of the reduced form."""
CANARY_START, HORIZON = "3 ms", "8 ms"
"""The canaries begin when the first windows of 400 flows into one node have drained (1 ms)."""


def jobs(point: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The canary, and the congestors if it is beside them."""
    nodes, ranks = point["size"], {**GPCNET, **REDUCED}[point["size"]]
    congestor_nodes = nodes * 4 // 5
    canary_nodes = nodes - congestor_nodes
    apps: dict[str, dict[str, Any]] = {
        "latency": {
            "motif": "halo2d",
            "message": CANARY,
            "grid": [canary_nodes * ranks, 1],
            "order": "all-at-once",
        },
        "allreduce": {"collective": "allreduce", "message": CANARY},
        "all-to-all": {"collective": "alltoall", "message": CONGESTOR},
        "incast": {"motif": "incast", "message": CONGESTOR},
        "put-incast": {"motif": "incast", "message": CONGESTOR},
        "get-broadcast": {"collective": "broadcast", "algorithm": "flat", "message": CONGESTOR},
    }

    def job(name: str, app: str, count: int, seed: int) -> dict[str, Any]:
        of = {"name": name, "nodes": count, "place": {"policy": "random", "seed": seed}, "app": apps[app]}
        return {**of, "ranks_per_node": ranks, "mapping": {"name": "random-ranks", "seed": seed}}

    of_all = [{**job("canary", point["test"], canary_nodes, 1), "iterations": 100, "start": CANARY_START}]
    if point["beside"]:
        share = congestor_nodes // 4
        for seed, app in enumerate(("all-to-all", "incast", "put-incast", "get-broadcast"), start=2):
            of_all.append({**job(app, app, share, seed), "background": True})
    return of_all
