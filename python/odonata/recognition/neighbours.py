"""Neighbours of switches and of groups of switches: those that cables join."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.graphs.fabric import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from odonata.graphs.fabric import Fabric
    from odonata.recognition.layout import Layout

#: Least share of the cables of a group that must be present. Assumed: a machine in production lacks fewer.
LEAST_WHOLE = 0.75
#: Least share of the pairs of groups that a cable must join. Also assumed.
LEAST_JOINED = 0.75


class Neighbours:
    """The pairs of switches that cables join, with the number of cables."""

    def __init__(self, fabric: Fabric) -> None:
        self.cables: Counter[tuple[int, int]] = Counter()
        self.of: list[set[int]] = [set() for _ in fabric.switches]
        for link in fabric.links:
            self.cables[min(link.a, link.b), max(link.a, link.b)] += 1
            self.of[link.a].add(link.b)
            self.of[link.b].add(link.a)

    def parts(self) -> list[list[int]]:
        """The connected components; switches without cables are left out."""
        return [part for part in components(range(len(self.of)), self.of) if len(part) > 1]

    @staticmethod
    def not_joined(parts: Sequence[Sequence[int]]) -> InputError:
        """The error for a fabric that is not connected."""
        sizes = ", ".join(f"{len(part):,}" for part in sorted(parts, key=len, reverse=True)[:5])
        message = f"the fabric has {len(parts):,} parts that no cable joins, of {sizes} switches"
        return InputError(message, hint="one machine is one fabric: give them one by one")


def components(switches: Iterable[int], of: Sequence[Iterable[int]] | dict[int, set[int]]) -> Iterator[list[int]]:
    seen: set[int] = set()
    for start in switches:
        if start in seen:
            continue
        seen.add(start)
        part = [start]
        for switch in part:
            for other in of[switch]:
                if other not in seen:
                    seen.add(other)
                    part.append(other)
        yield part


def _joined_pairs(layout: Layout, near: Neighbours) -> set[tuple[int, int]]:
    """The pairs of groups that a cable joins."""
    number, group_of = layout.numbers(), layout.group_of()
    joined = set()
    for a, b in near.cables:
        if a in number and b in number and group_of[number[a]] != group_of[number[b]]:
            first, second = sorted((group_of[number[a]], group_of[number[b]]))
            joined.add((first, second))
    return joined


def joined_share(layout: Layout, near: Neighbours) -> float:
    """The share of the pairs of groups that a cable joins."""
    groups = len(layout.groups)
    return len(_joined_pairs(layout, near)) / (groups * (groups - 1) // 2) if groups > 1 else 1.0


def lacking(fabric: Fabric, near: Neighbours, layout: Layout) -> str:
    """The number of joined pairs of groups, and the pairs that are not joined."""
    groups = len(layout.groups)
    joined = _joined_pairs(layout, near)
    first = [next(layout.routers[r] for r in group if layout.routers[r] is not None) for group in layout.groups]
    names = [fabric.switches[switch or 0].name for switch in first]
    apart = [f"{names[a]} and {names[b]}" for a, b in combinations(range(groups), 2) if (a, b) not in joined]
    share = len(joined) / (groups * (groups - 1) // 2)
    return f"cables join only {share:.0%} of their pairs, not the groups of {listed(apart)}"
