"""The free nodes of a machine by router and by group, operations on them, and their fragmentation."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby, zip_longest
from typing import TypeVar

from odonata.machine import Shape


@dataclass(frozen=True)
class Sites:
    """A machine as three lists; a router here has nodes (the spines of a Dragonfly+ do not count)."""

    routers: tuple[range, ...]
    """Nodes of every router."""
    groups: tuple[range, ...]
    """Nodes of every group."""
    group_routers: tuple[range, ...]
    """Routers of every group."""


@lru_cache(maxsize=8)
def sites(shape: Shape) -> Sites:
    """The lists of a machine, made once per machine."""
    groups = range(shape.groups)
    return Sites(
        routers=tuple(map(shape.nodes_on, range(shape.routers))),
        groups=tuple(map(shape.nodes_in, groups)),
        group_routers=tuple(map(shape.routers_in, groups)),
    )


T = TypeVar("T")


#: From this number of nodes on, one pass over all free nodes is faster than deleting one node after another.
_MANY = 64


class Free:
    """Free nodes, ascending, and the same by router and by group (parts may be empty; policies do not change them)."""

    def __init__(self, shape: Shape, nodes: list[int]) -> None:
        self._shape = shape
        self._sites = sites(shape)
        self.nodes = nodes

    def take(self, nodes: Sequence[int]) -> None:
        """Removes nodes, without a pass over all free nodes if they are few or consecutive.

        Nodes that are not free are skipped.
        """
        ascending = sorted(nodes)
        _remove(self.nodes, ascending)
        if "routers" in self.__dict__:
            for node in ascending:
                _remove(self.routers[self._shape.router_of(node)], [node])
        if "groups" in self.__dict__:
            for group, part in groupby(ascending, self._shape.group_of):
                _remove(self.groups[group], list(part))

    def give(self, nodes: Sequence[int]) -> None:
        """Adds nodes that are not free, without a pass over all free nodes if they are next to each other."""
        ascending = sorted(nodes)
        _insert(self.nodes, ascending)
        if "routers" in self.__dict__:
            for router, part in groupby(ascending, self._shape.router_of):
                _insert(self.routers[router], list(part))
        if "groups" in self.__dict__:
            for group, part in groupby(ascending, self._shape.group_of):
                _insert(self.groups[group], list(part))

    def copy(self) -> "Free":
        """Another set of the same nodes."""
        return Free(self._shape, [*self.nodes])

    @cached_property
    def routers(self) -> list[list[int]]:
        """Free nodes of every router."""
        return _cut(self.nodes, self._sites.routers)

    @cached_property
    def groups(self) -> list[list[int]]:
        """Free nodes of every group."""
        return _cut(self.nodes, self._sites.groups)

    def routers_of(self, group: int) -> list[list[int]]:
        """Free nodes of every router of a group."""
        routers = self._sites.group_routers[group]
        return self.routers[routers.start : routers.stop]


def interleave(parts: Iterable[Iterable[T]]) -> Iterator[T]:
    """One from each part in turn, repeatedly; exhausted parts are skipped."""
    return (item for row in zip_longest(*parts) for item in row if item is not None)


def in_turn(room: Sequence[int], count: int) -> list[int]:
    """How many of `count` each part gives if one is taken from each in turn and exhausted parts are skipped.

    `room` is the size of each part. All parts give the same number if they can; the first ones give the rest.
    """
    rounds = bisect_right(
        range(1, max(room, default=0) + 1), count, key=lambda rounds: sum(min(r, rounds) for r in room)
    )
    given = [min(most, rounds) for most in room]
    left = count - sum(given)
    for part, has in enumerate(room):
        if left and has > rounds:
            given[part] += 1
            left -= 1
    return given


def most(parts: Sequence[Sequence[int]]) -> int:
    """The part with the most members; the first one in case of a tie."""
    return max(range(len(parts)), key=lambda i: len(parts[i]))


def tightest(parts: Sequence[Sequence[int]], count: int) -> int | None:
    """The smallest part with at least `count` members; the first one in case of a tie; None if there is none."""
    enough = [i for i, part in enumerate(parts) if len(part) >= count]
    return min(enough, key=lambda i: len(parts[i]), default=None)


def first_with(parts: Sequence[Sequence[int]], count: int) -> int | None:
    """The first part with at least `count` members; None if there is none."""
    return next((i for i, part in enumerate(parts) if len(part) >= count), None)


def has(nodes: Sequence[int], node: int) -> bool:
    """Whether a node is in an ascending list."""
    at = bisect_left(nodes, node)
    return at < len(nodes) and nodes[at] == node


def _remove(nodes: list[int], gone: Sequence[int]) -> None:
    """Removes nodes from a list; both ascend."""
    if not gone:
        return
    low, high = bisect_left(nodes, gone[0]), bisect_right(nodes, gone[-1])
    if high - low <= len(gone) and nodes[low:high] == gone:
        del nodes[low:high]
    elif len(gone) < _MANY:
        for node in reversed(gone):
            at = bisect_left(nodes, node, low, high)
            if at < high and nodes[at] == node:
                del nodes[at]
                high -= 1
    else:
        dropped = frozenset(gone)
        nodes[low:high] = [node for node in nodes[low:high] if node not in dropped]


def _insert(nodes: list[int], new: Sequence[int]) -> None:
    """Adds nodes to a list that does not have them; both ascend."""
    if new:
        low, high = bisect_left(nodes, new[0]), bisect_right(nodes, new[-1])
        nodes[low:high] = sorted([*nodes[low:high], *new]) if low < high else new


def _cut(nodes: list[int], units: Sequence[range]) -> list[list[int]]:
    parts = []
    low = 0
    for unit in units:
        high = bisect_left(nodes, unit.stop, low, min(low + len(unit), len(nodes)))
        parts.append(nodes[low:high])
        low = high
    return parts


@dataclass(frozen=True)
class Fragmentation:
    """The free part of a machine, in numbers of nodes, routers and groups."""

    free: int
    """Free nodes."""
    idle_routers: int
    """Routers all of whose nodes are free."""
    idle_groups: int
    """Groups all of whose nodes are free."""
    largest_router: int
    """Most free nodes on one router: the largest job that uses no link between routers."""
    largest_group: int
    """Most free nodes in one group: the largest job that uses no global link."""
    scattered: float
    """Fraction of the free nodes that share their router with busy ones (0 if none is free)."""


def fragmentation(shape: Shape, free: Iterable[int]) -> Fragmentation:
    """The fragmentation of the free nodes of a machine; `free` is ascending."""
    view = Free(shape, list(free))
    where = sites(shape)
    idle = [len(nodes) for nodes, unit in zip(view.routers, where.routers, strict=True) if len(nodes) == len(unit)]
    total = len(view.nodes)
    return Fragmentation(
        free=total,
        idle_routers=len(idle),
        idle_groups=sum(len(nodes) == len(unit) for nodes, unit in zip(view.groups, where.groups, strict=True)),
        largest_router=max(map(len, view.routers)),
        largest_group=max(map(len, view.groups)),
        scattered=1 - sum(idle) / total if total else 0.0,
    )
