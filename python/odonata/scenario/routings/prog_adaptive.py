"""Progressive adaptive routing: the minimal port against the best other one (K8)."""

from fractions import Fraction
from typing import Any, ClassVar, Literal

from pydantic import Field

from odonata.document import Ratio, Size
from odonata.errors import InputError
from odonata.scenario.routings.routing import Routing


class ProgAdaptive(Routing):
    """Takes the minimal port unless its backlog is longer than `factor` times that of another.

    Source: the default of the simulator of Kang 2019, section 3.1.2 (K8), whose threshold is 0 B and whose
    factor is 1.
    """

    channels_needed: ClassVar[int] = 2

    name: Literal["prog-adaptive"]
    threshold: Size = Field(0, description="a minimal port with at most this much queued is taken at once")
    factor: Ratio = Field(Fraction(1), description="the minimal port may have this many times the backlog of the other")
    candidates: Literal["all-groups", "one-group"] = Field(
        "all-groups", description="which non-minimal ports are compared at the source spine"
    )

    def spec(self, compat: str | None) -> dict[str, Any]:  # noqa: ARG002
        """The routing as the core reads it."""
        milli = self.factor * 1000
        if milli.denominator != 1:
            raise InputError("`factor` has more than three decimals", path=("routing", "factor"))
        return {
            "name": self.name,
            "threshold_bytes": self.threshold,
            "factor_milli": milli.numerator,
            "candidates": self.candidates,
        }
