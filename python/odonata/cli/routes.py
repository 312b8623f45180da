"""`odonata show SYSTEM --routes A B`: the paths that packets may take between two nodes, hop by hop."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from odonata import reading
from odonata.errors import InputError, shortened, unknown
from odonata.text import aligned


def routes(name: str, first: str, second: str, routing: str | None, limit: int) -> dict[str, Any]:
    """The possible paths between two nodes, given by number or name, as `--json` prints them.

    `name` is a machine or the file of a scenario. `routing` is a name or a table in TOML; None means the routing of the
    scenario, or the machine's default. Raises InputError if there is no such machine, node or routing.
    """
    from odonata.document import read
    from odonata.document.edit import read_value
    from odonata.machine import core
    from odonata.scenario import Scenario

    by_name = {} if _digits(first) and _digits(second) else _names_of(name)
    source, destination = (_number(node, by_name) for node in (first, second))
    if source == destination:
        raise InputError(
            "a packet from a node to itself does not use the network", hint="name two nodes: --routes 0 20"
        )
    if limit < 1:
        raise InputError(f"`--limit` must be at least 1, found {limit}")
    document = read(name) if name.endswith(".toml") else None
    if document is None or "system" not in document.data:
        document = None
        machine, folder = {"system": name}, Path()
    else:
        machine, folder = {key: document.data[key] for key in _OF_SCENARIO if key in document.data}, Path(name).parent
    if routing is not None:
        machine["routing"] = read_value(routing)
    try:
        resolved = Scenario.of({**machine, "job": [_job(source, destination)]}, folder=folder).resolve()
    except InputError as e:
        # Only what stands in the file has a place that the caller knows.
        unplaced = e.but(key=None)
        elsewhere = {"job"} if routing is None else {"job", "routing"}
        raise unplaced if document is None or {*e.path[:1]} & elsewhere else document.locate(unplaced) from None
    paths = core.routes(resolved.spec, source, destination, min(limit, sys.maxsize))
    group, names = resolved.system.describe()["router_group"], resolved.system.table.names()
    for path in paths["paths"]:
        for hop in path["hops"]:
            own = int(group[hop["router"]])
            hop["group"] = own if own >= 0 else None
            if names is None:
                continue
            if names.routers:
                hop["router_name"] = names.routers[hop["router"]]
            # A file may name only its routers, or only its nodes.
            to, of = (hop["to_node"], names.nodes) if hop["to_router"] is None else (hop["to_router"], names.routers)
            if of:
                hop["to_name"] = of[to]
    return {
        "kind": "routes",
        "system": resolved.system.name,
        "routing": resolved.spec["routing"],
        "from": source,
        "to": destination,
        **(
            {"from_name": names.nodes[source], "to_name": names.nodes[destination]}
            if names is not None and names.nodes
            else {}
        ),
        "group_name": resolved.system.table.group_name,
        "total": paths["total"],
        "paths": paths["paths"],
    }


def _names_of(system: str) -> dict[str, int]:
    """Names of the nodes of a machine, with their numbers; empty if it gives none."""
    from odonata import scenario

    names = scenario.system(system).table.names()
    return {} if names is None else {name: number for number, name in enumerate(names.nodes)}


def _number(node: str, names: dict[str, int]) -> int:
    """A node by its number, or by its name."""
    number = reading.whole(node)
    if number is not None:
        return number
    if _digits(node):
        raise InputError(f"there is no node {shortened(node, 60)}")
    if node in names:
        return names[node]
    if names:
        raise unknown("node", node, names)
    raise InputError(f"`--routes`: expected the number of a node, found `{shortened(node, 60)}`")


def _digits(node: str) -> bool:
    """Whether it is a number, of any size. Digits of other scripts are none, as in scenarios."""
    return node.isascii() and node.isdecimal()


def text(paths: dict[str, Any]) -> str:
    """The paths as a table."""
    shown, total = len(paths["paths"]), paths["total"]
    ends = " ".join(f"{end} node {_named(paths[end], paths.get(f'{end}_name'))}" for end in ("from", "to"))
    head = f"{paths['system']}, routing {_routing(paths['routing'])}: {ends}"
    count = f"{total:,} path{'' if total == 1 else 's'}"
    blocks = [f"{head}\n{count}" + ("" if shown == total else f", {shown} of them shown (--limit shows more)")]
    # One table for all paths, so that their columns are aligned.
    hops = iter(
        aligned([_cells(hop, paths["group_name"]) for path in paths["paths"] for hop in path["hops"]], indent="  ")
    )
    for number, path in enumerate(paths["paths"], start=1):
        links = sum(hop["to_router"] is not None for hop in path["hops"])
        kind = "minimal" if path["minimal"] else "non-minimal"
        lines = [f"path {number}, {kind}, {links} link{'' if links == 1 else 's'} between routers"]
        lines += [next(hops) for _ in path["hops"]]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _named(number: int, name: str | None) -> str:
    return str(number) if name is None else f"{number} ({name})"


def _cells(hop: dict[str, Any], group_name: str) -> list[str]:
    what, number = ("node", hop["to_node"]) if hop["to_router"] is None else ("router", hop["to_router"])
    to = f"to {what} {_named(number, hop.get('to_name'))}"
    at = [
        f"router {_named(hop['router'], hop.get('router_name'))}",
        "" if hop["group"] is None else f"{group_name} {hop['group']}",
        f"port {hop['port']}",
    ]
    return [*at, str(hop["class"]), f"channel {hop['channel']}", to]


def _routing(spec: dict[str, Any]) -> str:
    options = [f"{key} {spec[key]}" for key in ("mode", "via", "gateways", "spread") if key in spec]
    name = f"ugal-{spec['knowledge'][0]}" if "knowledge" in spec else str(spec["name"])
    return f"{name} ({', '.join(options)})" if options else name


#: Keys of a scenario that decide the paths of its packets.
_OF_SCENARIO = ("system", "fabric", "routing", "sensing", "compat")


def _job(source: int, destination: int) -> dict[str, Any]:
    """A job of two nodes, for which a scenario is resolved; what it sends does not matter."""
    app = {"pattern": "uniform-random", "message": "1 B", "interval": "1 us", "messages": 1}
    return {"name": "a", "place": {"nodes": [source, destination]}, "app": app}
