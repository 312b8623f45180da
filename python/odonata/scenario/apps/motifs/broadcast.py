"""Broadcast, as a motif: the collective as Zhang 2018 ran it."""

from typing import Any, Literal

from pydantic import Field

from odonata.scenario.apps.collectives.collective import checked_root
from odonata.scenario.apps.motifs.motif import ComputingMotif
from odonata.scenario.apps.values import MessageSize


class Broadcast(ComputingMotif):
    """Broadcast down a binary tree in heap order.

    Source: SST's firefly as Zhang 2018 ran it (L13). The collective of the same name has other algorithms as well.
    """

    motif: Literal["broadcast"]
    message: MessageSize = Field(description="size of the data")
    root: int = Field(0, description="the rank that has the data (default: 0)")

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """Computing, and the broadcast."""
        root = checked_root(self.root, ranks)
        what = {"name": "broadcast", "algorithm": "binary", "root": root, "bytes": self.message}
        return [*self.computing(), {"what": what}]
