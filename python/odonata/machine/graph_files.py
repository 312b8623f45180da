"""The numbers of a graph from the file, the list or the generator that its machine names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odonata import graphs, units
from odonata.errors import InputError
from odonata.graphs import edges, generators
from odonata.graphs.fabric import Fabric
from odonata.graphs.wired import Speed, Wired


def numbered(merged: Mapping[str, Any], folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The table of a graph with numbers in place of what `links` names, and where they come from.

    A table that has numbers already (`nics`) stays as it is. Raises InputError, with file and line if there are.
    """
    table = dict(merged)
    nodes, each = _nodes(table.pop("nodes", None)), _each(table.pop("nodes_per_router", None))
    if "nics" in table:
        for key, value in (("nodes", nodes), ("nodes_per_router", each)):
            if value is not None:
                raise InputError(f"`{key}` and `nics` cannot be given together: the list is complete", path=(key,))
        return table, {}
    if "links" not in table:
        hint = 'links = "links.csv", with lines `a, b, bandwidth, latency`'
        raise InputError("a graph needs `links`: a file, a list, or a generator", hint=hint, path=("links",))
    if nodes is not None and each is not None:
        message = (
            "`nodes` and `nodes_per_router` cannot be given together: either vertices are nodes, or all are routers"
        )
        raise InputError(message, path=("nodes_per_router",))
    links = table["links"]
    file = folder / links if isinstance(links, str) else None
    usual = {name: _usual(table, name) for name in ("node", "link")}
    try:
        fabric, each = _fabric(links, file, nodes, each)
        wired = graphs.wire(fabric, usual, each)
    except InputError as e:
        if e.path and e.path[0] in ("nodes", "nodes_per_router"):
            raise
        raise (e.at(file, e.line) if file is not None else e.under(*(() if e.path else ("links",)))) from None
    origin = f"from {links}" if isinstance(links, str) else "from the links that are given"
    return _put(table, wired), _sources(wired, origin)


def _fabric(
    links: Any, file: Path | None, nodes: tuple[str, ...] | None, each: int | None
) -> tuple[Fabric, int | None]:
    if file is not None:
        text = graphs.text_of(file)
        return graphs.read(text, nodes, routers_only=each is not None), each
    if isinstance(links, Mapping):
        if nodes is not None:
            raise InputError("a generator says itself which are its nodes", hint="leave out `nodes`", path=("nodes",))
        made = generators.make(links)
        return edges.rows(made.links, made.nodes, routers_only=made.nodes is None), each or made.nodes_per_router
    if isinstance(links, list | tuple):
        return edges.rows(links, nodes, routers_only=each is not None), each
    raise InputError("expected a file, a list of links, or the table of a generator", path=("links",))


def _nodes(given: Any) -> tuple[str, ...] | None:
    """Patterns of the names of nodes."""
    if given is None:
        return None
    patterns = [given] if isinstance(given, str) else given
    if not isinstance(patterns, list | tuple) or not patterns or not all(isinstance(p, str) and p for p in patterns):
        message = f"`nodes`: expected patterns of the names of nodes, found `{given!r}`"
        raise InputError(message, hint='nodes = "h*", or nodes = ["gpu*", "storage1"]', path=("nodes",))
    return tuple(patterns)


def _each(given: Any) -> int | None:
    if given is not None and (type(given) is not int or given < 1):
        message = f"`nodes_per_router`: expected a whole number from 1 on, found `{given!r}`"
        raise InputError(message, path=("nodes_per_router",))
    return given


def _given_links(table: Mapping[str, Any]) -> Mapping[str, Any]:
    fabric = table.get("fabric")
    links = fabric.get("links") if isinstance(fabric, Mapping) else None
    return links if isinstance(links, Mapping) else {}


def _usual(table: Mapping[str, Any], name: str) -> Speed:
    """Bandwidth and latency of a class where the graph gives none."""
    given = _given_links(table).get(name)
    given = given if isinstance(given, Mapping) else {}
    readers = {"bandwidth": units.bandwidth_micro, "latency": units.time_ps}
    values = []
    for key, reader in readers.items():
        try:
            values.append(reader(given[key]) if key in given else None)
        except InputError as e:
            raise e.but(message=f"`{key}`: {e.message}", path=("fabric", "links", name, key)) from None
    return Speed(values[0], values[1])


def _put(table: dict[str, Any], wired: Wired) -> dict[str, Any]:
    given = _given_links(table)
    unknown = [name for name in given if name not in ("node", "link", *wired.speeds)]
    links: dict[str, Any] = {name: given[name] for name in unknown}  # refused later
    for name, speed in wired.speeds.items():
        own = {**_table_of(given.get("node" if name == "node" else "link")), **_table_of(given.get(name))}
        if speed.bandwidth is not None:
            own["bandwidth"] = units.format_bandwidth(speed.bandwidth)
        if speed.latency is not None:
            own["latency"] = units.format_time(speed.latency)
        links[name] = own
    failed = _table_of(table.get("failed"))
    if wired.failed_links:
        failed["links"] = [*failed.get("links", ()), *wired.failed_links]
    if wired.failed_routers:
        failed["routers"] = [*failed.get("routers", ()), *wired.failed_routers]
    return {
        **table,
        "links": wired.links,
        "nics": wired.nics,
        "rails": wired.rails,
        "router_names": wired.routers,
        "node_names": wired.nodes,
        "fabric": {**_table_of(table.get("fabric")), "links": links},
        **({"failed": failed} if failed else {}),
        **({"left_out": wired.notes} if wired.notes else {}),
    }


def _table_of(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _sources(wired: Wired, origin: str) -> dict[str, str]:
    keys = ["links", "nics", "rails", "router_names", "node_names"]
    keys += [f"fabric.links.{name}.{key}" for name in wired.speeds for key in ("bandwidth", "latency")]
    if wired.notes:
        keys.append("left_out")
    if wired.failed_links or wired.failed_routers:
        keys += ["failed.links", "failed.routers"]
    return dict.fromkeys(keys, origin)
