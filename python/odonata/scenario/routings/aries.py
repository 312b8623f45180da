"""Aries: the seven routing modes of Cray's interconnect, as one routing with a `mode`."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.document import Size
from odonata.errors import InputError
from odonata.machine import System
from odonata.scenario.routings.direct import GATEWAYS, Gateways, checked_bias, gateways_on
from odonata.scenario.routings.routing import Routing

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
    """A routing that is one of the modes of Aries."""

    core: ClassVar[str] = "aries"

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
