"""The epochs of a simulated run: times in which the same programs run, and the iterations of each program in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from odonata.steady.series import Iterations, Seen, Steps, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NOT_FINISHED = np.uint64(2**64 - 1)
"""The core's end time of a rank that has not finished."""


@dataclass(frozen=True, slots=True)
class Border:
    """What ends an epoch."""

    at_ps: int
    kind: Literal["start", "end"]
    """A program starts, or its last rank ends."""
    job: int


@dataclass(frozen=True)
class Epoch:
    """An epoch of a simulated run."""

    begin_ps: int
    end: Border
    seen: Mapping[int, Seen] = field(repr=False)
    """The programs that run in it."""

    @property
    def jobs(self) -> frozenset[int]:
        """The numbers of the programs that run in it."""
        return frozenset(self.seen)

    @property
    def length_ps(self) -> int:
        """Its length."""
        return self.end.at_ps - self.begin_ps


def epochs_of(
    spec: Mapping[str, Any], result: Mapping[str, Any], in_steps: Mapping[int, int] = MappingProxyType({})
) -> list[Epoch]:
    """The epochs of a run, in the order of time, up to the end of the last job that it waits for.

    Of the jobs `in_steps`, the steps of their collective, of which they have so many, stand in place of iterations.
    """
    programs = [number for number, job in enumerate(spec["jobs"]) if "program" in job]
    finish = {number: _finish(result, number) for number in programs}
    ends = [finish[number] for number in spec["stop"]["jobs"]]
    last = max((end for end in ends if end is not None), default=0)
    made = {
        number: Steps.of(spec, result, number, in_steps[number])
        if number in in_steps
        else Iterations.of(spec, result, number)
        for number in programs
    }
    epochs: list[Epoch] = []
    running: set[int] = set()
    now = 0
    for border in _borders(spec, finish, last):
        seen = {number: made[number].inside(now, border.at_ps) for number in sorted(running)}
        epochs.append(Epoch(now, border, seen))
        running ^= {border.job}
        now = border.at_ps
    return epochs


def _borders(spec: Mapping[str, Any], finish: Mapping[int, int | None], last: int) -> Iterator[Border]:
    starts = {number: int(spec["jobs"][number]["program"]["start_ps"]) for number in finish}
    borders = [Border(start, "start", number) for number, start in starts.items()]
    borders += [Border(end, "end", number) for number, end in finish.items() if end is not None]
    # Of borders at one time, a start comes before an end, for no program ends when it starts.
    ordered = sorted(borders, key=lambda border: (border.at_ps, border.kind == "end", border.job))
    yield from (border for border in ordered if border.at_ps <= last)


def _finish(result: Mapping[str, Any], job: int) -> int | None:
    """When the last rank ended; `None` if one has not."""
    ends = result["ranks"]["finish_ps"][rows_of(result["ranks"], job)]
    return int(ends.max()) if len(ends) and bool((ends != NOT_FINISHED).all()) else None
