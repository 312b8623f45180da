"""Allreduce: the vectors of all ranks are combined, and all get the result."""

from typing import ClassVar, Literal

from pydantic import Field

from odonata.scenario.apps.collectives.collective import SizedCollective, algorithm_of
from odonata.scenario.apps.values import MessageSize

#: Largest size for which MPICH exchanges whole vectors (Thakur 2005, section 4).
SHORT_BYTES = 2_048


class Allreduce(SizedCollective):
    """All vectors are combined, and all ranks get the result (MPI_Allreduce).

    Sources: Thakur, Rabenseifner and Gropp 2005, section 4; `ring`: Patarasuk and Yuan 2009; `binary` as Zhang 2018
    ran it.
    """

    reason: ClassVar[str] = "`recursive-doubling` up to 2 KiB, else `rabenseifner`: as MPICH (Thakur 2005, section 4)"

    collective: Literal["allreduce"]
    message: MessageSize = Field(description="size of the vector of each rank (osu_allreduce)")
    algorithm: algorithm_of("allreduce") | None = Field(  # type: ignore[valid-type]
        None, description="how (default: recursive-doubling up to 2 KiB, else rabenseifner, as MPICH)"
    )

    def usual(self, ranks: int) -> str:  # noqa: ARG002
        """As MPICH chooses."""
        return "recursive-doubling" if self.message <= SHORT_BYTES else "rabenseifner"
