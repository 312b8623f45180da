"""The time of a message alone on the idle machine: what the slowdown of a flow is relative to.

It is the zero-load time of all packets of the message, one after the other over the best minimal path, at the full
bandwidth of every link (docs/model.md, "Zero-load latency"). Buffers and windows hold nothing back, as in the
stand-alone completion time of HPCC (base latency, and size over the bandwidth of the slowest link). The work of the
host and the handshake of a rendezvous are part of it. A flow whose packets take several paths side by side can be
faster than on one.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.store.costs import Costs

#: A length that no path has.
_NO_PATH = 2**62
#: Largest weight of a link beside which its time counts as well; larger ones are times themselves (assumed).
_LONGEST = 2**12
#: Packets after which every link is taken to be in step with the slowest one before it (assumed).
_MOST_IN_TURN = 1_000


class _Packet(NamedTuple):
    """Times of a packet: on each link of the path whole and its head, and across a crossbar whole and its head."""

    whole: list[int]
    head: list[int]
    crossing: int
    head_crossing: int


class Ideal:
    """Ideal times on the machine of a specification. `system` is what the core describes."""

    def __init__(self, spec: Mapping[str, Any], system: Mapping[str, Any]) -> None:
        fabric = spec["fabric"]
        self._fabric, self._system = fabric, system
        self._links = [fabric["links"].get(name) for name in system["classes"]]
        self._nics = [int(system["slot_router"][slot]) for slot in system["endpoint_slot"]]
        self._rails = int(system["rails"])
        self._header, self._flit = int(fabric.get("header_bytes", 0)), int(fabric.get("flit_bytes", 1))
        self._stripe = fabric["nic"].get("stripe_bytes")
        self._paths = _Paths(spec, system, self._wire(int(fabric["packet_bytes"])))
        self._message = lru_cache(maxsize=None)(self._pipelined)

    @staticmethod
    def covers(spec: Mapping[str, Any], job: Mapping[str, Any]) -> bool:
        """Whether it is known: not for NICs of Aries, GPUs inside nodes, and models of published simulators."""
        return not spec.get("compat") and "aries" not in spec["fabric"]["nic"] and "gpus" not in job["program"]

    def time_ps(self, costs: Costs, source: int, destination: int, size: int) -> int | None:
        """From the start of a flow of so many bytes between two nodes to the arrival of its last byte.

        None if no path joins the nodes.
        """
        inside = source == destination
        before = costs.handed_over_ps(size, inside=inside)
        if inside:
            return before + costs.memory_ps
        wire = costs.on_the_network(size)
        control = costs.on_the_network(0)
        asked = [] if costs.eager(size) else [(source, destination, control), (destination, source, control)]
        times = [self._network_ps(*message) for message in [*asked, (source, destination, wire)]]
        return None if None in times else before + sum(time for time in times if time is not None)

    def _network_ps(self, source: int, destination: int, size: int) -> int | None:
        """The time of a message on the network, over the NICs that are the fastest for it."""
        rails = range(self._rails)
        if self._stripe is not None and self._rails > 1 and size >= self._stripe:
            parts = self._striped(size)
            times = [self._over(source, destination, rail, rail, part) for rail, part in enumerate(parts) if part]
            return None if None in times else max(time for time in times if time is not None)
        each = (self._over(source, destination, a, b, size) for a in rails for b in rails)
        return min((time for time in each if time is not None), default=None)

    def _striped(self, size: int) -> list[int]:
        """The bytes that each NIC sends of a striped message: whole packets, the last one at the last NIC."""
        packet = int(self._fabric["packet_bytes"])
        packets = -(-size // packet)
        counts = [packets // self._rails + (rail < packets % self._rails) for rail in range(self._rails)]
        parts = [count * packet for count in counts]
        last = max(rail for rail, count in enumerate(counts) if count)
        parts[last] -= packets * packet - size
        return parts

    def _over(self, source: int, destination: int, a: int, b: int, size: int) -> int | None:
        ends = self._nics[source * self._rails + a], self._nics[destination * self._rails + b]
        path = self._paths.between(*ends)
        return None if path is None else self._message(path, size)

    def _wire(self, payload: int) -> int:
        return -(-(payload + self._header) // self._flit) * self._flit

    def _packet(self, path: Sequence[int], payload: int) -> _Packet:
        size = self._wire(payload)
        through = self._fabric.get("switching") == "cut-through"
        head = max(-(-self._header // self._flit), 1) * self._flit if through else size
        crossbar = self._fabric.get("router", {}).get("crossbar")
        crossing = [_ps(crossbar, bytes_) if crossbar else 0 for bytes_ in (size, head)]
        rates = [self._links[link]["bandwidth"] for link in path]
        return _Packet([_ps(rate, size) for rate in rates], [_ps(rate, head) for rate in rates], *crossing)

    def _pipelined(self, path: tuple[int, ...], size: int) -> int:
        """The arrival of the last byte of a message that a NIC begins at 0."""
        full, rest = divmod(size, int(self._fabric["packet_bytes"]))
        free = [0] * (2 * len(path) - 1)
        overhead = int(self._fabric["nic"].get("overhead_ps", 0))
        if full:
            packet = self._packet(path, int(self._fabric["packet_bytes"]))
            rates = np.maximum.accumulate(_alternating(packet.whole, packet.crossing)).tolist()
            for sent in range(full):
                before, free = free, self._send(path, packet, free, overhead if sent == 0 else 0)
                steps = [now - then for now, then in zip(free, before, strict=True)]
                if sent and (steps == rates or sent == _MOST_IN_TURN):
                    left = full - 1 - sent
                    free = [now + left * rate for now, rate in zip(free, rates, strict=True)]
                    break
        if rest:
            free = self._send(path, self._packet(path, rest), free, 0 if full else overhead)
        return free[-1] + int(self._links[path[-1]]["latency_ps"])

    def _send(self, path: Sequence[int], packet: _Packet, free: list[int], overhead: int) -> list[int]:
        """When the links and the crossbars between them are free again after a packet, from when they are free."""
        delay = int(self._fabric["router_delay_ps"])
        start = free[0] + overhead
        after = [start + packet.whole[0]]
        for at, (link, _) in enumerate(pairwise(path)):
            latency = int(self._links[link]["latency_ps"]) + delay
            decided, tail = start + packet.head[at] + latency, start + packet.whole[at] + latency
            granted = max(decided, free[2 * at + 1])
            there = max(granted + packet.crossing, tail)
            whole = packet.whole[at + 1]
            start = max(granted + packet.head_crossing, there - whole, free[2 * at + 2])
            after += [granted + packet.crossing, start + whole]
        return after


class _Paths:
    """The classes of links of best minimal paths between routers, from the link of a node to that of another.

    Minimal is what the machine's routing takes: on a graph the least sum of weights, elsewhere the fewest links between
    groups, and then the fewest links. Of these paths it is the one on which a full packet is the fastest.
    """

    def __init__(self, spec: Mapping[str, Any], system: Mapping[str, Any], wire: int) -> None:
        links = [spec["fabric"]["links"].get(name) for name in system["classes"]]
        delay = int(spec["fabric"]["router_delay_ps"])
        times = [0 if of is None else _ps(of["bandwidth"], wire) + of["latency_ps"] + delay for of in links]
        weights = spec["topology"].get("weights")
        if weights is None:
            weights = [1 + 2**6 * (number >= system["first_global"]) for number in range(1, len(links))]
        # Whole numbers: the weight, and below it the time of a full packet, which is less than a second.
        step = 0 if max(weights) > _LONGEST else 40
        by_class = [
            0,
            *((weight << step) + (time if step else 0) for weight, time in zip(weights, times[1:], strict=False)),
        ]
        works = (system["slot_peer_router"] >= 0) & ~system["slot_failed"]
        a, b = system["slot_router"][works].astype(np.int64), system["slot_peer_router"][works].astype(np.int64)
        class_ = system["slot_class"][works].astype(np.int64)
        length = np.asarray(by_class, dtype=np.int64)[class_]
        order = np.lexsort((length, a, b))
        self._a, self._b, self._class, self._length = a[order], b[order], class_[order], length[order]
        self._routers = len(system["router_kind"])
        self._first = np.flatnonzero(np.diff(self._b, prepend=-1))
        self._search = lru_cache(maxsize=64)(self._distances)
        self.between = lru_cache(maxsize=None)(self._between)

    def _distances(self, source: int) -> Any:
        """The least length from a router to each other one."""
        distance = np.full(self._routers, _NO_PATH, dtype=np.int64)
        distance[source] = 0
        ends = self._b[self._first]
        while len(ends):
            nearest = np.minimum(distance[ends], np.minimum.reduceat(distance[self._a] + self._length, self._first))
            if np.array_equal(nearest, distance[ends]):
                break
            distance[ends] = nearest
        return distance

    def _between(self, source: int, destination: int) -> tuple[int, ...] | None:
        if source == destination:
            return (0, 0)
        distance = self._search(source)
        if distance[destination] >= _NO_PATH:
            return None
        path, at = [0], destination
        while at != source:
            first, end = np.searchsorted(self._b, (at, at + 1))
            into = slice(int(first), int(end))
            link = into.start + int(np.argmax(distance[self._a[into]] + self._length[into] == distance[at]))
            path.append(int(self._class[link]))
            at = int(self._a[link])
        return (0, *path[:0:-1], 0)


def _alternating(links: Sequence[int], crossing: int) -> list[int]:
    """Times of a packet on the links of a path, with those of the crossbars between them."""
    return [time for link in links for time in (link, crossing)][:-1]


def _ps(bandwidth: int, size: int) -> int:
    return -(-size * 10**18 // int(bandwidth))
