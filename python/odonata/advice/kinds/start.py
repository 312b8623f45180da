"""Another start: after the other program, or half of one of its iterations later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.units import format_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.advice.space import Space


def changes(space: Space) -> Iterator[tuple[tuple[str, Any], ...]]:
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
