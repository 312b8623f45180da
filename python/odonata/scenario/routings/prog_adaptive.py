"""Progressive adaptive routing: the best minimal port against the best non-minimal one (K8)."""

from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.document import Ratio, Size
from odonata.machine import System
from odonata.scenario.routings.direct import thousandths
from odonata.scenario.routings.routing import Routing


class ProgAdaptive(Routing):
    """Takes the minimal port unless its backlog is longer than `factor` times that of another.

    Source: the default of the simulator of Kang 2019, section 3.1.2 (K8), whose threshold is 0 B and whose
    factor is 1.

    Machines: dragonfly-plus.
    """

    core: ClassVar[str] = "prog-adaptive"
    name: Literal["prog-adaptive"]
    threshold: Size = Field(0, description="a minimal port with at most this much queued is taken at once")
    factor: Ratio = Field(Fraction(1), description="the minimal port may have this many times the backlog of the other")
    candidates: Literal["all-groups", "one-group"] = Field(
        "all-groups", description="which non-minimal ports are compared at the source spine"
    )

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """The same: nothing depends on the machine."""
        thousandths(self.factor, "factor")
        return self

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {
            "name": self.core,
            "threshold_bytes": self.threshold,
            "factor_milli": thousandths(self.factor, "factor"),
            "candidates": self.candidates,
        }
