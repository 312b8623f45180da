"""Where the nodes of a machine sit: all that a placement policy needs to know."""

from dataclasses import dataclass

from odonata.errors import InputError


@dataclass(frozen=True)
class Shape:
    """Nodes are numbered router by router and routers group by group, in machines of every kind.

    `routers_per_group` counts only routers that have nodes (the leaves of a Dragonfly+).
    """

    groups: int
    routers_per_group: int
    nodes_per_router: int

    @property
    def nodes(self) -> int:
        """Nodes of the machine."""
        return self.groups * self.nodes_per_group

    @property
    def nodes_per_group(self) -> int:
        """Nodes of each group."""
        return self.routers_per_group * self.nodes_per_router

    def group_of(self, node: int) -> int:
        """Group of a node."""
        return node // self.nodes_per_group

    def router_of(self, node: int) -> int:
        """Number of a node's router among the routers that have nodes."""
        return node // self.nodes_per_router

    def check_group(self, group: int) -> None:
        """Raises InputError if there is no such group."""
        if not 0 <= group < self.groups:
            raise InputError(f"there is no group {group}", hint=f"the machine has groups 0 to {self.groups - 1}")

    def check_node(self, node: int) -> None:
        """Raises InputError if there is no such node."""
        if not 0 <= node < self.nodes:
            raise InputError(f"there is no node {node}", hint=f"the machine has nodes 0 to {self.nodes - 1}")
