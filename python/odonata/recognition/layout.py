"""The layout of a fabric: its kind of machine, its groups, and the place of each switch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odonata.graphs.fabric import fields, natural, pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.graphs.fabric import Fabric
    from odonata.machine import System


@dataclass(frozen=True)
class Stated:
    """A machine from comments of Odonata."""

    table: Mapping[str, Any]
    """Its table, without the properties of links, routers and hosts."""
    system: System
    """The machine, with an arbitrary bandwidth."""


@dataclass
class Nodes:
    """The places for nodes, and their hosts."""

    keys: dict[str, int | str]
    """Keys of the machine's table: NICs on each router, and NICs of a node."""
    names: list[str | None]
    """Host of each node; None where there is none."""
    failed: set[int]
    """Nodes on which no job can run: places without a host, and hosts with a missing NIC."""
    links_of_node: int = 1
    """Links of a host that are combined into one with their joint bandwidth."""
    notes: list[str] = field(default_factory=list)


@dataclass
class Layout:
    """The place of each switch."""

    kind: str
    sizes: dict[str, int]
    """Sizes in the machine's table: groups, routers of a group, and links inside a group."""
    routers: list[int | None]
    """Switch of each router; None where the machine has a router and the fabric does not."""
    groups: list[range]
    """Routers of each group."""
    with_nodes: list[int]
    """Routers that have places for nodes, in the order of the nodes."""
    notes: list[str] = field(default_factory=list)
    nodes: Nodes | None = None
    """The places for nodes, if the places of switches depend on them."""
    stated: Stated | None = None
    """The machine from comments of Odonata (`stated`)."""

    def numbers(self) -> dict[int, int]:
        """Switch -> router."""
        return {switch: router for router, switch in enumerate(self.routers) if switch is not None}

    def group_of(self) -> list[int]:
        """Group of each router."""
        return [number for number, group in enumerate(self.groups) for _ in group]


def filled(rows: Sequence[Sequence[int | None]]) -> tuple[int, list[list[int | None]], int | None]:
    """Groups padded to the size of the largest; only the last may be smaller.

    Returns the size of a full group, the groups, and the size of the last one (None if it is full).
    """
    size = max(map(len, rows))
    full = [[*row, *[None] * (size - len(row))] for row in rows]
    if len(rows) > 1 and len(rows[-1]) < size:
        return size, [*full[:-1], list(rows[-1])], len(rows[-1])
    return size, full, None


def places(fabric: Fabric, groups: Sequence[Sequence[int]]) -> list[list[int | None]]:
    """The switches of each group in the order of their names, with gaps for missing numbers.

    The file may give the number of a switch. Otherwise it comes from names such as `cell3-leaf07`, if the numbers at
    one position of the names differ within each group and do not exceed the size of the largest group.
    """
    size = max(map(len, groups))
    said = {s: fabric.switches[s].position for group in groups for s in group}
    values: Mapping[int, int] | None = None
    if all(position is not None and len(position) == 1 for position in said.values()):
        values = _fitting(groups, {s: position[0] for s, position in said.items() if position}, size, from_zero=True)
    names = {s: fabric.switches[s].name for s in said}
    if values is None and len({pattern(name) for name in names.values()}) == 1:
        numbers = {s: fields(name) for s, name in names.items()}
        for at in reversed(range(len(next(iter(numbers.values()))))):
            values = _fitting(groups, {s: row[at] for s, row in numbers.items()}, size, from_zero=False)
            if values is not None:
                break
    rows: list[list[int | None]] = []
    for group in groups:
        if values is None:
            rows.append([*sorted(group, key=lambda s: (natural(names[s]), s))])
            continue
        by_value = {values[s]: s for s in group}
        rows.append([by_value.get(value) for value in range(max(by_value) + 1)])
    return rows


def _fitting(
    groups: Sequence[Sequence[int]], values: Mapping[int, int], size: int, *, from_zero: bool
) -> dict[int, int] | None:
    """The values relative to the smallest, if they number the switches of every group; else None."""
    low = 0 if from_zero else min(values.values())
    if max(values.values()) - low >= size and not from_zero:
        return None
    if any(len({values[s] for s in group}) < len(group) for group in groups):
        return None
    if from_zero and max(values.values()) >= 4 * size + 64:
        return None
    return {s: value - low for s, value in values.items()}


def in_order(fabric: Fabric, groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """Groups in the order of their numbers or names in the file, else of their first switch."""

    def key(group: Sequence[int]) -> tuple[object, ...]:
        said = Counter(name for s in group if (name := fabric.switches[s].group) is not None)
        first = min(natural(fabric.switches[s].name) for s in group)
        return (0, natural(said.most_common(1)[0][0]), first) if said else (1, first)

    return sorted((list(group) for group in groups), key=key)
