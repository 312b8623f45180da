"""Which switches of a fabric form a group, and so which kind of machine it is."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.recognition import grid, tree
from odonata.recognition.graph import count, fields, pattern
from odonata.recognition.layout import Layout, filled, in_order, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from odonata.recognition.graph import Fabric

#: Least share of the cables of a group that must be there. Assumed: a machine in production lacks fewer.
LEAST_WHOLE = 0.75
#: Least share of the pairs of groups that must be joined. Also assumed.
LEAST_JOINED = 0.75
#: The same where the file says which switches form a group.
LEAST_SAID = 0.5


class Neighbours:
    """Which switches are joined, and by how many cables."""

    def __init__(self, fabric: Fabric) -> None:
        self.cables: Counter[tuple[int, int]] = Counter()
        self.of: list[set[int]] = [set() for _ in fabric.switches]
        for link in fabric.links:
            self.cables[min(link.a, link.b), max(link.a, link.b)] += 1
            self.of[link.a].add(link.b)
            self.of[link.b].add(link.a)

    def parts(self) -> list[list[int]]:
        """Switches that cables join; a switch without cables is no part."""
        return [part for part in _components(range(len(self.of)), self.of) if len(part) > 1]

    @staticmethod
    def not_joined(parts: Sequence[Sequence[int]]) -> InputError:
        """The error for a fabric in parts."""
        sizes = ", ".join(f"{len(part):,}" for part in sorted(parts, key=len, reverse=True)[:5])
        message = f"the fabric has {len(parts):,} parts that no cable joins, of {sizes} switches"
        return InputError(message, hint="one machine is one fabric: give them one by one")


def recognised(fabric: Fabric, *, one_group: str | None = None) -> Layout:
    """The kind of machine and the place of every switch.

    `one_group` is the kind of a machine that may have a single group, whose cabling does not distinguish it from other
    topologies: leaves below the same spines are a fat tree of two levels unless it says that they are the group of a
    Dragonfly+. Raises InputError for a fabric of none of the kinds; the error says what it looks like.
    """
    near = Neighbours(fabric)
    edge = {nic.switch for nic in fabric.nics}
    if not edge:
        raise InputError("no switch has a host", hint="a machine needs nodes: give the whole output")
    if not fabric.links:
        raise InputError(f"no cable joins two switches: {count(len(fabric.switches), 'switch')}, nothing else")
    if one_group == "fat-tree" or len(near.parts()) > 1:
        return tree.recognised(fabric, near)
    between_edges = sum(a in edge and b in edge for a, b in near.cables)
    direct = between_edges > sum((a in edge) != (b in edge) for a, b in near.cables)
    return _direct(fabric, near, one_group) if direct else _plus(fabric, near, edge, one_group)


def _components(switches: Iterable[int], of: Sequence[Iterable[int]] | dict[int, set[int]]) -> Iterator[list[int]]:
    seen: set[int] = set()
    for start in switches:
        if start in seen:
            continue
        seen.add(start)
        part = [start]
        for switch in part:
            for other in of[switch]:
                if other not in seen:
                    seen.add(other)
                    part.append(other)
        yield part


def _plus(fabric: Fabric, near: Neighbours, edge: set[int], one_group: str | None) -> Layout:
    """Leaves that share most of their spines are a group."""
    notes: list[str] = []
    leaves = set(edge)
    # A spine may have a few hosts of its own, such as gateways; most of its cables lead to leaves.
    for switch in sorted(edge):
        others = [far in edge for far in near.of[switch]]
        if len(others) > 2 and 2 * sum(others) > len(others):
            leaves.discard(switch)
    if moved := edge - leaves:
        notes.append(f"{count(len(moved), 'spine')} with hosts: these hosts are left out")
    clusters = _leaf_clusters(near, leaves)
    group_of = {leaf: number for number, cluster in enumerate(clusters) for leaf in cluster}
    spines: list[list[int]] = [[] for _ in clusters]
    rest = []
    for switch in range(len(fabric.switches)):
        if switch in leaves or not near.of[switch]:
            continue
        votes = Counter(group_of[far] for far in near.of[switch] if far in leaves)
        if votes:
            spines[votes.most_common(1)[0][0]].append(switch)
        else:
            rest.append(switch)
    if len(clusters) == 1 and one_group is None:
        return tree.recognised(fabric, near)
    of_spine = {spine: number for number, row in enumerate(spines) for spine in row}
    above = []
    for switch in rest:
        votes = Counter(of_spine[far] for far in near.of[switch] if far in of_spine)
        best, most = votes.most_common(1)[0] if votes else (0, 0)
        if votes and 2 * most > sum(votes.values()):
            clusters[best].append(switch)  # a leaf without hosts
        else:
            above.append(switch)
    between = sum(of_spine[a] != of_spine[b] for a, b in near.cables if a in of_spine and b in of_spine)
    if above and (between == 0 or len(above) > len(of_spine) // 10):
        return tree.recognised(fabric, near)
    if above:
        notes.append(f"{count(len(above), 'switch')} that belongs to no group is left out")
    whole = [sum(leaf in near.of[spine] for leaf in c for spine in s) for c, s in zip(clusters, spines, strict=True)]
    expected = sum(len(c) * len(s) for c, s in zip(clusters, spines, strict=True))
    if sum(whole) < LEAST_WHOLE * expected:
        share = sum(whole) / expected
        raise InputError(
            f"neither a Dragonfly+ nor anything else that can be simulated: {count(len(clusters), 'group')} of leaf "
            f"switches, which are joined to {share:.0%} of the spines of their group; expected all"
        )
    order = in_order(fabric, [[*c, *s] for c, s in zip(clusters, spines, strict=True)])
    leaf_set = {leaf for cluster in clusters for leaf in cluster}
    leaf_rows = places(fabric, [[s for s in group if s in leaf_set] for group in order])
    spine_rows = places(fabric, [[s for s in group if s not in leaf_set] for group in order])
    size, leaf_rows, last = filled(leaf_rows)
    spine_size = max(map(len, spine_rows))
    spine_rows = [[*row, *[None] * (spine_size - len(row))] for row in spine_rows]
    sizes = {"groups": len(order), "leaves": size, "spines": spine_size}
    sizes |= {} if last is None else {"last_group_leaves": last}
    routers: list[int | None] = []
    ranges: list[range] = []
    with_nodes: list[int] = []
    for leaf_row, spine_row in zip(leaf_rows, spine_rows, strict=True):
        first = len(routers)
        with_nodes += range(first, first + len(leaf_row))
        routers += [*leaf_row, *spine_row]
        ranges.append(range(first, len(routers)))
    layout = Layout("dragonfly-plus", sizes, routers, ranges, with_nodes, notes)
    _check_groups_joined(layout, near)
    return layout


def _leaf_clusters(near: Neighbours, leaves: set[int]) -> list[list[int]]:
    """Leaves that share more than half of their spines, and so on."""
    share: dict[int, set[int]] = defaultdict(set)
    inner = {leaf: [far for far in near.of[leaf] if far not in leaves] for leaf in leaves}
    by_spine: dict[int, list[int]] = defaultdict(list)
    for leaf in sorted(leaves):
        for spine in inner[leaf]:
            by_spine[spine].append(leaf)
    for leaf in sorted(leaves):
        common: Counter[int] = Counter(other for spine in inner[leaf] for other in by_spine[spine] if other > leaf)
        for other, shared in common.items():
            if 2 * shared > min(len(inner[leaf]), len(inner[other])):
                share[leaf].add(other)
                share[other].add(leaf)
    cabled = [leaf for leaf in sorted(leaves) if inner[leaf]]
    return list(_components(cabled, share))


def _direct(fabric: Fabric, near: Neighbours, one_group: str | None) -> Layout:
    """The coarsest partition whose groups are dragonfly or cascade groups: as the file says, by names, by cables."""
    switches = [s for s in range(len(fabric.switches)) if near.of[s]]
    for least, candidates in (
        (LEAST_SAID, _said(fabric, switches)),
        (LEAST_JOINED, _by_names(fabric, switches)),
        (LEAST_JOINED, _by_cables(near, switches)),
    ):
        for partition in candidates:
            layout = _shaped(fabric, near, partition, None) if len(partition) > 1 else None
            if layout is None or _joined_share(layout, near) < least:
                continue
            # A ring of four switches is a grid of two by two, and a torus has many.
            if layout.kind == "cascade" and max(map(len, layout.groups)) <= 4 and one_group != "cascade":
                continue
            return layout
    if one_group is not None and (layout := _shaped(fabric, near, [switches], one_group)):
        return layout
    degrees = sorted(len(near.of[s]) for s in switches)
    typical = degrees[len(degrees) // 2]
    triangles = sum(len(near.of[a] & near.of[b]) for a, b in near.cables)
    middle = f"{count(len(switches), 'switch')} with hosts, joined to {typical} others each"
    if triangles <= len(near.cables) // 10:
        what = f"this looks like a torus, a mesh or a hypercube: {middle}, and hardly any three of them to each other"
    else:
        what = f"neither a dragonfly nor a cascade: {middle}, in no groups that are joined completely or as a grid"
    hint = "names or group numbers of the switches help to find groups" if len(switches) > 2 else None
    raise InputError(what, hint=hint)


def _said(fabric: Fabric, switches: Sequence[int]) -> Iterator[list[list[int]]]:
    said: dict[str, list[int]] = defaultdict(list)
    for s in switches:
        group = fabric.switches[s].group
        if group is None:
            return
        said[group].append(s)
    yield list(said.values())


def _by_names(fabric: Fabric, switches: Sequence[int]) -> Iterator[list[list[int]]]:
    """By the first number in the names, by the first two, and so on."""
    keys = {s: (pattern(fabric.switches[s].name), fields(fabric.switches[s].name)) for s in switches}
    if len({form for form, _ in keys.values()}) > 1:
        return
    for length in range(1, len(keys[switches[0]][1])):
        parts: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for s in switches:
            parts[keys[s][1][:length]].append(s)
        if 1 < len(parts) < len(switches):
            yield list(parts.values())


def _by_cables(near: Neighbours, switches: Sequence[int]) -> Iterator[list[list[int]]]:
    """Two switches of a group share many neighbours, those of two groups few; coarse partitions first."""
    common = {pair: len(near.of[pair[0]] & near.of[pair[1]]) for pair in near.cables}
    before = 1
    for least in sorted({0, *common.values()}):
        joined: dict[int, set[int]] = {s: set() for s in switches}
        for (a, b), shared in common.items():
            if shared >= least:
                joined[a].add(b)
                joined[b].add(a)
        parts = list(_components(switches, joined))
        if len(parts) > max(before, 1):
            before = len(parts)
            # Crumbs are switches that have lost most of their cables.
            if len(parts) < len(switches):
                yield parts


def _shaped(fabric: Fabric, near: Neighbours, partition: list[list[int]], kind: str | None) -> Layout | None:
    """The layout if every group is joined completely (dragonfly) or as a grid (cascade)."""
    if max(map(len, partition)) < 2 and kind is None:
        return None
    pairs = sum(len(group) * (len(group) - 1) // 2 for group in partition)
    group_of = {s: number for number, group in enumerate(partition) for s in group}
    inside = sum(group_of.get(a, -1) == group_of.get(b, -2) for a, b in near.cables)
    order = in_order(fabric, partition)
    if kind != "cascade" and inside >= LEAST_WHOLE * pairs:
        size, rows, last = filled(places(fabric, order))
        sizes = {"groups": len(rows), "routers": size} | ({} if last is None else {"last_group_routers": last})
        return _layout("dragonfly", sizes, rows)
    if kind == "dragonfly":
        return None
    grids = grid.grids(fabric, near.of, near.cables, order)
    if grids is None:
        return None
    columns, rows = grids
    size, rows, last = filled(rows)
    sizes = {"groups": len(rows), "rows": size // columns, "columns": columns}
    sizes |= {} if last is None else {"last_group_rows": last // columns}
    expected = sum(grid.pairs_of(len(row) // columns, columns) for row in rows)
    layout = _layout("cascade", sizes, rows)
    return layout if inside >= LEAST_WHOLE * expected else None


def _layout(kind: str, sizes: dict[str, int], rows: list[list[int | None]]) -> Layout:
    routers = [switch for row in rows for switch in row]
    ranges, first = [], 0
    for row in rows:
        ranges.append(range(first, first + len(row)))
        first += len(row)
    return Layout(kind, sizes, routers, ranges, list(range(len(routers))))


def _joined_share(layout: Layout, near: Neighbours) -> float:
    """The share of the pairs of groups that a cable joins."""
    groups = len(layout.groups)
    if groups < 2:
        return 1.0
    number, group_of = layout.numbers(), layout.group_of()
    joined = set()
    for a, b in near.cables:
        if a in number and b in number and group_of[number[a]] != group_of[number[b]]:
            joined.add(frozenset((group_of[number[a]], group_of[number[b]])))
    return len(joined) / (groups * (groups - 1) // 2)


def _check_groups_joined(layout: Layout, near: Neighbours) -> None:
    share = _joined_share(layout, near)
    if share < LEAST_JOINED:
        raise InputError(
            f"{count(len(layout.groups), 'group')} of leaves and spines, but cables join only {share:.0%} of their "
            "pairs; expected nearly all, as in a Dragonfly+"
        )
