"""The selection of nodes by Slurm, with its plugins `select/cons_tres` and `select/linear`."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import chain, islice

from odonata.placement.free import Free, in_turn, most, tightest
from odonata.placement.policy import GROUPS, Placement, Policy, Request, freedom


def lowest_switch(free: Free, count: int) -> tuple[list[list[int]], str]:
    """Free nodes of the leaves under the lowest switch with `count` of them, and what that switch is called.

    A leaf comes before an island, and an island before the machine; of one level the switch with the fewest free
    nodes that suffice, and of equal ones the first.
    """
    leaf = tightest(free.routers, count)
    if leaf is not None:
        return [free.routers[leaf]], f"on leaf {leaf}"
    island = tightest(free.groups, count)
    if island is not None:
        return free.routers_of(island), f"on island {island}"
    return free.routers, "on the whole machine"


def slurm_dragonfly(request: Request) -> Placement:
    """Slurm with `TopologyPlugin=topology/tree`, `TopologyParam=dragonfly` and `SelectType=select/cons_tres`.

    The emptiest leaf, else all leaves in turn.

    If the leaf switch with the most idle nodes suffices, the job gets its lowest idle nodes; else one node from each
    leaf of the whole machine in turn, again and again. Of equal leaves the first is taken; islands (groups) play no
    part.

    Source: Slurm's `_eval_nodes_dfly`, the same in release 22.05 and in those of 2025 (there in
    `topology/tree/eval_nodes_tree.c`); checked against allocations that a real Slurm 22.05 made. It ignores node
    weights, required nodes, cores and memory: all nodes are equal, and a job gets whole nodes. The leaves of
    `topology.conf` are the routers with nodes, in the order of their numbers.
    """
    free, where = request.room()
    count = request.wanted()
    leaf = most(free.routers)
    if count <= len(free.routers[leaf]):
        nodes = free.routers[leaf][:count]
        return Placement(nodes, f"{count:,} nodes on leaf {leaf}, the one with the most idle nodes {where}")
    given = in_turn(list(map(len, free.routers)), count)
    nodes = [node for leaf, number in zip(free.routers, given, strict=True) for node in leaf[:number]]
    return Placement(nodes, f"{count:,} nodes {where}, one from each leaf in turn: no leaf has as many idle")


SLURM_DRAGONFLY = Policy(
    name="slurm-dragonfly",
    summary="Slurm with TopologyParam=dragonfly: the emptiest leaf, else all leaves in turn (select/cons_tres)",
    rank_order="ascending node ids, as Slurm numbers tasks",
    options=(GROUPS,),
    place=slurm_dragonfly,
    freedom=freedom,
)


def slurm_dragonfly_linear(request: Request) -> Placement:
    """Slurm with `TopologyPlugin=topology/tree`, `TopologyParam=dragonfly` and `SelectType=select/linear`.

    The lowest switch with room, and all its leaves in turn.

    The lowest switch (leaf, island, machine) that has room, of several the one with the fewest idle nodes; under it one
    node at a time from the leaf that gave this job the fewest so far, of those from the one with the fewest idle nodes,
    of those from the first.

    Source: `_job_test_dfly` in Slurm's `select/linear`, release 22.05 (topology was taken out of that plugin in 24.05);
    checked against allocations that a real Slurm 22.05 made. It leaves out what `slurm-dragonfly` leaves out.
    """
    free, where = request.room()
    count = request.wanted()
    leaves, switch = lowest_switch(free, count)
    # In every round the leaves that still have nodes are taken in the same order: each has given the same number, so
    # those with the fewest idle nodes at first have the fewest now.
    scarce = sorted(leaves, key=len)
    given = in_turn(list(map(len, scarce)), count)
    nodes = sorted(chain.from_iterable(leaf[:number] for leaf, number in zip(scarce, given, strict=True)))
    return Placement(nodes, f"{count:,} nodes {switch}, the lowest switch with room {where}, from its leaves in turn")


SLURM_DRAGONFLY_LINEAR = Policy(
    name="slurm-dragonfly-linear",
    summary="Slurm with TopologyParam=dragonfly: the lowest switch with room, its leaves in turn (select/linear)",
    rank_order="ascending node ids, as Slurm numbers tasks",
    options=(GROUPS,),
    place=slurm_dragonfly_linear,
    freedom=freedom,
)


@dataclass
class _Island:
    """The leaves of an island that have idle nodes, fullest first, of equal ones in their order."""

    leaves: list[list[int]]
    idle: int
    """Idle nodes when the job arrived."""
    sizes: list[int]
    """Sizes of the leaves with a minus: ascending."""
    chosen: int = 0
    """The leaves before this one are chosen: if none has room for the rest, the fullest one is the best."""

    def best(self, missing: int) -> int:
        """Its best leaf: the smallest one with room for what is missing, else the fullest."""
        behind = bisect_right(self.sizes, -missing, self.chosen)
        if behind == self.chosen:
            return self.chosen
        return bisect_left(self.sizes, self.sizes[behind - 1], self.chosen)


def slurm_tree(request: Request) -> Placement:
    """Slurm with `TopologyPlugin=topology/tree` and `SelectType=select/cons_tres`: few leaves, close together.

    One leaf after another, as close together and as tight as possible.

    Leaf after leaf is chosen, each with all its idle nodes, until the job has enough. Leaves are compared in order; a
    later one replaces the best so far if it is as good and nearer to the leaves chosen, or equally near and better.
    Nearer: more leaves of its island (group) are chosen. Better: it has room for all missing nodes and the other one
    does not; both do, and it has fewer idle nodes; neither does, and its island is better in the same way (an island
    counts its idle nodes when the job arrived); no island has room either, and its island has more idle nodes. In one
    island without room on any leaf, the leaf with more idle nodes is better.

    Source: `_eval_nodes_topo` in Slurm's `select/cons_tres`, release 22.05, checked against allocations that a real
    Slurm 22.05 made. Releases since 2024 subtract chosen nodes from the count of an island and let only leaves
    with room replace farther ones; the policy does not model this. It also ignores everything that `slurm-dragonfly`
    ignores.
    """
    free, where = request.room()
    count = request.wanted()
    if count == len(free.nodes):
        return Placement(free.nodes, f"{count:,} nodes {where}: all that are free")
    nodes, leaves = _choose(free, count)
    on = "1 leaf" if leaves == 1 else f"{leaves:,} leaves"
    return Placement(nodes, f"{count:,} nodes {where} on {on}, as few and as near as possible")


def _choose(free: Free, count: int) -> tuple[list[int], int]:
    islands = _islands(free)
    fullest = max(-island.sizes[0] for island in islands)
    nodes: list[int] = []
    leaves = 0
    while len(nodes) < count:
        missing = count - len(nodes)
        island = _best(islands, missing)
        # Until an island gets room for the rest, or a leaf does, nothing can become better than this island: it is the
        # same leaves that are compared, and this island only comes nearer.
        change = max((other.idle for other in islands if other.idle < missing), default=0)
        while True:
            leaf = island.best(missing)
            nodes += island.leaves[leaf][:missing]
            leaves += 1
            island.chosen += 1
            missing = count - len(nodes)
            if missing <= max(change, fullest) or island.chosen == len(island.leaves):
                break
        if island.chosen == len(island.leaves):
            islands.remove(island)
    return sorted(nodes), leaves


def _islands(free: Free) -> list[_Island]:
    islands = []
    for group, nodes in enumerate(free.groups):
        if nodes:
            leaves = sorted((leaf for leaf in free.routers_of(group) if leaf), key=len, reverse=True)
            islands.append(_Island(leaves, len(nodes), [-len(leaf) for leaf in leaves]))
    return islands


def _best(islands: list[_Island], missing: int) -> _Island:
    """The island of the leaf that Slurm chooses next.

    Comparing the best leaf of each island suffices: which leaf of an island wins does not depend on the others.
    """
    best, rank = islands[0], _rank(islands[0], missing)
    for island in islands[1:]:
        other = _rank(island, missing)
        nearer = island.chosen > best.chosen and other >= rank
        if nearer or (island.chosen == best.chosen and other > rank):
            best, rank = island, other
    return best


def _rank(island: _Island, missing: int) -> tuple[int, int]:
    """The rank of its best leaf among those of other islands: higher is better."""
    idle = -island.sizes[island.best(missing)]
    if idle >= missing:
        return 2, -idle
    return (1, -island.idle) if island.idle >= missing else (0, island.idle)


SLURM_TREE = Policy(
    name="slurm-tree",
    summary="Slurm with topology/tree: few leaves, near one another (select/cons_tres)",
    rank_order="ascending node ids, as Slurm numbers tasks",
    options=(GROUPS,),
    place=slurm_tree,
    freedom=freedom,
)


def slurm_tree_linear(request: Request) -> Placement:
    """Slurm with `TopologyPlugin=topology/tree` and `SelectType=select/linear`.

    The lowest switch with room, and its leaves one by one.

    The lowest switch (leaf, island, machine) that has room, of several the one with the fewest idle nodes; under it
    whole leaves, those with the fewest idle nodes first, of equal ones the first.

    Source: `_job_test_topo` in Slurm's `select/linear`, release 22.05 (topology was taken out of that plugin in 24.05);
    checked against allocations that a real Slurm 22.05 made. It leaves out what `slurm-dragonfly` leaves out.
    """
    free, where = request.room()
    count = request.wanted()
    leaves, switch = lowest_switch(free, count)
    scarce = sorted(leaves, key=len)
    nodes = sorted(islice(chain.from_iterable(scarce), count))
    return Placement(nodes, f"{count:,} nodes {switch}, the lowest switch with room {where}, its scarcest leaves first")


SLURM_TREE_LINEAR = Policy(
    name="slurm-tree-linear",
    summary="Slurm with topology/tree: the lowest switch with room, its scarcest leaves first (select/linear)",
    rank_order="ascending node ids, as Slurm numbers tasks",
    options=(GROUPS,),
    place=slurm_tree_linear,
    freedom=freedom,
)
