"""Adaptive-local: a non-minimal path if its port has much more room (SST)."""

from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.document import Ratio
from odonata.machine import System
from odonata.scenario.routings.direct import GATEWAYS, Gateways, gateways_on, thousandths
from odonata.scenario.routings.routing import Routing


class AdaptiveLocal(Routing):
    """Through an intermediate group if its port has more than `factor` times the free buffer of the minimal port.

    Inside a group, through a random router of the group by the same rule.

    Source: the dragonfly of SST's merlin (`adaptive-local`), as Zhang 2018 used it.

    Machines: dragonfly, cascade.
    """

    core: ClassVar[str] = "adaptive-local"
    name: Literal["adaptive-local"]
    factor: Ratio = Field(
        Fraction(2),
        description="the non-minimal port must have more than this many times the minimal port's share of free buffer",
    )
    inside: Literal["router", "minimal"] = Field(
        "router",
        description="packets that stay in their group may go through a random `router` of it, as in SST, or take "
        "`minimal` paths only",
    )
    gateways: Gateways | None = Field(None, description=GATEWAYS)

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's gateways."""
        thousandths(self.factor, "factor")
        return self.model_copy(update={"gateways": gateways_on(system, self.gateways)})

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {
            "name": self.core,
            "factor_milli": thousandths(self.factor, "factor"),
            **({"inside": self.inside} if self.inside == "router" else {}),
            "gateways": self.gateways,
        }
