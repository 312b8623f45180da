"""Slurm with `TopologyPlugin=topology/tree` and `SelectType=select/cons_tres`: few leaves, close together.

Leaf after leaf is chosen, each with all its idle nodes, until the job has enough. Leaves are compared in order; a later
one replaces the best so far if it is as good and nearer to the leaves chosen, or equally near and better. Nearer: more
leaves of its island (group) are chosen. Better: it has room for all missing nodes and the other one does not; both do,
and it has fewer idle nodes; neither does, and its island is better in the same way (an island counts its idle nodes
when the job arrived); no island has room either, and its island has more idle nodes. In one island without room on any
leaf, the leaf with more idle nodes is better.

Source: `_eval_nodes_topo` in Slurm's `select/cons_tres`, release 22.05, checked against allocations that a real Slurm
22.05 made (L10). Releases since 2024 subtract chosen nodes from the count of an island and let only leaves with room
replace farther ones; the policy does not model this. It also ignores everything that `slurm-dragonfly` ignores.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from odonata.placement.free import Free
from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import Placement, Policy, Request


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


def place(request: Request) -> Placement:
    """One leaf after another, as close together and as tight as possible."""
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
    found = []
    for group, nodes in enumerate(free.groups):
        if nodes:
            leaves = sorted((leaf for leaf in free.routers_of(group) if leaf), key=len, reverse=True)
            found.append(_Island(leaves, len(nodes), [-len(leaf) for leaf in leaves]))
    return found


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


POLICY = Policy(
    name="slurm-tree",
    summary="Slurm with topology/tree: few leaves, near one another (select/cons_tres)",
    rank_order="ascending node ids, as Slurm numbers tasks",
    options=(GROUPS,),
    place=place,
    freedom=freedom,
)
