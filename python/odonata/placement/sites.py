"""Where the nodes of a machine sit, listed: routers and groups with their nodes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

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
    """The lists of a machine. The time is linear in its nodes, and spent once a machine."""
    routers = _runs(range(shape.nodes), shape.router_of)
    groups = _runs(range(shape.nodes), shape.group_of)
    group_routers = _runs(range(len(routers)), lambda router: shape.group_of(routers[router].start))
    return Sites(routers, groups, group_routers)


def _runs(ids: Iterable[int], unit_of: Callable[[int], int]) -> tuple[range, ...]:
    """Neighbouring ids of the same unit, as ranges: ids are numbered unit by unit."""
    found = []
    first = 0
    for _, members in groupby(ids, unit_of):
        last = first + sum(1 for _ in members)
        found.append(range(first, last))
        first = last
    return tuple(found)
