"""Lists of links: `a b bandwidth latency` in each line, with commas, semicolons, tabs or spaces between them.

Bandwidth and latency may be left out. A first line may name the columns. Lines that begin with `#` are comments. Each
line is a link of its own, in both directions; two lines with the same ends are two parallel links. If every line has
its reverse, each two of them are the directions of one link.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from odonata import reading
from odonata.errors import InputError, shortened, unknown
from odonata.graphs.fabric import Fabric, Link, Nic
from odonata.graphs.quantities import delay, rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

#: Column -> its names in a first line.
_COLUMNS = {
    "a": ("a", "source", "src", "from"),
    "b": ("b", "target", "destination", "dst", "to"),
    "bandwidth": ("bandwidth", "rate", "bw"),
    "latency": ("latency", "delay"),
}
_ORDER = tuple(_COLUMNS)
_NAMED = {name: column for column, names in _COLUMNS.items() for name in names}


class Edge(NamedTuple):
    """A link between two vertices: bandwidth in millionths of a byte per second, latency in picoseconds."""

    a: str
    b: str
    bandwidth: int | None
    latency: int | None
    line: int


def read(text: str, nodes: Sequence[str] | None, *, routers_only: bool) -> Fabric:
    """The fabric in a list of links (`fabric_of` says what are nodes). Raises InputError with the line."""
    lines = enumerate(reading.lines(text), start=1)
    rows = [(at, _fields(line, at)) for at, line in lines if line.strip() and not line.lstrip().startswith("#")]
    columns = _first_line(rows) if rows else None
    edges = [_edge(fields, columns or _ORDER, at) for at, fields in (rows[1:] if columns else rows)]
    if not edges:
        raise InputError("it lists no link", hint="a line for each link: a, b, bandwidth, latency")
    return fabric_of(edges, nodes, routers_only=routers_only, form="list of links")


def _fields(line: str, number: int) -> list[str]:
    separator = next((mark for mark in ",;\t" if mark in line), None)
    if separator is None:
        return line.split()
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=separator, strict=True))]
    except csv.Error as e:
        raise InputError(f"not CSV: {e}", line=number) from None


def _first_line(rows: Sequence[tuple[int, Sequence[str]]]) -> list[str] | None:
    """The columns that a first line names; None if it is a link, such as one between the vertices `a` and `b`."""
    number, fields = rows[0]
    words = [field.lower() for field in fields]
    if len(words) < 2 or not set(words[:2]) <= _NAMED.keys() or any(char.isdigit() for word in words for char in word):
        return None
    ends = {field for _, row in rows[1:] for field in row[:2]}
    if len(words) == 2 and ends & set(fields):
        return None
    for word in words:
        if word not in _NAMED:
            error = unknown("column", word, _NAMED)
            raise error.but(line=number, path=())
    columns = [_NAMED[word] for word in words]
    reading.once(columns, fields, number)
    for column in ("a", "b"):
        if column not in columns:
            raise InputError(f"expected one column for end `{column}` of a link, found none", line=number)
    return columns


def _edge(fields: Sequence[str], columns: Sequence[str], number: int) -> Edge:
    if not 2 <= len(fields) <= len(columns):
        several = f"{len(fields)} field{'' if len(fields) == 1 else 's'}"
        message = f"expected a link (two to {len(columns)} of {', '.join(columns)}), found {several}"
        raise InputError(message, line=number, hint="a, b, 100 Gbit/s, 1 us")
    values: Mapping[str, str] = dict(zip(columns, fields, strict=False))
    for end in ("a", "b"):
        if not values.get(end):
            raise InputError(f"a link without end `{end}`", line=number)
    bandwidth, latency = values.get("bandwidth"), values.get("latency")
    return Edge(
        values["a"],
        values["b"],
        rate(bandwidth, number) if bandwidth else None,
        delay(latency, number) if latency else None,
        number,
    )


def rows(given: Iterable[Any], nodes: Sequence[str] | None, *, routers_only: bool) -> Fabric:
    """The fabric of rows `[a, b]`, `[a, b, bandwidth]` or `[a, b, bandwidth, latency]` of a document or of Python.

    Raises InputError with the number of the row.
    """
    edges = []
    for number, row in enumerate(given, start=1):
        try:
            if not isinstance(row, list | tuple) or not 2 <= len(row) <= len(_ORDER):
                raise InputError(f"expected [a, b, bandwidth, latency], found `{shortened(str(row), 60)}`")
            ends = row[:2]
            if not all(isinstance(end, str | int) and not isinstance(end, bool) for end in ends):
                raise InputError(f"expected names or numbers of the ends, found `{shortened(str(row), 60)}`")
            edges.append(_edge([str(field) for field in row], _ORDER, number))
        except InputError as e:
            raise e.but(message=f"link {number}: {e.message}", line=None) from None
    if not edges:
        raise InputError("no link is listed")
    return fabric_of(edges, nodes, routers_only=routers_only, form="list of links")


def fabric_of(edges: Sequence[Edge], nodes: Sequence[str] | None, *, routers_only: bool, form: str) -> Fabric:
    """The fabric of a list of links.

    Nodes are the vertices whose names match a pattern of `nodes`; without it, those with one link. With `routers_only`
    all are routers. Raises InputError with the line.
    """
    edges, both_ways = _joined(edges)
    links_of = Counter(end for edge in edges for end in (edge.a, edge.b))
    hosts = set()
    if not routers_only:
        hosts = {name for name, links in links_of.items() if links == 1} if nodes is None else matching(links_of, nodes)
    fabric = Fabric(form)
    if both_ways:
        fabric.notes.append(f"every link is listed in both directions, so these are {len(edges):,} links")
    if nodes is None and hosts:
        fabric.notes += alike(hosts, links_of.keys() - hosts)
    switches: dict[str, int] = {}
    for edge in edges:
        for end in (edge.a, edge.b):
            if end not in hosts and end not in switches:
                switches[end] = fabric.add_switch(end, edge.line)
    for edge in edges:
        a, b, line = edge.a, edge.b, edge.line
        speed: dict[str, Any] = {"bandwidth": edge.bandwidth, "latency": edge.latency}
        if a in switches and b in switches:
            fabric.add_link(Link(switches[a], -1, switches[b], -1, line, **speed))
        elif a in switches:
            fabric.add_nic(Nic(b, switches[a], -1, line, **speed))
        elif b in switches:
            fabric.add_nic(Nic(a, switches[b], -1, line, **speed))
        else:
            message = f"a link joins two nodes, `{shortened(a, 60)}` and `{shortened(b, 60)}`"
            hint = (
                "nodes_per_router = 1 puts a node on each vertex" if nodes is None else "`nodes` says which are nodes"
            )
            raise InputError(message, line=line, hint=hint)
    return fabric


def _joined(edges: Sequence[Edge]) -> tuple[Sequence[Edge], bool]:
    """The links, and whether every line had its reverse: then only the first of each two is left.

    Raises InputError for two directions of different bandwidth or latency.
    """
    directions = Counter((edge.a, edge.b) for edge in edges)
    if any(directions[b, a] != lines for (a, b), lines in directions.items()):
        return edges, False
    left: list[Edge] = []
    open_: dict[tuple[str, str], list[Edge]] = {}
    for edge in edges:
        if firsts := open_.get((edge.b, edge.a)):
            first = firsts.pop(0)
            if (first.bandwidth, first.latency) != (edge.bandwidth, edge.latency):
                ends = f"`{shortened(edge.a, 40)}` and `{shortened(edge.b, 40)}`"
                message = f"the two directions between {ends} differ, the other is in line {first.line}"
                raise InputError(message, line=edge.line, hint="a link is the same in both directions")
        else:
            open_.setdefault((edge.a, edge.b), []).append(edge)
            left.append(edge)
    return left, True


def alike(hosts: set[str], switches: Iterable[str]) -> list[str]:
    """A note on vertices with one link, which are nodes for that, whose names are like those of switches."""

    def kind(name: str) -> str:
        return re.sub("[0-9]+", "0", name).casefold()

    kinds = {kind(name) for name in switches}
    doubtful = sorted(name for name in hosts if kind(name) in kinds)
    if not doubtful:
        return []
    shown = ", ".join(f"`{shortened(name, 40)}`" for name in doubtful[:3])
    more = f" and {len(doubtful) - 3:,} more" if len(doubtful) > 3 else ""
    are = "has one link and is taken as a node" if len(doubtful) == 1 else "have one link and are taken as nodes"
    return [f"{shown}{more} {are}, though switches have such names: `nodes` says which vertices are nodes"]


def matching(names: Iterable[str], patterns: Sequence[str]) -> set[str]:
    """The names that match a pattern. Raises InputError for a pattern that matches none."""
    names = list(names)
    known = set(names)
    chosen: set[str] = set()
    for pattern in patterns:
        matched = {pattern} & known or {name for name in names if fnmatchcase(name, pattern)}
        if not matched:
            raise InputError(f"`nodes`: no vertex has a name like `{shortened(pattern, 60)}`", path=("nodes",))
        chosen |= matched
    return chosen
