"""Aries: the seven routing modes of Cray's interconnect, as one routing with a `mode` and as a routing each."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.document import Size
from odonata.errors import InputError
from odonata.machine import System
from odonata.scenario.routings.routing import GATEWAYS, Gateways, Routing, checked_bias, gateways_on

Mode = Literal["adaptive-0", "adaptive-1", "adaptive-2", "adaptive-3", "min-hash", "nmin-hash", "in-order"]

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

    Their metric is `occupancy` by default: Aries uses "local information (e.g., queue occupancy) and estimation of
    far-end congestion, based on the current flow credits available" (De Sensi 2019, section 2.2).
    """

    core: ClassVar[str] = "aries"
    sensing: ClassVar[str] = "occupancy"

    gateways: Gateways | None = Field(None, description=GATEWAYS)

    #: The mode, where the name of the routing says it.
    fixed: ClassVar[Mode | None] = None

    def chosen(self) -> Mode:
        """The mode."""
        assert self.fixed is not None
        return self.fixed

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's gateways, and the biases that the mode has."""
        filled: dict[str, Any] = {"gateways": gateways_on(system, self.gateways)}
        buffer = system.fabric["links"][system.table.between_groups]["buffer_bytes"]
        for name, (modes, share) in BIASES.items():
            given = getattr(self, name, None)
            if self.chosen() in modes:
                filled[name] = buffer // share if given is None else checked_bias(given, name)
            elif given is not None:
                message = f"the mode `{self.chosen()}` does not use `{name}`"
                raise InputError(message, hint=f"it is for {' and '.join(modes)}", path=(name,))
        return self.model_copy(update=filled)

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it; a bias that the mode does not have is 0."""
        return {
            "name": self.core,
            "mode": self.chosen(),
            "bias_low_bytes": getattr(self, "bias_low", None) or 0,
            "bias_high_bytes": getattr(self, "bias_high", None) or 0,
            "gateways": self.gateways,
        }


class Aries(AriesMode):
    """The routing of Cray's Aries, in one of its seven modes.

    The adaptive modes compare two random minimal paths with two random non-minimal paths at the first router, and again
    at the other routers of the source group. Each mode is also a routing of its own: `adaptive-0` and so on. Source:
    Faanes 2012; De Sensi 2019, section 2.2.

    Machines: dragonfly, cascade.
    """

    name: Literal["aries"]
    mode: Mode = Field("adaptive-0", description="routing mode (adaptive-0 is the default of such machines)")
    bias_low: Size | None = Field(None, description=BIAS_LOW)
    bias_high: Size | None = Field(None, description=BIAS_HIGH)

    def chosen(self) -> Mode:
        """The mode."""
        return self.mode


class Adaptive0(AriesMode):
    """Aries, adaptive without a bias: the default of such machines.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "adaptive-0"
    name: Literal["adaptive-0"]


class Adaptive1(AriesMode):
    """Aries, adaptive with a bias towards minimal paths that grows along the path.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "adaptive-1"
    name: Literal["adaptive-1"]
    bias_high: Size | None = Field(None, description=BIAS_HIGH)


class Adaptive2(AriesMode):
    """Aries, adaptive with a low bias towards minimal paths.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "adaptive-2"
    name: Literal["adaptive-2"]
    bias_low: Size | None = Field(None, description=BIAS_LOW)


class Adaptive3(AriesMode):
    """Aries, adaptive with a high bias towards minimal paths.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "adaptive-3"
    name: Literal["adaptive-3"]
    bias_high: Size | None = Field(None, description=BIAS_HIGH)


class MinHash(AriesMode):
    """Aries, a random minimal path, the same for all packets of a message.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "min-hash"
    name: Literal["min-hash"]


class NminHash(AriesMode):
    """Aries, a random non-minimal path, the same for all packets of a message.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "nmin-hash"
    name: Literal["nmin-hash"]


class InOrder(AriesMode):
    """Aries, always the same minimal path between two nodes, so packets arrive in order.

    Machines: dragonfly, cascade.
    """

    fixed: ClassVar[Mode | None] = "in-order"
    name: Literal["in-order"]
