"""Dragonfly: groups of routers that are all linked to each other, and all groups to all others.

Sources: Kim 2008; Zhang 2018, section III. Slingshot machines are of this kind too.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.machine.kinds.direct import DirectTable
from odonata.machine.kinds.words import capacity
from odonata.machine.terms import not_modelled


class DragonflyTable(DirectTable):
    """The numbers of a dragonfly: `a` routers per group, `p` nodes and `h` global links per router."""

    classes: ClassVar[tuple[str, ...]] = ("node", "local", "global")
    usual_channels: ClassVar[int] = 4
    default_sources: ClassVar[Mapping[str, str]] = {
        **DirectTable.default_sources,
        "fabric.channels": "default: four, enough for every routing via a group (docs/routings.md)",
        "local_links": "default: one link between two routers of a group",
    }
    keys_first: ClassVar[tuple[str, ...]] = ("groups", "routers", "last_group_routers", "nodes_per_router")

    kind: Literal["dragonfly"] = Field(description="kind of machine")
    routers: Count = Field(description="routers per group")
    local_links: Count = Field(1, description="parallel links between each two routers of a group")
    last_group_routers: Count | None = Field(None, description="routers of the last group, if it is smaller")
    interconnect: Literal["slingshot"] | None = Field(
        None, description="real network that it stands for: decides the default routing, and what a run says is missing"
    )

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """What its real network has and the model has not, a sentence each."""
        control = self.fabric.congestion_control
        return not_modelled(self.interconnect, control.kind if control else None)

    @property
    def group_routers(self) -> int:
        """Routers of a full group."""
        return self.routers

    @property
    def last_group(self) -> int:
        """Routers of the last group."""
        return self.last_group_routers or self.routers

    def check(self) -> None:
        """Raises InputError if the links do not fit, or the machine is too large."""
        if self.last_group > self.routers:
            message = f"the last group has {self.last_group} routers, more than the {self.routers} of a full one"
            raise InputError(message, path=("last_group_routers",))
        super().check()

    def topology(self) -> dict[str, Any]:
        """The topology as the core reads it, with the number of links per pair filled in."""
        spec: dict[str, Any] = {
            "kind": self.kind,
            "groups": self.groups,
            "routers": self.routers,
            "nodes_per_router": self.nodes_per_router,
        }
        if self.local_links > 1:
            spec["local_links"] = self.local_links
        if self.last_group_routers is not None:
            spec["last_group_routers"] = self.last_group_routers
        return spec | self.links_spec()

    def local_ports(self) -> list[tuple[str, int]]:
        """Ports of a router to others of its group."""
        return [("local", (self.routers - 1) * self.local_links)]

    def facts(self) -> list[tuple[str, str]]:
        """Ports, balance (Kim 2008: a = 2p = 2h), the largest machine of such routers, capacity between groups."""
        a, p, h = self.routers, self.nodes_per_router, self.global_links_per_router
        balanced = "balanced (a = 2p = 2h)" if a == 2 * p == 2 * h else "not balanced (that is a = 2p = 2h)"
        links, nics = self.fabric.links, a * p
        most = a * h + 1
        return [
            *self.common_facts(),
            ("balance", f"a = {a}, p = {p}, h = {h}: {balanced}"),
            ("most groups of such routers", f"{most:,}, with {most * nics // self.rails:,} nodes"),
            *capacity(self.pairs(), nics, links["global"], links["node"]),
        ]
