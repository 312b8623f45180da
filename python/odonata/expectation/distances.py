"""How far the packets of a job go on minimal paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.scenario import Resolved

SAMPLED = 32
"""Nodes of a job whose distances to the others are looked up. Assumed."""


class Distances:
    """Route decisions of packets on minimal paths: the routers that they and their answers visit."""

    def __init__(self, resolved: Resolved) -> None:
        self._wired = wired = resolved.system.describe()
        fabric = resolved.spec["fabric"]
        # NICs of Aries, those with a window and those under congestion control answer each packet with another one.
        answers = "congestion_control" in fabric or not {"aries", "window_bytes"}.isdisjoint(fabric["nic"])
        self._ways = 1 + 1 / fabric["nic"].get("acknowledge_every", 1) if answers else 1.0
        usable = (wired["slot_peer_router"] >= 0) & ~wired["slot_failed"]
        self._from = np.asarray(wired["slot_router"])[usable]
        self._to = np.asarray(wired["slot_peer_router"])[usable]
        self._found: dict[int, np.ndarray[tuple[int], np.dtype[np.int64]]] = {}

    def _visits(self, node: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Routers on a minimal path from a node to each router."""
        first = int(self._wired["node_router"][node])
        if first not in self._found:
            visits = np.zeros(self._wired["routers"], dtype=np.int64)
            visits[first] = reached = 1
            while True:
                near = self._to[visits[self._from] == reached]
                near = near[visits[near] == 0]
                if not near.size:
                    break
                reached += 1
                visits[near] = reached
            self._found[first] = visits
        return self._found[first]

    def mean(self, nodes: Sequence[int]) -> float:
        """Between two different nodes of a job, each pair alike."""
        where = np.asarray(nodes)
        routers = np.asarray(self._wired["node_router"])[where]
        means = [self._visits(node)[routers[where != node]].mean() for node in _some(nodes) if (where != node).any()]
        return self._ways * (float(np.mean(means)) if means else 1.0)

    def of_pairs(self, sources: Any, targets: Any, weights: Any) -> float:
        """Of packets between these nodes; `weights` says how many."""
        routers, visits, packets = np.asarray(self._wired["node_router"])[targets], 0, 0
        for node in _some(sources.tolist()):
            of = sources == node
            visits += int((self._visits(node)[routers[of]] * weights[of]).sum())
            packets += int(weights[of].sum())
        return self._ways * (visits / packets if packets else 1.0)


def _some(nodes: Sequence[int]) -> list[int]:
    """Up to `SAMPLED` of the nodes, over all of them."""
    different = sorted(set(nodes))
    return different[:: -(-len(different) // SAMPLED)] if different else []
