"""Fat trees: leaves and spines, and in three levels pods of them below cores; any taper, several rails.

Source: extended generalised fat trees (Öhring 1995); their links may be several cables in parallel.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from odonata import units
from odonata.document import Count, CountOrZero
from odonata.errors import InputError
from odonata.machine.kinds.kind import MachineTable, has_several_nics, with_rail
from odonata.machine.kinds.pairs import Pairs
from odonata.machine.shape import Shape
from odonata.machine.terms import GROUP_NAMES


class FatTreeTable(MachineTable):
    """The numbers of a fat tree."""

    classes: ClassVar[tuple[str, ...]] = ("node", "leaf", "core")
    group_name: ClassVar[str] = GROUP_NAMES["fat-tree"]
    rules_of_pairs: ClassVar[tuple[str, ...]] = ()
    usual_rules: ClassVar[Mapping[str, str]] = {}
    usual_channels: ClassVar[int] = 1
    default_sources: ClassVar[Mapping[str, str]] = {
        "pods": "default: two levels, so one pod",
        "leaf_links": "default: one cable",
        "core_links": "default: one cable",
        "rails": "default: one NIC per node",
        "rails_on": "default: all NICs of a node on its leaf",
        "fabric.channels": "default: one channel, enough for up-down",
        "fabric.nic.rail": "default: the NIC is drawn for each message",
    }
    intra_numbers: ClassVar[int | None] = None
    keys_first: ClassVar[tuple[str, ...]] = ("pods", "leaves", "spines", "cores", "nodes_per_leaf")

    kind: Literal["fat-tree"] = Field(description="kind of machine")
    pods: Count = Field(1, description="number of pods; 1 in a tree of two levels")
    leaves: Count = Field(description="leaf routers per pod (and plane)")
    spines: Count = Field(description="spine routers per pod (and plane), each linked to all its leaves")
    cores: CountOrZero | None = Field(
        None,
        description="core routers (of a plane), a multiple of `spines`: spine k of every pod is linked to share k of "
        "them; none in a tree of two levels",
    )
    nodes_per_leaf: Count = Field(description="nodes with a NIC on a leaf")
    leaf_links: Count = Field(1, description="cables between a leaf and each spine of its pod")
    core_links: CountOrZero | None = Field(
        None, description="cables between a spine and each of its cores (default: 1)"
    )
    rails: Count = Field(1, description="NICs per node")
    rails_on: Literal["one-leaf", "different-leaves", "planes"] | None = Field(
        None,
        description="where the NICs of a node are: on its leaf; on as many leaves of its pod, one on each "
        "(rail-optimised); or in as many planes, which are trees of their own (default: one-leaf)",
    )
    radix: Count | None = Field(None, description="ports of a router, used or not")

    @classmethod
    def completed(cls, table: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults of three levels and of several NICs too, if it has them."""
        result = super().completed(table)
        if cls._has_no_cores(result):
            result = {key: value for key, value in result.items() if key not in ("cores", "core_links") or value != 0}
        if result.get("cores") is not None:
            result.setdefault("core_links", 1)
        if has_several_nics(result):
            result.setdefault("rails_on", "one-leaf")
        return with_rail(result)

    @classmethod
    def classes_of(cls, table: Mapping[str, Any]) -> tuple[str, ...]:
        """A tree of two levels has no links to cores."""
        return cls.classes if table.get("cores") is not None and not cls._has_no_cores(table) else cls.classes[:2]

    @staticmethod
    def _has_no_cores(table: Mapping[str, Any]) -> bool:
        """Whether a table has one pod, and says that it has no cores: with 0, or not at all."""
        return table.get("pods", 1) == 1 and not table.get("cores")

    @property
    def own_classes(self) -> tuple[str, ...]:
        """Classes of links of this machine."""
        return self.classes if self.cores is not None else self.classes[:2]

    def check(self) -> None:
        """Raises InputError if the levels do not fit together, or the machine is too large."""
        if self.pods == 1 and self.cores is not None:
            raise InputError(
                "a tree with one pod has no cores", hint="leave out `cores`, or set `pods`", path=("cores",)
            )
        if self.pods == 1 and self.core_links is not None:
            raise InputError("`core_links` needs cores", hint="`cores`", path=("core_links",))
        if self.pods > 1 and self.cores is None:
            raise InputError(
                f"{self.pods} pods need `cores`, which join them", hint=f"a multiple of {self.spines}", path=("pods",)
            )
        self.check_counts_between_groups("cores", "core_links")
        if self.cores is not None and self.cores % self.spines:
            raise InputError(
                f"{self.cores} cores cannot be shared equally by {self.spines} spines of a pod",
                hint=f"use a multiple of {self.spines}",
                path=("cores",),
            )
        self.check_common()
        if self.rails == 1 and self.rails_on is not None:
            raise InputError("`rails_on` needs nodes with several NICs", hint="`rails = 2`", path=("rails_on",))
        self.check_rail(self.rails)
        if self.rails_on == "different-leaves" and self.leaves % self.rails:
            raise InputError(
                f"nodes with {self.rails} NICs on different leaves need a multiple of {self.rails} leaves in a pod, "
                f"but it has {self.leaves}",
                path=("rails",),
            )
        need = max(count for _, count in self._ports())
        if self.radix is not None and self.radix < need:
            raise InputError(
                f"a router has {self.radix} ports, but needs {need} ({self._ports_text()})", path=("radix",)
            )

    def topology(self) -> dict[str, Any]:
        """The topology as the core reads it."""
        spec: dict[str, Any] = {
            "kind": self.kind,
            "pods": self.pods,
            "leaves": self.leaves,
            "spines": self.spines,
            "cores": self.cores or 0,
            "nodes_per_leaf": self.nodes_per_leaf,
            "leaf_links": self.leaf_links,
            "core_links": self.core_links or 1,
        }
        if self.rails > 1:
            spec |= {"rails": self.rails, "rails_on": self.rails_on}
        return spec

    def shape(self) -> Shape:
        """Nodes sit on leaves; nodes with NICs on different leaves sit on blocks of leaves."""
        together = self.rails if self.rails_on == "different-leaves" else 1
        leaves = self.leaves // together
        return Shape(
            self.pods,
            leaves,
            self.nodes_per_leaf,
            router_name="leaf",
            group_name=self.group_name,
            links_out="links to cores",
        )

    def pairs(self) -> Pairs:
        """No cable joins two pods."""
        return Pairs(self.pods, 0, 0, None, (), ())

    def links_out(self) -> int:
        """Cables from a pod to cores."""
        return self._planes() * self.spines * self._cores_of_spine() * (self.core_links or 1)

    def longest_path(self) -> tuple[str, ...]:
        """Up to a core, or a spine if there is none, and down."""
        if self.cores is None and self.leaves == 1:
            return ("node", "node")
        over = ("core", "core") if self.cores is not None else ()
        return ("node", "leaf", *over, "leaf", "node")

    def routers_in_all(self) -> int:
        """Leaves, spines and cores of all planes."""
        return self._planes() * (self.pods * (self.leaves + self.spines) + (self.cores or 0))

    def nodes_of_router(self, router: int) -> range:
        """The nodes that have a NIC on a leaf; none for other routers."""
        pod, local = divmod(router, self._per_pod())
        leaves = self._planes() * self.leaves
        if pod >= self.pods or local >= leaves:
            return range(0)
        shape = self.shape()
        if self.rails_on == "different-leaves":
            local //= self.rails
        elif self.rails_on == "planes":
            local %= self.leaves
        return shape.nodes_on(pod * shape.routers_per_group + local)

    def group_of_router(self, router: int) -> int | None:
        """Pod of a leaf or a spine; None for a core."""
        pod = router // self._per_pod()
        return pod if pod < self.pods else None

    def global_ports_of(self, router: int) -> int:
        """Ports of a spine to cores; none for other routers."""
        is_spine = self.group_of_router(router) is not None and not self.nodes_of_router(router)
        return self._cores_of_spine() * (self.core_links or 1) if is_spine else 0

    def router_name(self, router: int) -> str:
        """`p3-leaf0`, `p3-spine1` or `core5`."""
        pod, local = divmod(router, self._per_pod())
        if pod >= self.pods:
            return f"core{router - self.pods * self._per_pod()}"
        leaves = self._planes() * self.leaves
        return f"p{pod}-leaf{local}" if local < leaves else f"p{pod}-spine{local - leaves}"

    def facts(self) -> list[tuple[str, str]]:
        """Levels, ports, taper at each level, NICs."""
        links = self.fabric.links
        into = self._node_ports() * links["node"].bandwidth
        up = self.spines * self.leaf_links * links["leaf"].bandwidth
        rows = [("levels", "3: leaves, spines, cores" if self.cores else "2: leaves, spines")]
        if self.rails > 1:
            where = {
                "one-leaf": "on its leaf",
                "different-leaves": f"on {self.rails} leaves of its pod, NIC k on leaf k of the block (rail-optimised)",
                "planes": f"in {self.rails} planes",
            }[self.rails_on or "one-leaf"]
            rows.append(("NICs of a node", f"{self.rails}, {where}"))
        rows += [
            ("ports used", self._ports_text() + (f", of {self.radix}" if self.radix else "")),
            ("out of a leaf", self._share(up, into)),
        ]
        if self.cores:
            nodes = self._planes() * self.leaves * into
            rows.append(("out of a pod", self._share(self.links_out() * links["core"].bandwidth, nodes)))
        return rows

    @staticmethod
    def _share(up: int, nodes: int) -> str:
        share = f"{up / nodes:.0%} of what its nodes can send ({units.format_bandwidth(nodes, 3)})"
        return f"{units.format_bandwidth(up, 3)}, {share}"

    def _planes(self) -> int:
        return self.rails if self.rails_on == "planes" else 1

    def _per_pod(self) -> int:
        return self._planes() * (self.leaves + self.spines)

    def _cores_of_spine(self) -> int:
        return (self.cores or 0) // self.spines

    def _node_ports(self) -> int:
        return self.nodes_per_leaf * (self.rails if self.rails_on in (None, "one-leaf") else 1)

    def _ports(self) -> list[tuple[str, int]]:
        ports = [
            ("leaf", self._node_ports() + self.spines * self.leaf_links),
            ("spine", self.leaves * self.leaf_links + self._cores_of_spine() * (self.core_links or 1)),
        ]
        return [*ports, ("core", self.pods * (self.core_links or 1))] if self.cores else ports

    def _ports_text(self) -> str:
        return ", ".join(f"{count} of a {name}" for name, count in self._ports())
