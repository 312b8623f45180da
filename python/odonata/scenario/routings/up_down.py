"""Up-down: the shortest paths of a fat tree."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.machine import System
from odonata.scenario.routings.routing import Routing


class UpDown(Routing):
    """Up until the destination is below, then down; `spread` chooses one of several equal ports.

    Machines: fat-tree.
    """

    core: ClassVar[str] = "up-down"
    name: Literal["up-down"]
    spread: Literal["hash", "d-mod-k", "packet", "least-loaded"] = Field(
        "least-loaded",
        description="how packets are spread over equal ports: by a `hash` of source and destination (ECMP), by the "
        "number of the destination (`d-mod-k`), at random for each `packet` (packet spraying), or to the "
        "`least-loaded` port (adaptive)",
    )

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """The same: no default depends on the machine."""
        return self

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {"name": self.core, "spread": self.spread}
