"""The nodes of every router and group of a machine."""

from dataclasses import dataclass
from functools import lru_cache

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
