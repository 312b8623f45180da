"""HyperX: a grid of routers of one to three dimensions, each linked to all others of its row in every dimension.

Source: Ahn 2009 (S routers in a dimension, K cables between two, T nodes per router).
"""

from collections.abc import Mapping
from math import prod
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from odonata.document import Count, input_error_as_problem
from odonata.errors import InputError
from odonata.machine.kinds.kind import MachineTable, with_rail
from odonata.machine.kinds.pairs import Pairs
from odonata.machine.kinds.words import capacity
from odonata.machine.shape import Shape
from odonata.machine.terms import GROUP_NAMES

#: Most dimensions.
MAX_DIMENSIONS = 3


def _counts(value: Any) -> tuple[int, ...]:
    whole = isinstance(value, list | tuple) and all(type(n) is int and n > 0 for n in value)
    if not whole or not 1 <= len(value) <= MAX_DIMENSIONS:
        raise InputError(
            f"expected one to {MAX_DIMENSIONS} whole numbers from 1 on, one for each dimension, found `{value!r}`"
        )
    return tuple(value)


#: A number for each dimension.
Counts = Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_counts))]


class HyperXTable(MachineTable):
    """The numbers of a HyperX."""

    classes: ClassVar[tuple[str, ...]] = ("node", "dim1", "dim2", "dim3")
    group_name: ClassVar[str] = GROUP_NAMES["hyperx"]
    rules_of_pairs: ClassVar[tuple[str, ...]] = ()
    usual_rules: ClassVar[Mapping[str, str]] = {}
    default_sources: ClassVar[Mapping[str, str]] = {
        "dimension_links": "default: one cable between two routers of a row",
        "rails": "default: one NIC per node",
        "fabric.channels": "default: two for each dimension, enough for every routing with its defaults "
        "(docs/routings.md)",
        "fabric.nic.rail": "default: the NIC is drawn for each message",
    }
    intra_numbers: ClassVar[int | None] = None
    keys_first: ClassVar[tuple[str, ...]] = ("dimensions", "dimension_links", "nodes_per_router")

    kind: Literal["hyperx"] = Field(description="kind of machine")
    dimensions: Counts = Field(
        description="routers of a row in each dimension, for example [8, 8, 8]; those with the same place in the last "
        "dimension are a slice, the group of placements and tables"
    )
    dimension_links: Counts = Field(
        description="cables between each two routers of a row, by dimension (default: 1 each)"
    )
    nodes_per_router: Count = Field(description="nodes on each router")
    rails: Count = Field(1, description="NICs per node, all on its router")
    radix: Count | None = Field(None, description="ports of a router, used or not")

    @classmethod
    def completed(cls, table: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults that depend on the number of dimensions, and those of several NICs."""
        result = super().completed(table)
        dimensions = cls._dimensions_of(table)
        result.setdefault("dimension_links", [1] * dimensions)
        if isinstance(table.get("fabric"), Mapping):
            result["fabric"] = {"channels": 2 * dimensions, **table["fabric"]}
        return with_rail(result)

    @classmethod
    def classes_of(cls, table: Mapping[str, Any]) -> tuple[str, ...]:
        """A class for nodes, and one for each dimension."""
        return cls.classes[: cls._dimensions_of(table) + 1]

    @property
    def own_classes(self) -> tuple[str, ...]:
        """Classes of links of this machine."""
        return self.classes[: len(self.dimensions) + 1]

    def check(self) -> None:
        """Raises InputError if the numbers do not fit together, or the machine is too large."""
        if len(self.dimension_links) != len(self.dimensions):
            raise InputError(
                f"`dimension_links` has {len(self.dimension_links)} numbers, but there are {len(self.dimensions)} "
                "dimensions",
                path=("dimension_links",),
            )
        self.check_common()
        self.check_rail(self.rails)
        need = sum(count for _, count in self._ports())
        if self.radix is not None and self.radix < need:
            raise InputError(
                f"a router has {self.radix} ports, but needs {need} ({self._ports_text()})", path=("radix",)
            )

    def topology(self) -> dict[str, Any]:
        """The topology as the core reads it."""
        spec: dict[str, Any] = {
            "kind": self.kind,
            "dimensions": list(self.dimensions),
            "dimension_links": list(self.dimension_links),
            "nodes_per_router": self.nodes_per_router,
        }
        return spec | {"rails": self.rails} if self.rails > 1 else spec

    def shape(self) -> Shape:
        """Nodes sit on all routers."""
        return Shape(self.dimensions[-1], self._per_slice(), self.nodes_per_router)

    def pairs(self) -> Pairs:
        """Every router is linked to the routers of its row in the last dimension, one in each other slice."""
        each = self._per_slice() * self.dimension_links[-1]
        ports = each * (self.dimensions[-1] - 1)
        return Pairs(self.dimensions[-1], ports, ports, each)

    def longest_path(self) -> tuple[str, ...]:
        """A link in each dimension that has any."""
        names = zip(self.own_classes[1:], self.dimensions, strict=True)
        return ("node", *(name for name, routers in names if routers > 1), "node")

    def routers_in_all(self) -> int:
        """Routers of the machine."""
        return prod(self.dimensions)

    def nodes_of_router(self, router: int) -> range:
        """The nodes of a router."""
        return self.shape().nodes_on(router)

    def group_of_router(self, router: int) -> int:
        """Slice of a router: its place in the last dimension."""
        return router // self._per_slice()

    def global_ports_of(self, router: int) -> int:  # noqa: ARG002 - as on other kinds
        """Ports of a router to other slices: the same for all."""
        return self._ports()[-1][1]

    def facts(self) -> list[tuple[str, str]]:
        """Dimensions, ports, the least bisection of a dimension (Ahn 2009: K S / 2 T), capacity between slices."""
        links = self.fabric.links
        nics = self.nodes_per_router * self.rails
        rows = [("routers", " x ".join(str(routers) for routers in self.dimensions))]
        if any(cables > 1 for cables in self.dimension_links):
            rows.append(("cables between two routers", ", ".join(str(cables) for cables in self.dimension_links)))
        if self.rails > 1:
            rows.append(("NICs of a node", f"{self.rails}, on one router"))
        rows.append(("ports used", f"{sum(count for _, count in self._ports())} of a router ({self._ports_text()})"))
        shares = {
            name: routers * cables * links[name].bandwidth / (2 * nics * links["node"].bandwidth)
            for name, routers, cables in zip(self.own_classes[1:], self.dimensions, self.dimension_links, strict=True)
            if routers > 1
        }
        if shares:
            name = min(shares, key=lambda name: shares[name])
            rows.append(("least bisection", f"{shares[name]:.0%} of what half of the nodes can send ({name})"))
        return [*rows, *capacity(self.pairs(), nics * self._per_slice(), links[self.between_groups], links["node"])]

    @staticmethod
    def _dimensions_of(table: Mapping[str, Any]) -> int:
        """Number of dimensions of a table; the most there can be if it is not valid."""
        dimensions = table.get("dimensions")
        given = len(dimensions) if isinstance(dimensions, list | tuple) else 0
        return given if 1 <= given <= MAX_DIMENSIONS else MAX_DIMENSIONS

    def _per_slice(self) -> int:
        return prod(self.dimensions[:-1])

    def _ports(self) -> list[tuple[str, int]]:
        sizes = zip(self.own_classes[1:], self.dimensions, self.dimension_links, strict=True)
        to_routers = [(name, (routers - 1) * cables) for name, routers, cables in sizes]
        return [("node", self.nodes_per_router * self.rails), *to_routers]

    def _ports_text(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in self._ports())
