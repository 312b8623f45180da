"""Platforms of SimGrid (XML) that are plain graphs: hosts, routers, and routes of one link each.

A route of several links says nothing of the vertices between them, so such a platform is refused, and so are clusters,
which SimGrid wires itself. Source: simgrid.org, "XML reference".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from xml.parsers import expat

from odonata.errors import InputError, shortened, unknown
from odonata.graphs.fabric import Fabric, Link, Nic
from odonata.graphs.quantities import delay, rate

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Elements that describe more than a graph, each with what it is.
_REFUSED = {
    "cluster": "a cluster, whose links SimGrid makes",
    "cabinet": "cabinets, whose links SimGrid makes",
    "peer": "a peer of a Vivaldi zone",
    "zoneRoute": "a route between zones",
    "ASroute": "a route between zones",
    "bypassRoute": "a route that bypasses others",
    "bypassZoneRoute": "a route that bypasses others",
}


class _Route(NamedTuple):
    source: str
    target: str
    links: list[str]
    line: int


class _Reader:
    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.vertices: dict[str, tuple[str, int]] = {}
        self.links: dict[str, tuple[Mapping[str, str], int]] = {}
        self.routes: list[_Route] = []

    def read(self, text: str) -> None:
        try:
            self.parser.Parse(text.encode(), True)
        except expat.ExpatError as e:
            raise InputError(f"not XML: {expat.errors.messages[e.code]}", line=e.lineno) from None

    def _start(self, name: str, given: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if name in _REFUSED:
            message = f"`{name}` of SimGrid is {_REFUSED[name]}: no plain graph"
            raise InputError(message, line=line, hint="hosts, routers and routes of one link each can be read")
        if name in ("host", "router"):
            id_ = self._named(given, "id", line)
            if id_ in self.vertices:
                raise InputError(f"`{shortened(id_, 60)}` is listed twice", line=line)
            self.vertices[id_] = name, line
        elif name == "link":
            self.links[self._named(given, "id", line)] = given, line
        elif name == "route":
            self.routes.append(_Route(self._named(given, "src", line), self._named(given, "dst", line), [], line))
        elif name == "link_ctn" and self.routes:
            self.routes[-1].links.append(self._named(given, "id", line))

    @staticmethod
    def _named(given: Mapping[str, str], key: str, line: int) -> str:
        if key not in given:
            raise InputError(f"an element without `{key}`", line=line)
        return given[key]


def read(text: str) -> Fabric:
    """The fabric of a platform. Raises InputError with the line."""
    reader = _Reader()
    reader.read(text)
    fabric = Fabric("platform of SimGrid")
    switches = {id_: fabric.add_switch(id_, line) for id_, (kind, line) in reader.vertices.items() if kind == "router"}
    seen: set[frozenset[str]] = set()
    for route in reader.routes:
        for end in (route.source, route.target):
            if end not in reader.vertices:
                raise unknown("host or router", end, reader.vertices).but(line=route.line, path=())
        if route.source == route.target:
            continue  # what a host sends to itself
        if len(route.links) != 1:
            message = f"a route of {len(route.links)} links, whose vertices between are not known: no plain graph"
            raise InputError(message, line=route.line, hint="routes of one link each can be read")
        ends = frozenset((route.source, route.target))
        if ends in seen:
            continue  # the way back
        seen.add(ends)
        if route.links[0] not in reader.links:
            raise unknown("link", route.links[0], reader.links).but(line=route.line, path=())
        _add(fabric, route, switches, *reader.links[route.links[0]])
    return fabric


def _add(fabric: Fabric, route: _Route, switches: Mapping[str, int], given: Mapping[str, str], line: int) -> None:
    speed: dict[str, Any] = {
        "bandwidth": rate(given["bandwidth"], line) if "bandwidth" in given else None,
        "latency": delay(given["latency"], line) if "latency" in given else None,
    }
    a, b = route.source, route.target
    if a in switches and b in switches:
        fabric.add_link(Link(switches[a], -1, switches[b], -1, route.line, **speed))
    elif a in switches or b in switches:
        host, switch = (b, a) if a in switches else (a, b)
        fabric.add_nic(Nic(host, switches[switch], -1, route.line, **speed))
    else:
        message = f"a link joins two hosts, `{shortened(a, 60)}` and `{shortened(b, 60)}`"
        raise InputError(message, line=route.line, hint="hosts have links to routers only")
