"""Alltoall, as a motif: the collective as Zhang 2018 ran it."""

from typing import Any, Literal

from pydantic import Field

from odonata.scenario.apps.motifs.motif import ComputingMotif
from odonata.scenario.apps.values import MessageSize


class Alltoall(ComputingMotif):
    """All-to-all in shifts: in step c rank r receives from r - c and sends to r + c, and waits for both.

    Source: SST's firefly as Zhang 2018 ran it (L13). The collective of the same name has other algorithms as well.
    """

    motif: Literal["alltoall"]
    message: MessageSize = Field(description="size of the data of one rank for one other")

    def phases(self, ranks: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """Computing, and the all-to-all."""
        what = {"name": "alltoall", "algorithm": "linear-shift", "bytes": self.message}
        return [*self.computing(), {"what": what}]
