"""The results of each job in runs that leave out one other job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.blame.coalitions import quantity_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.blame.coalitions import Coalition, Coalitions


@dataclass(frozen=True, slots=True)
class Without:
    """A job in a run that leaves out another job."""

    victim: str
    """The job."""
    without: str
    """The job that is left out."""
    quantity: str
    """The compared quantity: `latency_mean_ps`, or `time_ps` for a program."""
    with_ps: float | None
    """Its value in the run with all jobs, in picoseconds; `None` if not all messages arrived."""
    without_ps: float | None
    """Its value without the other job, in picoseconds; `None` if not all messages arrived."""

    @property
    def slowdown(self) -> float | None:
        """The value with the other job, divided by the value without it."""
        return self.with_ps / self.without_ps if self.with_ps and self.without_ps else None


def pairs(jobs: int, victims: Sequence[int], coalitions: Coalitions) -> list[tuple[int, int, Coalition]]:
    """Each victim, each other job without which the run still ends, and the jobs of that run."""
    everyone = frozenset(range(jobs))
    triples = [
        (victim, absent, everyone - {absent}) for absent in range(jobs) for victim in victims if victim != absent
    ]
    return [triple for triple in triples if coalitions.possible(triple[2])]


def compare(spec: Mapping[str, Any], victims: Sequence[int], coalitions: Coalitions) -> list[Without]:
    """Compare runs that each leave out one job.

    Parameters
    ----------
    spec
        The specification of the run.
    victims
        Indices of the jobs that are compared.
    coalitions
        The runs, in which those of `pairs` have been simulated.

    Returns
    -------
    list of Without
        For each victim and each other job without which the run still ends.
    """
    names = [job["name"] for job in spec["jobs"]]
    whole = coalitions[frozenset(range(len(names)))]
    return [
        Without(
            names[victim],
            names[absent],
            quantity_of(spec, victim),
            whole[victim],
            coalitions[rest][victim],
        )
        for victim, absent, rest in pairs(len(names), victims, coalitions)
    ]
