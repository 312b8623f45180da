"""A machine, ready to be simulated."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from odonata.machine import core
from odonata.machine.kinds import MachineTable
from odonata.machine.shape import Shape


@dataclass(frozen=True)
class Source:
    """Where a number of a machine comes from."""

    key: str
    value: str
    source: str


@dataclass(frozen=True, repr=False)
class System:
    """A machine; immutable.

    `table` is everything that was said about it, `sources` where each number comes from.
    """

    name: str
    table: MachineTable
    sources: tuple[Source, ...]

    @property
    def title(self) -> str:
        """One line about the machine."""
        return self.table.title

    @cached_property
    def shape(self) -> Shape:
        """Where its nodes sit."""
        return self.table.shape()

    @cached_property
    def topology(self) -> dict[str, Any]:
        """The topology as the core reads it (not to be changed)."""
        return self.table.topology()

    @cached_property
    def fabric(self) -> dict[str, Any]:
        """Routers, links and NICs as the core reads them (not to be changed)."""
        return self.table.fabric.spec()

    @cached_property
    def tgll_bandwidth(self) -> int:
        """Bandwidth of one global link in TGLL, in millionths of a byte per second (K10)."""
        table = self.table
        return table.tgll_bandwidth or table.fabric.links[table.between_groups].bandwidth

    @property
    def links_per_pair(self) -> int:
        """Cables between each pair of groups (0 if there is only one group)."""
        return int(self.topology.get("links_per_pair", 0))

    def describe(self) -> dict[str, Any]:
        """The wired machine as the core describes it (`odonata._core.describe`); made once."""
        return self._description

    @cached_property
    def _description(self) -> dict[str, Any]:
        return core.describe(self.topology)

    def document(self) -> dict[str, Any]:
        """The whole table with units, as a scenario could give it."""
        return self.table.model_dump(mode="json", exclude_none=True)

    def __repr__(self) -> str:
        shape = self.shape
        return f"System({self.name}: {shape.nodes:,} nodes in {shape.groups} groups)"
