"""The routing of Cray's Aries: each of its seven modes is a routing."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.document import Size
from odonata.machine import System
from odonata.scenario.routings.routing import GATEWAYS, Gateways, Routing, checked_bias, gateways_on

#: Bias -> the modes that use it, and its default as a share of a buffer (assumed; Cray does not publish the biases of
#: its routers).
BIASES: dict[str, tuple[tuple[str, ...], int]] = {
    "bias_low": (("adaptive-2",), 8),
    "bias_high": (("adaptive-1", "adaptive-3"), 2),
}
BIAS_LOW = "bias to minimal paths in adaptive-2, in bytes queued (default: 1/8 of the buffer of a link between groups)"
BIAS_HIGH = (
    "bias to minimal paths in adaptive-3, and in adaptive-1 at its last decision, in bytes queued (default: 1/2 of the "
    "buffer of a link between groups)"
)


class AriesMode(Routing):
    """A routing that is one of the modes of Aries.

    The adaptive modes compare two random minimal paths with two random non-minimal paths at the first router, and again
    at the other routers of the source group. Source: Faanes 2012; De Sensi 2019, section 2.2.

    Their metric is `occupancy` by default: Aries uses "local information (e.g., queue occupancy) and estimation of
    far-end congestion, based on the current flow credits available" (De Sensi 2019, section 2.2).
    """

    core: ClassVar[str] = "aries"
    sensing: ClassVar[str] = "occupancy"
    elsewhere: ClassVar[Mapping[str, str]] = {
        **Routing.elsewhere,
        "mode": '`name = "aries"` takes a `mode`',
        **{bias: f"it is for {' and '.join(modes)}" for bias, (modes, _) in BIASES.items()},
    }

    gateways: Gateways | None = Field(None, description=GATEWAYS)

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's gateways, and the bias of the mode if it has one."""
        filled: dict[str, Any] = {"gateways": gateways_on(system, self.gateways)}
        buffer = system.fabric["links"][system.table.between_groups]["buffer_bytes"]
        for bias, (modes, share) in BIASES.items():
            if self.name in modes:
                given = getattr(self, bias)
                filled[bias] = buffer // share if given is None else checked_bias(given, bias)
        return self.model_copy(update=filled)

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it; a bias that the mode does not have is 0."""
        return {
            "name": self.core,
            "mode": self.name,
            "bias_low_bytes": getattr(self, "bias_low", None) or 0,
            "bias_high_bytes": getattr(self, "bias_high", None) or 0,
            "gateways": self.gateways,
        }


class Adaptive0(AriesMode):
    """Aries, adaptive without a bias: the default of such machines.

    Machines: dragonfly, cascade.
    """

    name: Literal["adaptive-0"]


class Adaptive1(AriesMode):
    """Aries, adaptive with a bias towards minimal paths that grows along the path.

    Machines: dragonfly, cascade.
    """

    name: Literal["adaptive-1"]
    bias_high: Size | None = Field(None, description=BIAS_HIGH)


class Adaptive2(AriesMode):
    """Aries, adaptive with a low bias towards minimal paths.

    Machines: dragonfly, cascade.
    """

    name: Literal["adaptive-2"]
    bias_low: Size | None = Field(None, description=BIAS_LOW)


class Adaptive3(AriesMode):
    """Aries, adaptive with a high bias towards minimal paths.

    Machines: dragonfly, cascade.
    """

    name: Literal["adaptive-3"]
    bias_high: Size | None = Field(None, description=BIAS_HIGH)


class MinHash(AriesMode):
    """Aries, a random minimal path, the same for all packets of a message.

    Machines: dragonfly, cascade.
    """

    name: Literal["min-hash"]


class NminHash(AriesMode):
    """Aries, a random non-minimal path, the same for all packets of a message.

    Machines: dragonfly, cascade.
    """

    name: Literal["nmin-hash"]


class InOrder(AriesMode):
    """Aries, always the same minimal path between two nodes, so packets arrive in order.

    Machines: dragonfly, cascade.
    """

    name: Literal["in-order"]
