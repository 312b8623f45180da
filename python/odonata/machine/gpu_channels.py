"""Rings and chains over the links between the GPUs of a node, as NCCL lays its channels along all of them.

A *ring* returns to its first GPU, for ranks inside a node. A *chain* ends at its last GPU, for ranks on several nodes:
it enters a node at the first GPU and leaves it at the last. The channels of a node are side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING

from odonata.machine.packing import heaviest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from odonata.machine.gpus import GpuTable

Capacities = tuple[tuple[int, ...], ...]
"""Links side by side between each two of some GPUs."""
Queue = tuple[str | int, ...]
"""A port of a GPU, a direction of a link by its ends, or the root."""
ROOT: Queue = ("root",)
MOST_PATHS = 5_040
"""Paths among which channels are chosen on a mesh that is not the same between all pairs: all of eight GPUs. Of more
GPUs these are the first that are listed."""
MOST_STEPS = 200_000
"""Steps of a search for paths."""


@dataclass(frozen=True)
class Channel:
    """One ring or chain of several that are side by side."""

    order: tuple[int, ...]
    """GPUs, by their places among those that take part."""
    share: Fraction
    """Part of the data that it carries; those of a node add up to 1."""
    rate: int | None = None
    """What it may carry, in millionths of a byte per second; None where it has all queues on its way for itself."""


def rings(gpu: GpuTable, members: Sequence[int]) -> list[Channel]:
    """Rings over some GPUs of a node that use all links between them, in both directions.

    On a switch or a root of PCIe one ring uses all ports. So does one ring where no ring has links all the way.
    """
    if gpu.network == "mesh" and len(members) > 1:
        listed = _rings_of_mesh(capacities(gpu, members))
        total = sum(weight for _, weight in listed)
        if listed:
            return [Channel(order, weight / total, int(weight * gpu.bandwidth)) for order, weight in listed]
    return [Channel(tuple(range(len(members))), Fraction(1))]


def rings_carry(gpu: GpuTable, members: Sequence[int]) -> int:
    """What all rings over these GPUs carry together, in millionths of a byte per second.

    A ring without links all the way is as fast as its slowest link: no two of its hops cross a link in one direction
    where GPUs are in a line. (Elsewhere some may; assumed.)
    """
    if gpu.network != "mesh":
        return gpu.bandwidth
    listed = rings(gpu, members)
    if all(channel.rate is not None for channel in listed):
        return sum(channel.rate or 0 for channel in listed)
    return gpu.bandwidth * min(links for row in capacities(gpu, range(gpu.count)) for links in row if links)


def chains(gpu: GpuTable, members: Sequence[int]) -> list[Channel]:
    """A chain for each NIC of these GPUs, which enters a node at the last GPU of this NIC.

    With several GPUs for a NIC it leaves by the same one where it can. On a mesh chains use different links.
    """
    assert gpu.nics is not None
    nics = [gpu.nics[member] for member in members]
    starts = sorted({nic: place for place, nic in enumerate(nics)}.values())
    orders = chains_from(gpu, members, starts)
    loads = _loads(gpu, orders)
    return [Channel(order, Fraction(1, len(orders)), _rate(gpu, members, order, loads)) for order in orders]


def chain_carries(gpu: GpuTable, channel: Channel) -> int:
    """What a chain over all GPUs of a node that is alone carries, in millionths of a byte per second."""
    members = range(gpu.count)
    carried = min((_carries(gpu, members, queue) for queue in _queues(gpu, channel.order)), default=gpu.bandwidth)
    return carried or gpu.bandwidth


def chains_from(gpu: GpuTable, members: Sequence[int], starts: Sequence[int]) -> list[tuple[int, ...]]:
    """A chain over all these GPUs from each of some places, on a mesh by different links where there are such."""
    count = len(members)
    turned = [tuple((start + step) % count for step in range(count)) for start in starts]
    if gpu.network != "mesh" or count == 1:
        return turned
    links = capacities(gpu, members)
    if _is_uniform(links):
        return [_zigzag(start, count) for start in starts]
    assert gpu.nics is not None
    return _chains_of_mesh(links, [gpu.nics[member] for member in members], starts) or turned


def capacities(gpu: GpuTable, members: Sequence[int]) -> Capacities:
    """Links between each two of some GPUs of a mesh; 0 without."""
    beside = {frozenset(link[:2]): link[2] if len(link) == 3 else 1 for link in gpu.pairs()}
    return tuple(tuple(beside.get(frozenset((a, b)), 0) if a != b else 0 for b in members) for a in members)


def _is_uniform(links: Capacities) -> bool:
    return len({beside for a, row in enumerate(links) for b, beside in enumerate(row) if a != b}) == 1 and any(links[0])


def _zigzag(start: int, count: int) -> tuple[int, ...]:
    """All numbers modulo `count` from one on: one more, one less, two more, ...

    From all starts together these paths take each direction of each link once for an even count (Lucas and Walecki
    1892; each distance occurs once), and at most twice for an odd one.
    """
    return tuple((start + (-step // 2 if step % 2 == 0 else (step + 1) // 2)) % count for step in range(count))


@lru_cache(maxsize=64)
def _rings_of_mesh(links: Capacities) -> list[tuple[tuple[int, ...], Fraction]]:
    """Rings over all GPUs of a mesh, each with a number of links that it may use; none if no ring has links."""
    count = len(links)
    if count == 2:
        return [((0, 1), Fraction(links[0][1]))] if links[0][1] else []
    if _is_uniform(links):
        # One GPU between the ends of zigzag paths over the others closes them. For an odd number of GPUs half of these
        # paths take each link once, and for an even one all take it twice.
        others = count - 1
        each = Fraction(links[0][1], 1 if count % 2 else 2)
        listed = [((*_zigzag(start, others), others), each) for start in range(others // 2 if count % 2 else others)]
    else:
        paths = list(_paths(links, 0, closed=True))
        edges = [(a, b) for a in range(count) for b in range(a + 1, count) if links[a][b]]
        uses = [
            [edges.index((min(pair), max(pair))) for pair in zip(path, (*path[1:], 0), strict=True)] for path in paths
        ]
        weights = heaviest(uses, [links[a][b] for a, b in edges])
        listed = [(path, weight) for path, weight in zip(paths, weights, strict=True) if weight]
    return [ring for path, weight in listed for ring in ((path, weight), (path[:1] + path[:0:-1], weight))]


def _paths(links: Capacities, start: int, *, closed: bool) -> Iterator[tuple[int, ...]]:
    """Paths over links from a GPU through all others, in rising order; of closed ones each in one direction only."""
    count, steps, listed = len(links), 0, 0
    path, tried = [start], [0]
    while path:
        following = next((b for b in range(tried[-1], count) if links[path[-1]][b] and b not in path), None)
        steps += 1
        if steps > MOST_STEPS or listed >= MOST_PATHS:
            return
        if following is None:
            if len(path) == count and (not closed or (links[path[-1]][start] and path[1] < path[-1])):
                listed += 1
                yield tuple(path)
            path.pop()
            tried.pop()
            continue
        tried[-1] = following + 1
        path.append(following)
        tried.append(0)


def _chains_of_mesh(links: Capacities, nics: list[int], starts: Sequence[int]) -> list[tuple[int, ...]]:
    """From each start the path whose links those before use least; that leaves by its NIC, or by one that is unused."""
    load = [[0] * len(links) for _ in links]
    unit = lcm(*(beside for row in links for beside in row if beside))
    left: set[int] = set()
    chosen: list[tuple[int, ...]] = []
    for start in starts:

        def cost(path: tuple[int, ...], start: int = start) -> tuple[int, int, int, tuple[int, ...]]:
            filled = [(load[a][b] + 1) * unit // links[a][b] for a, b in pairwise(path)]
            leaves = nics[path[-1]]
            ends = 0 if leaves == nics[start] else 1 if leaves not in left else 2
            return ends, max(filled), sum(filled), path

        best = min(_paths(links, start, closed=False), key=cost, default=None)
        if best is None:
            return []
        chosen.append(best)
        left.add(nics[best[-1]])
        for a, b in pairwise(best):
            load[a][b] += 1
    return chosen


def _queues(gpu: GpuTable, order: Sequence[int]) -> list[Queue]:
    """The queues that a chain crosses inside a node."""
    hops = list(pairwise(order))
    if gpu.network == "mesh":
        return [*hops]
    root = [ROOT] * len(hops) if gpu.network == "pcie" else []
    return [*(("out", a) for a, _ in hops), *(("in", b) for _, b in hops), *root]


def _loads(gpu: GpuTable, orders: Sequence[Sequence[int]]) -> dict[Queue, int]:
    loads: dict[Queue, int] = {}
    for order in orders:
        for queue in _queues(gpu, order):
            loads[queue] = loads.get(queue, 0) + 1
    return loads


def _rate(gpu: GpuTable, members: Sequence[int], order: Sequence[int], loads: dict[Queue, int]) -> int | None:
    """What a chain may carry in its busiest queue, if it is not alone in all."""
    queues = _queues(gpu, order)
    if not queues or all(loads[queue] == 1 for queue in queues):
        return None
    rate = min(_carries(gpu, members, queue) // loads[queue] for queue in queues)
    return rate or None  # a chain without links all the way has none


def _carries(gpu: GpuTable, members: Sequence[int], queue: Queue) -> int:
    if gpu.network == "mesh":
        return gpu.bandwidth * capacities(gpu, members)[int(queue[0])][int(queue[1])]
    return gpu.root or 0 if queue == ROOT else gpu.bandwidth
