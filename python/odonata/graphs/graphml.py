"""GraphML: vertices that are switches and hosts, and an edge for every cable.

The module reads files of `odonata export`, and graphs of other tools such as networkx and yEd. It accepts only elements
and text. A document type is refused, because it could define entities. Source: graphml.graphdrawing.org, the primer.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from odonata import reading, units
from odonata.errors import InputError, shortened, unknown
from odonata.graphs import quantities
from odonata.graphs.edges import alike, matching
from odonata.graphs.fabric import Fabric, Link, Nic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SWITCH = ("router", "switch", "leaf", "spine")
_HOST = ("node", "host", "compute", "server", "hca", "nic")
#: Attributes for the type and the name of a vertex.
_TYPES = ("type", "role", "kind")
_NAMES = ("name", "label")


def recognises(text: str) -> bool:
    """Whether a text is GraphML."""
    return text.lstrip().startswith("<")


@dataclass(slots=True)
class _Part:
    """A vertex or an edge with its values."""

    line: int
    names: Mapping[str, str]
    values: dict[str, str] = field(default_factory=dict)

    def number(self, key: str, what: type[int] | type[float]) -> Any:
        """A value as a number; None if there is none. Raises InputError with the line."""
        text = self.values.get(key, "").strip()
        if not text:
            return None
        try:
            value = what(text) if len(text) < 40 else None
        except ValueError:
            value = None
        if value is None or not 0 <= value < 1e18:
            kind = "a whole number" if what is int else "a number"
            raise InputError(f"`{key}`: expected {kind} from 0 on, found `{shortened(text, 60)}`", line=self.line)
        return value

    def flag(self, key: str) -> bool:
        """A Boolean value. Raises InputError with the line."""
        text = self.values.get(key, "false").strip().lower()
        if text not in ("true", "false", "1", "0", ""):
            raise InputError(f"`{key}`: expected true or false, found `{shortened(text, 60)}`", line=self.line)
        return text in ("true", "1")


class _Reader:
    """Collects the elements of a document."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.keys: dict[str, tuple[str, str]] = {}
        self.defaults: dict[tuple[str, str], str] = {}
        self.vertices: dict[str, _Part] = {}
        self.edges: list[_Part] = []
        self.about: dict[str, str] = {}
        self.about_line = 1
        self.directed = False
        self._open: list[tuple[str, _Part | None]] = []
        self._key: str | None = None
        self._text: list[str] | None = None
        self._graphs = 0

    @property
    def _line(self) -> int:
        return self.parser.CurrentLineNumber

    def read(self, text: str) -> None:
        try:
            self.parser.Parse(text.encode(), True)
        except expat.ExpatError as e:
            words = expat.errors.messages[e.code]
            hint = "the file may be cut" if e.code in (3, 5) or "unclosed" in words or "no element" in words else None
            raise InputError(f"not XML: {words}", line=e.lineno, hint=hint) from None
        if not self._graphs:
            raise InputError("it has no graph", hint="GraphML has an element `graph`")

    def _doctype(self, *_: Any) -> None:
        raise InputError("a document type is refused: it could define entities", line=self._line)

    def _start(self, full: str, names: dict[str, str]) -> None:
        name = full.rsplit(" ", 1)[-1]
        if not self._open and name != "graphml":
            raise InputError(f"expected GraphML, found an element `{shortened(name, 60)}`", line=self._line)
        if len(self._open) > 32:
            raise InputError("elements are nested too deeply; 32 levels at most can be read", line=self._line)
        part = None
        if name == "key":
            self._key = names.get("id", "")
            owner = names.get("for", "all")
            self.keys[self._key] = (owner, names.get("attr.name", self._key))
        elif name == "graph":
            self._graphs += 1
            if self._graphs > 1:
                raise InputError("a second graph; expected one", line=self._line)
            self.directed = names.get("edgedefault") == "directed"
            part = _Part(self._line, names, self.about)
            self.about_line = self._line
        elif name == "node":
            part = _Part(self._line, names)
            id_ = names.get("id")
            if id_ is None:
                raise InputError("a vertex without `id`", line=self._line)
            if id_ in self.vertices:
                first = self.vertices[id_].line
                message = f"the vertex `{shortened(id_, 60)}` is listed twice, first in line {first}"
                raise InputError(message, line=self._line)
            self.vertices[id_] = part
        elif name == "edge":
            part = _Part(self._line, names)
            self.edges.append(part)
        elif name == "hyperedge":
            raise InputError("a hyperedge: expected cables with two ends", line=self._line)
        elif name == "data":
            self._key = names.get("key", "")
            if self._key not in self.keys:
                raise InputError(f"the key `{shortened(self._key, 60)}` is not declared", line=self._line)
        if name in ("data", "default"):
            self._text = []
        self._open.append((name, part))

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, _: str) -> None:
        name, _part = self._open.pop()
        if self._text is None or self._key is None or name not in ("data", "default"):
            return
        owner, attribute = self.keys[self._key]
        text, self._text = "".join(self._text), None
        if name == "default":
            self.defaults[owner, attribute] = text
        elif (inside := self._open[-1][1]) is not None:
            inside.values[attribute] = text


