"""A machine with failures in a file that Odonata wrote: comments give its sizes, and names give the places.

A list of cables cannot show missing cables: a spine without a cable to any leaf looks like another kind of switch, and
the number of parallel cables is unknown. So Odonata writes the whole table of such a machine in comments. The cables
and hosts in the file are then those that work.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from odonata import machine
from odonata.errors import InputError
from odonata.graphs.fabric import count
from odonata.machine.kinds import KINDS
from odonata.recognition import cabling, cray
from odonata.recognition.cabling import Cable
from odonata.recognition.export import cables
from odonata.recognition.layout import Layout, Nodes, Stated
from odonata.recognition.names import node_names, router_names
from odonata.recognition.remarks import NOT_OF_THE_NETWORK
from odonata.recognition.tree_links import TreeLinks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.graphs.fabric import Fabric
    from odonata.machine import System
    from odonata.recognition.group_links import GroupLinks

#: A whole table has one of these keys.
_WHOLE = ("nodes_per_leaf", "nodes_per_router")
#: Most routers for each switch of the file. Assumed: no useful file lacks more. It keeps wrong numbers from filling the
#: memory.
_MOST_ROUTERS = 10
#: Keys of a rule that a list of all cables replaces.
_RULES = ("arrangement", "arrangement_seed", "spread", "links_per_pair", "pair_links")


def keys(remarks: Mapping[str, Any]) -> frozenset[str]:
    """The keys of sizes and cabling in comments: all keys of the kind, or none."""
    kind = KINDS.get(remarks["kind"]) if isinstance(remarks.get("kind"), str) else None
    if kind is None or not any(key in remarks for key in _WHOLE):
        return frozenset()
    return frozenset(kind.model_fields) - set(NOT_OF_THE_NETWORK)


def layout_of(fabric: Fabric) -> Layout | None:
    """The places of all switches and hosts, if comments give the whole table and all names have the form of Odonata.

    Raises InputError for comments that describe no valid machine.
    """
    known = keys(fabric.remarks)
    if not known:
        return None
    table = {key: value for key, value in fabric.remarks.items() if key in known}
    system = _system(table, len(fabric.switches))
    for routers, nodes in _schemes(system):
        router_of = {name: router for router, name in enumerate(routers)}
        if all(switch.name in router_of for switch in fabric.switches):
            return _layout(fabric, system, table, router_of, {name: node for node, name in enumerate(nodes)})
    return None


def _system(table: dict[str, Any], switches: int) -> System:
    """The machine of the comments, with an arbitrary bandwidth."""
    links = {name: {"bandwidth": "1 GB/s"} for name in KINDS[table["kind"]].classes_of(table)}
    try:
        system = machine.load(table | {"fabric": {"links": links}})
    except InputError as e:
        raise InputError(f"comments of Odonata describe no machine: {e.message}", hint=e.hint) from None
    routers = system.table.routers_in_all()
    if routers > _MOST_ROUTERS * (switches + 100):
        message = f"comments of Odonata describe a {table['kind']} of {routers:,} switches, but the file lists "
        raise InputError(message + count(switches, "switch"))
    return system


def _schemes(system: System) -> list[tuple[list[str], list[str]]]:
    """The names of routers and nodes in each format."""
    schemes = [(router_names(system), node_names(system))]
    return [*schemes, cray.names(system)] if cray.can_hold(system) else schemes


def _layout(
    fabric: Fabric, system: System, table: dict[str, Any], router_of: Mapping[str, int], node_of: Mapping[str, int]
) -> Layout | None:
    """The layout; None if a host does not belong to the machine, or has a NIC where the machine has none."""
    wired = system.describe()
    columns = (wired[name].tolist() for name in ("slot_router", "slot_peer_node"))
    wanted = Counter((node, router) for router, node in zip(*columns, strict=True) if node >= 0)
    here: Counter[tuple[int, int]] = Counter()
    names: list[str | None] = [None] * system.shape.nodes
    for nic in fabric.nics:
        node = node_of.get(nic.host)
        if node is None:
            return None
        names[node] = nic.host
        here[node, router_of[fabric.switches[nic.switch].name]] += 1
    if here - wanted:
        return None
    lacking = {node for node, _ in wanted - here}
    nodes = Nodes({}, names, lacking)
    if partly := sum(names[node] is not None for node in lacking):
        nodes.notes.append(f"{count(partly, 'host')} with fewer than {system.rails} NICs: no job is placed there")
    routers: list[int | None] = [None] * system.table.routers_in_all()
    for number, switch in enumerate(fabric.switches):
        routers[router_of[switch.name]] = number
    groups: dict[int, list[int]] = defaultdict(list)
    for router in range(len(routers)):
        group = system.table.group_of_router(router)
        if group is not None:
            groups[group].append(router)
    ranges = [range(own[0], own[-1] + 1) for _, own in sorted(groups.items())]
    with_nodes = [router for router in range(len(routers)) if system.table.nodes_of_router(router)]
    sizes = {key: value for key, value in table.items() if isinstance(value, int)}
    return Layout(table["kind"], sizes, routers, ranges, with_nodes, [], nodes, Stated(table, system))


def cabled(layout: Layout, links: GroupLinks | TreeLinks, failed: set[int]) -> tuple[dict[str, Any], str]:
    """The table from comments, and how its groups are joined; with a list of cables if the file has more cables.

    `failed` are routers that do not work.
    """
    assert layout.stated is not None
    table, system = dict(layout.stated.table), layout.stated.system
    if isinstance(links, TreeLinks):
        return table, links.words(layout)
    group = layout.group_of()
    whole = [
        Cable(cable.router, cable.port, cable.to_router, cable.to_port)
        for cable in cables(system)
        if cable.to_router is not None and cable.to_port is not None and group[cable.router] != group[cable.to_router]
    ]
    wanted = Counter((cable.a, cable.b) for cable in whole)
    here = Counter((cable.a, cable.b) for cable in links.between if not cable.failed)
    if more := here - wanted:
        key = cabling.ports_key(layout.kind)
        ends = Counter(end for pair in (wanted + more).elements() for end in pair)
        table = {name: value for name, value in table.items() if name not in _RULES}
        table[key] = max(table[key], *ends.values())
        table["global_links"] = cabling.listed([*whole, *(Cable(a, -1, b, -1) for a, b in more.elements())])
    if "global_links" in table:
        return table, f"{count(len(table['global_links']), 'cable')} between groups, listed one by one"
    if len(layout.groups) == 1:
        return table, "one group"
    missing = sum(often for pair, often in (wanted - here).items() if failed.isdisjoint(pair))
    return table, cabling.words(system.topology, missing)
