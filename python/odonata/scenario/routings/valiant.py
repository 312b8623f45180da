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

    With `inside = "router"`, a packet inside a group takes a path through a random router of it. Source: Valiant 1982;
    Kim 2008, section 4.1 (via group); SST's merlin (inside a group).

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
    inside: Literal["minimal", "router"] | None = Field(
        None,
        description="packets that stay in their group take `minimal` paths or go through a random `router` of it; on "
        "a dragonfly or cascade (default: router if `via` is, else minimal)",
    )
    gateways: Gateways | None = Field(None, description=GATEWAYS)

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's `via` and gateways."""
        kind = system.table.kind
        stops = VIA[kind]
        if self.via is not None and self.via not in stops:
            machines = " and ".join(k for k, known in VIA.items() if self.via in known)
            raise InputError(f"`via`: `{self.via}` is for {machines}; a {kind} has: {', '.join(stops)}", path=("via",))
        if self.inside is not None and kind == DRAGONFLY_PLUS:
            message = f"packets inside a group of a {kind} take minimal paths only"
            raise InputError(message, hint="leave out `inside`", path=("inside",))
        return self.model_copy(
            update={"via": self.via or stops[0], "gateways": gateways_on(system, self.gateways)},
        )

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        spec = {"name": self.core, "via": self.via, "select": self.select}
        # What follows from `via` is left out, so that runs keep their identity.
        if self.inside not in (None, "router" if self.via == "router" else "minimal"):
            spec["inside"] = self.inside
        return spec if self.gateways is None else spec | {"gateways": self.gateways}
