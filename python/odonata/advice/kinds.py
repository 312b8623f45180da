"""Kinds of remedies, listed in `KINDS`.

Each is a function from a `Space` to changes of the scenario. A change that cannot be simulated is left out afterwards,
so a kind need not know every rule of the scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from odonata.machine.congestion import KEYS as CONGESTION_KINDS
from odonata.placement import LAYOUTS, POLICIES, Freedom, format_ids
from odonata.scenario.apps.mapping import MAPPINGS
from odonata.scenario.job_routings import job_routings
from odonata.scenario.routings import by_own_name, routings_of
from odonata.units import format_bytes, format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from odonata.advice.space import Space
    from odonata.scenario.routings import Routing


INTENSITIES = ("heavy", "light")
"""Values of the option that `intensity-aware` needs."""
APART = ("contiguous", "random")
"""Policies for a job in groups of its own: packed and scattered."""


def placement_changes(space: Space) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Changes of `place`, and of `nodes` where the present policy needs no number."""
    movable = space.movable
    for job in movable:
        for policy in APART:
            groups = _own_groups(space, job)
            if groups is not None:
                yield _moved(space, job, {"policy": policy, "groups": format_ids(groups)})
    divisible = space.divisible
    if space.victim in divisible:
        for job in divisible[1:]:
            yield from _divided(space, job)
    scopes = [[job] for job in movable] + ([movable] if len(movable) > 1 else [])
    for jobs in scopes:
        for place in _places():
            yield tuple(change for job in jobs for change in _moved(space, job, place))


def _divided(space: Space, job: str) -> Iterator[tuple[tuple[str, Any], ...]]:
    """The victim's nodes and those of another job divided anew: one has the first of them in their order, one the rest.

    This is what a user can ask for who has the nodes of both, as in a script that starts both (De Sensi 2024 calls it
    linear).
    """
    mine, others = ({*space.spec[name]["nodes"]} for name in (space.victim, job))
    union = sorted(mine | others)
    for first, second, count in ((space.victim, job, len(mine)), (job, space.victim, len(others))):
        halves = {first: union[:count], second: union[count:]}
        yield tuple(
            change
            for name in (space.victim, job)
            for change in _moved(space, name, {"policy": "explicit", "nodes": format_ids(halves[name])})
        )


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
    taken = [0] * shape.groups
    room = [len(shape.nodes_in(group)) for group in range(shape.groups)]
    for node in system.unusable_nodes:
        room[shape.group_of(node)] -= 1
    for name, other in space.spec.items():
        if name == job:
            continue
        # Jobs that can be anywhere are placed after a job that stays in groups, so they take no room from it.
        stays = name not in space.tables or space.freedom(name) < Freedom.ANYWHERE
        for node in set(other["nodes"]):
            taken[shape.group_of(node)] += 1
            room[shape.group_of(node)] -= stays
    needed, chosen = len(set(space.spec[job]["nodes"])), []
    for group in sorted(range(shape.groups), key=lambda group: (taken[group], group)):
        chosen.append(group)
        needed -= room[group]
        if needed <= 0:
            return sorted(chosen) if len(chosen) < shape.groups else None
    return None


FACTORS = (Fraction(1, 2), Fraction(2))
"""A parameter that is a number is tried at these multiples of its value (assumed)."""
CANDIDATES = {1: 2, 2: 1}
"""Numbers of paths that a routing can compare, and the other one."""
SHARED = frozenset(("gateways", "name"))
"""Parameters that are not varied: all routings of a run must agree in `gateways`."""


def routing_changes(space: Space) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Changes of `routing`, and of the `routing` of a job."""
    table, system = space.scenario.table, space.resolved.system
    present = job_routings(table, list(table.job), system, space.scenario.path.parent)
    names = routings_of(system.table.kind)
    alone = len(space.spec) == 1
    for name in names:
        yield (("routing", name),)
    for value in _varied(present.usual, space.scenario.data.get("routing")):
        yield (("routing", value),)
    if alone:
        return
    numbers = {job.name: number for number, job in enumerate(table.job)}
    for job in space.jobs:
        for name in names:
            yield ((f"job.{job}.routing", name),)
        if job == space.victim:
            number = numbers[job]
            given = space.scenario.data["job"][number].get("routing", space.scenario.data.get("routing"))
            for value in _varied(present.own.get(number, present.usual), given):
                yield ((f"job.{job}.routing", value),)


def _varied(routing: Routing, given: Any) -> Iterator[dict[str, Any]]:
    """The routing, `given` so in the file, with one parameter changed: each other choice, half and twice a number."""
    options = dict(by_own_name(given)) if isinstance(given, Mapping) else {}
    written = routing.model_dump(mode="json")
    for name, described in type(routing).model_fields.items():
        if name not in SHARED:
            for other in _others(described.annotation, getattr(routing, name), written[name]):
                yield {**options, "name": routing.name, name: other}


def _others(annotation: Any, value: Any, written: Any) -> list[Any]:
    choices = [choice for part in (annotation, *get_args(annotation)) for choice in _choices(part)]
    if choices:
        return [choice for choice in choices if choice != value] if value is not None else []
    if isinstance(value, Fraction):
        return [float(value * factor) for factor in FACTORS if value]
    if isinstance(value, int) and isinstance(written, str):
        return [format_bytes(int(value * factor)) for factor in FACTORS if value]
    return [CANDIDATES[value]] if isinstance(value, int) and value in CANDIDATES else []


def _choices(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def mapping_changes(space: Space) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Changes of the `mapping` of a program, in the job or in its app, wherever it stands."""
    for job in space.programs():
        key = f"job.{job}.mapping"
        if getattr(space.tables[job].app, "mapping", None) is not None:
            key = f"job.{job}.app.mapping"
        for name in MAPPINGS:
            if name != "file":
                yield ((key, name),)


def start_changes(space: Space) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Changes of the `start` of a program."""
    for job in space.programs():
        others = [space.victim] if job != space.victim else [name for name in space.spec if name != job]
        delays: dict[int, None] = {}
        for other in others:
            if other in space.times:
                time = space.times[other]
                iterations = space.spec[other].get("program", {}).get("iterations") or 1
                delays |= dict.fromkeys([time, *([time // (2 * iterations)] if iterations > 1 else [])])
        for delay in delays:
            start = space.spec[job]["program"]["start_ps"] + _rounded(delay)
            yield ((f"job.{job}.start", format_time(start)),)


def _rounded(ps: int) -> int:
    """Up to the next of three digits, as a person would write it."""
    step: int = 10 ** max(0, len(str(ps)) - 3)
    return -(-ps // step) * step


def congestion_changes(space: Space) -> Iterator[tuple[tuple[str, Any], ...]]:
    """The other kinds of congestion control, on a machine that states its kind, which it could then change."""
    control = space.resolved.system.table.fabric.congestion_control
    if control is not None:
        for kind in CONGESTION_KINDS:
            if kind != control.kind:
                yield (("fabric.congestion_control", {"kind": kind}),)


KINDS: dict[str, Callable[[Space], Iterator[tuple[tuple[str, Any], ...]]]] = {
    "placement": placement_changes,
    "routing": routing_changes,
    "mapping": mapping_changes,
    "start": start_changes,
    "congestion-control": congestion_changes,
}
"""Kind, as `[advise] allow` names it -> its changes."""
