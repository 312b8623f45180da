"""The levels, pods and planes of a fat tree, and the place of every switch."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from odonata.errors import InputError, shortened
from odonata.graphs.fabric import count, natural, pattern
from odonata.recognition import tree_hosts, tree_rows
from odonata.recognition.layout import Layout, in_order
from odonata.recognition.tree_levels import Levels, Pod

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from odonata.graphs.fabric import Fabric
    from odonata.recognition.neighbours import Neighbours

#: Least share of the links between leaves and spines, and between spines and cores, that must be present. Assumed, as
#: for other kinds: a machine in production lacks fewer.
LEAST_WHOLE = 0.75


def recognised(fabric: Fabric, near: Neighbours) -> Layout:
    """The layout of a fat tree of two or three levels.

    Raises InputError for a tree whose links break the rule of `docs/machines.md`; the error names the switches.
    """
    planes = tree_hosts.planes_of(fabric, near)
    levels = _levels(fabric, near, planes)
    _check_whole(fabric, near, levels)
    rows = tree_rows.rows_of(fabric, near, levels)
    three = bool(rows.cores[0][0])
    pods, leaves, spines = len(rows.leaves[0]), len(rows.leaves[0][0]), len(rows.spines[0][0])
    sizes = {"pods": pods, "leaves": leaves, "spines": spines}
    sizes |= {"cores": spines * len(rows.cores[0][0])} if three else {}
    routers: list[int | None] = []
    ranges: list[range] = []
    with_nodes: list[int] = []
    for pod in range(pods):
        first = len(routers)
        with_nodes += range(first, first + len(planes) * leaves)
        for row in (*(plane[pod] for plane in rows.leaves), *(plane[pod] for plane in rows.spines)):
            routers += row
        ranges.append(range(first, len(routers)))
    routers += [core for plane in rows.cores for share in plane for core in share]
    layout = Layout("fat-tree", sizes if three else _two_levels(sizes), routers, ranges, with_nodes, levels.notes)
    layout.nodes = tree_hosts.numbered(fabric, layout, len(planes))
    return layout


def _two_levels(sizes: dict[str, int]) -> dict[str, int]:
    return {key: value for key, value in sizes.items() if key != "pods"}


def _levels(fabric: Fabric, near: Neighbours, planes: Sequence[set[int]]) -> Levels:
    """The levels of each plane, with the pods of all planes in the same order."""
    hosts: dict[int, set[str]] = defaultdict(set)
    for nic in fabric.nics:
        hosts[nic.switch].add(nic.host)
    levels = Levels([], [])
    edge = fabric.edge()
    for plane in planes:
        pods, cores = _levels_of_plane(fabric, near, plane, edge & plane, levels.notes)
        order = in_order(fabric, [[*pod.leaves, *pod.spines] for pod in pods])
        number = {frozenset((*pod.leaves, *pod.spines)): pod for pod in pods}
        ordered = [number[frozenset(switches)] for switches in order]
        if levels.planes:
            ordered = _as_in_first(fabric, levels.planes[0], ordered, hosts)
        levels.planes.append(ordered)
        levels.cores.append(cores)
    if len({bool(cores) for cores in levels.cores}) > 1:
        raise InputError("some planes of this fat tree have cores, and others have none")
    return levels


def _levels_of_plane(
    fabric: Fabric, near: Neighbours, plane: set[int], edge: set[int], notes: list[str]
) -> tuple[list[Pod], list[int]]:
    leaves = {s for s in edge if near.of[s]}
    # A spine may have a few hosts of its own, such as gateways; most of its cables lead to leaves.
    for switch in sorted(leaves):
        others = [far in edge for far in near.of[switch]]
        if len(others) > 2 and 2 * sum(others) > len(others):
            leaves.discard(switch)
            notes.append(f"the spine `{fabric.switches[switch].name}` has hosts: they are left out")
    spines = {far for leaf in leaves for far in near.of[leaf]} - leaves
    pods = [
        Pod([s for s in part if s in leaves], [s for s in part if s in spines])
        for part in _parts(sorted(leaves | spines), near, leaves, spines)
    ]
    pod_of = {s: number for number, pod in enumerate(pods) for s in (*pod.leaves, *pod.spines)}
    cores, empty, rest = [], 0, []
    for switch in sorted(plane - leaves - spines):
        votes = Counter(pod_of[far] for far in near.of[switch] if far in spines)
        if not votes:
            rest.append(switch)
            continue
        pod, most = votes.most_common(1)[0]
        if 2 * most > votes.total() and (most > 1 or _only_spine(fabric, pods, pods[pod], switch)):
            pods[pod].leaves.append(switch)
            empty += 1
        else:
            cores.append(switch)
    for bare in _without_hosts(fabric, near, rest, cores):
        if bare.leaves:
            pods.append(bare)
        else:
            notes.append(f"{count(len(bare.spines), 'switch')} below cores that is joined to no leaf: left out")
    if empty:
        words = "is a leaf" if empty == 1 else "are leaves"
        notes.append(f"assumed: {count(empty, 'switch')} without hosts below the spines of one pod {words}")
    if cores and len(pods) == 1:
        notes.append(f"{count(len(cores), 'switch')} above the only pod: left out, no path needs it")
        cores = []
    if len(pods) > 1 and not cores:
        names = [shortened(fabric.switches[pod.leaves[0]].name, 60) for pod in pods[:2]]
        raise InputError(
            f"this looks like a fat tree, but no core joins the pods of `{names[0]}` and `{names[1]}`",
            hint="in a fat tree that can be simulated, a pod is leaves that are joined to the same spines",
        )
    return pods, cores


def _only_spine(fabric: Fabric, pods: Sequence[Pod], pod: Pod, switch: int) -> bool:
    """Whether a switch with a cable to a single spine, the only one of its pod, is a leaf without hosts and not a core.

    A core joins all pods. With two pods it may have lost the cable to one of them. Then names distinguish it from a
    leaf.
    """
    if len(pod.spines) > 1:
        return False
    name = pattern(fabric.switches[switch].name)
    return len(pods) != 2 or name in {pattern(fabric.switches[leaf].name) for leaf in pod.leaves}


def _without_hosts(fabric: Fabric, near: Neighbours, rest: Sequence[int], cores: Sequence[int]) -> list[Pod]:
    """Pods without hosts. Raises InputError for a switch that belongs to no pod."""
    above = set(cores)
    # The cores of a spine have spines of other pods in common. Switches below a higher level have none in common.
    spines = {s for s in rest if (own := near.of[s] & above) and set.intersection(*(near.of[c] for c in own)) - {s}}
    leaves = {s for s in rest if s not in spines and near.of[s] <= spines}
    if strange := sorted(set(rest) - spines - leaves):
        name = shortened(fabric.switches[strange[0]].name, 60)
        raise InputError(
            f"the switch `{name}` is more than two levels above the switches with hosts",
            hint="fat trees of two and three levels can be simulated",
        )
    parts = _parts(sorted(leaves | spines), near, leaves, spines)
    return [Pod([s for s in part if s in leaves], [s for s in part if s in spines]) for part in parts]


def _parts(switches: Iterable[int], near: Neighbours, leaves: set[int], spines: set[int]) -> list[list[int]]:
    """The connected components of leaves and spines."""
    seen: set[int] = set()
    parts = []
    for start in switches:
        if start in seen:
            continue
        seen.add(start)
        part = [start]
        for switch in part:
            for far in near.of[switch]:
                if far not in seen and (far in spines if switch in leaves else far in leaves):
                    seen.add(far)
                    part.append(far)
        parts.append(part)
    return parts


def _as_in_first(fabric: Fabric, first: Sequence[Pod], pods: list[Pod], hosts: dict[int, set[str]]) -> list[Pod]:
    """The pods of another plane, in the order of the pods of the first plane with the same hosts."""
    of_host = {host: number for number, pod in enumerate(first) for leaf in pod.leaves for host in hosts[leaf]}
    placed: dict[int, Pod] = {}
    for pod in pods:
        votes = Counter(of_host[host] for leaf in pod.leaves for host in hosts[leaf] if host in of_host)
        number = votes.most_common(1)[0][0] if votes else None
        if number is None or number in placed or len(votes) > 1:
            name = shortened(fabric.switches[pod.leaves[0]].name, 60)
            raise InputError(f"the hosts of the pod of the leaf `{name}` are in no single pod of another plane")
        placed[number] = pod
    if len(placed) < len(first):
        raise InputError(
            f"the planes of this fat tree differ: {count(len(first), 'pod')} in one and {len(placed):,} in another"
        )
    return [placed[number] for number in range(len(first))]


def _check_whole(fabric: Fabric, near: Neighbours, levels: Levels) -> None:
    """Raises InputError with the name of a switch if too many links are missing."""
    for plane, cores in zip(levels.planes, levels.cores, strict=True):
        for pod in plane:
            joined = {leaf: sum(spine in near.of[leaf] for spine in pod.spines) for leaf in pod.leaves}
            if sum(joined.values()) < LEAST_WHOLE * len(pod.leaves) * len(pod.spines):
                leaf = min(joined, key=lambda s: (joined[s], natural(fabric.switches[s].name)))
                raise InputError(
                    f"this looks like a fat tree, but the leaf `{shortened(fabric.switches[leaf].name, 60)}` is joined "
                    f"to {joined[leaf]:,} of the {len(pod.spines):,} spines of its pod; expected all"
                )
        for core in cores:
            below = {number: [s for s in pod.spines if s in near.of[core]] for number, pod in enumerate(plane)}
            if (number := next((n for n, spines in below.items() if len(spines) > 1), None)) is not None:
                a, b = (shortened(fabric.switches[s].name, 60) for s in below[number][:2])
                raise InputError(
                    f"this looks like a fat tree, but the spines `{a}` and `{b}` of a pod are joined to the same core "
                    f"`{shortened(fabric.switches[core].name, 60)}`",
                    hint="in a fat tree that can be simulated, each spine of a pod has cores of its own",
                )
        joined_cores = sum(len(near.of[core]) for core in cores)
        if joined_cores < LEAST_WHOLE * len(cores) * len(plane):
            core = min(cores, key=lambda s: (len(near.of[s]), natural(fabric.switches[s].name)))
            raise InputError(
                f"this looks like a fat tree, but the core `{shortened(fabric.switches[core].name, 60)}` is joined to "
                f"{len(near.of[core]):,} of the {len(plane):,} pods; expected all"
            )
