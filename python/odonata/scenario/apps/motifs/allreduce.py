"""Allreduce, as a motif: the collective as Zhang 2018 ran it."""

from typing import Any, Literal

from pydantic import Field

from odonata.scenario.apps.motifs.motif import ComputingMotif
from odonata.scenario.apps.values import MessageSize


class Allreduce(ComputingMotif):
    """All-reduce up and down one binary tree in heap order.

    Source: SST's firefly as Zhang 2018 ran it (L13). The collective of the same name has other algorithms as well.
    """

    motif: Literal["allreduce"]
    message: MessageSize = Field(description="size of the vector of each rank")

    def phases(self, ranks: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """Computing, and the all-reduce."""
        what = {"name": "allreduce", "algorithm": "binary", "bytes": self.message}
        return [*self.computing(), {"what": what}]
