"""A map of nodes as CSV: the leaf switch and the cell (group) of every node, as Leonardo publishes it.

The header names the columns: `node`, `cell` (or `group`, `island`) and `switch` (or `leaf`, `router`); others are
ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.recognition import remarks
from odonata.recognition.grouped import Grouping
from odonata.recognition.names import node_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.machine import System

_COLUMNS = {
    "node": ("node", "host", "name"),
    "cell": ("cell", "group", "island"),
    "switch": ("switch", "leaf", "router"),
}


def _places(header: list[str]) -> dict[str, int] | None:
    names = [value.strip().lower() for value in header]
    columns = {}
    for what, known in _COLUMNS.items():
        at = next((names.index(name) for name in known if name in names), None)
        if at is None:
            return None
        columns[what] = at
    return columns


def recognises(text: str) -> bool:
    """Whether a text is such a map."""
    rows = (row for row in reading.lines(text) if row.strip() and not row.startswith("#"))
    try:
        return _places(reading.csv_row(next(rows, ""))) is not None
    except InputError:
        return False


def read(text: str) -> Grouping:
    """The nodes by switch and cell. Raises InputError with the line."""
    comments, places, width = [], None, 0
    groups: dict[str, dict[str, list[str]]] = {}
    seen: dict[str, int] = {}
    cell_of: dict[str, str] = {}
    for line, row in enumerate(reading.lines(text), 1):
        if not row.strip() or row.startswith("#"):
            if (match := remarks.MARK.fullmatch(row.strip())) is not None:
                comments.append((line, match[1]))
            continue
        values = [value.strip() for value in reading.csv_row(row)]
        if places is None:
            places, width = _places(values), len(values)
            continue
        if len(values) != width:
            mismatch = f"{len(values)} values, expected {width}"
            raise InputError(mismatch, line=line, hint="the file may be cut")
        node, cell, switch = (values[places[what]] for what in ("node", "cell", "switch"))
        for what, value in (("node", node), ("cell", cell), ("switch", switch)):
            if not value:
                raise InputError(f"the {what} is empty", line=line)
        if seen.setdefault(node, line) != line:
            raise InputError(f"the node `{shortened(node, 60)}` is listed twice, first in line {seen[node]}", line=line)
        if cell_of.setdefault(switch, cell) != cell:
            cells = f"`{shortened(cell_of[switch], 60)}` and `{shortened(cell, 60)}`"
            message = f"the switch `{shortened(switch, 60)}` is in the cells {cells}"
            raise InputError(message, line=line)
        groups.setdefault(cell, {}).setdefault(switch, []).append(node)
    if not groups:
        raise InputError("no node is listed")
    kept = {cell: {switch: tuple(nodes) for switch, nodes in own.items()} for cell, own in groups.items()}
    return Grouping("node map", kept, remarks.read(comments), usual="leonardo")


def lines(system: System) -> Iterator[str]:
    """The map of a machine."""
    shape = system.shape
    yield from remarks.comments(system, cabled=False)
    yield "node,cell,switch"
    for node, name in enumerate(node_names(system)):
        group, leaf = shape.group_of(node), shape.router_of(node)
        yield f"{name},{group},{group}-{leaf - group * shape.routers_per_group}"
