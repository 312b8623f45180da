"""What is kept of a run of the first experiment."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.scenario import Resolved

FORMAT = "aries-modes delay 1"
"""Version of what is kept; another one is simulated anew."""

NOT_DELIVERED = 2**64 - 1
"""Latency of a message that was still under way at the end."""


@dataclass(frozen=True)
class DelayOutcome:
    """Latencies of the target's messages, in picoseconds from issue to last byte."""

    count: int
    mean_ps: float
    variance_ps2: float
    p25_ps: float
    p50_ps: float
    p75_ps: float
    minimal: float
    """Fraction of the target's packets that went a shortest way."""
    background_minimal: float
    """The same of the background; 1 if there is none."""

    @property
    def qcd(self) -> float:
        """Quartile coefficient of dispersion (D17)."""
        return (self.p75_ps - self.p25_ps) / (self.p75_ps + self.p25_ps)

    def as_json(self) -> dict[str, Any]:
        """As kept on disk."""
        return asdict(self)


def delay_outcome(result: Mapping[str, Any], resolved: Resolved) -> DelayOutcome:
    """The numbers of a run whose first job is measured message by message.

    Raises ValueError if a message that counts did not arrive: its latency would be missing from the variance.
    """
    measured, rows = resolved.spec["measure"], result["messages"]
    issued, latency = np.asarray(rows["issue_ps"]), np.asarray(rows["latency_ps"])
    counts = (issued >= measured["from_ps"]) & (issued < measured["until_ps"]) & (np.asarray(rows["job"]) == 0)
    lost = int(np.count_nonzero(latency[counts] == NOT_DELIVERED))
    if lost or not counts.any():
        raise ValueError(f"{lost} of {np.count_nonzero(counts)} messages that count did not arrive: saturated")
    found = latency[counts].astype(np.float64)
    p25, p50, p75 = np.percentile(found, (25, 50, 75))
    return DelayOutcome(
        count=len(found),
        mean_ps=float(found.mean()),
        variance_ps2=float(found.var(ddof=1)),
        p25_ps=float(p25),
        p50_ps=float(p50),
        p75_ps=float(p75),
        minimal=_minimal(result["jobs"][0]),
        background_minimal=_minimal(result["jobs"][1]) if len(result["jobs"]) > 1 else 1.0,
    )


def _minimal(job: Mapping[str, Any]) -> float:
    return float(job["minimal"] / job["packets"])
