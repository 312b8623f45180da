"""The fragmentation of the free nodes."""

from collections.abc import Iterable
from dataclasses import dataclass

from odonata.machine import Shape
from odonata.placement.free import Free
from odonata.placement.sites import sites


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
