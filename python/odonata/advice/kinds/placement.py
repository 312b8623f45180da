"""Other nodes: every policy for the victim, for each other job, and for all of them; and groups of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.placement import LAYOUTS, POLICIES, Freedom, format_ids

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.advice.space import Space

INTENSITIES = ("heavy", "light")
"""Values of the option that `intensity-aware` needs."""
APART = ("contiguous", "random")
"""Policies for a job in groups of its own: packed and scattered."""


def changes(space: Space) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Changes of `place`, and of `nodes` where the present policy needs no number."""
    movable = space.movable
    for job in movable:
        for policy in APART:
            groups = _own_groups(space, job)
            if groups is not None:
                yield _moved(space, job, {"policy": policy, "groups": format_ids(groups)})
    scopes = [[job] for job in movable] + ([movable] if len(movable) > 1 else [])
    for jobs in scopes:
        for place in _places():
            yield tuple(change for job in jobs for change in _moved(space, job, place))


def _places() -> Iterator[str | dict[str, Any]]:
    for name, policy in POLICIES.items():
        if name == "intensity-aware":
            yield from ({"policy": name, "intensity": intensity} for intensity in INTENSITIES)
        elif name not in LAYOUTS and all(option.default is not None for option in policy.options):
            yield name


def _moved(space: Space, job: str, place: str | dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    place_change = (f"job.{job}.place", place)
    if space.tables[job].nodes is not None:
        return (place_change,)
    return ((f"job.{job}.nodes", len(set(space.spec[job]["nodes"]))), place_change)


def _own_groups(space: Space, job: str) -> list[int] | None:
    """The groups that it shares with the fewest nodes of other jobs, as many as it needs; None if it needs all."""
    system = space.resolved.system
    shape = system.shape
    held = [0] * shape.groups
    room = [len(shape.nodes_in(group)) for group in range(shape.groups)]
    for node in system.unusable_nodes:
        room[shape.group_of(node)] -= 1
    for name, other in space.spec.items():
        if name == job:
            continue
        # Jobs that can be anywhere are placed after a job that stays in groups, so they take no room from it.
        stays = name not in space.tables or space.freedom(name) < Freedom.ANYWHERE
        for node in set(other["nodes"]):
            held[shape.group_of(node)] += 1
            room[shape.group_of(node)] -= stays
    needed, chosen = len(set(space.spec[job]["nodes"])), []
    for group in sorted(range(shape.groups), key=lambda group: (held[group], group)):
        chosen.append(group)
        needed -= room[group]
        if needed <= 0:
            return sorted(chosen) if len(chosen) < shape.groups else None
    return None
