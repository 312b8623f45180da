"""Groups of a cascade: grids of switches, each joined to all others of its row and of its column."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from odonata.graphs.fabric import fields, natural, pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.graphs.fabric import Fabric

    Row = list[int | None]


def pairs_of(rows: int, columns: int) -> int:
    """Pairs of switches in a row or a column of a grid."""
    return rows * columns * (columns - 1) // 2 + columns * rows * (rows - 1) // 2


def grids(
    fabric: Fabric, near: Sequence[set[int]], cables: Mapping[tuple[int, int], int], groups: Sequence[Sequence[int]]
) -> tuple[int, list[Row]] | None:
    """The number of columns, and the switches of each group row by row, with None for a missing switch.

    Rows and columns come from the file; else from numbers in names; else from the cables. None if a group is not a
    grid.
    """
    for find in (_said, _named):
        spots = find(fabric, groups)
        if spots is not None and _fits(spots, cables, groups):
            return _laid(spots, groups)
    return _laid_by_cables(fabric, near, cables, groups)


def _said(fabric: Fabric, groups: Sequence[Sequence[int]]) -> dict[int, tuple[int, int]] | None:
    spots = {}
    for s in (s for group in groups for s in group):
        position = fabric.switches[s].position
        if position is None or len(position) != 2:
            return None
        spots[s] = (position[0], position[1])
    return spots


def _named(fabric: Fabric, groups: Sequence[Sequence[int]]) -> dict[int, tuple[int, int]] | None:
    """The last two numbers in the names, relative to the smallest."""
    names = {s: fabric.switches[s].name for group in groups for s in group}
    if len({pattern(name) for name in names.values()}) > 1:
        return None
    numbers = {s: fields(name) for s, name in names.items()}
    if len(next(iter(numbers.values()))) < 2:
        return None
    low = [min(row[at] for row in numbers.values()) for at in (-2, -1)]
    return {s: (row[-2] - low[0], row[-1] - low[1]) for s, row in numbers.items()}


def _fits(
    spots: Mapping[int, tuple[int, int]], cables: Mapping[tuple[int, int], int], groups: Sequence[Sequence[int]]
) -> bool:
    """Whether nearly all cables inside groups run along rows and columns, and no two switches have one place."""
    if any(len({spots[s] for s in group}) < len(group) for group in groups):
        return False
    rows, columns = (max(spot[at] for spot in spots.values()) + 1 for at in (0, 1))
    if rows * columns > 2 * max(map(len, groups)):
        return False
    group_of = {s: number for number, group in enumerate(groups) for s in group}
    along = across = 0
    for a, b in cables:
        if group_of.get(a, -1) == group_of.get(b, -2):
            straight = spots[a][0] == spots[b][0] or spots[a][1] == spots[b][1]
            along, across = along + straight, across + (not straight)
    return 10 * across <= along


def _laid(spots: Mapping[int, tuple[int, int]], groups: Sequence[Sequence[int]]) -> tuple[int, list[Row]]:
    columns = max(column for _, column in spots.values()) + 1
    laid: list[Row] = []
    for group in groups:
        rows = max(spots[s][0] for s in group) + 1
        row: Row = [None] * (rows * columns)
        for s in group:
            row[spots[s][0] * columns + spots[s][1]] = s
        laid.append(row)
    return columns, laid


def _laid_by_cables(
    fabric: Fabric, near: Sequence[set[int]], cables: Mapping[tuple[int, int], int], groups: Sequence[Sequence[int]]
) -> tuple[int, list[Row]] | None:
    sides: list[tuple[list[list[int]], list[list[int]]]] = []
    lengths: Counter[int] = Counter()
    lines_of: list[list[list[int]]] = []
    for group in groups:
        lines = _lines(near, set(group))
        lines_of.append(lines)
        for line in lines:
            lengths[len(line)] += len(line) * (len(line) - 1)
    if not lengths:
        return None
    # The longer lines are rows. If rows and columns are equally long, either choice is correct.
    size = max(map(len, groups))
    longest = max(lengths, key=lambda length: (lengths[length], length))
    if size % longest:
        return None
    other = size // longest
    columns = max(longest, other)
    for lines in lines_of:
        split = _sides(lines, columns)
        if split is None:
            return None
        sides.append(split)
    spots: dict[int, tuple[int, int]] = {}
    for group, (rows, cols) in zip(groups, sides, strict=True):
        at_row = _numbered(fabric, rows)
        at_column = _numbered(fabric, cols)
        for s in group:
            if s not in at_row or s not in at_column:
                return None
            spots[s] = (at_row[s], at_column[s])
    return _laid(spots, groups) if _fits(spots, cables, groups) else None


def _numbered(fabric: Fabric, lines: Sequence[Sequence[int]]) -> dict[int, int]:
    order = sorted(lines, key=lambda line: min(natural(fabric.switches[s].name) for s in line))
    return {s: number for number, line in enumerate(order) for s in line}


def _lines(near: Sequence[set[int]], group: set[int]) -> list[list[int]]:
    """Rows and columns of a grid: cables that form a triangle belong to one row or column."""
    parent: dict[tuple[int, int], tuple[int, int]] = {}

    def root(edge: tuple[int, int]) -> tuple[int, int]:
        while parent[edge] != edge:
            parent[edge] = parent[parent[edge]]
            edge = parent[edge]
        return edge

    edges = [(a, b) for a in sorted(group) for b in sorted(near[a] & group) if a < b]
    parent.update((edge, edge) for edge in edges)
    for a, b in edges:
        for c in near[a] & near[b] & group:
            if c > b:
                first = root((a, b))
                for edge in ((a, c), (b, c)):
                    parent[root(edge)] = first
    members: dict[tuple[int, int], set[int]] = defaultdict(set)
    for edge in edges:
        members[root(edge)].update(edge)
    return [sorted(line) for line in members.values()]


def _sides(lines: Sequence[list[int]], columns: int) -> tuple[list[list[int]], list[list[int]]] | None:
    """Divides lines into rows and columns: two rows share no switch, and a row and a column share one."""
    through: dict[int, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        for s in line:
            through[s].append(number)
    side: dict[int, int] = {}
    for start in sorted(range(len(lines)), key=lambda number: -len(lines[number])):
        if start in side:
            continue
        side[start] = 0 if len(lines[start]) == columns else 1
        todo = [start]
        for number in todo:
            for s in lines[number]:
                for other in through[s]:
                    if other == number:
                        continue
                    if side.setdefault(other, 1 - side[number]) == side[number]:
                        return None
                    if other not in todo:
                        todo.append(other)
    rows = [line for number, line in enumerate(lines) if side[number] == 0]
    cols = [line for number, line in enumerate(lines) if side[number] == 1]
    return rows, cols
