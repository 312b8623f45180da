"""What all routings have in common."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

from odonata.document import Table
from odonata.machine import System


class Routing(Table):
    """A routing and its options."""

    #: Kinds of machines on which it makes sense.
    kinds: ClassVar[tuple[str, ...]]

    name: str

    @abstractmethod
    def channels_needed(self, system: System) -> int:
        """Virtual channels without which packets could wait for each other for ever, if nothing has failed."""

    @abstractmethod
    def decided(self, system: System, compat: str | None) -> Self:
        """The same with every default filled in that depends on the machine or on `compat`.

        Raises InputError, whose path leads into the routing's table, for an option that means nothing there.
        """

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it, of what `decided` gave."""
