"""The work of the host for one message of a program (docs/model.md, section 10, "Sending")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of a program as the core reads them."""

    costs: Mapping[str, Any]
    by_size: Sequence[Mapping[str, int]]

    @classmethod
    def of(cls, program: Mapping[str, Any]) -> Self:
        """Those of a program of a specification."""
        return cls(program["costs"], program.get("by_size", ()))

    @property
    def memory_ps(self) -> int:
        """What a message inside a node takes."""
        return int(self.costs["memory_ps"])

    def eager(self, size: int) -> bool:
        """Whether a message is sent without asking the receiver."""
        return size <= int(self.costs["eager_bytes"])

    def on_the_network(self, size: int) -> int:
        """Bytes of a message with its header; of a control message for 0."""
        return max(size, int(self.costs["control_bytes"])) + int(self.costs.get("header_bytes", 0))

    def handed_over_ps(self, size: int, *, inside: bool) -> int:
        """CPU time of the sender, until the message is handed over. `inside`: both ranks are on one node."""
        if self.by_size and not inside:
            return self._sized(size)
        send, copy = int(self.costs["send_ps"]), self.costs.get("copy")
        if not inside and not self.eager(size):
            return send + int(self.costs.get("rendezvous_ps", 0))
        return send + (-(-size * 10**18 // int(copy)) if copy else 0)

    def _sized(self, size: int) -> int:
        """`send_ps` at a size: linear between two of the list, rounded towards the first."""
        before = None
        for row in self.by_size:
            if size <= row["bytes"]:
                if before is None or size == row["bytes"]:
                    return row["send_ps"]
                rise = (row["send_ps"] - before["send_ps"]) * (size - before["bytes"])
                width = row["bytes"] - before["bytes"]
                return before["send_ps"] + (rise // width if rise >= 0 else -(-rise // width))
            before = row
        return self.by_size[-1]["send_ps"]
