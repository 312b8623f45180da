"""Divides the loss of a job among the other jobs, by Shapley values over all coalitions.

Runs that leave out one job at a time do not divide a loss. If two jobs each fill a link, leaving out one of them saves
nothing. The Shapley value ("A value for n-person games", Contributions to the
Theory of Games II, 1953) is the mean cost of a job when it joins the others, over all orders of joining. It is the
only division with these properties: shares add up to the loss, equal jobs have equal shares, jobs without effect have
none, and shares of several losses add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import factorial
from typing import TYPE_CHECKING, Any

from odonata.blame.coalitions import quantity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from odonata.blame.coalitions import Coalition, Coalitions

MOST = 6
"""Most jobs of a run whose shares are computed; n jobs need up to 2^n - 2 runs."""


@dataclass(frozen=True, slots=True)
class Shapley:
    """The loss of a job, divided among the other jobs."""

    victim: str
    """The job."""
    quantity: str
    """The compared quantity: `latency_mean_ps`, or `time_ps` for a program."""
    alone_ps: float
    """Its value without all others, in picoseconds."""
    with_ps: float
    """Its value with all jobs, in picoseconds."""
    shares_ps: dict[str, float]
    """The share of each other job in the difference, in picoseconds; negative for a job that makes the victim faster.
    The shares add up to the difference."""


def subsets(members: Coalition) -> Iterator[Coalition]:
    """All subsets, from the empty one to the whole."""
    ordered = sorted(members)
    return map(frozenset, chain.from_iterable(combinations(ordered, size) for size in range(len(ordered) + 1)))


def shapley(players: Coalition, worth: Callable[[Coalition], Fraction]) -> dict[int, Fraction]:
    """The Shapley value of each player.

    Parameters
    ----------
    players
        The players.
    worth
        The worth of each subset of them.

    Returns
    -------
    dict of int to Fraction
        Exact values, whose sum is the worth of all players minus that of none.
    """
    count = len(players)
    values = {}
    for player in sorted(players):
        value = Fraction(0)
        for others in subsets(players - {player}):
            weight = Fraction(factorial(len(others)) * factorial(count - len(others) - 1), factorial(count))
            value += weight * (worth(others | {player}) - worth(others))
        values[player] = value
    return values


def needed(jobs: int, victim: int) -> list[Coalition]:
    """The coalitions that the shares of a victim need: all that contain it."""
    return [others | {victim} for others in subsets(frozenset(range(jobs)) - {victim})]


def shares(spec: Mapping[str, Any], victims: Sequence[int], coalitions: Coalitions) -> list[Shapley]:
    """Divide the loss of each victim among the other jobs.

    Parameters
    ----------
    spec
        The specification of the run.
    victims
        Indices of jobs.
    coalitions
        The runs, in which those of `needed` that are possible have been simulated.

    Returns
    -------
    list of Shapley
        One for each victim whose messages all arrived in every coalition.
    """
    names = [job["name"] for job in spec["jobs"]]
    divided = []
    for victim in victims:
        runs = needed(len(names), victim)
        if not all(coalitions.possible(members) for members in runs):
            continue
        values = {members - {victim}: coalitions[members][victim] for members in runs}
        whole = {members: Fraction(value) for members, value in values.items() if value is not None}
        if len(whole) < len(values):
            continue
        others = frozenset(range(len(names))) - {victim}
        of_jobs = shapley(others, whole.__getitem__)
        divided.append(
            Shapley(
                names[victim],
                quantity_of(spec, victim),
                float(whole[frozenset()]),
                float(whole[others]),
                {names[job]: float(ps) for job, ps in of_jobs.items()},
            )
        )
    return divided
