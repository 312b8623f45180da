"""Alltoall: every rank has data for each other rank."""

from typing import ClassVar, Literal

from pydantic import Field

from odonata.scenario.apps.collectives.collective import SizedCollective, algorithm_of
from odonata.scenario.apps.values import MessageSize

#: Largest size for which MPICH sends blocks together (Thakur 2005, section 4).
SHORT_BYTES = 256


class Alltoall(SizedCollective):
    """Every rank has data for each other rank (MPI_Alltoall).

    Sources: Thakur, Rabenseifner and Gropp 2005, section 4; `linear-shift` as Zhang 2018 ran it.
    """

    reason: ClassVar[str] = (
        "`bruck` up to 256 B, else `pairwise`: as MPICH for short and long messages (Thakur 2005, section 4); "
        "between 256 B and 32 KiB, where MPICH posts everything at once, assumed"
    )

    collective: Literal["alltoall"]
    message: MessageSize = Field(description="size of the data of one rank for one other (osu_alltoall)")
    algorithm: algorithm_of("alltoall") | None = Field(  # type: ignore[valid-type]
        None, description="how (default: bruck up to 256 B, else pairwise, as MPICH)"
    )

    def usual(self, ranks: int) -> str:  # noqa: ARG002
        """As MPICH chooses for short and for long messages."""
        return "bruck" if self.message <= SHORT_BYTES else "pairwise"
