"""What a shortened run has skipped of the whole run, epoch by epoch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.steady.epochs import Epoch

NEGLIGIBLE = 0.1
"""A skipped part of the run that is shorter than this share of the bound needs no known mean (assumed)."""


@dataclass(frozen=True)
class Part:
    """An epoch of the whole run: what was simulated of it, and what was skipped at its end."""

    epoch: Epoch
    skipped_ps: float
    paces: Mapping[int, float]
    """Mean time of an iteration of each program in it, in picoseconds; of one without an iteration that of another
    epoch."""
    errors: Mapping[int, float]
    """Half-width of the 95 % interval of this mean over the whole epoch, divided by the mean."""

    def skipped(self, job: int) -> float:
        """The number of iterations of a program that were skipped in it."""
        return self.skipped_ps / self.paces[job] if job in self.paces and self.skipped_ps else 0.0

    @property
    def error(self) -> float:
        """The largest of the errors; 0 if nothing was skipped."""
        return max(self.errors.values(), default=0.0) if self.skipped_ps else 0.0

    @property
    def length_ps(self) -> float:
        """Its length in the whole run."""
        return self.epoch.length_ps + self.skipped_ps


def extrapolated(whole: Mapping[str, Any], short: Mapping[str, Any], epochs: Sequence[Epoch]) -> list[Part] | None:
    """The epochs of the whole run by those of a shortened one.

    An epoch that ends with the start of a program was shortened by what this program starts earlier. One that ends with
    the end of a program was shortened by the iterations that this program lacks. `None` if the whole run has other
    epochs: then one of them would be longer in the shortened run.
    """
    parts: list[Part] = []
    for number, epoch in enumerate(epochs):
        job, skipped = epoch.end.job, 0.0
        paces = {other: _pace(epochs, number, other) for other in epoch.seen}
        if epoch.end.kind == "start":
            starts = (of["jobs"][job]["program"]["start_ps"] for of in (whole, short))
            skipped = next(starts) - next(starts) - sum(part.skipped_ps for part in parts)
        else:
            counts = (of["jobs"][job]["program"]["iterations"] for of in (whole, short))
            left = next(counts) - next(counts) - sum(part.skipped(job) for part in parts)
            skipped = left * paces[job]
        if not math.isfinite(skipped):
            return None
        if skipped and not epoch.seen:
            return None
        share = max(0.0, skipped) / (epoch.length_ps + skipped) if epoch.length_ps + skipped > 0 else 1.0
        # The mean over n iterations differs from that over k of them by sqrt(1 - k / n) times the error of the latter.
        errors = {other: _error(epoch, other) * math.sqrt(share) for other in epoch.seen} if skipped else {}
        parts.append(Part(epoch, skipped, paces, errors))
    return parts


def consistent(parts: Sequence[Part], error: float) -> bool:
    """Whether no epoch is longer in the shortened run than in the whole one, up to a negligible time."""
    return all(part.skipped_ps >= -error * NEGLIGIBLE * whole_ps(parts) for part in parts)


def unknown(parts: Sequence[Part], error: float) -> list[tuple[int, int]]:
    """The epochs and programs whose mean iteration is not known within the bound, though it is needed, or whose ranks
    move apart."""
    limit = error * NEGLIGIBLE * whole_ps(parts)
    return [
        (number, job)
        for number, part in enumerate(parts)
        if abs(part.skipped_ps) > limit
        for job, of_job in part.errors.items()
        if of_job > error or part.epoch.seen[job].apart > error
    ]


def whole_ps(parts: Sequence[Part]) -> float:
    """The length of the whole run."""
    return sum(part.length_ps for part in parts)


def _error(epoch: Epoch, job: int) -> float:
    pace = epoch.seen[job].pace
    return math.inf if pace is None else pace.error


def _pace(epochs: Sequence[Epoch], number: int, job: int) -> float:
    """The mean of a program in an epoch, or else in the nearest one before or after it."""
    for other in sorted(range(len(epochs)), key=lambda at: (abs(at - number), at)):
        seen = epochs[other].seen.get(job)
        if seen is not None and seen.pace is not None:
            return seen.pace.value
    return math.inf
