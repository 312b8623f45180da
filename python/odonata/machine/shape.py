"""The shape of a machine: the router and the group of each node. Placement policies need nothing else."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Self

from odonata.errors import InputError


@dataclass(frozen=True)
class Shape:
    """Nodes are numbered router by router and routers group by group, in machines of every kind.

    `routers_per_group` counts only routers that have nodes (the leaves of a Dragonfly+). If the NICs of a node are on
    several routers, these count as one. The last group may have fewer routers, `last_group_routers`.
    """

    groups: int
    routers_per_group: int
    nodes_per_router: int
    last_group_routers: int | None = None
    router_name: str = field(default="router", compare=False, repr=False)
    """The name of a router with nodes on this machine."""
    group_name: str = field(default="group", compare=False, repr=False)
    """The name of a group on this machine."""
    links_out: str = field(default="global links", compare=False, repr=False)
    """The name of the links that leave a group on this machine."""

    @property
    def router_names(self) -> str:
        """The plural of the name of these routers."""
        return "leaves" if self.router_name == "leaf" else f"{self.router_name}s"

    @property
    def routers(self) -> int:
        """Routers of the machine that have nodes."""
        missing = 0 if self.last_group_routers is None else self.routers_per_group - self.last_group_routers
        return self.groups * self.routers_per_group - missing

    @property
    def nodes(self) -> int:
        """Nodes of the machine."""
        return self.routers * self.nodes_per_router

    @property
    def nodes_per_group(self) -> int:
        """Nodes of each group (of every group but the last, if that is smaller)."""
        return self.routers_per_group * self.nodes_per_router

    def group_of(self, node: int) -> int:
        """Group of a node."""
        return node // self.nodes_per_group

    def router_of(self, node: int) -> int:
        """Number of a node's router among the routers that have nodes."""
        return node // self.nodes_per_router

    def routers_in(self, group: int) -> range:
        """The routers of a group that have nodes, numbered as in `router_of`."""
        first = group * self.routers_per_group
        return range(first, min(first + self.routers_per_group, self.routers))

    def nodes_in(self, group: int) -> range:
        """The nodes of a group."""
        first = group * self.nodes_per_group
        return range(first, min(first + self.nodes_per_group, self.nodes))

    def nodes_on(self, router: int) -> range:
        """The nodes of a router, numbered as in `router_of`."""
        return range(router * self.nodes_per_router, (router + 1) * self.nodes_per_router)

    def check_group(self, group: int) -> None:
        """Raises InputError if there is no such group."""
        if not 0 <= group < self.groups:
            raise InputError(f"there is no group {group}", hint=f"the machine has groups 0 to {self.groups - 1}")

    def check_node(self, node: int) -> None:
        """Raises InputError if there is no such node."""
        if not 0 <= node < self.nodes:
            raise InputError(f"there is no node {node}", hint=f"the machine has nodes 0 to {self.nodes - 1}")


@dataclass(frozen=True)
class UnevenShape(Shape):
    """The shape of a machine of one group whose routers have different numbers of nodes."""

    first: tuple[int, ...] = ()
    """The first node of each router with nodes, and the number of all nodes."""

    @classmethod
    def of(cls, counts: Sequence[int]) -> Self:
        """That of routers with so many nodes each."""
        return cls(1, len(counts), max(counts), first=(0, *accumulate(counts)))

    @property
    def nodes(self) -> int:
        """Nodes of the machine."""
        return self.first[-1]

    @property
    def nodes_per_group(self) -> int:
        """Nodes of the group."""
        return self.nodes

    def router_of(self, node: int) -> int:
        """Number of a node's router among the routers that have nodes."""
        return bisect_right(self.first, node) - 1

    def nodes_on(self, router: int) -> range:
        """The nodes of a router, numbered as in `router_of`."""
        return range(self.first[router], self.first[router + 1])
