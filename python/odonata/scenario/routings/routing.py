"""What all routings have in common."""

from abc import abstractmethod
from typing import Any, ClassVar

from odonata.document import Table
from odonata.errors import InputError


class Routing(Table):
    """A routing and its options."""

    #: Virtual channels without which packets could wait for each other for ever.
    channels_needed: ClassVar[int]

    name: str

    @abstractmethod
    def spec(self, compat: str | None) -> dict[str, Any]:
        """The routing as the core reads it; `compat` may change defaults."""

    def check(self, channels: int) -> None:
        """Raises InputError if the fabric has too few virtual channels."""
        if channels < self.channels_needed:
            raise InputError(
                f"the routing `{self.name}` needs {self.channels_needed} virtual channels, the fabric has {channels}",
                path=("fabric", "channels"),
            )
