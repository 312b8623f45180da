"""Dragonfly+ (also Megafly): groups of leaf and spine routers, joined by the spines.

Sources: Shpiner 2017; Kang 2019, sections 2.1 and 3.1.1 (K1, K2, K4).
"""

from typing import Any, ClassVar, Literal

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.machine.kinds.kind import MachineTable
from odonata.machine.shape import Shape

#: More nodes than any machine has, fewer than would fill the memory of this one.
MAX_NODES = 2**24


class DragonflyPlusTable(MachineTable):
    """The numbers of a Dragonfly+."""

    classes: ClassVar[tuple[str, ...]] = ("node", "local", "global")
    between_groups: ClassVar[str] = "global"

    kind: Literal["dragonfly-plus"] = Field(description="kind of machine")
    groups: Count = Field(description="number of groups")
    leaves: Count = Field(description="leaf routers per group")
    spines: Count = Field(description="spine routers per group")
    nodes_per_leaf: Count = Field(description="compute nodes per leaf")
    global_links_per_spine: Count = Field(description="global ports of each spine")
    links_per_pair: Count | None = Field(
        None, description="cables between each pair of groups (default: as many as fit)"
    )
    arrangement: Literal["linear", "parallel"] = Field("linear", description="which spines the global links join")
    radix: Count | None = Field(None, description="ports of a router, used or not")

    def check(self) -> None:
        """Raises InputError if the links do not fit, or the machine is too large."""
        peers, have = self.groups - 1, self.spines * self.global_links_per_spine
        nodes = self.groups * self.leaves * self.nodes_per_leaf
        if nodes > MAX_NODES:
            message = f"{nodes:,} nodes are more than the {MAX_NODES:,} that can be simulated"
            raise InputError(message, path=("groups",))
        have_text = f"{self.spines} spines with {self.global_links_per_spine} global links each have {have}"
        if self.links_per_pair is not None and self.links_per_pair * peers > have:
            most = f" at most {have // peers} links per pair or" if have >= peers else ""
            raise InputError(
                f"{self.groups} groups with {self.links_per_pair} links between each pair need "
                f"{self.links_per_pair * peers} global links per group, but {have_text}",
                hint=f"use{most} at most {have // self.links_per_pair + 1} groups",
                path=("links_per_pair",),
            )
        if have < peers:
            raise InputError(
                f"{self.groups} groups need at least {peers} global links per group, but {have_text}",
                hint=f"at most {have + 1} groups can be joined",
                path=("groups",),
            )
        if self.arrangement == "parallel" and peers and self._links() % self.spines:
            raise InputError(
                "the parallel arrangement needs whole rounds of the spines, but "
                f"{self._links()} links between a pair of groups are no multiple of {self.spines} spines",
                path=("arrangement",),
            )
        if self.radix is not None and self.radix < max(self._leaf_ports(), self._spine_ports()):
            raise InputError(
                f"a router has {self.radix} ports, but a leaf needs {self._leaf_ports()} "
                f"and a spine {self._spine_ports()}",
                path=("radix",),
            )

    def topology(self) -> dict[str, Any]:
        """The topology as the core reads it, with the number of links per pair filled in."""
        spec = {
            "kind": self.kind,
            "groups": self.groups,
            "leaves": self.leaves,
            "spines": self.spines,
            "nodes_per_leaf": self.nodes_per_leaf,
            "global_links_per_spine": self.global_links_per_spine,
            "arrangement": self.arrangement,
        }
        return spec | ({"links_per_pair": self._links()} if self.groups > 1 else {})

    def shape(self) -> Shape:
        """Nodes sit on the leaves."""
        return Shape(self.groups, self.leaves, self.nodes_per_leaf)

    def facts(self) -> list[tuple[str, str]]:
        """Ports, and the largest machines of such routers (equations 1 and 2 of Kang 2019, K2)."""
        ports = f"{self._leaf_ports()} of a leaf, {self._spine_ports()} of a spine"
        rows = [
            ("links between each pair of groups", f"{self._links()}"),
            ("ports used", ports + (f", of {self.radix}" if self.radix else "")),
        ]
        if self.radix:
            largest, plain = dragonfly_plus_max_nodes(self.radix), dragonfly_max_nodes(self.radix)
            rows.append((f"largest Dragonfly+ of radix {self.radix}", f"{largest:,} nodes"))
            if plain:
                ratio = f" ({largest / plain:.2f} times fewer)"
                rows.append((f"largest dragonfly of radix {self.radix}", f"{plain:,} nodes{ratio}"))
        return rows

    def _links(self) -> int:
        if self.links_per_pair is not None or self.groups == 1:
            return self.links_per_pair or 0
        return self.spines * self.global_links_per_spine // (self.groups - 1)

    def _leaf_ports(self) -> int:
        return self.nodes_per_leaf + self.spines

    def _spine_ports(self) -> int:
        return self.leaves + self.global_links_per_spine


def dragonfly_plus_max_nodes(radix: int) -> int:
    """Largest Dragonfly+ of routers with that many ports: `(r/2)^2 ((r/2)^2 + 1)` nodes.

    Kang 2019, equation 1 (K2; the printed binomials are fractions).
    """
    square = (radix // 2) ** 2
    return square * (square + 1)


def dragonfly_max_nodes(radix: int) -> int:
    """Largest one-dimensional dragonfly: `r/4 (r/2 + 1) (r/4 (r/2 + 1) + 1)` nodes.

    Kang 2019, equation 2 (K2).
    """
    group = radix // 4 * (radix // 2 + 1)
    return group * (group + 1)
