"""Common code of dragonflies and cascades: every router has nodes and global links."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from odonata.document import Count, CountOrZero, Seed
from odonata.errors import InputError
from odonata.machine.kinds.kind import MachineTable, has_several_nics, with_rail, without_links_between_groups
from odonata.machine.kinds.lists import GlobalLinks, PairLinks
from odonata.machine.kinds.pairs import Pairs
from odonata.machine.kinds.words import links_between
from odonata.machine.shape import Shape


class DirectTable(MachineTable):
    """The numbers of a machine whose routers all have nodes and global links."""

    rules_of_pairs: ClassVar[tuple[str, ...]] = (
        *("links_per_pair", "pair_links", "arrangement", "arrangement_seed", "spread"),
    )
    usual_rules: ClassVar[Mapping[str, str]] = {"arrangement": "absolute", "spread": "consecutive"}
    default_sources: ClassVar[Mapping[str, str]] = {
        "arrangement": "default: absolute, as in the simulator of Zhang 2018",
        "spread": "default: the ports of a router one after the other",
        "rails": "default: one NIC per node",
        "rails_on": "default: all NICs of a node on one router",
        "global_links_per_router": "default: none, as there is one group",
        "fabric.nic.rail": "default: the NIC is drawn for each message",
    }
    intra_numbers: ClassVar[int | None] = 3

    groups: Count = Field(description="number of groups")
    nodes_per_router: Count = Field(description="NICs on each router: its nodes, if these have one NIC each")
    global_links_per_router: CountOrZero = Field(
        description="global ports of each router; a machine of one group needs none"
    )
    links_per_pair: CountOrZero | None = Field(
        None, description="cables between each pair of groups (default: as many as fit)"
    )
    arrangement: Literal["absolute", "relative", "circulant", "palmtree", "random"] | None = Field(
        None, description="the order in which a group assigns its global ports to the other groups (default: absolute)"
    )
    arrangement_seed: Seed | None = Field(None, description="seed of the arrangement `random` (default: 0)")
    spread: Literal["consecutive", "round-robin"] | None = Field(
        None,
        description="whether a group uses all global ports of a router before those of the next router (default: "
        "consecutive)",
    )
    pair_links: PairLinks = Field((), description="pairs of groups with another number of cables: [group, group, n]")
    global_links: GlobalLinks | None = Field(
        None, description="every cable between groups as a pair of routers; replaces the arrangement"
    )
    rails: Count = Field(1, description="NICs per node")
    rails_on: Literal["one-router", "different-routers"] | None = Field(
        None, description="which routers the NICs of a node are connected to (default: one-router)"
    )
    radix: Count | None = Field(None, description="ports of a router, used or not")

    @property
    @abstractmethod
    def group_routers(self) -> int:
        """Routers of a full group."""

    @property
    @abstractmethod
    def last_group(self) -> int:
        """Routers of the last group."""

    @abstractmethod
    def local_ports(self) -> list[tuple[str, int]]:
        """Ports of a router to others of its group, by class of links."""

    @classmethod
    def completed(cls, table: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults of several NICs too, if it has several."""
        result = super().completed(table)
        if result.get("arrangement") == "random":
            result.setdefault("arrangement_seed", 0)
        if has_several_nics(result):
            result.setdefault("rails_on", "one-router")
        return with_rail(without_links_between_groups(result, "global_links_per_router"))

    def check(self) -> None:
        """Raises InputError if the links do not fit, or the machine is too large."""
        self._check_rails()
        self.check_common()
        self.check_counts_between_groups("global_links_per_router", "links_per_pair")
        if self.arrangement_seed is not None and self.arrangement != "random":
            message = "`arrangement_seed` belongs to the arrangement `random`"
            raise InputError(message, path=("arrangement_seed",))
        self.pairs().check(self._have)
        need = sum(count for _, count in self._ports())
        if self.radix is not None and self.radix < need:
            message = f"a router has {self.radix} ports, but needs {need} ({self._ports_text()})"
            raise InputError(message, path=("radix",))

    def shape(self) -> Shape:
        """Nodes sit on all routers. If the NICs of a node are on different routers, nodes sit on blocks of routers."""
        together = self.rails if self.rails_on == "different-routers" else 1
        nodes = self.nodes_per_router if together > 1 else self.nodes_per_router // self.rails
        last = None if self.last_group == self.group_routers else self.last_group // together
        return Shape(self.groups, self.group_routers // together, nodes, last)

    def pairs(self) -> Pairs:
        """The links between its groups."""
        ports = self.global_links_per_router
        cables = None
        if self.global_links is not None:
            cables = tuple((self.group_of_router(a), self.group_of_router(b)) for a, b in self.global_links)
        full, last = self.group_routers * ports, self.last_group * ports
        return Pairs(self.groups, full, last, self.links_per_pair, self.pair_links, cables)

    def longest_path(self) -> tuple[str, ...]:
        """Across a group, to another one, and across it; of several cables to it, packets take the nearest."""
        inside = tuple(name for name, ports in self.local_ports() if ports)
        if self.groups == 1:
            return ("node", *inside, "node")
        there = () if self._every_router_reaches_every_group() else inside
        return ("node", *there, self.between_groups, *inside, "node")

    def _every_router_reaches_every_group(self) -> bool:
        """Whether the rule of the cables gives each router one to each other group."""
        others = self.groups - 1
        full = self.global_links is None and not self.pair_links and self.links_per_pair is None
        return full and self.arrangement != "random" and self.global_links_per_router % others == 0

    def routers_in_all(self) -> int:
        """Routers of the machine."""
        return (self.groups - 1) * self.group_routers + self.last_group

    def nodes_of_router(self, router: int) -> range:
        """The nodes that have a NIC on this router."""
        shape = self.shape()
        return shape.nodes_on(router // self.rails if self.rails_on == "different-routers" else router)

    def group_of_router(self, router: int) -> int:
        """Group of a router."""
        return router // self.group_routers

    def global_ports_of(self, router: int) -> int:  # noqa: ARG002 - as on other kinds
        """Global ports of a router, used or not: the same for all."""
        return self.global_links_per_router

    def links_spec(self) -> dict[str, Any]:
        """The part of the topology that is about global links and NICs."""
        spec: dict[str, Any] = {"global_links_per_router": self.global_links_per_router}
        if self.global_links is not None:
            spec["global_links"] = [list(cable) for cable in self.global_links]
        else:
            spec["arrangement"] = self.arrangement
            if self.groups > 1:
                spec["links_per_pair"] = self.pairs().usual
            if self.arrangement_seed is not None:
                spec["arrangement_seed"] = self.arrangement_seed
            if self.spread == "round-robin":
                spec["spread"] = self.spread
            if self.pair_links:
                spec["pair_links"] = [list(row) for row in self.pair_links]
        if self.rails > 1:
            spec |= {"rails": self.rails, "rails_on": self.rails_on}
        return spec

    def common_facts(self) -> list[tuple[str, str]]:
        """Links between groups, NICs if a node has several, and ports, for `odonata show`."""
        total = sum(count for _, count in self._ports())
        of = f", of {self.radix}" if self.radix else ""
        rows = [("links between each pair of groups", links_between(self.pairs()))]
        if self.rails > 1:
            where = "on different routers" if self.rails_on == "different-routers" else "on one router"
            rows.append(("NICs of a node", f"{self.rails}, {where}"))
        return [*rows, ("ports used", f"at most {total} of a router ({self._ports_text()}){of}")]

    def _ports(self) -> list[tuple[str, int]]:
        return [("node", self.nodes_per_router), *self.local_ports(), (self.between_groups, self._global_ports())]

    def _ports_text(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in self._ports())

    def _global_ports(self) -> int:
        return self.global_links_per_router if self.groups > 1 else 0

    def _have(self, group: int) -> str:
        routers = self.last_group if group == self.groups - 1 else self.group_routers
        ports = self.global_links_per_router
        return f"{routers} routers with {ports} global links each have {routers * ports}"

    def _check_rails(self) -> None:
        if self.rails == 1:
            if self.rails_on is not None:
                raise InputError("`rails_on` needs nodes with several NICs", hint="`rails = 2`", path=("rails_on",))
            self.check_rail(self.rails)
        elif self.rails_on == "different-routers":
            full = [(self.group_routers, "a group")] if self.groups > 1 else []
            for routers, which in (*full, (self.last_group, "the last group")):
                if routers % self.rails:
                    raise InputError(
                        f"nodes with {self.rails} NICs on different routers need a multiple of {self.rails} routers "
                        f"in a group, but {which} has {routers}",
                        path=("rails",),
                    )
        elif self.nodes_per_router % self.rails:
            raise InputError(
                f"`nodes_per_router` counts NICs: {self.nodes_per_router} is not a multiple of {self.rails} NICs per "
                f"node",
                path=("nodes_per_router",),
            )
