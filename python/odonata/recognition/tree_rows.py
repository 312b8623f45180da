"""The order of the leaves, spines and cores of a fat tree: by names if these number all places, else by cables."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odonata.graphs.fabric import fields, natural, pattern
from odonata.recognition import tree_hosts
from odonata.recognition.layout import places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.graphs.fabric import Fabric
    from odonata.recognition.neighbours import Neighbours
    from odonata.recognition.tree_levels import Levels, Pod, Row


@dataclass
class Rows:
    """Every place of a fat tree. All rows of a level have the same length."""

    leaves: list[list[Row]]
    """For each plane and pod."""
    spines: list[list[Row]]
    """For each plane and pod."""
    cores: list[list[Row]]
    """For each plane and each spine of a pod: its cores. Empty rows in a tree of two levels."""


def rows_of(fabric: Fabric, near: Neighbours, levels: Levels) -> Rows:
    """The places of all switches."""
    leaves = _by_names(fabric, [[pod.leaves for pod in plane] for plane in levels.planes])
    sharing = tree_hosts.Sharing(fabric, levels)
    if leaves is None or not sharing.fits(leaves):
        leaves = sharing.rows(fabric)
    shares = [_shares(near, plane, cores) for plane, cores in zip(levels.planes, levels.cores, strict=True)]
    spines = _by_names(fabric, [[pod.spines for pod in plane] for plane in levels.planes])
    if spines is None or not _follow(spines, shares):
        spines = _by_shares(fabric, levels, shares)
    return Rows(leaves, spines, _cores(fabric, spines, shares, levels.cores))


def _by_names(fabric: Fabric, planes: Sequence[Sequence[Sequence[int]]]) -> list[list[Row]] | None:
    """Rows for each plane and pod by names, if in this order the switches of each plane follow those of the plane
    before."""
    pods = range(len(planes[0]))
    joint = places(fabric, [[s for plane in planes for s in plane[pod]] for pod in pods])
    if len(planes) == 1:
        return [_padded(joint)]
    size = -(-max(map(len, joint)) // len(planes))
    rows = [[[*row, *[None] * (size * len(planes) - len(row))][k * size : (k + 1) * size] for row in joint]
            for k in range(len(planes))]  # fmt: skip
    for plane, own in zip(rows, planes, strict=True):
        for row, switches in zip(plane, own, strict=True):
            if {s for s in row if s is not None} != set(switches):
                return None
    return rows


def _padded(rows: Sequence[Row]) -> list[Row]:
    size = max(map(len, rows))
    return [[*row, *[None] * (size - len(row))] for row in rows]


def _shares(near: Neighbours, pods: Sequence[Pod], cores: Sequence[int]) -> dict[int, int]:
    """Core or spine -> the number of its share of the cores.

    Spines of different pods with the same cores have one share.
    """
    spines = {spine for pod in pods for spine in pod.spines}
    below = {core: [s for s in near.of[core] if s in spines] for core in cores}
    above: dict[int, list[int]] = defaultdict(list)
    for core, own in below.items():
        for spine in own:
            above[spine].append(core)
    share: dict[int, int] = {}
    number = 0
    for start in cores:
        if start in share or not below[start]:
            continue
        share[start] = number
        part = [start]
        for switch in part:
            for far in below[switch] if switch in below else above[switch]:
                if far not in share:
                    share[far] = number
                    part.append(far)
        number += 1
    return share


def _follow(spines: Sequence[Sequence[Row]], shares: Sequence[dict[int, int]]) -> bool:
    """Whether the spines at the same place of all pods have the same cores, and spines at other places have others."""
    for plane, share in zip(spines, shares, strict=True):
        at_place = [{share[s] for row in plane if (s := row[at]) in share} for at in range(len(plane[0]))]
        if any(len(own) > 1 for own in at_place) or len(set().union(*at_place)) < sum(map(len, at_place)):
            return False
    return True


def _by_shares(fabric: Fabric, levels: Levels, shares: Sequence[dict[int, int]]) -> list[list[Row]]:
    """Rows in which spine k of every pod has share k of the cores; shares are in the order of the names of cores."""
    made = []
    for plane, cores, share in zip(levels.planes, levels.cores, shares, strict=True):
        first: dict[int, tuple[object, ...]] = {}
        for core in sorted(cores, key=lambda s: natural(fabric.switches[s].name)):
            if core in share:
                first.setdefault(share[core], natural(fabric.switches[core].name))
        place = {number: at for at, number in enumerate(sorted(first, key=lambda n: first[n]))}
        size = max(len(place), *(len(pod.spines) for pod in plane))
        rows = []
        for pod in plane:
            row: Row = [None] * size
            rest = []
            for spine in sorted(pod.spines, key=lambda s: natural(fabric.switches[s].name)):
                if spine in share:
                    row[place[share[spine]]] = spine
                else:
                    rest.append(spine)
            for spine in rest:
                row[row.index(None)] = spine
            rows.append(row)
        made.append(rows)
    size = max(len(rows[0]) for rows in made)
    return [[[*row, *[None] * (size - len(row))] for row in rows] for rows in made]


def _cores(
    fabric: Fabric, spines: Sequence[Sequence[Row]], shares: Sequence[dict[int, int]], cores: Sequence[Sequence[int]]
) -> list[list[Row]]:
    """The cores of each spine of a pod, in the order of their names, with gaps for missing numbers."""
    planes: list[list[list[int]]] = []
    for plane, share, own in zip(spines, shares, cores, strict=True):
        place = {share[s]: at for row in plane for at, s in enumerate(row) if s in share}
        parts: list[list[int]] = [[] for _ in plane[0]]
        rest = []
        for core in sorted(own, key=lambda s: natural(fabric.switches[s].name)):
            if core in share and share[core] in place:
                parts[place[share[core]]].append(core)
            else:
                rest.append(core)
        for core in rest:
            min(parts, key=len).append(core)
        planes.append(parts)
    each = max(len(part) for parts in planes for part in parts)
    at = _numbered(fabric, [part for parts in planes for part in parts], each)
    made = []
    for parts in planes:
        rows = []
        for part in parts:
            row: Row = [None] * each
            for index, core in enumerate(part):
                row[index if at is None else at[core]] = core
            rows.append(row)
        made.append(rows)
    return made


def _numbered(fabric: Fabric, parts: Sequence[Sequence[int]], each: int) -> dict[int, int] | None:
    """The place of each core in its share by the number in its name, if the names number all places of the machine."""
    names = {core: fabric.switches[core].name for part in parts for core in part}
    if not names or len({pattern(name) for name in names.values()}) > 1 or not fields(next(iter(names.values()))):
        return None
    number = {core: fields(name)[-1] for core, name in names.items()}
    for low in dict.fromkeys((0, 1, min(number.values()))):
        if all((number[core] - low) // each == at for at, part in enumerate(parts) for core in part):
            return {core: (value - low) % each for core, value in number.items()}
    return None
