"""Cascade (Cray XC, Aries): a group is a grid of routers, each linked to all others of its row and of its column.

A row is a chassis, its routers are blades; the routers of the same slot in all chassis of a group are a column.
Sources: Faanes 2012; De Sensi 2019, section 2.1.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.machine.kinds.direct import DirectTable
from odonata.machine.kinds.words import capacity


class CascadeTable(DirectTable):
    """The numbers of a cascade."""

    classes: ClassVar[tuple[str, ...]] = ("node", "chassis", "group", "optical")
    usual_channels: ClassVar[int] = 8
    default_sources: ClassVar[Mapping[str, str]] = {
        **DirectTable.default_sources,
        "fabric.channels": "default: eight, enough for every routing via a group (docs/routings.md)",
        "row_links": "default: one link between two routers of a chassis (De Sensi 2019, section 2.1)",
        "column_links": "default: three links to the same slot of another chassis (De Sensi 2019, section 2.1)",
    }
    keys_first: ClassVar[tuple[str, ...]] = (
        *("groups", "rows", "columns", "last_group_rows", "nodes_per_router", "row_links", "column_links"),
    )

    kind: Literal["cascade"] = Field(description="kind of machine")
    rows: Count = Field(description="rows (chassis) of a group")
    columns: Count = Field(description="routers (blades) of a row")
    row_links: Count = Field(1, description="parallel links between each two routers of a row")
    column_links: Count = Field(3, description="parallel links between each two routers of a column")
    last_group_rows: Count | None = Field(None, description="rows of the last group, if it is smaller")

    @property
    def group_routers(self) -> int:
        """Routers of a full group."""
        return self.rows * self.columns

    @property
    def last_group(self) -> int:
        """Routers of the last group."""
        return (self.last_group_rows or self.rows) * self.columns

    def check(self) -> None:
        """Raises InputError if the links do not fit, or the machine is too large."""
        if self.last_group_rows is not None and self.last_group_rows > self.rows:
            message = f"the last group has {self.last_group_rows} rows, more than the {self.rows} of a full one"
            raise InputError(message, path=("last_group_rows",))
        super().check()

    def topology(self) -> dict[str, Any]:
        """The topology as the core reads it, with the number of links per pair filled in."""
        spec: dict[str, Any] = {
            "kind": self.kind,
            "groups": self.groups,
            "rows": self.rows,
            "columns": self.columns,
            "nodes_per_router": self.nodes_per_router,
            "column_links": self.column_links,
        }
        if self.row_links > 1:
            spec["row_links"] = self.row_links
        if self.last_group_rows is not None:
            spec["last_group_rows"] = self.last_group_rows
        return spec | self.links_spec()

    def local_ports(self) -> list[tuple[str, int]]:
        """Ports of a router to others of its group: in its row, in its column."""
        row, column = (self.columns - 1) * self.row_links, (self.rows - 1) * self.column_links
        return [("chassis", row), ("group", column)]

    def facts(self) -> list[tuple[str, str]]:
        """Ports, and capacity between groups."""
        nics, links = self.group_routers * self.nodes_per_router, self.fabric.links
        return [
            *self.common_facts(),
            ("nodes of a chassis", f"{self.columns * self.nodes_per_router // self.rails:,}"),
            *capacity(self.pairs(), nics, links["optical"], links["node"]),
        ]
