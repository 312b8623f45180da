"""Minimal: minimal paths only."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.machine import System
from odonata.scenario.routings.direct import GATEWAYS, Gateways, gateways_on
from odonata.scenario.routings.routing import Routing

Select = Literal["random", "hash", "least-loaded"]
#: Description of the option `select`.
SELECT = (
    "how one of several equal paths is chosen: `random` for each packet, by a `hash` of source and destination, or the "
    "`least-loaded`"
)


class Minimal(Routing):
    """Minimal paths only; `select` chooses one of several equal paths.

    Machines: dragonfly-plus, dragonfly, cascade.
    """

    core: ClassVar[str] = "minimal"
    name: Literal["minimal"]
    select: Select = Field("random", description=SELECT)
    gateways: Gateways | None = Field(None, description=GATEWAYS)

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's gateways."""
        return self.model_copy(update={"gateways": gateways_on(system, self.gateways)})

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        spec = {"name": self.core, "select": self.select}
        return spec if self.gateways is None else spec | {"gateways": self.gateways}
