"""Panels: the runs of a setup apart from its pattern, and relations between groups of policies in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.reproduce.zhang2018.gathered import GROUPING, LEVEL_SPREAD, SPREADING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from odonata.reproduce.zhang2018.gathered import Runs
    from odonata.reproduce.zhang2018.setup import Setup

COMPACT = (LEVEL_SPREAD, *GROUPING)
"""Policies that put a job which fits into one group there."""
SPREAD = (LEVEL_SPREAD, *SPREADING)
"""Policies that spread a job which fits into no group."""


def where(runs: Iterable[Runs], holds: Callable[[Setup], bool]) -> list[Runs]:
    """Those whose setup is such."""
    return [one for one in runs if holds(one.setup)]


def is_main(setup: Setup, messages: tuple[str, ...] = ("1 KB",)) -> bool:
    """Whether it is no variant, and all messages have these sizes (of small and large jobs, or of all)."""
    if setup.variant:
        return False
    sizes = [one.message for one in setup.classes]
    return sizes == list(messages) * (len(sizes) // len(messages))


def motif(setup: Setup) -> str:
    """The pattern that all its jobs have."""
    return setup.classes[0].motif


def counts(setup: Setup) -> str:
    """Its jobs without their pattern: `15x16`."""
    return " + ".join(f"{one.count}x{one.nodes}" for one in setup.classes)


def reductions(runs: Runs, job_class: str, fast: Iterable[str], slow: Iterable[str]) -> list[float]:
    """Percent by which the time of each fast policy is below that of each slow one."""
    slow = tuple(slow)
    return [100 * (1 - runs.over(one, job_class, other)) for one in fast for other in slow if one != other]


def unevenness(runs: Runs, job_class: str) -> float:
    """Largest time of a policy over the smallest."""
    times = [runs.time(policy, job_class) for policy in runs.by_policy]
    return max(times) / min(times)


def difference(one: Runs, other: Runs, job_class: str) -> float:
    """Largest difference between a policy's times relative to Simple in two setups."""
    return max(abs(one.over(policy, job_class) - other.over(policy, job_class)) for policy in one.by_policy)
