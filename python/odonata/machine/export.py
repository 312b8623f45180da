"""A machine as a graph, for other tools: GraphML and JSON."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from odonata.machine.system import System

#: File ending -> what writes such a file, line by line.
FORMATS: Mapping[str, Callable[[System], Iterator[str]]]


@dataclass(frozen=True)
class Cable:
    """A cable between routers, or the link of one NIC: `node` is None or `to_router` is."""

    class_: str
    router: int
    port: int
    to_router: int | None
    node: int | None
    failed: bool


def cables(system: System) -> Iterator[Cable]:
    """All cables, each once: at the router with the lower number, in order of router and port."""
    wired = system.describe()
    classes = list(wired["classes"])
    dead = wired.get("slot_dead")
    columns = [wired[name].tolist() for name in ("slot_router", "slot_port", "slot_class", "slot_peer_router")]
    nodes = wired["slot_peer_node"].tolist()
    for slot, (router, port, class_, peer) in enumerate(zip(*columns, strict=True)):
        failed = dead is not None and bool(dead[slot])
        if nodes[slot] >= 0:
            yield Cable(classes[class_], router, port, None, nodes[slot], failed)
        elif peer > router:
            yield Cable(classes[class_], router, port, peer, None, failed)


def json_lines(system: System) -> Iterator[str]:
    """One JSON object, a node, router or link a line.

    `classes` says of every class of links its bandwidth (B/s), latency (ns) and buffer (B). A link names the router and
    port of one end and the router or node at the other; `failed` stands where it is true.
    """
    wired = system.describe()
    head = {"name": system.name, "title": system.title, "kind": system.table.kind, "classes": _classes(system)}
    yield json.dumps(head)[:-1] + ","
    yield from _list("nodes", _nodes(system))
    yield ","
    yield from _list("routers", _routers(system, wired))
    yield ","
    yield from _list("links", (_link(cable) for cable in cables(system)))
    yield "}"


def graphml_lines(system: System) -> Iterator[str]:
    """A GraphML document: nodes `n0`, `n1`, ..., routers `r0`, `r1`, ..., and an undirected edge for each cable.

    Attributes of nodes and routers: `type`, `number`, `group`, and `failed` of routers; of edges: `class`, `group` (of
    both ends, or -1 between groups), `bandwidth` in bytes per second, `latency` in nanoseconds, `port` (at the router
    with the lower number), `failed`.
    """
    wired = system.describe()
    classes = _classes(system)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for owner, attributes in _ATTRIBUTES.items():
        for name, type_ in attributes.items():
            yield f'<key id="{owner[0]}_{name}" for="{owner}" attr.name="{name}" attr.type="{type_}"/>'
    yield f'<graph id={quoteattr(_readable(system.name))} edgedefault="undirected">'
    yield f'<data key="g_title">{escape(_readable(system.title))}</data>'
    for node in _nodes(system):
        yield _element("node", {"id": f"n{node['id']}"}, {"type": "node", "number": node["id"], "group": node["group"]})
    for router in _routers(system, wired):
        told = {"type": "router", "number": router["id"], "group": router["group"]}
        yield _element("node", {"id": f"r{router['id']}"}, told | {"failed": router.get("failed", False)})
    group = wired["router_group"].tolist()
    for number, cable in enumerate(cables(system)):
        far = f"n{cable.node}" if cable.to_router is None else f"r{cable.to_router}"
        same = cable.to_router is None or group[cable.to_router] == group[cable.router]
        speed = classes[cable.class_]
        told = {
            "class": cable.class_,
            "group": group[cable.router] if same else -1,
            "bandwidth": speed["bandwidth"],
            "latency": speed["latency_ns"],
            "port": cable.port,
            "failed": cable.failed,
        }
        yield _element("edge", {"id": f"e{number}", "source": f"r{cable.router}", "target": far}, told)
    yield "</graph>"
    yield "</graphml>"


FORMATS = {".graphml": graphml_lines, ".json": json_lines}

_ATTRIBUTES = {
    "graph": {"title": "string"},
    "node": {"type": "string", "number": "int", "group": "int", "failed": "boolean"},
    "edge": {
        "class": "string",
        "group": "int",
        "bandwidth": "double",
        "latency": "double",
        "port": "int",
        "failed": "boolean",
    },
}


def _classes(system: System) -> dict[str, dict[str, float]]:
    return {
        name: {
            "bandwidth": link.bandwidth / 10**6,
            "latency_ns": link.latency / 1000,
            "buffer": link.buffer,
        }
        for name, link in system.table.fabric.links.items()
    }


def _nodes(system: System) -> Iterator[dict[str, Any]]:
    shape = system.shape
    return ({"id": node, "group": shape.group_of(node)} for node in range(shape.nodes))


def _routers(system: System, wired: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    failed = set(system.failures.get("routers", ()))
    for router, group in enumerate(wired["router_group"].tolist()):
        yield {"id": router, "group": group} | ({"failed": True} if router in failed else {})


def _link(cable: Cable) -> dict[str, Any]:
    far = {"node": cable.node} if cable.to_router is None else {"to_router": cable.to_router}
    told = {"class": cable.class_, "router": cable.router, "port": cable.port, **far}
    return told | ({"failed": True} if cable.failed else {})


def _list(name: str, rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    yield f'"{name}": ['
    last = None
    for row in rows:
        if last is not None:
            yield f"{last},"
        last = json.dumps(row)
    if last is not None:
        yield last
    yield "]"


def _element(kind: str, names: Mapping[str, str], values: Mapping[str, Any]) -> str:
    head = " ".join(f'{name}="{value}"' for name, value in names.items())
    data = "".join(f'<data key="{kind[0]}_{name}">{_text(value)}</data>' for name, value in values.items())
    return f"<{kind} {head}>{data}</{kind}>"


def _readable(text: str) -> str:
    """A text without the characters that XML 1.0 cannot hold, escaped or not."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else escape(f"{value}")
