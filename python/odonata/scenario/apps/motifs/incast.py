"""Incast: many ranks send to one."""

from typing import Any, Literal

from pydantic import Field

from odonata.scenario.apps.collectives.collective import checked_root
from odonata.scenario.apps.motifs.motif import ComputingMotif
from odonata.scenario.apps.values import MessageSize


class Incast(ComputingMotif):
    """All ranks but the root send one message to the root, at the same time.

    Each waits for its own message.

    Source: the congestor of GPCNeT (Chunduri et al., SC 2019) and of Piarulli et al., arXiv 2604.11432.
    """

    motif: Literal["incast"]
    message: MessageSize = Field(description="size of each message")
    root: int = Field(0, description="the rank that receives (default: 0)")

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """Computing, and the messages."""
        what = {"name": "incast", "root": checked_root(self.root, ranks), "bytes": self.message}
        return [*self.computing(), {"what": what}]
