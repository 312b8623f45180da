"""Finds the groups of a Dragonfly+: leaves that share most of their spines."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.graphs.fabric import count, fields, pattern
from odonata.recognition import tree
from odonata.recognition.layout import Layout, filled, in_order, places
from odonata.recognition.neighbours import LEAST_JOINED, LEAST_WHOLE, components, joined_share, lacking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.graphs.fabric import Fabric
    from odonata.recognition.neighbours import Neighbours


def recognised(fabric: Fabric, near: Neighbours, edge: set[int], one_group: str | None) -> Layout:
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
    named = _Named(fabric, clusters, spines)
    for switch in rest:
        level, group = named.place(switch)
        if level is not None:
            (clusters if level == "leaf" else spines)[group].append(switch)
            if level == "spine":
                of_spine[switch] = group
            continue
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
    _check_groups_joined(fabric, layout, near)
    return layout


class _Named:
    """The level and the group of a switch by its name, if names such as `cell3-spine07` contain both.

    This holds if the names of leaves and spines have different forms, and all numbers but the last are equal inside a
    group and differ between groups. For a switch without cables to the other level there is no other source.
    """

    def __init__(self, fabric: Fabric, leaves: Sequence[Sequence[int]], spines: Sequence[Sequence[int]]) -> None:
        self._fabric = fabric
        self._level: dict[tuple[str, ...], str] = {}
        self._group: dict[tuple[int, ...], int] = {}
        for level, groups in (("leaf", leaves), ("spine", spines)):
            for number, switches in enumerate(groups):
                for s in switches:
                    name = fabric.switches[s].name
                    same = self._level.setdefault(pattern(name), level) == level
                    if not (same and self._group.setdefault(fields(name)[:-1], number) == number):
                        self._level = {}
                        return

    def place(self, switch: int) -> tuple[str | None, int]:
        """`leaf` or `spine`, and the group; None if the name does not contain them."""
        name = self._fabric.switches[switch].name
        group = self._group.get(fields(name)[:-1])
        return (self._level.get(pattern(name)), group) if group is not None else (None, -1)


def _leaf_clusters(near: Neighbours, leaves: set[int]) -> list[list[int]]:
    """The components of leaves, where two leaves are joined if they share more than half of their spines."""
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
    return list(components(cabled, share))


def _check_groups_joined(fabric: Fabric, layout: Layout, near: Neighbours) -> None:
    if joined_share(layout, near) < LEAST_JOINED:
        raise InputError(
            f"{count(len(layout.groups), 'group')} of leaves and spines, but {lacking(fabric, near, layout)}; expected "
            "nearly all, as in a Dragonfly+"
        )
