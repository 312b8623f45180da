"""Reduce: the vectors of all ranks are combined at one."""

from typing import ClassVar, Literal

from pydantic import Field

from odonata.scenario.apps.collectives.collective import RootedCollective, algorithm_of
from odonata.scenario.apps.values import MessageSize


class Reduce(RootedCollective):
    """All vectors are combined at the root (MPI_Reduce).

    Sources: Thakur, Rabenseifner and Gropp 2005, section 4; `binary` as Zhang 2018 ran it.
    """

    reason: ClassVar[str] = "`binomial`: as MPICH for short vectors (Thakur 2005, section 4); for all sizes: assumed"

    collective: Literal["reduce"]
    message: MessageSize = Field(description="size of the vector of each rank (osu_reduce)")
    algorithm: algorithm_of("reduce") | None = Field(  # type: ignore[valid-type]
        None, description="how (default: binomial, as MPICH)"
    )

    def usual(self, ranks: int) -> str:  # noqa: ARG002
        """The tree with the fewest steps."""
        return "binomial"
