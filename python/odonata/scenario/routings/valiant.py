"""Valiant: through a random intermediate group or router."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.errors import InputError
from odonata.machine import System
from odonata.scenario.routings.direct import DIRECT, DRAGONFLY_PLUS, GATEWAYS, Gateways, gateways_on
from odonata.scenario.routings.minimal import SELECT, Select
from odonata.scenario.routings.routing import Routing

#: Kind -> where the second phase can begin, the default first.
VIA: dict[str, tuple[str, ...]] = {
    DRAGONFLY_PLUS: ("spine", "leaf"),
    **dict.fromkeys(DIRECT, ("group", "router")),
}


class Valiant(Routing):
    """Every packet between groups takes a path through a random intermediate group.

    With `via = "router"`, a packet inside a group also takes a path through a random intermediate router. Source:
    Valiant 1982; Kim 2008, section 4.1 (via group).

    Machines: dragonfly-plus, dragonfly, cascade.
    """

    core: ClassVar[str] = "valiant"
    name: Literal["valiant"]
    via: Literal["spine", "leaf", "group", "router"] | None = Field(
        None,
        description="where in the intermediate group a packet turns to its destination: on a dragonfly-plus at the "
        "`spine` where it enters (default) or at a random `leaf`; on other machines where it enters the `group` "
        "(default) or at a random `router`",
    )
    select: Select = Field("random", description=SELECT)
    gateways: Gateways | None = Field(None, description=GATEWAYS)

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's `via` and gateways."""
        kind = system.table.kind
        stops = VIA[kind]
        if self.via is not None and self.via not in stops:
            machines = " and ".join(k for k, known in VIA.items() if self.via in known)
            raise InputError(f"`via`: `{self.via}` is for {machines}; a {kind} has: {', '.join(stops)}", path=("via",))
        return self.model_copy(
            update={"via": self.via or stops[0], "gateways": gateways_on(system, self.gateways)},
        )

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        spec = {"name": self.core, "via": self.via, "select": self.select}
        return spec if self.gateways is None else spec | {"gateways": self.gateways}
