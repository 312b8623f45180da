"""Fully progressive adaptive routing (K5 to K7)."""

from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.document import Ratio
from odonata.errors import InputError
from odonata.machine import System
from odonata.scenario.routings.routing import Routing


class Fpar(Routing):
    """A non-minimal path is taken if its load is below the threshold and that of no minimal path is.

    The load of a port is its queue, here and behind the link, by default (`sensing = "occupancy"`): the "port queue
    occupancy normalized by the queue length" of Kang 2019. `odonata show sensing` lists the congestion metrics.

    Source: Shpiner 2017; Kang 2019, section 3.1.2 (K5 to K7).

    Machines: dragonfly-plus.
    """

    core: ClassVar[str] = "fpar"
    sensing: ClassVar[str] = "occupancy"
    name: Literal["fpar"]
    threshold: Ratio = Field(
        Fraction(1, 2), description="share of a port's buffers from which the port counts as busy (K7: 50 %)"
    )
    compare: Literal["below", "at-most"] | None = Field(
        None,
        description="whether a port at the threshold is still free: `below` (the paper) or `at-most` "
        "(the authors' code); default `below`, under `compat` as the code has it",
    )
    candidates: Literal["all-groups", "one-group"] = Field(
        "all-groups", description="which non-minimal ports are considered at the source spine"
    )
    channel_switch: Literal["intermediate", "intermediate-leaf"] = Field(
        "intermediate", description="where a diverted packet changes to channel 1"
    )

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the comparison of the paper, or with that of the simulator that `compat` names."""
        if (self.threshold * 1_000_000).denominator != 1:
            raise InputError("`threshold` has more than six decimals", path=("threshold",))
        if self.threshold > 1:
            message = f"`threshold` must be at most 1 (100 %), found {float(self.threshold):g}"
            raise InputError(message, hint='50 % is written 0.5 or "50 %"', path=("threshold",))
        return self.model_copy(update={"compare": self.compare or ("at-most" if compat else "below")})

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {
            "name": self.core,
            "threshold_ppm": (self.threshold * 1_000_000).numerator,
            "compare": self.compare,
            "candidates": self.candidates,
            "channel_switch": self.channel_switch,
        }
