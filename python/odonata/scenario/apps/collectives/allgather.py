"""Allgather: every rank gets the data of all."""

from typing import ClassVar, Literal

from pydantic import Field

from odonata.scenario.apps.collectives.collective import SizedCollective, algorithm_of, is_power_of_two
from odonata.scenario.apps.values import MessageSize

#: Bytes of all ranks together from which on MPICH uses a ring: with a power of two of ranks, and else (Thakur
#: 2005, section 4).
LONG_BYTES, MEDIUM_BYTES = 524_288, 81_920


class Allgather(SizedCollective):
    """Every rank gets the data of all (MPI_Allgather).

    Source: Thakur, Rabenseifner and Gropp 2005, section 4.
    """

    reason: ClassVar[str] = (
        "`recursive-doubling` for 2^n ranks and less than 512 KiB in all, `bruck` for other numbers and less than "
        "80 KiB, else `ring`: as MPICH (Thakur 2005, section 4)"
    )

    collective: Literal["allgather"]
    message: MessageSize = Field(description="size of the data of each rank (osu_allgather)")
    algorithm: algorithm_of("allgather") | None = Field(  # type: ignore[valid-type]
        None,
        description="how (default, as MPICH: recursive-doubling for 2^n ranks and less than 512 KiB in all, bruck for "
        "other numbers and less than 80 KiB, else ring)",
    )

    def usual(self, ranks: int) -> str:
        """As MPICH chooses."""
        if is_power_of_two(ranks):
            return "recursive-doubling" if self.message * ranks < LONG_BYTES else "ring"
        return "bruck" if self.message * ranks < MEDIUM_BYTES else "ring"
