"""Reduce, as a motif: the collective as Zhang 2018 ran it."""

from typing import Any, Literal

from pydantic import Field

from odonata.scenario.apps.collectives.collective import checked_root
from odonata.scenario.apps.motifs.motif import ComputingMotif
from odonata.scenario.apps.values import MessageSize


class Reduce(ComputingMotif):
    """Reduction up a binary tree in heap order.

    Source: SST's firefly as Zhang 2018 ran it (L13). The collective of the same name has other algorithms as well.
    """

    motif: Literal["reduce"]
    message: MessageSize = Field(description="size of the vector of each rank")
    root: int = Field(0, description="the rank that gets the result (default: 0)")

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """Computing, and the reduction."""
        root = checked_root(self.root, ranks)
        what = {"name": "reduce", "algorithm": "binary", "root": root, "bytes": self.message}
        return [*self.computing(), {"what": what}]
