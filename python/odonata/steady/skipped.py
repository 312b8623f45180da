"""What was skipped of a run: for each job, and as the manifest says it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.steady.extrapolate import Part


_ROUNDING = 1e-6
"""An iteration that lacks no more than this share has ended: the sums are of floating-point numbers."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """The skipped iterations of a program."""

    iterations: int
    """Their number; 0 for a program whose only iteration was shortened."""
    ps: int
    """The time that they take."""
    times_ps: float
    """The sum of their times, from the first rank's begin to the last rank's end."""
    ranks_ps: float
    """The sum of the mean times of a rank for them."""
    share: float
    """Half-width of the 95 % interval of `ps`, divided by the time from the start of the program to its end."""
    within: bool = False
    """Whether they are steps of its only iteration."""


@dataclass(frozen=True)
class Steady:
    """How a run with `run.steady` was simulated."""

    error: float
    """The bound on the error of each mean."""
    trials: tuple[int, ...]
    """Packet-hops of each run that was simulated, the kept one last."""
    parts: tuple[Part, ...] = ()
    """The epochs of the whole run; none if it was simulated in full."""
    in_full: str | None = None
    """Why it was simulated in full, as the end of a sentence; `None` if iterations were skipped."""
    left: Mapping[int, int] = field(default_factory=dict)
    """How many iterations of each program with an end the kept run leaves out of its specification."""
    steps: Mapping[int, int] = field(default_factory=dict)
    """The jobs of which steps are skipped in place of iterations, and how many steps they have."""

    def of_job(self, spec: Mapping[str, Any], job: int) -> Skipped | None:
        """What was skipped of a job of this specification, which is the shortened one; `None` without a program."""
        if "program" not in spec["jobs"][job] or self.in_full is not None:
            return None
        own = [part for part in self.parts if job in part.epoch.seen]
        counts = [part.skipped(job) for part in own]
        seen = [part.epoch.seen[job] for part in own]
        ps = sum(part.skipped_ps for part in own)
        whole = sum(part.length_ps for part in own)
        # What was skipped of an epoch in which a mean is not known is negligible, and counts in full.
        doubt = sum(min(part.length_ps * part.error, abs(part.skipped_ps)) for part in own)
        # An epoch may be negligibly longer in the shortened run than in the whole one. A job that runs in such epochs
        # alone has skipped nothing.
        if round(ps) <= 0:
            return Skipped(0, 0, 0.0, 0.0, doubt / whole if whole else 0.0)
        if job in self.steps:
            return Skipped(0, round(ps), ps, ps, doubt / whole if whole else 0.0, within=True)
        return Skipped(
            iterations=self._iterations(job, own, sum(counts)),
            ps=round(ps),
            times_ps=sum(count * of.time_ps for count, of in zip(counts, seen, strict=True)),
            ranks_ps=sum(count * of.rank_ps for count, of in zip(counts, seen, strict=True)),
            share=doubt / whole if whole else 0.0,
        )

    def _iterations(self, job: int, own: Sequence[Part], skipped: float) -> int:
        """The whole iterations of a program that ended in what was skipped.

        A program that goes on at the end has begun an iteration, so that what was skipped may end one more of them.
        """
        if job in self.left and round(skipped) >= self.left[job]:
            return self.left[job]
        last = own[-1]
        begun = last.epoch.seen[job].begun_ps / last.paces[job]
        return max(0, math.floor(skipped + begun + _ROUNDING))

    def _of_steps(self, job: int) -> dict[str, int]:
        """How many steps a collective has, and how many of them were skipped."""
        own = [part for part in self.parts if job in part.epoch.seen]
        skipped = self._iterations(job, own, sum(part.skipped(job) for part in own)) if own else 0
        return {"count": self.steps[job], "skipped": skipped}

    def facts(self, names: Sequence[str]) -> dict[str, Any]:
        """The entry of the manifest; `names` are those of the jobs."""
        return {
            "error": self.error,
            "in_full": self.in_full,
            "trials": list(self.trials),
            **({"steps": {names[job]: self._of_steps(job) for job in self.steps}} if self.steps else {}),
            "epochs": [
                {
                    "jobs": [names[job] for job in sorted(part.epoch.seen)],
                    "simulated_ps": part.epoch.length_ps,
                    "skipped_ps": round(part.skipped_ps),
                    "error": part.error if math.isfinite(part.error) else None,
                }
                for part in self.parts
                if part.epoch.length_ps or round(part.skipped_ps)
            ],
        }
