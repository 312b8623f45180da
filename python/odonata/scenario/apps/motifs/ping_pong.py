"""Ping-pong: messages back and forth between pairs."""

from typing import Any, Literal

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.motifs.motif import ComputingMotif
from odonata.scenario.apps.values import MessageSize


class PingPong(ComputingMotif):
    """Pairs of ranks send each other messages back and forth.

    Rank r of the first half of each block of 2 x stride ranks exchanges messages with r + stride. Source: ember's
    PingPong (there two ranks); De Sensi 2019 (D19).
    """

    motif: Literal["ping-pong"]
    message: MessageSize = Field(description="size of each message")
    stride: Count = Field(1, description="distance of partners in ranks (ember: 1)")
    rounds: Count = Field(1, description="messages each way in an iteration (ember: 1)")

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """Computing, and the exchange."""
        if ranks % (2 * self.stride):
            raise InputError(
                f"with a stride of {self.stride:,}, {ranks:,} ranks are not whole blocks of {2 * self.stride:,}: some "
                "have no partner",
                hint=f"stride = {ranks // 2} pairs the first half with the second" if ranks % 2 == 0 else None,
                path=("stride",),
            )
        rally = {"name": "ping-pong", "stride": self.stride, "bytes": self.message, "rounds": self.rounds}
        return [*self.computing(), {"what": rally}]
