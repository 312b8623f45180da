"""Finds the groups of switches of a fabric, and from them the kind of machine."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.graphs.fabric import count, fields, pattern
from odonata.recognition import grid, plus, tree
from odonata.recognition.layout import Layout, filled, in_order, places
from odonata.recognition.neighbours import LEAST_JOINED, LEAST_WHOLE, Neighbours, components, joined_share, lacking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from odonata.graphs.fabric import Fabric

#: Least share of the pairs of groups that must be joined, if the file lists the switches of groups. Assumed.
LEAST_SAID = 0.5


def recognised(fabric: Fabric, *, one_group: str | None = None) -> Layout:
    """The kind of machine and the place of every switch.

    `one_group` is the kind of a machine that may have a single group, because its cabling fits several kinds: leaves
    below the same spines are a fat tree of two levels, unless `one_group` says that they are a group of a Dragonfly+.
    Raises InputError for a fabric of no known kind; the error describes it.
    """
    near = Neighbours(fabric)
    edge = fabric.edge()
    if not edge:
        raise InputError("no switch has a host", hint="a machine needs nodes: give the whole output")
    if not fabric.links:
        raise InputError(f"no cable joins two switches: {count(len(fabric.switches), 'switch')}, nothing else")
    if one_group == "fat-tree" or len(near.parts()) > 1:
        return tree.recognised(fabric, near)
    between_edges = sum(a in edge and b in edge for a, b in near.cables)
    direct = between_edges > sum((a in edge) != (b in edge) for a, b in near.cables)
    return _direct(fabric, near, one_group) if direct else plus.recognised(fabric, near, edge, one_group)


def _direct(fabric: Fabric, near: Neighbours, one_group: str | None) -> Layout:
    """The coarsest partition into dragonfly or cascade groups: from the file, then by names, then by cables."""
    switches = [s for s in range(len(fabric.switches)) if near.of[s]]
    almost: Layout | None = None
    for least, candidates in (
        (LEAST_SAID, _said(fabric, switches)),
        (LEAST_JOINED, _by_names(fabric, switches)),
        (LEAST_JOINED, _by_cables(near, switches)),
    ):
        for partition in candidates:
            layout = _shaped(fabric, near, partition, None) if len(partition) > 1 else None
            if layout is None:
                continue
            if joined_share(layout, near) < least:
                almost = almost or layout
                continue
            # A ring of four switches is a grid of two by two, and a torus has many such rings.
            if layout.kind == "cascade" and max(map(len, layout.groups)) <= 4 and one_group != "cascade":
                continue
            return layout
    if one_group is not None and (layout := _shaped(fabric, near, [switches], one_group)):
        return layout
    degrees = sorted(len(near.of[s]) for s in switches)
    typical = degrees[len(degrees) // 2]
    triangles = sum(len(near.of[a] & near.of[b]) for a, b in near.cables)
    middle = f"{count(len(switches), 'switch')} with hosts, joined to {typical} others each"
    if triangles <= len(near.cables) // 10:
        what = f"this looks like a torus, a mesh or a hypercube: {middle}, and hardly any three of them to each other"
    elif almost is not None:
        what = f"neither a dragonfly nor a cascade: {middle}, in {count(len(almost.groups), 'group')}, but "
        what += f"{lacking(fabric, near, almost)}; expected nearly all"
    else:
        what = f"neither a dragonfly nor a cascade: {middle}, in no groups that are joined completely or as a grid"
    helps = almost is None and len(switches) > 2
    raise InputError(what, hint="names or group numbers of the switches help to find groups" if helps else None)


def _said(fabric: Fabric, switches: Sequence[int]) -> Iterator[list[list[int]]]:
    said: dict[str, list[int]] = defaultdict(list)
    for s in switches:
        group = fabric.switches[s].group
        if group is None:
            return
        said[group].append(s)
    yield list(said.values())


def _by_names(fabric: Fabric, switches: Sequence[int]) -> Iterator[list[list[int]]]:
    """By the first number in the names, by the first two, and so on."""
    keys = {s: (pattern(fabric.switches[s].name), fields(fabric.switches[s].name)) for s in switches}
    if len({form for form, _ in keys.values()}) > 1:
        return
    for length in range(1, len(keys[switches[0]][1])):
        parts: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for s in switches:
            parts[keys[s][1][:length]].append(s)
        if 1 < len(parts) < len(switches):
            yield list(parts.values())


def _by_cables(near: Neighbours, switches: Sequence[int]) -> Iterator[list[list[int]]]:
    """Partitions by common neighbours: switches of one group have many, switches of two groups few.

    Coarse ones come first.
    """
    common = {pair: len(near.of[pair[0]] & near.of[pair[1]]) for pair in near.cables}
    before = 1
    for least in sorted({0, *common.values()}):
        joined: dict[int, set[int]] = {s: set() for s in switches}
        for (a, b), shared in common.items():
            if shared >= least:
                joined[a].add(b)
                joined[b].add(a)
        parts = list(components(switches, joined))
        if len(parts) > max(before, 1):
            before = len(parts)
            # Switches that have lost most of their cables become groups of their own.
            if len(parts) < len(switches):
                yield parts


def _shaped(fabric: Fabric, near: Neighbours, partition: list[list[int]], kind: str | None) -> Layout | None:
    """The layout if every group is joined completely (dragonfly) or as a grid (cascade)."""
    if max(map(len, partition)) < 2 and kind is None:
        return None
    pairs = sum(len(group) * (len(group) - 1) // 2 for group in partition)
    group_of = {s: number for number, group in enumerate(partition) for s in group}
    inside = sum(group_of.get(a, -1) == group_of.get(b, -2) for a, b in near.cables)
    order = in_order(fabric, partition)
    if kind != "cascade" and inside >= LEAST_WHOLE * pairs:
        size, rows, last = filled(places(fabric, order))
        sizes = {"groups": len(rows), "routers": size} | ({} if last is None else {"last_group_routers": last})
        return _layout("dragonfly", sizes, rows)
    if kind == "dragonfly":
        return None
    grids = grid.grids(fabric, near.of, near.cables, order)
    if grids is None:
        return None
    columns, rows = grids
    size, rows, last = filled(rows)
    sizes = {"groups": len(rows), "rows": size // columns, "columns": columns}
    sizes |= {} if last is None else {"last_group_rows": last // columns}
    expected = sum(grid.pairs_of(len(row) // columns, columns) for row in rows)
    layout = _layout("cascade", sizes, rows)
    return layout if inside >= LEAST_WHOLE * expected else None


def _layout(kind: str, sizes: dict[str, int], rows: list[list[int | None]]) -> Layout:
    routers = [switch for row in rows for switch in row]
    ranges, first = [], 0
    for row in rows:
        ranges.append(range(first, first + len(row)))
        first += len(row)
    return Layout(kind, sizes, routers, ranges, list(range(len(routers))))
