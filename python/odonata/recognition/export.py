"""The cables of a machine, and the machine as a graph for other tools: GraphML and JSON."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from odonata.machine.system import System
from odonata.recognition import remarks
from odonata.recognition.names import node_names, router_names


@dataclass(frozen=True)
class Cable:
    """A cable between routers (`node` is None), or the link of one NIC (`to_router` and `to_port` are None)."""

    class_: str
    router: int
    port: int
    to_router: int | None
    to_port: int | None
    node: int | None
    failed: bool


def cables(system: System) -> Iterator[Cable]:
    """All cables, each once, at the router with the lower number, in order of router and port."""
    wired = system.describe()
    classes = list(wired["classes"])
    dead = wired.get("slot_failed")
    columns = [wired[name].tolist() for name in ("slot_router", "slot_port", "slot_class", "slot_peer_router")]
    nodes = wired["slot_peer_node"].tolist()
    # The ports of parallel cables are in the same order at both ends.
    back: dict[tuple[int, int], list[int]] = {}
    for router, port, _, peer in zip(*columns, strict=True):
        if 0 <= peer < router:
            back.setdefault((peer, router), []).append(port)
    used: Counter[tuple[int, int]] = Counter()
    for slot, (router, port, class_, peer) in enumerate(zip(*columns, strict=True)):
        failed = dead is not None and bool(dead[slot])
        if nodes[slot] >= 0:
            yield Cable(classes[class_], router, port, None, None, nodes[slot], failed)
        elif peer > router:
            to_port = back[router, peer][used[router, peer]]
            used[router, peer] += 1
            yield Cable(classes[class_], router, port, peer, to_port, None, failed)


def json_lines(system: System) -> Iterator[str]:
    """One JSON object, with one node, router or link on each line.

    `classes` has the bandwidth (B/s), latency (ns) and buffer (B) of every class of links. A link names the router and
    port of one end and the router or node at the other end. `failed` is written only if it is true.
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

    Attributes of nodes and routers: `type`, `name`, `number`, `group`, `failed`; of edges: `class`, `group` (of both
    ends, or -1 between groups), `bandwidth` in bytes per second, `latency` in nanoseconds, `port` (at the router with
    the lower number) and `to_port` (at the other one), `failed`. The attribute `odonata` of the graph has the numbers
    that do not follow from cables (`remarks`).
    """
    about = "\n".join(remarks.lines(system, cabled=True))
    wired = system.describe()
    classes = _classes(system)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for owner, attributes in _ATTRIBUTES.items():
        for name, type_ in attributes.items():
            yield f'<key id="{owner[0]}_{name}" for="{owner}" attr.name="{name}" attr.type="{type_}"/>'
    yield f'<graph id={quoteattr(_readable(system.name))} edgedefault="undirected">'
    yield f'<data key="g_title">{escape(_readable(system.title))}</data>'
    yield f'<data key="g_odonata">{escape(_readable(about))}</data>'
    for what, letter, names, parts in (
        ("node", "n", node_names(system), _nodes(system)),
        ("router", "r", router_names(system), _routers(system, wired)),
    ):
        for part in parts:
            values = {"type": what, "name": names[part["id"]], "number": part["id"], "group": part["group"]}
            yield _element("node", {"id": f"{letter}{part['id']}"}, values | {"failed": part.get("failed", False)})
    group = wired["router_group"].tolist()
    for number, cable in enumerate(cables(system)):
        far = f"n{cable.node}" if cable.to_router is None else f"r{cable.to_router}"
        same = cable.to_router is None or group[cable.to_router] == group[cable.router]
        speed = classes[cable.class_]
        values = {
            "class": cable.class_,
            "group": group[cable.router] if same else -1,
            "bandwidth": speed["bandwidth"],
            "latency": speed["latency_ns"],
            "port": cable.port,
            **({} if cable.to_port is None else {"to_port": cable.to_port}),
            "failed": cable.failed,
        }
        yield _element("edge", {"id": f"e{number}", "source": f"r{cable.router}", "target": far}, values)
    yield "</graph>"
    yield "</graphml>"


_ATTRIBUTES = {
    "graph": {"title": "string", "odonata": "string"},
    "node": {"type": "string", "name": "string", "number": "int", "group": "int", "failed": "boolean"},
    "edge": {
        "class": "string",
        "group": "int",
        "bandwidth": "double",
        "latency": "double",
        "port": "int",
        "to_port": "int",
        "failed": "boolean",
    },
}


def _classes(system: System) -> dict[str, dict[str, float]]:
    return {
        name: {
            "bandwidth": link.bandwidth / 10**6,
            "latency_ns": link.latency / 1000,
            "buffer": link.buffer or 0,
        }
        for name, link in system.table.fabric.links.items()
    }


def _nodes(system: System) -> Iterator[dict[str, Any]]:
    shape, table = system.shape, system.table.failed
    failed = set() if table is None else table.failed_nodes(shape.nodes)
    for node in range(shape.nodes):
        yield {"id": node, "group": shape.group_of(node)} | ({"failed": True} if node in failed else {})


def _routers(system: System, wired: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    failed = set(system.failures.get("routers", ()))
    for router, group in enumerate(wired["router_group"].tolist()):
        yield {"id": router, "group": group} | ({"failed": True} if router in failed else {})


def _link(cable: Cable) -> dict[str, Any]:
    far = {"node": cable.node} if cable.to_router is None else {"to_router": cable.to_router}
    values = {"class": cable.class_, "router": cable.router, "port": cable.port, **far}
    return values | ({"failed": True} if cable.failed else {})


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
