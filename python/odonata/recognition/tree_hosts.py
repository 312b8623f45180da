"""Where the hosts of a fat tree have their NICs: on one leaf, on several leaves of a pod, or in several planes."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odonata.errors import InputError, shortened
from odonata.graphs.fabric import count, natural
from odonata.recognition.hosts import incomplete, room_of, seats_of
from odonata.recognition.layout import Nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.graphs.fabric import Fabric, Nic
    from odonata.recognition.layout import Layout
    from odonata.recognition.neighbours import Neighbours
    from odonata.recognition.tree_levels import Levels, Row

#: Least share of the hosts whose NICs must be attached in the most common way. Assumed, as for cables.
LEAST_ALIKE = 0.75


def planes_of(fabric: Fabric, near: Neighbours) -> list[set[int]]:
    """The switches of each plane. Planes are not connected to each other, and every host has a NIC in each.

    Raises InputError for components that are not planes.
    """
    parts = near.parts()
    if len(parts) < 2:
        return [set(parts[0])]
    part_of = {switch: number for number, part in enumerate(parts) for switch in part}
    on: dict[str, set[int]] = defaultdict(set)
    for nic in fabric.nics:
        if nic.switch in part_of:
            on[nic.host].add(part_of[nic.switch])
    in_all = sum(len(own) == len(parts) for own in on.values())
    if in_all < LEAST_ALIKE * len(on):
        raise near.not_joined(parts)
    edge = fabric.edge()
    first = [min(natural(fabric.switches[s].name) for s in part if s in edge) for part in parts]
    return [set(parts[number]) for number in sorted(range(len(parts)), key=lambda n: first[n])]


@dataclass
class Attachment:
    """How most hosts are attached."""

    rails: int
    """NICs of a host."""
    on: str | None
    """`rails_on` of the machine; None for hosts of one NIC."""
    leaves: dict[str, list[int]]
    """Host -> the leaf of each of its NICs. Hosts with all NICs but another attachment are left out."""
    others: list[str]
    """The hosts with all NICs but another attachment."""


def attachment(fabric: Fabric, plane_of: dict[int, int], pod_of: dict[int, int]) -> Attachment:
    """How most hosts are attached to leaves; `plane_of` and `pod_of` are the plane and pod of each leaf.

    Raises InputError if too few hosts are attached in the same way.
    """
    leaves: dict[str, list[int]] = defaultdict(list)
    for nic in fabric.nics:
        if nic.switch in plane_of:
            leaves[nic.host].append(nic.switch)
    if not leaves:
        raise InputError("no leaf switch of this fat tree has a host")
    rails = Counter(map(len, leaves.values())).most_common(1)[0][0]
    if rails == 1:
        return Attachment(1, None, dict(leaves), [])
    planes = len(set(plane_of.values()))

    def way(own: list[int]) -> str:
        if planes > 1:
            return "planes" if len({plane_of[s] for s in own}) == planes == rails else ""
        if len(set(own)) == 1:
            return "one-leaf"
        return "different-leaves" if len(set(own)) == rails and len({pod_of[s] for s in own}) == 1 else ""

    ways = {host: way(own) for host, own in leaves.items() if len(own) == rails}
    usual, often = Counter(ways.values()).most_common(1)[0]
    others = [host for host, its in ways.items() if its != usual]
    if not usual or often < LEAST_ALIKE * len(ways):
        host = others[0] if usual else next(iter(ways))
        names = ", ".join(f"`{shortened(fabric.switches[s].name, 60)}`" for s in leaves[host][:4])
        raise InputError(
            f"this looks like a fat tree, but the host `{shortened(host, 60)}` has its {rails} NICs on {names}",
            hint="all NICs of a host are on one leaf, on as many leaves of a pod, or in as many planes",
        )
    return Attachment(
        rails, usual, {host: own for host, own in leaves.items() if ways.get(host, usual) == usual}, others
    )


class Sharing:
    """Finds leaves with the same hosts."""

    def __init__(self, fabric: Fabric, levels: Levels) -> None:
        self._levels = levels
        leaves = [(k, pod, s) for k, plane in enumerate(levels.planes) for pod, p in enumerate(plane) for s in p.leaves]
        self._plane_of = {s: plane for plane, _, s in leaves}
        self._pod_of = {s: pod for _, pod, s in leaves}
        self._attached = attachment(fabric, self._plane_of, self._pod_of)

    def fits(self, rows: Sequence[Sequence[Row]]) -> bool:
        """Whether leaves with the same hosts have the required places in the rows of each plane and pod."""
        place = {s: at for plane in rows for row in plane for at, s in enumerate(row) if s is not None}
        if self._attached.on == "planes":
            return all(len({place[s] for s in own}) == 1 for own in self._attached.leaves.values())
        if self._attached.on == "different-leaves":
            rails = self._attached.rails
            return len(rows[0][0]) % rails == 0 and all(
                len({place[s] // rails for s in own}) == 1 for own in self._attached.leaves.values()
            )
        return True

    def rows(self, fabric: Fabric) -> list[list[Row]]:
        """Rows for each plane and pod, by hosts, then by name."""
        pods = range(len(self._levels.planes[0]))
        planes = [
            [sorted(pod.leaves, key=lambda s: natural(fabric.switches[s].name)) for pod in plane]
            for plane in self._levels.planes
        ]
        made = [self._blocks(planes[0][pod]) if len(planes) == 1 else self._beside(planes, pod) for pod in pods]
        size = max(len(row) for pod in made for row in pod)
        return [[[*pod[k], *[None] * (size - len(pod[k]))] for pod in made] for k in range(len(planes))]

    def _blocks(self, leaves: Sequence[int]) -> list[Row]:
        """One row, in which leaves with the same hosts are neighbours."""
        rails = self._attached.rails
        block_of: dict[int, list[int]] = {}
        for own in self._attached.leaves.values():
            block = [s for s in leaves if s in own]
            if len(set(own)) == rails and len(block) == rails:
                for leaf in block:
                    if block_of.setdefault(leaf, block) != block:
                        raise InputError(
                            f"this looks like a fat tree whose hosts have NICs on {rails} leaves, but not all hosts of "
                            "a leaf have theirs on the same leaves"
                        )
        row: Row = []
        rest = [leaf for leaf in leaves if leaf not in block_of]
        for leaf in leaves:
            if leaf in block_of and leaf == block_of[leaf][0]:
                row += block_of[leaf]
        row += rest
        return [[*row, *[None] * (-len(row) % rails)]]

    def _beside(self, planes: Sequence[Sequence[Sequence[int]]], pod: int) -> list[Row]:
        """A row for each plane, in which leaves with the same hosts have the same place."""
        rows: list[Row] = [list(planes[0][pod])]
        place = {leaf: at for at, leaf in enumerate(planes[0][pod])}
        for k in range(1, len(planes)):
            votes: dict[int, Counter[int]] = defaultdict(Counter)
            for own in self._attached.leaves.values():
                of_plane = {self._plane_of[s]: s for s in own}
                if 0 in of_plane and k in of_plane and of_plane[0] in place:
                    votes[of_plane[k]][place[of_plane[0]]] += 1
            row: Row = [None] * len(rows[0])
            rest = []
            for leaf in planes[k][pod]:
                at = votes[leaf].most_common(1)[0][0] if votes[leaf] else None
                if at is None or row[at] is not None:
                    rest.append(leaf)
                else:
                    row[at] = leaf
            for leaf in rest:
                if None in row:
                    row[row.index(None)] = leaf
                else:
                    row.append(leaf)
            rows.append(row)
        size = max(map(len, rows))
        return [[*row, *[None] * (size - len(row))] for row in rows]


def numbered(fabric: Fabric, layout: Layout, planes: int) -> Nodes:
    """The node of every host.

    Nodes are numbered leaf by leaf (of the first plane, or block by block), on a leaf by port.
    """
    number = layout.numbers()
    leaves = layout.sizes["leaves"]
    per_pod = len(layout.groups[0])
    plane_of, pod_of, index = {}, {}, {}
    for router in layout.with_nodes:
        switch = layout.routers[router]
        if switch is not None:
            pod_of[switch], inside = divmod(router, per_pod)
            plane_of[switch], index[switch] = divmod(inside, leaves)
    attached = attachment(fabric, plane_of, pod_of)
    rails, together = attached.rails, attached.rails if attached.on == "different-leaves" else 1
    first: dict[str, tuple[int, int, int]] = {}
    nics: dict[str, list[tuple[int, Nic]]] = defaultdict(list)
    elsewhere = set(attached.others)
    for nic in fabric.nics:
        if nic.switch not in plane_of or nic.host not in attached.leaves:
            elsewhere.add(nic.host)
            continue
        nics[nic.host].append((number[nic.switch], nic))
        rail = plane_of[nic.switch] if planes > 1 else index[nic.switch] % together
        place = pod_of[nic.switch] * (leaves // together) + index[nic.switch] // together
        at = (rail, nic.port if rail == 0 else -1, place)
        first[nic.host] = min(first.get(nic.host, at), at)
    elsewhere -= set(nics)
    of_place: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for host, (_, port, place) in first.items():
        of_place[place].append((port, host))
    notes = [f"{count(len(elsewhere), 'host')} without a place for a node: left out"] if elsewhere else []
    place_of = {
        number[switch]: pod_of[switch] * (leaves // together) + index[switch] // together
        for switch in plane_of
        if plane_of[switch] == 0
    }
    room = room_of(fabric, number, place_of, rails if attached.on == "one-leaf" else 1)
    whole = {host for host, own in nics.items() if len(own) >= rails}
    each = room.fitted(of_place, whole, notes)
    seats = seats_of(of_place, each, room.ports)
    names: list[str | None] = []
    for place in range(layout.sizes.get("pods", 1) * leaves // together):
        names += seats.get(place, [None] * each)
    node_of = {name: node for node, name in enumerate(names) if name is not None}
    failed = {node for node, name in enumerate(names) if name is None}
    failed |= {node_of[host] for host, own in nics.items() if len(own) != rails and host in node_of}
    incomplete(nics, rails, notes)
    keys: dict[str, int | str] = {"nodes_per_leaf": each}
    keys |= {} if attached.on is None else {"rails": rails, "rails_on": attached.on}
    return Nodes(keys, names, failed, notes=notes)
