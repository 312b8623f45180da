"""Common code of UGAL and PAR, which compare minimal and non-minimal paths by load and length."""

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


class UgalBase(Routing):
    """A packet takes the minimal path unless `load > factor x load of a non-minimal path + bias`.

    Source: Kim 2008, section 4; Jiang 2009.
    """

    via: Via = Field(
        "group",
        description="where a packet on a non-minimal path turns to its destination: where it enters the intermediate "
        "`group`, or at a random `router` of that group (packets inside a group can then take a path through an "
        "intermediate router, too)",
    )
    minimal_candidates: Candidates = Field(1, description="number of minimal paths that are compared, 1 or 2")
    other_candidates: Candidates = Field(1, description="number of non-minimal paths that are compared, 1 or 2")
    factor: Ratio = Field(
        Fraction(2), description="the minimal path may have this many times the load of the non-minimal path"
    )
    bias: Size = Field(0, description="added to the load of the non-minimal path, in queued bytes")
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
