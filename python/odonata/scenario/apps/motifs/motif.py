"""What all motifs have in common: computing before they communicate."""

from typing import Any

from pydantic import Field

from odonata.scenario.apps.program import PhasedProgram
from odonata.scenario.apps.values import Duration


class Motif(PhasedProgram):
    """What an application does in an iteration."""

    motif: str


class ComputingMotif(Motif):
    """A motif in which every rank computes first, then communicates."""

    compute: Duration = Field(0, description="computing at the start of each iteration (default: none; L13)")
    jitter: Duration = Field(0, description="mean of an additional exponential computing time (default: none)")

    def computing(self) -> list[dict[str, Any]]:
        """The phase of computing; none if it takes no time."""
        if not self.compute and not self.jitter:
            return []
        return [computing(self.compute, self.jitter)]


def computing(ps: int, jitter_ps: int) -> dict[str, Any]:
    """A phase in which every rank computes."""
    return {"what": {"name": "compute", "ps": ps, "jitter_ps": jitter_ps}}
