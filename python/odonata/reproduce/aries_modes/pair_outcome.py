"""What is kept of a run of the second experiment, pair by pair."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.reproduce.aries_modes.delay_outcome import NOT_DELIVERED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from odonata.scenario import Resolved

FORMAT = "aries-modes pairs 1"
"""Version of what is kept; another one is simulated anew."""


@dataclass(frozen=True)
class PairOutcome:
    """A value for each pair."""

    times_ps: list[list[int]]
    """Time of each message that counts (all but the first), from issue to last byte."""
    stalls: list[float]
    """Stalls s (D9): time that a flit waits at the NIC on average, in times that it takes to be sent there."""
    latency_ps: list[float]
    """Latency L (D9): mean of the probe's packets one way plus mean the other way."""
    variance_ps2: list[float]
    """Variance of L: that of the packets one way plus that of those the other way."""
    minimal: list[float]
    """Fraction of the pair's packets that went a shortest way."""
    hops: list[float]
    """Links between routers that a packet of the pair used, on average."""
    sent_ps: float
    """What the NIC alone takes for a message."""

    def as_json(self) -> dict[str, Any]:
        """As kept on disk."""
        return asdict(self)


def pair_outcome(result: Mapping[str, Any], resolved: Resolved, pairs: int, pieces: int) -> PairOutcome:
    """The numbers of a run with so many pairs, whose jobs come first, and their probes, whose jobs come next.

    Raises ValueError if a pair or a probe delivered nothing that counts.
    """
    spec, rows = resolved.spec, {name: np.asarray(column) for name, column in result["messages"].items()}
    times, stalls, latency, variance = [], [], [], []
    bandwidth = spec["fabric"]["links"]["node"]["bandwidth"] / 1e18
    for pair in range(pairs):
        mine = (rows["job"] == pair) & (rows["latency_ps"] != NOT_DELIVERED)
        order = np.argsort(rows["interval"][mine])
        took = rows["latency_ps"][mine][order].reshape(-1, pieces).sum(axis=1)
        if len(took) < 2:
            raise ValueError("a pair needs two messages: the first one is not measured")
        times.append([int(one) for one in took[1:]])
        issued = rows["issue_ps"][mine][order]
        first, last = int(issued[pieces]), int(issued[-1] + rows["latency_ps"][mine][order][-1])
        ways = [_probe(rows, pairs + pair, source, first, last) for source in (0, 1)]
        latency.append(float(sum(way.mean() for way in ways)))
        variance.append(float(sum(way.var(ddof=1) for way in ways)))
        stalls.append(_stalls(result, resolved, spec["jobs"][pair]["nodes"][0], bandwidth))
    jobs = result["jobs"][:pairs]
    return PairOutcome(
        times_ps=times,
        stalls=stalls,
        latency_ps=latency,
        variance_ps2=variance,
        minimal=[job["minimal"] / job["packets"] for job in jobs],
        hops=[job["hops"] / job["packets"] for job in jobs],
        sent_ps=spec["jobs"][0]["traffic"]["message_bytes"] * pieces / bandwidth,
    )


def _probe(rows: Mapping[str, NDArray[Any]], job: int, source: int, first: int, last: int) -> NDArray[np.float64]:
    """Latencies one way of the packets issued while the messages that count were under way."""
    issued = rows["issue_ps"]
    mine = (rows["job"] == job) & (rows["source"] == source) & (issued >= first) & (issued < last)
    found = rows["latency_ps"][mine & (rows["latency_ps"] != NOT_DELIVERED)]
    if len(found) < 2:
        raise ValueError("a probe sent fewer than two packets one way")
    latency: NDArray[np.float64] = found.astype(np.float64)
    return latency


def _stalls(result: Mapping[str, Any], resolved: Resolved, node: int, bandwidth: float) -> float:
    """From the injection link of a node that has something to send all the time.

    Room in the router is taken when a packet is granted the link, not when it goes, so such a node waits for room even
    while it sends: only what it waits beyond that is a stall.
    """
    slots = len(resolved.system.describe()["slot_class"]) * resolved.spec["fabric"]["channels"]
    waited, sent = (result["links"][name][slots + node] for name in ("stalled_ps", "bytes"))
    return max(0.0, float(waited / (sent / bandwidth)) - 1)
