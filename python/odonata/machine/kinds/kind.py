"""What the tables of all kinds of machines have in common."""

from abc import abstractmethod
from typing import Any, ClassVar

from pydantic import Field

from odonata.document import Bandwidth, Table
from odonata.machine.fabric import FabricTable
from odonata.machine.shape import Shape


class MachineTable(Table):
    """A machine, complete: every preset has this form, and so has `[system]` without a preset."""

    #: Classes of links of this kind, `node` first.
    classes: ClassVar[tuple[str, ...]]
    #: The class that joins groups.
    between_groups: ClassVar[str]

    kind: str = Field(description="kind of machine")
    name: str = Field("custom", description="name in results")
    title: str = Field("", description="one line about the machine")
    tgll_bandwidth: Bandwidth | None = Field(
        None, description="bandwidth of a global link in TGLL (default: that of the links)"
    )
    fabric: FabricTable

    @abstractmethod
    def check(self) -> None:
        """Raises InputError (with a path) if such a machine cannot be built."""

    @abstractmethod
    def topology(self) -> dict[str, Any]:
        """The machine's topology as the core reads it."""

    @abstractmethod
    def shape(self) -> Shape:
        """Where its nodes sit."""

    @abstractmethod
    def facts(self) -> list[tuple[str, str]]:
        """What follows from the numbers, for `odonata show`: name and value."""
