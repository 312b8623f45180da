"""Dragonfly+ (also Megafly): groups of leaf and spine routers, joined by the spines.

Sources: Shpiner 2017; Kang 2019, sections 2.1 and 3.1.1.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from odonata.document import Count, CountOrZero
from odonata.errors import InputError
from odonata.machine.kinds.kind import MachineTable, with_rail, without_links_between_groups
from odonata.machine.kinds.lists import GlobalLinks, PairLinks
from odonata.machine.kinds.pairs import Pairs
from odonata.machine.kinds.words import capacity, links_between
from odonata.machine.shape import Shape


class DragonflyPlusTable(MachineTable):
    """The numbers of a Dragonfly+."""

    classes: ClassVar[tuple[str, ...]] = ("node", "local", "global")
    usual_rules: ClassVar[Mapping[str, str]] = {"arrangement": "linear"}
    default_sources: ClassVar[Mapping[str, str]] = {
        "arrangement": "default: linear (Kang 2019, section 3.1.1)",
        "global_links_per_spine": "default: none, as there is one group",
        "fabric.nic.rail": "default: the NIC is drawn for each message",
    }
    intra_numbers: ClassVar[int | None] = 2
    keys_first: ClassVar[tuple[str, ...]] = ("groups", "leaves", "last_group_leaves", "spines")

    kind: Literal["dragonfly-plus"] = Field(description="kind of machine")
    groups: Count = Field(description="number of groups")
    leaves: Count = Field(description="leaf routers per group")
    spines: Count = Field(description="spine routers per group")
    nodes_per_leaf: Count = Field(description="compute nodes per leaf")
    global_links_per_spine: CountOrZero = Field(
        description="global ports of each spine; a machine of one group needs none"
    )
    links_per_pair: CountOrZero | None = Field(
        None, description="cables between each pair of groups (default: as many as fit)"
    )
    arrangement: Literal["linear", "parallel"] | None = Field(
        None, description="which spines the global links join (default: linear)"
    )
    pair_links: PairLinks = Field((), description="pairs of groups with another number of cables: [group, group, n]")
    last_group_leaves: Count | None = Field(None, description="leaves of the last group, if it is smaller")
    global_links: GlobalLinks | None = Field(
        None, description="every cable between groups as a pair of spines; replaces the arrangement"
    )
    rails: Count | None = Field(None, description="NICs per node, all on its leaf (default: 1)")
    radix: Count | None = Field(None, description="ports of a router, used or not")
    interconnect: Literal["hdr-infiniband"] | None = Field(
        None, description="real network that it stands for: decides the default routing"
    )

    @classmethod
    def completed(cls, table: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the default of several NICs too, if a node has several."""
        return with_rail(without_links_between_groups(super().completed(table), "global_links_per_spine"))

    def check(self) -> None:
        """Raises InputError if the links do not fit, or the machine is too large."""
        if self.last_group_leaves is not None and self.last_group_leaves > self.leaves:
            message = f"the last group has {self.last_group_leaves} leaves, more than the {self.leaves} of a full one"
            raise InputError(message, path=("last_group_leaves",))
        self.check_common()
        self.check_counts_between_groups("global_links_per_spine", "links_per_pair")
        self.check_rail(self._nics())
        pairs = self.pairs()
        spines, ports = self.spines, self.global_links_per_spine
        have = f"{spines} spines with {ports} global links each have {spines * ports}"
        pairs.check(lambda _: have)
        if self.arrangement == "parallel":
            usual = [pairs.usual] if self.groups > 1 else []  # checked also where every pair is an exception
            for links in (*pairs.range, *usual, *(links for _, _, links in self.pair_links)):
                if links % self.spines:
                    raise InputError(
                        "the parallel arrangement needs whole rounds of the spines, but "
                        f"{links} links between a pair of groups are not a multiple of {self.spines} spines",
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
        spec: dict[str, Any] = {
            "kind": self.kind,
            "groups": self.groups,
            "leaves": self.leaves,
            "spines": self.spines,
            "nodes_per_leaf": self.nodes_per_leaf,
            "global_links_per_spine": self.global_links_per_spine,
        }
        if self.last_group_leaves is not None:
            spec["last_group_leaves"] = self.last_group_leaves
        if self._nics() > 1:
            spec["rails"] = self.rails
        if self.global_links is not None:
            return spec | {"global_links": [list(cable) for cable in self.global_links]}
        spec["arrangement"] = self.arrangement
        if self.groups > 1:
            spec["links_per_pair"] = self.pairs().usual
        if self.pair_links:
            spec["pair_links"] = [list(row) for row in self.pair_links]
        return spec

    def shape(self) -> Shape:
        """Nodes sit on the leaves."""
        last = None if self.last_group_leaves == self.leaves else self.last_group_leaves
        return Shape(self.groups, self.leaves, self.nodes_per_leaf, last)

    def pairs(self) -> Pairs:
        """The links between its groups."""
        ports = self.spines * self.global_links_per_spine
        cables = None
        if self.global_links is not None:
            cables = tuple((self.group_of_router(a), self.group_of_router(b)) for a, b in self.global_links)
        return Pairs(self.groups, ports, ports, self.links_per_pair, self.pair_links, cables)

    def longest_path(self) -> tuple[str, ...]:
        """Up to a spine, to another group if there is one, and down to a leaf."""
        if self.groups == 1 and self.leaves == 1:
            return ("node", "node")
        between = ("global",) if self.groups > 1 else ()
        return ("node", "local", *between, "local", "node")

    def routers_in_all(self) -> int:
        """Leaves and spines of the machine."""
        return self.shape().routers + self.groups * self.spines

    def nodes_of_router(self, router: int) -> range:
        """The nodes of a leaf; none for a spine."""
        group, local = self.group_of_router(router), self._local(router)
        if self._is_spine(router):
            return range(0)
        return self.shape().nodes_on(group * self.leaves + local)

    def group_of_router(self, router: int) -> int:
        """Group of a router."""
        return min(router // (self.leaves + self.spines), self.groups - 1)

    def global_ports_of(self, router: int) -> int:
        """Global ports of a spine; none for a leaf."""
        return self.global_links_per_spine if self._is_spine(router) else 0

    def facts(self) -> list[tuple[str, str]]:
        """Ports, capacity between groups, largest machines of such routers (Kang 2019, equations 1 and 2)."""
        ports = f"{self._leaf_ports()} of a leaf, {self._spine_ports()} of a spine"
        links = self.fabric.links
        rows = [
            ("links between each pair of groups", links_between(self.pairs())),
            *([("NICs of a node", f"{self.rails}, on its leaf")] if self._nics() > 1 else []),
            ("ports used", ports + (f", of {self.radix}" if self.radix else "")),
            *capacity(self.pairs(), self.leaves * self.nodes_per_leaf * self._nics(), links["global"], links["node"]),
        ]
        if self.radix:
            largest, plain = dragonfly_plus_max_nodes(self.radix), dragonfly_max_nodes(self.radix)
            rows.append((f"largest Dragonfly+ of radix {self.radix}", f"{largest:,} nodes"))
            if plain:
                ratio = f" ({largest / plain:.2f} times fewer)"
                rows.append((f"largest dragonfly of radix {self.radix}", f"{plain:,} nodes{ratio}"))
        return rows

    def _local(self, router: int) -> int:
        return router - self.group_of_router(router) * (self.leaves + self.spines)

    def _is_spine(self, router: int) -> bool:
        last = self.group_of_router(router) == self.groups - 1
        leaves = self.last_group_leaves if last and self.last_group_leaves is not None else self.leaves
        return self._local(router) >= leaves

    def _nics(self) -> int:
        return self.rails or 1

    def _leaf_ports(self) -> int:
        return self.nodes_per_leaf * self._nics() + self.spines

    def _spine_ports(self) -> int:
        return self.leaves + self.global_links_per_spine


def dragonfly_plus_max_nodes(radix: int) -> int:
    """Largest Dragonfly+ of routers with that many ports: `(r/2)^2 ((r/2)^2 + 1)` nodes.

    Kang 2019, equation 1 (the printed binomials are fractions).
    """
    square = (radix // 2) ** 2
    return square * (square + 1)


def dragonfly_max_nodes(radix: int) -> int:
    """Largest one-dimensional dragonfly: `r/4 (r/2 + 1) (r/4 (r/2 + 1) + 1)` nodes.

    Kang 2019, equation 2.
    """
    group = radix // 4 * (radix // 2 + 1)
    return group * (group + 1)
