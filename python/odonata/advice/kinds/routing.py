"""Another routing for all jobs or for one, and other parameters of the present one."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from odonata.scenario.job_routings import job_routings
from odonata.scenario.routings import routings_of
from odonata.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.advice.space import Space
    from odonata.scenario.routings import Routing

FACTORS = (Fraction(1, 2), Fraction(2))
"""A parameter that is a number is tried at these multiples of its value (assumed)."""
CANDIDATES = {1: 2, 2: 1}
"""Numbers of paths that a routing can compare, and the other one."""
SHARED = frozenset(("gateways", "name"))
"""Parameters that are not varied: all routings of a run must agree in `gateways`."""


def changes(space: Space) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Changes of `routing`, and of the `routing` of a job."""
    table, system = space.scenario.table, space.resolved.system
    present = job_routings(table, list(table.job), system)
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
    options = dict(given) if isinstance(given, Mapping) else {}
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
