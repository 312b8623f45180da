"""The set of free nodes, by router and by group, and operations on it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, zip_longest
from typing import TypeVar

from odonata.machine import Shape
from odonata.placement.sites import sites

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
