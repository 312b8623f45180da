"""The routings of a HyperX that no other machine has. What each of them does is in `docs/model.md`, section 6."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field

from odonata.document import input_error_as_problem
from odonata.errors import InputError
from odonata.machine import System
from odonata.scenario.routings.routing import Routing

#: The most deroutes: with the links of a shortest path they take all 16 channels of a fabric.
MOST_DEROUTES = 13


def _deroutes(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MOST_DEROUTES:
        raise InputError(f"expected a whole number from 0 to {MOST_DEROUTES}, found `{value!r}`")
    return value


Deroutes = Annotated[int, BeforeValidator(input_error_as_problem(_deroutes))]


class OmniWar(Routing):
    """At every router the least load times links left, among minimal ports and deroutes in dimensions that differ.

    A packet may take a deroute while distance classes (channels) are left for the links of a shortest path. Source:
    McDonald 2019 (OmniWAR).

    Machines: hyperx.
    """

    core: ClassVar[str] = "omni-war"
    name: Literal["omni-war"]
    deroutes: Deroutes | None = Field(
        None,
        description="channels beyond the links of the longest shortest path: packets between the most distant routers "
        "take at most so many deroutes (default: one for each dimension; assumed, as many as DAL of Ahn 2009 allows)",
    )

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With a deroute for each dimension of the machine."""
        dimensions = sum(routers > 1 for routers in system.topology["dimensions"])
        return self.model_copy(update={"deroutes": dimensions if self.deroutes is None else self.deroutes})

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {"name": self.core, "deroutes": self.deroutes}
