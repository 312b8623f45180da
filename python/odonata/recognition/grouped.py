"""Makes a machine from a file that lists the nodes of each switch and group, but no cables.

The file gives the groups, their leaf switches and the nodes. The kind of machine, its cables and all other numbers come
from comments of Odonata in the file, or from a system that the user names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata import machine
from odonata.errors import InputError
from odonata.graphs.fabric import Fabric, count, fields, pattern
from odonata.machine.sources import flat
from odonata.recognition.layout import in_order, places
from odonata.recognition.recognise import Recognised, as_in, checked, facts_of, fail, links_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.machine import System

#: Keys of `fabric.nic` for nodes with several NICs.
_OF_SEVERAL_NICS = ("rail", "stripe_above")


@dataclass
class Grouping:
    """Nodes by leaf switch and group."""

    format: str
    groups: Mapping[str, Mapping[str, tuple[str, ...]]]
    """Group -> leaf switch -> nodes."""
    remarks: dict[str, Any]
    """The content of comments of Odonata."""
    usual: str | None = None
    """The system whose cables are used for this format, if the user names none."""
    whole: bool = False
    """Whether all leaf switches are in one group because the format has no groups."""
    notes: Sequence[str] = ()
    """What was assumed."""


def machine_of(given: Grouping, file: str, like: str | None = None, rails: int | None = None) -> Recognised:
    """The machine; `rails` are the NICs of a node, in place of the number in the system `like`.

    Raises InputError if no system gives the kind and the cables.
    """
    if rails is not None and "kind" in given.remarks:
        raise InputError("comments of Odonata in the file give the NICs of a node", hint="leave out --rails")
    name = like or given.usual
    if "kind" in given.remarks:
        base = _from_remarks(given.remarks)
    elif name is not None:
        base = machine.load(name)
    else:
        leaves = [len(nodes) for group in given.groups.values() for nodes in group.values()]
        raise InputError(
            f"the file says which nodes share a switch and a group ({count(len(given.groups), 'group')}, "
            f"{count(len(leaves), 'leaf switch')}, {count(sum(leaves), 'node')}), but not how switches are joined: "
            "this may be a fat tree, a Dragonfly+ or another kind",
            hint="--like SYSTEM takes the kind and the cables of a system",
        )
    has_kind = "kind" in given.remarks
    rows, names, hosts = _rows(given, base)
    table, sizes = _table(base, rows, hosts, exact=has_kind, rails=rails)
    result = Recognised(file, given.format, table, {}, [], [*given.notes])
    if not has_kind and (together := _together(table)) > 1:
        result.notes.append(_more_routers(base, len(names), together, given=rails is not None))
    for key in flat(table):
        if key in ("kind", "name", "title"):
            continue
        if key in sizes:
            result.sources[key] = f"recognised in {file} (confidence: high)"
        elif has_kind:
            result.sources[key] = f"a comment of Odonata in {file}"
        elif key == "rails" and rails is not None:
            result.sources[key] = "given: --rails"
        else:
            origin = {row.key: row.source for row in base.sources}.get(key)
            result.sources[key] = as_in(base.name, origin)
    if not has_kind:
        table.pop("name", None)
        table["title"] = f"imported from {file}"
    _seat(result, rows, names, hosts, given.remarks.get("failed", {}))
    rule = table.get("arrangement")
    words = "cores" if table["kind"] == "fat-tree" else f"arrangement `{rule}`" if rule else "a list"
    result.facts = facts_of(result, f"{words}, not from cables")
    checked(result)
    return result


def _from_remarks(table: dict[str, Any]) -> System:
    try:
        return machine.load({key: value for key, value in table.items() if key != "failed"})
    except InputError as e:
        raise InputError(f"comments of Odonata: {e.message}", hint=e.hint) from None


def _rows(given: Grouping, base: System) -> tuple[list[list[int | None]], list[str], list[tuple[str, ...]]]:
    """The leaf switches of each group in order, with None for missing ones; their names and nodes."""
    fabric = Fabric(given.format)
    hosts = []
    for group, own in given.groups.items():
        for leaf, nodes in own.items():
            fabric.add_switch(f"{leaf}", 0, group=None if given.whole else group)
            hosts.append(nodes)
    names = [switch.name for switch in fabric.switches]
    if given.whole:
        each = base.shape.routers_per_group
        (order,) = places(fabric, [list(range(len(names)))])
        return [order[at : at + each] for at in range(0, len(order), each)], names, hosts
    numbers: dict[str, list[int]] = {}
    for at, switch in enumerate(fabric.switches):
        numbers.setdefault(switch.group or "", []).append(at)
    return places(fabric, in_order(fabric, list(numbers.values()))), names, hosts


def _together(table: Mapping[str, Any]) -> int:
    """Routers that share their nodes, which one leaf switch represents in a file without cables."""
    return int(table.get("rails", 1)) if table.get("rails_on") in ("different-routers", "different-leaves") else 1


def _more_routers(base: System, leaves: int, together: int, *, given: bool) -> str:
    """The routers of the leaf switches in the file."""
    what = "leaves" if base.table.kind == "fat-tree" else "routers"
    return (
        f"{count(leaves, 'leaf switch')} of the file {'is' if leaves == 1 else 'are'} {leaves * together:,} {what}, "
        f"because {'--rails gives' if given else f'{base.name} has'} {together} NICs a node on different {what}; "
        f"--rails 1 keeps {leaves:,}"
    )


def _with_rails(table: dict[str, Any], rails: int | None) -> dict[str, Any]:
    """The table, with the given number of NICs of a node if there is one."""
    if rails is None:
        return table
    table = {key: value for key, value in table.items() if rails > 1 or key != "rails_on"} | {"rails": rails}
    if rails == 1:
        del table["rails"]
        nic = {key: value for key, value in table["fabric"].get("nic", {}).items() if key not in _OF_SEVERAL_NICS}
        table["fabric"] = table["fabric"] | {"nic": nic}
    return table


def _table(
    base: System,
    rows: Sequence[Sequence[int | None]],
    hosts: Sequence[tuple[str, ...]],
    *,
    exact: bool,
    rails: int | None,
) -> tuple[dict[str, Any], set[str]]:
    """The table of the base with the sizes of the file, and the keys of these sizes.

    With `exact`, the sizes of the base are kept if the nodes of the file fit in; missing nodes count as failed.
    """
    table = _with_rails({key: value for key, value in base.document().items() if key != "failed"}, rails)
    shape, kind = base.shape, table["kind"]
    leaves, each = max(map(len, rows)), max(map(len, hosts))
    last = len(rows[-1])
    keys = {
        "dragonfly-plus": {"groups", "leaves", "nodes_per_leaf"},
        "dragonfly": {"groups", "routers", "nodes_per_router"},
        "cascade": {"groups", "rows", "nodes_per_router"},
        "fat-tree": {"pods", "leaves", "nodes_per_leaf"},
    }[kind]
    fits = len(rows) == shape.groups and leaves <= shape.routers_per_group and each <= shape.nodes_per_router
    if exact and fits and last <= (shape.last_group_routers or shape.routers_per_group):
        return table, keys
    if kind == "fat-tree":
        return _tree(base, table, len(rows), leaves, each), keys
    together = _together(table)
    nics = 1 if together > 1 else table.get("rails", 1)
    for key in ("radix", "last_group_leaves", "last_group_routers", "last_group_rows", "pair_links", "global_links"):
        table.pop(key, None)
    table["groups"] = len(rows)
    if kind == "dragonfly-plus":
        table |= {"leaves": leaves, "nodes_per_leaf": each}
        full, size = leaves, table["spines"]
        part = {"last_group_leaves": last} if last < full else {}
    elif kind == "dragonfly":
        table |= {"routers": leaves * together, "nodes_per_router": each * nics}
        full, size = leaves, table["routers"]
        part = {"last_group_routers": last * together} if last < full else {}
    else:
        columns = table["columns"]
        table |= {"rows": -(-leaves * together // columns), "nodes_per_router": each * nics}
        size = table["rows"] * columns
        last_rows = -(-last * together // columns)
        part = {"last_group_rows": last_rows} if last_rows < table["rows"] else {}
    ports = table.get("global_links_per_spine", table.get("global_links_per_router", 0)) * size
    table |= part if len(rows) > 1 else {}
    table.setdefault("arrangement", "linear" if kind == "dragonfly-plus" else "absolute")
    if table.get("links_per_pair", 0) * (len(rows) - 1) > ports:
        del table["links_per_pair"]
        if table["arrangement"] == "parallel":
            table["arrangement"] = "linear"
    return table, keys | set(part)


def _tree(base: System, table: dict[str, Any], pods: int, leaves: int, each: int) -> dict[str, Any]:
    """The table of a fat tree with so many pods, leaves (or blocks of leaves with the same nodes) and nodes on each."""
    table.pop("radix", None)
    together = _together(table)
    table |= {"pods": pods, "leaves": leaves * together, "nodes_per_leaf": each}
    if pods == 1:
        for key in ("pods", "cores", "core_links"):
            table.pop(key, None)
    elif "cores" not in table:
        raise InputError(
            f"the file has {pods:,} groups of leaf switches, but `{base.name}` is a fat tree of two levels, which has "
            "one",
            hint="name a fat tree of three levels",
        )
    table["fabric"] = table["fabric"] | {"links": links_of(table["fabric"]["links"], table)}
    return table


def _seat(
    result: Recognised,
    rows: Sequence[Sequence[int | None]],
    names: Sequence[str],
    hosts: Sequence[tuple[str, ...]],
    failed: Any,
) -> None:
    """Assigns every node to its place. Places without a node count as failed, as do parts that comments call failed."""
    system = result.system()
    shape = system.shape
    leaf_of: list[int | None] = [None] * shape.routers
    for group, row in enumerate(rows):
        for at, leaf in enumerate(row):
            leaf_of[group * shape.routers_per_group + at] = leaf
    seat = _numbered(leaf_of, hosts, shape.nodes_per_router)
    result.nodes = [None] * shape.nodes
    for place, leaf in enumerate(leaf_of):
        for at, host in enumerate(hosts[leaf] if leaf is not None else ()):
            inside = at if seat is None else seat[host]
            result.nodes[place * shape.nodes_per_router + inside] = host
    result.routers = [None] * system.table.routers_in_all()
    holes = set()
    for router in range(len(result.routers)):
        nodes = system.table.nodes_of_router(router)
        if nodes:
            leaf = leaf_of[shape.router_of(nodes[0])]
            result.routers[router] = None if leaf is None else names[leaf]
            holes |= {router} if leaf is None else set()
    said = dict(failed) if isinstance(failed, dict) else {}
    links = [link for link in said.get("links", ()) if isinstance(link, str)]
    routers = {router for router in said.get("routers", ()) if isinstance(router, int)}
    lacking = {node for node, host in enumerate(result.nodes) if host is None}
    if said.get("nodes"):
        with_failures = machine.load({**result.table, "failed": {"nodes": said["nodes"]}})
        lacking |= set(with_failures.unusable_nodes)
    fail(result, links, routers | holes, lacking)


def _numbered(leaf_of: Sequence[int | None], hosts: Sequence[tuple[str, ...]], each: int) -> dict[str, int] | None:
    """The place of each host on its leaf by the number in its name, if these number all places of the machine."""
    every = [host for own in hosts for host in own]
    if len({pattern(host) for host in every}) > 1 or not fields(every[0]):
        return None
    number = {host: fields(host)[-1] for host in every}
    for low in dict.fromkeys((0, 1, min(number.values()))):
        if all(
            (number[host] - low) // each == place
            for place, leaf in enumerate(leaf_of)
            for host in (hosts[leaf] if leaf is not None else ())
        ):
            return {host: (value - low) % each for host, value in number.items()}
    return None
