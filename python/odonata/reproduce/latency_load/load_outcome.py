"""What is kept of a run at one offered load."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.store.latency import Latency

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.scenario import Resolved

FORMAT = "latency-load 1"
"""Version of what is kept; another one is simulated anew."""

NOT_DELIVERED = 2**64 - 1
"""Latency of a message that was still under way at the end."""


@dataclass(frozen=True)
class LoadOutcome:
    """Throughput and latency in the window after the warm-up."""

    offered: float
    """Messages issued in the window, as a fraction of what the nodes could inject."""
    accepted: float
    """Messages delivered in the window, likewise."""
    mean_ps: float
    """Mean latency of the messages delivered in the window; picoseconds, from issue to last byte."""
    p50_ps: int
    p99_ps: int
    delivered: int
    """Messages delivered in the window."""
    minimal: float
    """Fraction of all packets that went a shortest way."""
    hops: float
    """Links between routers that a packet used, mean over the whole run."""
    groups: int
    """Groups of the machine."""
    nodes: int
    """Its nodes, all of which send."""
    pair_share: float
    """What the cables between two groups carry, as a fraction of what the nodes of one can inject."""

    def as_json(self) -> dict[str, Any]:
        """As kept on disk."""
        return asdict(self)


def load_outcome(result: Mapping[str, Any], resolved: Resolved) -> LoadOutcome:
    """The numbers of a run whose first job is measured message by message.

    Raises ValueError if nothing was delivered in the window.
    """
    spec, job, rows = resolved.spec, result["jobs"][0], result["messages"]
    told = spec["jobs"][0]
    start, end = spec["measure"]["from_ps"], spec["stop"]["at_ps"]
    issued, latency = np.asarray(rows["issue_ps"]), np.asarray(rows["latency_ps"])
    there = latency != NOT_DELIVERED
    arrived = issued[there] + latency[there]
    inside = (arrived > start) & (arrived <= end)
    found = Latency.from_rows(latency[there][inside])
    if found is None:
        raise ValueError("no message was delivered after the warm-up")
    links = spec["fabric"]["links"]
    bandwidth = links["node"]["bandwidth"] / 1e6
    shape, pair = resolved.system.shape, resolved.system.links_per_pair * links["global"]["bandwidth"]
    capacity = len(told["nodes"]) * bandwidth * (end - start) * 1e-12 / told["traffic"]["message_bytes"]
    return LoadOutcome(
        offered=float(np.count_nonzero((issued > start) & (issued <= end)) / capacity),
        accepted=found.count / capacity,
        mean_ps=found.mean,
        p50_ps=found.quantiles["p50"],
        p99_ps=found.quantiles["p99"],
        delivered=found.count,
        minimal=job["minimal"] / job["packets"],
        hops=job["hops"] / job["packets"],
        groups=shape.groups,
        nodes=shape.nodes,
        pair_share=pair / (shape.nodes_per_group * links["node"]["bandwidth"]),
    )
