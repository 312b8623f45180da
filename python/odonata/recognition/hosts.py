"""Assigns hosts to nodes of a machine."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from odonata.graphs.fabric import count, natural
from odonata.recognition.layout import Nodes, filled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.graphs.fabric import Fabric, Nic
    from odonata.recognition.layout import Layout


def numbered(fabric: Fabric, layout: Layout) -> Nodes:
    """The node of every host.

    Nodes are numbered router by router, and on a router by their ports. If the routers of a block share their hosts
    (`rails_on = "different-routers"`), the routers of each group in `layout` are reordered so that blocks are
    contiguous.
    """
    number = layout.numbers()
    wanted = set(layout.with_nodes)
    notes: list[str] = []
    nics: dict[str, list[tuple[int, Nic]]] = defaultdict(list)
    elsewhere = set()
    for nic in fabric.nics:
        router = number.get(nic.switch)
        if router is None or router not in wanted:
            elsewhere.add(nic.host)
        else:
            nics[nic.host].append((router, nic))
    if elsewhere:
        notes.append(f"{count(len(elsewhere), 'host')} on switches without a place for nodes: left out")
    rails = Counter(map(len, nics.values())).most_common(1)[0][0]
    on = {host: frozenset(router for router, _ in own) for host, own in nics.items()}
    if layout.kind != "dragonfly-plus" and rails > 1:
        blocks = _blocks(layout, on, rails)
        on_blocks = None if blocks is None else _on_blocks(fabric, layout, nics, blocks, rails, notes)
        if on_blocks is not None:
            return on_blocks
        if all(len(routers) == 1 for routers in on.values()):
            return _on_routers(fabric, layout, nics, rails, notes)
    if rails > 1 and all(len(routers) == 1 for routers in on.values()):
        notes.append(f"assumed: the {rails} links of a host are one link with the bandwidth of all")
        on_blocks = _on_routers(fabric, layout, nics, rails, notes)
        key = "nodes_per_leaf" if layout.kind == "dragonfly-plus" else "nodes_per_router"
        on_blocks.keys = {key: len(on_blocks.names) // len(layout.with_nodes)}
        on_blocks.links_of_node = rails
        return on_blocks
    if any(len(own) > 1 for own in nics.values()):
        several = sum(len(own) > 1 for own in nics.values())
        notes.append(f"assumed: every NIC of {count(several, 'host')} with several of them is a node of its own")
        split: dict[str, list[tuple[int, Nic]]] = {}
        for host, own in nics.items():
            own.sort(key=lambda entry: (entry[0], entry[1].port))
            split |= {host if n == 0 else f"{host}#{n + 1}": [entry] for n, entry in enumerate(own)}
        nics = split
    return _on_routers(fabric, layout, nics, 1, notes)


def _on_routers(
    fabric: Fabric, layout: Layout, nics: dict[str, list[tuple[int, Nic]]], rails: int, notes: list[str]
) -> Nodes:
    """Every host on one router."""
    of_router: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for host, own in nics.items():
        of_router[own[0][0]].append((min(nic.port for _, nic in own), host))
    number = layout.numbers()
    room = room_of(fabric, number, {router: router for router in layout.with_nodes}, rails)
    whole = {host for host, own in nics.items() if len(own) >= rails}
    seats = seats_of(of_router, room.fitted(of_router, whole, notes), room.ports)
    names, failed = _named(layout.with_nodes, seats)
    node_of = {name: node for node, name in enumerate(names) if name is not None}
    failed |= {node_of[host] for host, own in nics.items() if len(own) != rails and host in node_of}
    incomplete(nics, rails, notes)
    each = len(names) // len(layout.with_nodes)
    if layout.kind == "dragonfly-plus":
        return Nodes({"nodes_per_leaf": each}, names, failed, notes=notes)
    keys: dict[str, int | str] = {"nodes_per_router": each * rails}
    return Nodes(keys | ({"rails": rails, "rails_on": "one-router"} if rails > 1 else {}), names, failed, notes=notes)


@dataclass
class Room:
    """The least number of places for nodes on a router, or on a block of routers with the same hosts."""

    cables: dict[int, Counter[int]]
    """Router or block -> cables to hosts on each of its routers, with those to unnamed hosts."""
    ports: set[int]
    """Ports that lead to hosts without a name."""
    each: int
    """NICs of a node on one router."""

    def fitted(self, of_place: dict[int, list[tuple[int, str]]], whole: set[str], notes: list[str]) -> int:
        """The number of places of a router or block: enough for its hosts with all NICs and for its cables.

        No job can run on other hosts. Those without a place are removed from `of_place`.
        """
        complete = {place: sum(host in whole for _, host in hosts) for place, hosts in of_place.items()}
        cables = (most for own in self.cables.values() for most in own.values())
        most = max([*complete.values(), *(-(-number // self.each) for number in cables)])
        lost = 0
        for place, hosts in of_place.items():
            partly = sorted((entry for entry in hosts if entry[1] not in whole), key=lambda e: (e[0], natural(e[1])))
            gone = set(partly[max(0, most - complete[place]) :])
            lost += len(gone)
            of_place[place] = [entry for entry in hosts if entry not in gone]
        if lost:
            notes.append(f"{count(lost, 'host')} that lack a NIC find no place beside the others: left out")
        return most


def room_of(fabric: Fabric, number: Mapping[int, int], place_of: Mapping[int, int], each: int) -> Room:
    """The places of each router or block, from the cables to hosts.

    `number` is the router of a switch, `place_of` the place of a router, `each` the NICs of a node on one router.
    """
    cables: dict[int, Counter[int]] = defaultdict(Counter)
    links = [*((nic.switch, nic.port) for nic in fabric.nics), *fabric.unnamed]
    for switch, _ in links:
        router = number.get(switch)
        if router is not None and router in place_of:
            cables[place_of[router]][router] += 1
    return Room(cables, {port for _, port in fabric.unnamed}, each)


def seats_of(
    of_router: dict[int, list[tuple[int, str]]], most: int | None = None, more: set[int] | None = None
) -> dict[int, list[str | None]]:
    """The hosts of each router in the order of ports, with gaps if all routers use the same few ports for hosts.

    `most` is the number of places of each; `more` are ports of unnamed hosts.
    """
    most = max(map(len, of_router.values())) if most is None else most
    ports = sorted({port for hosts in of_router.values() for port, _ in hosts} | (more or set()))
    place = {port: at for at, port in enumerate(ports)} if len(ports) == most and ports[0] >= 0 else None
    seats: dict[int, list[str | None]] = {}
    for router, hosts in of_router.items():
        hosts.sort(key=lambda entry: (entry[0], natural(entry[1])))
        row: list[str | None] = [None] * most
        for at, (port, host) in enumerate(hosts):
            row[at if place is None else place[port]] = host
        seats[router] = row
    return seats


def _named(routers: Sequence[int], seats: dict[int, list[str | None]]) -> tuple[list[str | None], set[int]]:
    each = len(next(iter(seats.values())))
    names: list[str | None] = []
    for router in routers:
        names += seats.get(router, [None] * each)
    return names, {node for node, name in enumerate(names) if name is None}


def incomplete(nics: dict[str, list[tuple[int, Nic]]], rails: int, notes: list[str]) -> None:
    """Adds a note on hosts with fewer or more NICs than most."""
    if lacking := sum(len(own) < rails for own in nics.values()):
        notes.append(f"{count(lacking, 'host')} with fewer than {rails} NICs: no job is placed there")
    if more := sum(len(own) > rails for own in nics.values()):
        notes.append(f"{count(more, 'host')} with more than {rails} NICs: no job is placed there")


def _blocks(layout: Layout, on: dict[str, frozenset[int]], rails: int) -> list[frozenset[int]] | None:
    """Blocks of `rails` routers of a group that share their hosts; None if hosts are attached in another way."""
    blocks = {routers for routers in on.values() if len(routers) == rails}
    block_of: dict[int, frozenset[int]] = {}
    for block in blocks:
        for router in block:
            if block_of.setdefault(router, block) != block:
                return None
    group_of = layout.group_of()
    if not blocks or any(len({group_of[router] for router in block}) > 1 for block in blocks):
        return None
    if any(len({block_of.get(router) for router in routers}) > 1 for routers in on.values()):
        return None
    return list(blocks)


def _on_blocks(
    fabric: Fabric,
    layout: Layout,
    nics: dict[str, list[tuple[int, Nic]]],
    blocks: list[frozenset[int]],
    rails: int,
    notes: list[str],
) -> Nodes | None:
    """Every host on all routers of a block; None if the routers of a grid are in another order."""
    new_of: dict[int, int] = {}
    routers: list[int | None] = []
    ranges = []
    block_of = {router: block for block in blocks for router in block}
    for group in layout.groups:
        left = list(group)
        order: list[int | None] = []
        while left:
            block = block_of.get(left[0])
            if block is None:
                # A router without hosts forms a block of empty places with its neighbours.
                alone = [router for router in left if router not in block_of][:rails]
                order += alone
                order += [None] * (-len(alone) % rails)
                left = [router for router in left if router not in alone]
            else:
                order += sorted(block)
                left = [router for router in left if router not in block]
        first = len(routers)
        for at, router in enumerate(order):
            if router is not None:
                new_of[router] = first + at
        routers += [None if router is None else layout.routers[router] for router in order]
        ranges.append(range(first, len(routers)))
    if layout.kind == "cascade" and any(old != new for old, new in new_of.items()):
        return None
    layout.routers, layout.groups = routers, ranges
    layout.with_nodes = list(range(len(routers)))
    if layout.kind == "dragonfly":
        _resize(layout)
    of_block: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for host, own in nics.items():
        router, port = min((new_of[router], nic.port) for router, nic in own)
        at_first = port if router % rails == 0 else -1
        of_block[router // rails].append((at_first, host))
    room = room_of(fabric, layout.numbers(), {router: router // rails for router in range(len(routers))}, 1)
    whole = {host for host, own in nics.items() if len(own) >= rails}
    seats = seats_of(of_block, room.fitted(of_block, whole, notes), room.ports)
    names, failed = _named(range(len(routers) // rails), seats)
    node_of = {name: node for node, name in enumerate(names) if name is not None}
    failed |= {node_of[host] for host, own in nics.items() if len(own) != rails and host in node_of}
    incomplete(nics, rails, notes)
    each = len(next(iter(seats.values())))
    keys: dict[str, int | str] = {"nodes_per_router": each, "rails": rails, "rails_on": "different-routers"}
    return Nodes(keys, names, failed, notes=notes)


def _resize(layout: Layout) -> None:
    """Makes all groups of a dragonfly except the last equally large again."""
    rows = [[layout.routers[router] for router in group] for group in layout.groups]
    size, full, last = filled(rows)
    layout.sizes = {"groups": len(full), "routers": size} | ({} if last is None else {"last_group_routers": last})
    if [len(row) for row in full] == [len(row) for row in rows]:
        return
    layout.routers = [switch for row in full for switch in row]
    firsts = [sum(map(len, full[:at])) for at in range(len(full) + 1)]
    layout.groups = [range(a, b) for a, b in pairwise(firsts)]
    layout.with_nodes = list(range(len(layout.routers)))
