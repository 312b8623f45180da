"""Lists of cables of Cray machines: `rtr --interconnect` of an XC, and the point-to-point file of Slingshot.

For an XC (Aries), a line is a tile of a router: `c0-0c1s2a0l05(0:1:2) green -> c0-0c1s7a0l12(0:1:7)`, where `c0-0` is
the cabinet, `c1` the chassis, `s2` the slot, `a0` the router and `l05` the tile; green cables join a chassis, black
ones a group, blue ones groups; `ptile -> processor` is one of the two tiles of a NIC. Every cable is listed at both
ends.

For Slingshot, a line of the CSV file is a cable between two jacks (`x1000c0r1j14`), or from a jack to one or two NICs
(`x1000c0s3b0n1h0`), with the groups of both. A jack has two ports; `x1000c0r1j14p0` is one of them.

Sources: ovis-hpc/LDMS and Cray-HPE/sat, which read such files; the Cray naming of components.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.graphs.fabric import Fabric, Link, Nic, natural
from odonata.recognition import remarks
from odonata.recognition.export import cables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from odonata.machine import System
    from odonata.machine.kinds import MachineTable
    from odonata.machine.shape import Shape

_TILE = r"(c(\d{1,6})-(\d{1,6})c(\d{1,6})s(\d{1,6})a\d{1,6})l(\d{1,6})(?:\([^)]*\)|\[[^\]]*\])*"
_ROW = re.compile(rf"{_TILE}\s+(\S+)\s+->\s+(\S.*)")
_FAR = re.compile(_TILE)
#: Class of a cable by its colour.
COLOURS = {"green": "chassis", "black": "group", "blue": "optical"}
#: Nodes of an Aries router.
_ARIES_NODES = 4

_JACK = re.compile(r"(x\d{1,6}c\d{1,6}r\d{1,6})j(\d{1,6})(?:p(\d))?")
_NIC = re.compile(r"(x\d{1,6}c\d{1,6}s\d{1,6}(?:b\d{1,6})?n\d{1,6})(?:h(\d{1,6}))?")
_HEADER = "cable_id"
_ENDS = ("src_conn_a", "src_conn_b", "dst_conn_a", "dst_conn_b")
_NONE = ("", "none", "n/a", "na")
_COLUMNS = (
    *(_HEADER, *_ENDS, "stage", "src_egress_a", "src_egress_b", "dst_egress_a", "dst_egress_b", "link_type"),
    *("src_group", "dst_group", "part_number", "part_length", "calculated_distance", "route"),
)


def is_interconnect(text: str) -> bool:
    """Whether a text is what `rtr --interconnect` prints."""
    return re.search(rf"^\s*{_TILE}\s+\S+\s+->", text, re.MULTILINE) is not None


def is_point_to_point(text: str) -> bool:
    """Whether a text is a point-to-point file of Slingshot."""
    return re.search(rf"^{_HEADER},", text, re.MULTILINE) is not None


def read_interconnect(text: str) -> Fabric:
    """The fabric of an XC. Raises InputError with the line."""
    comments = []
    rows: dict[tuple[str, int], tuple[int, str, tuple[str, int]]] = {}
    hosts: dict[tuple[str, int], int] = {}
    free: set[int] = set()
    spots: dict[str, tuple[int, ...]] = {}
    first: dict[str, int] = {}
    for line, raw in enumerate(reading.lines(text), 1):
        row = raw.strip()
        if not row or row.startswith("#"):
            if (match := remarks.MARK.fullmatch(row)) is not None:
                comments.append((line, match[1]))
            continue
        match = _ROW.fullmatch(row)
        if match is None:
            message = f"expected `c0-0c0s0a0l00 green -> c0-0c0s1a0l01`, found `{shortened(row, 60)}`"
            raise InputError(message, line=line, hint="the file may be cut")
        router, tile, colour, to = match[1], int(match[6]), match[7].lower(), match[8].strip()
        spots[router] = tuple(int(match[at]) for at in (2, 3, 4, 5))
        first.setdefault(router, line)
        here = router, tile
        if here in rows or here in hosts:
            before = rows[here][0] if here in rows else hosts[here]
            message = f"two cables at tile {tile} of the router `{router}`, the first in line {before}"
            raise InputError(message, line=line)
        if colour in ("ptile", "host"):
            free.add(tile)
            if to != "unused":
                hosts[here] = line
        elif to != "unused":
            if colour not in COLOURS:
                raise InputError(
                    f"the cable is `{shortened(colour, 60)}`; expected {', '.join(COLOURS)} or ptile",
                    line=line,
                    hint="cables X+, Y+ and Z+ are those of a torus (Gemini), which cannot be simulated"
                    if re.fullmatch("[xyz][+-]", colour)
                    else None,
                )
            far = _FAR.match(to)
            if far is None:
                raise InputError(f"expected a tile of another router, found `{shortened(to, 60)}`", line=line)
            rows[here] = line, COLOURS[colour], (far[1], int(far[6]))
    fabric = Fabric("rtr --interconnect of a Cray XC", remarks=remarks.read(comments))
    _check_back(rows, first)
    groups = _electrical(spots, rows)
    number = {}
    for router in sorted(spots, key=natural):
        group, position = groups[router]
        number[router] = fabric.add_switch(router, first[router], group=group, position=position)
    for (router, tile), (line, class_, (far_router, far_tile)) in rows.items():
        if (router, tile) < (far_router, far_tile):
            a, b = number[router], number[far_router]
            fabric.add_link(Link(a, tile, b, far_tile, line, class_=class_))
    tiles = sorted(free)
    if tiles == list(range(len(tiles))):
        # The form of Odonata: two tiles for each node, then the others in the order of the ports.
        fabric.first_port = len(tiles) // 2
    _add_nodes(fabric, number, hosts, tiles)
    return fabric


def _add_nodes(
    fabric: Fabric, number: Mapping[str, int], hosts: Mapping[tuple[str, int], int], tiles: list[int]
) -> None:
    if not tiles:
        fabric.notes.append(f"assumed: {_ARIES_NODES} nodes on every router, as on an Aries; the file has no ptiles")
        for router, switch in number.items():
            for node in range(_ARIES_NODES):
                line = fabric.switches[switch].line
                fabric.add_nic(Nic(f"{router[: router.rindex('a')]}n{node}", switch, -1, line))
        return
    at = {tile: place // 2 for place, tile in enumerate(tiles)}
    seen: set[tuple[str, int]] = set()
    for (router, tile), line in sorted(hosts.items()):
        node = at[tile]
        if (router, node) not in seen:
            seen.add((router, node))
            name = f"{router[: router.rindex('a')]}n{node}"
            fabric.add_nic(Nic(name, number[router], tiles[2 * node], line))


def _check_back(rows: Mapping[tuple[str, int], tuple[int, str, tuple[str, int]]], first: Mapping[str, int]) -> None:
    for (router, tile), (line, _, far) in rows.items():
        if far[0] not in first:
            message = f"the router `{far[0]}` stands at the other end of this cable, but has no lines"
            raise InputError(message, line=line, hint="the file may be cut")
        back = rows.get(far)
        if back is None or back[2] != (router, tile):
            message = f"nothing leads back from tile {far[1]} of `{far[0]}`"
            raise InputError(message, line=line, hint="every cable stands at both its ends")


def _electrical(
    spots: Mapping[str, tuple[int, ...]], rows: Mapping[tuple[str, int], tuple[int, str, tuple[str, int]]]
) -> dict[str, tuple[str, tuple[int, int]]]:
    """The group of each router (green and black cables join a group), and its row and column there."""
    near: dict[str, set[str]] = {router: set() for router in spots}
    for (router, _), (_, class_, (far, _)) in rows.items():
        if class_ != "optical":
            near[router].add(far)
    result: dict[str, tuple[str, tuple[int, int]]] = {}
    for start in sorted(spots, key=natural):
        if start in result:
            continue
        part = [start]
        seen = {start}
        for router in part:
            for far in near[router] - seen:
                seen.add(far)
                part.append(far)
        chassis = {key: at for at, key in enumerate(sorted({spots[router][:3] for router in part}))}
        for router in part:
            result[router] = start, (chassis[spots[router][:3]], spots[router][3])
    return result


def read_point_to_point(text: str) -> Fabric:
    """The fabric of a Slingshot machine. Raises InputError with the line."""
    comments = []
    header: list[str] | None = None
    fabric = Fabric("point-to-point file of Slingshot")
    # A line end inside quotes would shift the line numbers of errors. No such file has one.
    for line, row in enumerate(reading.lines(text), 1):
        if (match := remarks.MARK.fullmatch(row.strip())) is not None:
            comments.append((line, match[1]))
            continue
        values = [value.strip() for value in reading.csv_row(row)]
        if header is None:
            if values[:1] == [_HEADER]:
                header = values
                for name in _ENDS:
                    if name not in header:
                        raise InputError(f"the column `{name}` is missing", line=line)
            continue
        if not any(values) or values[0].startswith("#"):
            continue
        if len(values) < max(header.index(name) for name in _ENDS) + 1:
            mismatch = f"{len(values)} values, expected {len(header)}"
            raise InputError(mismatch, line=line, hint="the file may be cut")
        _add_cable(fabric, dict(zip(header, values, strict=False)), line)
    if header is None:
        raise InputError(f"there is no header `{_HEADER},src_conn_a,...`")
    fabric.remarks = remarks.read(comments)
    return fabric


def _add_cable(fabric: Fabric, row: Mapping[str, str], line: int) -> None:
    ends = [row[name].replace(".", "").lower() for name in _ENDS]
    sources, targets = ([end for end in pair if end not in _NONE] for pair in (ends[:2], ends[2:]))
    groups = row.get("src_group", ""), row.get("dst_group", "")
    if not sources or not targets:
        raise InputError("the cable has one end", line=line)
    if _NIC.fullmatch(sources[0]) is not None:
        sources, targets, groups = targets, sources, groups[::-1]
    if _NIC.fullmatch(targets[0]) is None:
        if len(sources) != len(targets):
            raise InputError(f"{len(sources)} jacks at one end, {len(targets)} at the other", line=line)
        for source, target in zip(sources, targets, strict=True):
            a, b = (_ports(fabric, end, group, line) for end, group in zip((source, target), groups, strict=True))
            if len(a[1]) != len(b[1]):
                raise InputError(f"`{source}` is a port and `{target}` a jack, or the other way round", line=line)
            for port_a, port_b in zip(a[1], b[1], strict=True):
                fabric.add_link(Link(a[0], port_a, b[0], port_b, line))
        return
    switch, ports = _ports(fabric, sources[0], groups[0], line)
    for port, target in zip(ports, dict.fromkeys(targets), strict=False):
        match = _NIC.fullmatch(target)
        if match is None:
            raise InputError(f"expected a NIC such as x1000c0s3b0n1h0, found `{shortened(target, 60)}`", line=line)
        fabric.add_nic(Nic(match[1], switch, port, line))


def _ports(fabric: Fabric, name: str, group: str, line: int) -> tuple[int, list[int]]:
    """The switch of a jack, and its ports: the named one, or both."""
    match = _JACK.fullmatch(name)
    if match is None:
        raise InputError(f"expected a jack such as x1000c0r1j14, found `{shortened(name, 60)}`", line=line)
    switch = fabric.switch(match[1])
    if switch is None:
        switch = fabric.add_switch(match[1], line)
    if group.lower() not in _NONE:
        before = fabric.switches[switch].group
        if before is not None and before != group:
            message = f"the switch `{match[1]}` is in group {shortened(group, 60)} here, and in group {before} before"
            raise InputError(message, line=line)
        fabric.switches[switch].group = group
    jack = int(match[2])
    return switch, [2 * jack, 2 * jack + 1] if match[3] is None else [2 * jack + int(match[3])]


def lines(system: System) -> Iterator[str]:
    """Writes a cascade as `rtr --interconnect`, a dragonfly as a point-to-point file; failed parts are unused or
    missing.

    Raises InputError for a Dragonfly+, and for a cascade with several NICs a node.
    """
    if not can_hold(system):
        message = f"lists of Cray describe dragonflies, and cascades of one NIC a node; {system.name} is none of them"
        raise InputError(message, hint="--format ibnetdiscover or graphml")
    yield from _interconnect(system) if system.table.kind == "cascade" else _point_to_point(system)


def can_hold(system: System) -> bool:
    """Whether such a list can describe a machine."""
    kind = system.table.kind
    return kind == "dragonfly" or (kind == "cascade" and system.rails == 1)


def names(system: System) -> tuple[list[str], list[str]]:
    """The names of routers and nodes in such a list, for a machine that the format can describe."""
    table, shape = system.table, system.shape
    every = range(table.routers_in_all())
    if table.kind == "cascade":
        routers = [_aries(table, router)[0] for router in every]
        places = (divmod(node, shape.nodes_per_router) for node in range(shape.nodes))
        return routers, [f"{routers[router].removesuffix('a0')}n{at}" for router, at in places]
    return [_rosetta(table, router) for router in every], [_blade(shape, node) for node in range(shape.nodes)]


def _aries(table: MachineTable, router: int) -> tuple[str, str]:
    """Name and position of a router of a cascade. A cabinet has three chassis, and a group as many cabinets as it
    needs."""
    columns, full = getattr(table, "columns", 1), getattr(table, "group_routers", 1)
    group, (row, slot) = router // full, divmod(router % full, columns)
    wide = -(-full // columns // 3)
    return f"c{group * wide + row // 3}-0c{row % 3}s{slot}a0", f"({group}:{row}:{slot})"


def _rosetta(table: MachineTable, router: int) -> str:
    """Name of a router of a dragonfly."""
    group, at = divmod(router, getattr(table, "group_routers", 1))
    return f"x{1000 + group}c{at // 8}r{at % 8}"


def _blade(shape: Shape, node: int) -> str:
    """Name of a node of a dragonfly."""
    group, at = divmod(node, shape.nodes_per_group)
    return f"x{1000 + group}c{at // 16}s{at % 16 // 2}b{at % 2}n0"


def _interconnect(system: System) -> Iterator[str]:
    table = system.table
    nodes = getattr(table, "nodes_per_router", 0)
    colour = {class_: name for name, class_ in COLOURS.items()}
    names, spots = zip(*(_aries(table, router) for router in range(table.routers_in_all())), strict=True)
    dead = set(system.failures.get("routers", ()))
    gone = set(system.unusable_nodes)
    rows: list[list[tuple[int, str]]] = [[] for _ in names]
    for cable in cables(system):
        here = f"{names[cable.router]}l{{:02d}}{spots[cable.router]}"
        if cable.to_router is None or cable.to_port is None:
            for tile in (2 * cable.port, 2 * cable.port + 1):
                there = "unused" if cable.node in gone else "processor"
                rows[cable.router].append((tile, f"{here.format(tile)} ptile -> {there}"))
            continue
        broken = cable.failed or not dead.isdisjoint((cable.router, cable.to_router))
        ends = ((cable.router, cable.port), (cable.to_router, cable.to_port))
        for (a, port), (b, to) in (ends, ends[::-1]):
            far = "unused" if broken else f"{names[b]}l{nodes + to:02d}{spots[b]}"
            tile = nodes + port
            rows[a].append((tile, f"{names[a]}l{tile:02d}{spots[a]} {colour[cable.class_]} -> {far}"))
    yield from remarks.comments(system, cabled=True)
    for router, own in enumerate(rows):
        if router not in dead:
            yield from (row for _, row in sorted(own))


def _point_to_point(system: System) -> Iterator[str]:
    table = system.table
    dead, gone = set(system.failures.get("routers", ())), set(system.unusable_nodes)
    rails: dict[int, int] = defaultdict(int)

    def jack(router: int, port: int) -> str:
        return f"{_rosetta(table, router)}j{port // 2}p{port % 2}"

    yield from remarks.comments(system, cabled=True)
    yield ",".join(_COLUMNS)
    for number, cable in enumerate(cables(system)):
        group = table.group_of_router(cable.router)
        here = jack(cable.router, cable.port)
        if cable.to_router is not None and cable.to_port is not None:
            if not cable.failed and dead.isdisjoint((cable.router, cable.to_router)):
                to = table.group_of_router(cable.to_router)
                far = jack(cable.to_router, cable.to_port)
                yield _row(number, here, far, cable.class_, str(group), str(to))
        elif cable.node is not None:
            rail = rails[cable.node]
            rails[cable.node] += 1
            if cable.router not in dead and cable.node not in gone:
                far = f"{_blade(system.shape, cable.node)}h{rail}"
                yield _row(number, here, far, "edge", str(group), "n/a")


def _row(number: int, source: str, target: str, kind: str, group: str, to: str) -> str:
    values = {_HEADER: f"{number}", "src_conn_a": source, "dst_conn_a": target, "stage": "1", "link_type": kind}
    values |= {"src_group": group, "dst_group": to, "route": "[]"}
    return ",".join(values.get(column, "none") for column in _COLUMNS)
