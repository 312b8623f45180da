"""Reduce-scatter: the vectors of all ranks are combined, and each gets its block of the result."""

from typing import ClassVar, Literal

from pydantic import Field

from odonata.scenario.apps.collectives.collective import SizedCollective, algorithm_of
from odonata.scenario.apps.values import MessageSize

#: Size from which on MPICH exchanges blocks pairwise (Thakur 2005, section 4).
LONG_BYTES = 524_288


class ReduceScatter(SizedCollective):
    """All vectors are combined, and each rank gets its block of the result.

    Sources: Thakur, Rabenseifner and Gropp 2005, section 4; `ring`: Patarasuk and Yuan 2009.
    """

    reason: ClassVar[str] = "`recursive-halving` below 512 KiB, else `pairwise`: as MPICH (Thakur 2005, section 4)"

    collective: Literal["reduce-scatter"]
    message: MessageSize = Field(
        description="size of the vector of each rank, all blocks together (osu_reduce_scatter)"
    )
    algorithm: algorithm_of("reduce-scatter") | None = Field(  # type: ignore[valid-type]
        None, description="how (default: recursive-halving below 512 KiB, else pairwise, as MPICH)"
    )

    def usual(self, ranks: int) -> str:  # noqa: ARG002
        """As MPICH chooses."""
        return "recursive-halving" if self.message < LONG_BYTES else "pairwise"
