"""What UGAL and PAR have in common: shortest ways against ways round, by their loads and lengths."""

from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field

from odonata.document import Ratio, Size, input_error_as_problem
from odonata.errors import InputError
from odonata.machine import System
from odonata.scenario.routings.direct import (
    GATEWAYS,
    Gateways,
    Via,
    checked_bias,
    gateways_on,
    thousandths,
)
from odonata.scenario.routings.routing import Routing


def _one_or_two(value: Any) -> int:
    if type(value) is not int or value not in (1, 2):
        raise InputError(f"expected 1 or 2, found `{value!r}`")
    return value


Candidates = Annotated[int, BeforeValidator(input_error_as_problem(_one_or_two))]


class TwoWays(Routing):
    """A packet goes the shortest way unless `load > factor x load of a way round + bias`.

    Source: Kim 2008, section 4; Jiang 2009.
    """

    via: Via = Field(
        "group",
        description="where a packet sent round turns: where it enters the other `group`, or at a random `router` of it "
        "(then packets inside a group may go round by a third router, too)",
    )
    minimal_candidates: Candidates = Field(1, description="shortest ways that are compared, 1 or 2")
    other_candidates: Candidates = Field(1, description="ways round that are compared, 1 or 2")
    factor: Ratio = Field(
        Fraction(2), description="the shortest way may have this many times the load of the way round, which is longer"
    )
    bias: Size = Field(0, description="what the load of the shortest way may be more than that, in bytes of its queue")
    gateways: Gateways | None = Field(None, description=GATEWAYS)

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's gateways."""
        thousandths(self.factor, "factor")
        checked_bias(self.bias, "bias")
        return self.model_copy(update={"gateways": gateways_on(system, self.gateways)})

    def options(self) -> dict[str, Any]:
        """The options as the core reads them."""
        return {
            "via": self.via,
            "minimal_candidates": self.minimal_candidates,
            "other_candidates": self.other_candidates,
            "factor_milli": thousandths(self.factor, "factor"),
            "bias_bytes": self.bias,
            "gateways": self.gateways,
        }
