"""All-to-all as benchmarks write it by hand: everything begun at once."""

from typing import Any, Literal

from pydantic import Field

from odonata.scenario.apps.motifs.motif import ComputingMotif
from odonata.scenario.apps.values import MessageSize


class AllToAllLinear(ComputingMotif):
    """Every rank begins to send to and to receive from all others, in order from rank 0, then waits for all.

    Source: the loop of MPI_Isend and MPI_Irecv with one MPI_Waitall of Piarulli et al., arXiv 2604.11432. Without the
    `call` of a collective.
    """

    motif: Literal["all-to-all-linear"]
    message: MessageSize = Field(description="size of the data of one rank for one other")

    def phases(self, ranks: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """Computing, and the exchange."""
        what = {"name": "alltoall", "algorithm": "linear", "bytes": self.message}
        return [*self.computing(), {"what": what, "call": False}]