def read(text: str, nodes: Sequence[str] | None = None, *, routers_only: bool = False) -> Fabric:
    """The fabric in a GraphML document. Raises InputError with the line.

    Hosts are vertices whose names match a pattern of `nodes`; without it, those of such a type or, if no vertex has a
    type, those with one cable. With `routers_only` all vertices are switches.
    """
    reader = _Reader()
    reader.read(text)
    for owner, parts in (("node", reader.vertices.values()), ("edge", reader.edges)):
        defaults = {name: value for (of, name), value in reader.defaults.items() if of in (owner, "all")}
        for part in parts if defaults else ():
            part.values = defaults | part.values
    rows = reading.lines(reader.about.get("odonata", ""))
    fabric = Fabric("GraphML", comments=[(reader.about_line, row) for row in rows if row.strip()])
    edges = _once(reader) if reader.directed else reader.edges
    for edge in edges:
        for end in ("source", "target"):
            if (name := edge.names.get(end)) not in reader.vertices:
                message = f"a cable leads to `{shortened(str(name), 60)}`, which is no vertex"
                error = unknown("vertex", str(name), reader.vertices) if len(reader.vertices) < 1000 else None
                hint = error.hint if error is not None and "did you mean" in (error.hint or "") else None
                raise InputError(message, line=edge.line, hint=hint)
    names = _names(reader)
    hosts: set[str] = set()
    if nodes is not None:
        chosen = matching(names.values(), nodes)
        hosts = {id_ for id_, name in names.items() if name in chosen}
    elif not routers_only:
        hosts, typed = _hosts(reader, edges)
        if not typed:
            own = {names[id_] for id_ in hosts}
            fabric.notes += alike(own, set(names.values()) - own)
    switches = {}
    for id_, part in reader.vertices.items():
        if id_ not in hosts:
            switches[id_] = fabric.add_switch(
                names[id_],
                part.line,
                ports=part.number("ports", int),
                group=part.values.get("group"),
                failed=part.flag("failed"),
            )
    down = {id_ for id_ in hosts if reader.vertices[id_].flag("failed")}
    for edge in edges:
        if down.isdisjoint((edge.names["source"], edge.names["target"])):
            _add(fabric, edge, switches, names)
    return fabric


def _add(fabric: Fabric, edge: _Part, switches: Mapping[str, int], names: Mapping[str, str]) -> None:
    a, b = edge.names["source"], edge.names["target"]
    ports = [edge.number(key, int) for key in ("port", "to_port")]
    port_a, port_b = (-1 if port is None else port for port in ports)
    speed: dict[str, Any] = {"bandwidth": _bandwidth(edge), "latency": _latency(edge)}
    if a in switches and b in switches:
        link = Link(switches[a], port_a, switches[b], port_b, edge.line, failed=edge.flag("failed"), **speed)
        fabric.add_link(link)
    elif a in switches:
        fabric.add_nic(Nic(names[b], switches[a], port_a, edge.line, **speed))
    elif b in switches:
        fabric.add_nic(Nic(names[a], switches[b], port_b, edge.line, **speed))
    else:
        message = f"a cable joins two hosts, `{shortened(a, 60)}` and `{shortened(b, 60)}`"
        raise InputError(message, line=edge.line)


def _bandwidth(edge: _Part) -> int | None:
    """A number of bytes per second, or a bandwidth with its unit."""
    text = edge.values.get("bandwidth", "").strip()
    if text[-1:].isalpha():
        return quantities.rate(text, edge.line)
    return units.bandwidth_micro(f"{text} B/s") if edge.number("bandwidth", float) else None


def _latency(edge: _Part) -> int | None:
    """A number of nanoseconds, or a time with its unit."""
    text = edge.values.get("latency", "").strip()
    if text[-1:].isalpha():
        return quantities.delay(text, edge.line)
    latency = edge.number("latency", float)
    return None if latency is None else round(latency * 1000)


def _once(reader: _Reader) -> list[_Part]:
    """The edges of a directed graph; the two directions of a cable become one edge."""
    waiting: Counter[tuple[str | None, str | None]] = Counter()
    kept = []
    for edge in reader.edges:
        ends = edge.names.get("source"), edge.names.get("target")
        if waiting[ends[::-1]]:
            waiting[ends[::-1]] -= 1
        else:
            waiting[ends] += 1
            kept.append(edge)
    return kept


def _hosts(reader: _Reader, edges: list[_Part]) -> tuple[set[str], bool]:
    """The vertices that are hosts, and whether by their type; if no vertex has a type, those with one cable."""
    hosts, typed = set(), False
    for id_, part in reader.vertices.items():
        word = next((part.values[key] for key in _TYPES if key in part.values), "").strip().lower()
        if not word:
            continue
        typed = True
        if word in _HOST:
            hosts.add(id_)
        elif word not in _SWITCH:
            message = f"`{shortened(id_, 60)}` is of the type `{shortened(word, 60)}`"
            raise InputError(message, line=part.line, hint=f"known: {', '.join((*_SWITCH, *_HOST))}")
    if typed:
        return hosts, True
    cables = Counter(edge.names[end] for edge in edges for end in ("source", "target"))
    return {id_ for id_ in reader.vertices if cables[id_] == 1}, False


def _names(reader: _Reader) -> dict[str, str]:
    """Names of the vertices; ids if names are missing or not unique."""
    for key in _NAMES:
        names = {id_: part.values.get(key, "").strip() for id_, part in reader.vertices.items()}
        if all(names.values()) and len(set(names.values())) == len(names):
            return names
    return {id_: re.sub(r"\s+", " ", id_) for id_ in reader.vertices}
