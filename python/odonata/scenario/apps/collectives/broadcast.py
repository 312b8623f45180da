"""Broadcast: the data of one rank goes to all."""

from typing import ClassVar, Literal

from pydantic import Field

from odonata.scenario.apps.collectives.collective import RootedCollective, algorithm_of
from odonata.scenario.apps.values import MessageSize

#: Size and number of ranks below which MPICH sends whole messages down a tree (Thakur 2005, section 4).
SHORT_BYTES, FEW_RANKS = 12_288, 8


class Broadcast(RootedCollective):
    """The root's data goes to all (MPI_Bcast).

    Sources: Thakur, Rabenseifner and Gropp 2005, section 4; `binary` as Zhang 2018 ran it; `flat` as Kang 2019
    has it (K17).
    """

    reason: ClassVar[str] = (
        "`binomial` below 12 KiB or 8 ranks, else `scatter-allgather`: as MPICH (Thakur 2005, section 4)"
    )

    collective: Literal["broadcast"]
    message: MessageSize = Field(description="size of the data (osu_bcast)")
    algorithm: algorithm_of("broadcast") | None = Field(  # type: ignore[valid-type]
        None, description="how (default: binomial below 12 KiB or 8 ranks, else scatter-allgather, as MPICH)"
    )

    def usual(self, ranks: int) -> str:
        """As MPICH chooses."""
        return "binomial" if self.message < SHORT_BYTES or ranks < FEW_RANKS else "scatter-allgather"
