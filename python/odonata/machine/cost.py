"""What a machine needs: switches, cables and ports, counted from the wired machine, and its bandwidth between halves.

Nothing is counted that has no part in the network of the jobs. Failures do not count: what has failed was bought too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.machine.system import System

#: The core takes a maximum flow in numbers of 32 bits.
_MOST = 2**31 - 1


@dataclass(frozen=True)
class Switches:
    """Switches of a kind."""

    kind: str
    count: int
    ports: tuple[int, int]
    """The fewest and the most ports that one of them uses."""


@dataclass(frozen=True)
class CableClass:
    """Cables of a class of links."""

    name: str
    count: int
    bandwidth: int
    """Of each direction, in millionths of a byte per second."""


@dataclass(frozen=True)
class Cost:
    """What a machine needs."""

    nodes: int
    switches: tuple[Switches, ...]
    cables: tuple[CableClass, ...]
    radix: int | None
    """Ports of a switch, used or not; None if the machine does not say it."""
    halves: str
    """Between what the bisection is."""
    bisection: int | None
    """Bandwidth of each direction between the halves, in millionths of a byte per second; None for one switch."""
    sent: int
    """What the NICs of the smaller half can send, in the same unit."""

    @property
    def switches_in_all(self) -> int:
        """Switches of all kinds."""
        return sum(of.count for of in self.switches)

    @property
    def cables_in_all(self) -> int:
        """Cables of all classes."""
        return sum(of.count for of in self.cables)

    @property
    def ports(self) -> int:
        """Ports of switches in use: one for a cable to a node, two for one between switches."""
        return sum(of.count * (1 if of.name == "node" else 2) for of in self.cables)

    def per_node(self, count: int) -> float:
        """A count for each node."""
        return count / self.nodes


def cost(system: System) -> Cost:
    """Count switches, cables and ports of a machine."""
    wired = system.describe()
    links = system.table.fabric.links
    used = (wired["slot_peer_router"] >= 0) | (wired["slot_peer_node"] >= 0)
    ports = np.bincount(wired["slot_router"][used], minlength=wired["routers"])
    kinds = []
    for number, kind in enumerate(wired["router_kinds"]):
        of_kind = ports[wired["router_kind"] == number]
        if of_kind.size:
            kinds.append(Switches(kind, int(of_kind.size), (int(of_kind.min()), int(of_kind.max()))))
    cables = tuple(CableClass(name, count, links[name].bandwidth) for name, count in wired["links"].items())
    first, halves = _halves(system, wired)
    return Cost(
        nodes=wired["nodes"],
        switches=tuple(kinds),
        cables=cables,
        radix=getattr(system.table, "radix", None),
        halves=halves,
        bisection=_across(system, wired, first) if halves else None,
        sent=min(len(first), wired["nodes"] - len(first)) * system.node_bandwidth,
    )


def _halves(system: System, wired: Mapping[str, Any]) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], str]:
    """The nodes of the first half of the groups, or of the switches with nodes if there is one group; what they are."""
    shape, nodes = system.shape, np.arange(wired["nodes"])
    if shape.groups > 1:
        half = shape.groups // 2
        return nodes[: half * shape.nodes_per_group], f"{half:,} of {shape.groups:,} {shape.group_name}s and the rest"
    first = shape.nodes_on(shape.routers // 2).start
    return nodes[:first], f"{first:,} of {shape.nodes:,} nodes and the rest" if first else ""


def _across(system: System, wired: Mapping[str, Any], first: np.ndarray[Any, Any]) -> int | None:
    """The most that the switches with nodes of one half can send to those of the other, over all paths; None if NICs
    of both are on the same switches.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    routers, links = int(wired["routers"]), system.table.fabric.links
    at = np.asarray(wired["slot_router"])[wired["endpoint_slot"]]
    in_first = np.isin(np.arange(wired["nodes"]).repeat(len(at) // wired["nodes"]), first)
    sources, sinks = np.unique(at[in_first]), np.unique(at[~in_first])
    if np.intersect1d(sources, sinks).size:
        return None
    cable = wired["slot_peer_router"] >= 0
    of_class = [links[name].bandwidth for name in wired["classes"]]
    rate = np.array(of_class, dtype=object)[wired["slot_class"][cable]]
    if not rate.size:
        return None
    # The unit keeps sums in 32 bits: the bandwidth that all cables divide by, or coarser if that is too small.
    unit = max(gcd(*{int(value) for value in rate}), -(-int(rate.sum()) // (_MOST // 2)))
    ends = [wired["slot_router"][cable], wired["slot_peer_router"][cable]]
    source, sink = routers, routers + 1
    rows = np.concatenate([ends[0], np.full(len(sources), source), sinks])
    columns = np.concatenate([ends[1], sources, np.full(len(sinks), sink)])
    room = np.concatenate([(rate // unit).astype(np.int32), np.full(len(sources) + len(sinks), _MOST // 2, np.int32)])
    graph = coo_array((room, (rows, columns)), shape=(routers + 2, routers + 2)).tocsr()
    graph.sum_duplicates()
    return int(maximum_flow(graph.astype(np.int32), source, sink).flow_value) * unit
