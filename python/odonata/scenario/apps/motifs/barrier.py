"""Barrier, as a motif: the collective as Zhang 2018 ran it."""

from typing import Any, Literal

from odonata.scenario.apps.motifs.motif import ComputingMotif


class Barrier(ComputingMotif):
    """Barrier up and down one binary tree in heap order.

    Source: SST's firefly as Zhang 2018 ran it (L13). The collective of the same name has other algorithms as well.
    """

    motif: Literal["barrier"]

    def phases(self, ranks: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """Computing, and the barrier."""
        return [*self.computing(), {"what": {"name": "barrier", "algorithm": "binary"}}]
