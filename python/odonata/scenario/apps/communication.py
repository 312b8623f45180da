"""The mapping by communication: ranks that exchange much are put on nodes that are close to each other."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from odonata.machine.shape import Shape

    Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]

INSTALL = "pip install 'odonata[all]'"

#: Largest sum of the weights of edges that METIS gets; its numbers have 32 bits.
MOST_WEIGHT = 2**30

#: Cost of a byte between ranks of the same router, of the same group, and of different groups. Assumed: the links that
#: it crosses at least on a Dragonfly+ or a dragonfly with minimal routing.
ROUTER, GROUP, MACHINE = 2, 3, 5


def map_by_communication(traffic: Any, slots: Sequence[int], shape: Shape) -> list[int]:
    """The node of each rank so that little is sent far.

    The ranks are divided among groups, then those of a group among its routers, and those of a router among its nodes,
    each time with few bytes between the parts (METIS: Karypis and Kumar, SIAM J. Sci. Comput. 20, 1998). Parts then
    get exactly as many ranks as they have places, by moving the ranks that lose least.

    Parameters
    ----------
    traffic
        Array of four rows: source, target, bytes and messages of each pair of ranks. A message counts as a byte more.
    slots
        The nodes with places for ranks, each as often as it has places; as many as there are ranks.
    shape
        Where nodes sit.

    Returns
    -------
    list of int
        The node of each rank; `slots` itself if that costs no more.

    Raises
    ------
    InputError
        If METIS is not installed.
    """
    sources, targets = traffic[0], traffic[1]
    weights = traffic[2] + traffic[3]
    slot_list = list(slots)
    nodes = np.empty(len(slot_list), dtype=np.int64)

    def place(ranks: Numbers, places: list[int], levels: Sequence[Callable[[int], int]]) -> None:
        if not levels:
            nodes[ranks] = places[0]
            return
        level, *below = levels
        room = Counter(map(level, places))
        parts = _divided(ranks, list(room.values()), sources, targets, weights)
        for part, name in zip(parts, room, strict=True):
            place(part, [node for node in places if level(node) == name], below)

    place(np.arange(len(slot_list)), slot_list, (shape.group_of, shape.router_of, lambda node: node))
    linear = np.array(slot_list)
    better = _cost(traffic, weights, nodes, shape) < _cost(traffic, weights, linear, shape)
    mapped: list[int] = (nodes if better else linear).tolist()
    return mapped


def _cost(traffic: Any, weights: Numbers, nodes: Numbers, shape: Shape) -> int:
    a, b = nodes[traffic[0]], nodes[traffic[1]]
    routers = np.array([shape.router_of(node) for node in range(shape.nodes)])
    same_router = routers[a] == routers[b]
    same_group = a // shape.nodes_per_group == b // shape.nodes_per_group
    distance = np.where(a == b, 0, np.where(same_router, ROUTER, np.where(same_group, GROUP, MACHINE)))
    return int((distance.astype(object) * weights).sum()) if weights.sum() > 2**60 else int((distance * weights).sum())


def _divided(ranks: Numbers, room: list[int], sources: Numbers, targets: Numbers, weights: Numbers) -> list[Numbers]:
    """The ranks in parts of these sizes."""
    if len(room) == 1:
        return [ranks]
    if max(room) == 1:
        # The parts are equally far from each other.
        return [ranks[at : at + 1] for at in range(len(room))]
    number = np.full(int(max(sources.max(), targets.max(), ranks.max())) + 1, -1)
    number[ranks] = np.arange(len(ranks))
    inside = (number[sources] >= 0) & (number[targets] >= 0)
    ends = number[sources[inside]], number[targets[inside]]
    graph = _Graph(len(ranks), *ends, weights[inside])
    parts = graph.balanced(graph.partition(room), room)
    return [ranks[parts == part] for part in range(len(room))]


class _Graph:
    """What ranks exchange, both directions together: for each rank its neighbours and the weights of these edges."""

    def __init__(self, ranks: int, sources: Numbers, targets: Numbers, weights: Numbers) -> None:
        keys = np.minimum(sources, targets) * ranks + np.maximum(sources, targets)
        pairs, place = np.unique(keys, return_inverse=True)
        sums = np.zeros(len(pairs))
        np.add.at(sums, place, weights.astype(float))
        low, high = pairs // ranks, pairs % ranks
        ends, others = np.concatenate([low, high]), np.concatenate([high, low])
        order = np.lexsort((others, ends))
        self.ranks = ranks
        self.ends, self.others = ends[order], others[order]
        self.weights = np.concatenate([sums, sums])[order]
        self.starts = np.searchsorted(self.ends, np.arange(ranks + 1))

    def partition(self, room: list[int]) -> Numbers:
        """The part of each rank, of about these sizes. Raises InputError if METIS is not installed."""
        try:
            import pymetis
        except ImportError:
            raise InputError(
                "the mapping `communication` needs METIS, which is not installed", hint=f"{INSTALL} adds it"
            ) from None
        if not self.weights.size:
            return np.repeat(np.arange(len(room)), room)
        scaled = np.maximum(1, self.weights * (MOST_WEIGHT / max(MOST_WEIGHT, self.weights.sum()))).astype(np.int64)
        _, parts = pymetis.part_graph(
            len(room),
            pymetis.CSRAdjacency(self.starts.tolist(), self.others.tolist()),
            eweights=scaled.tolist(),
            tpwgts=[size / self.ranks for size in room],
        )
        return np.array(parts, dtype=np.int64)

    def balanced(self, parts: Numbers, room: list[int]) -> Numbers:
        """The same with exactly these sizes: the rank that loses least moves, again and again."""
        excess = np.bincount(parts, minlength=len(room)) - np.array(room)
        ties = np.zeros((self.ranks, len(room)))
        np.add.at(ties, (self.ends, parts[self.others]), self.weights)
        while (excess > 0).any():
            movable = np.flatnonzero(excess[parts] > 0)
            open_parts = np.flatnonzero(excess < 0)
            gains = ties[np.ix_(movable, open_parts)] - ties[movable, parts[movable]][:, None]
            best, to = divmod(int(gains.argmax()), len(open_parts))
            rank, part = int(movable[best]), int(open_parts[to])
            near = slice(self.starts[rank], self.starts[rank + 1])
            ties[self.others[near], parts[rank]] -= self.weights[near]
            ties[self.others[near], part] += self.weights[near]
            excess[parts[rank]] -= 1
            excess[part] += 1
            parts[rank] = part
        return parts
