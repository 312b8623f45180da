"""Slurm with `TopologyPlugin=topology/tree`, `TopologyParam=dragonfly` and `SelectType=select/cons_tres`.

If the leaf switch with the most idle nodes suffices, the job gets its lowest idle nodes; else one node from each leaf
of the whole machine in turn, again and again. Of equal leaves the first is taken; islands (groups) play no part.

Source: Slurm's `_eval_nodes_dfly`, the same in release 22.05 and in those of 2025 (there in
`topology/tree/eval_nodes_tree.c`); checked against allocations that a real Slurm 22.05 made (L10). It ignores node
weights, required nodes, cores and memory: all nodes are equal, and a job gets whole nodes. The leaves of
`topology.conf` are the routers with nodes, in the order of their numbers.
"""

from odonata.placement.free import in_turn, most
from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import Placement, Policy, Request


def place(request: Request) -> Placement:
    """The emptiest leaf, else all leaves in turn."""
    free, where = request.room()
    count = request.wanted()
    leaf = most(free.routers)
    if count <= len(free.routers[leaf]):
        nodes = free.routers[leaf][:count]
        return Placement(nodes, f"{count:,} nodes on leaf {leaf}, the one with the most idle nodes {where}")
    given = in_turn(list(map(len, free.routers)), count)
    nodes = [node for leaf, number in zip(free.routers, given, strict=True) for node in leaf[:number]]
    return Placement(nodes, f"{count:,} nodes {where}, one from each leaf in turn: no leaf has as many idle")


POLICY = Policy(
    name="slurm-dragonfly",
    summary="Slurm with TopologyParam=dragonfly: the emptiest leaf, else all leaves in turn (select/cons_tres)",
    rank_order="ascending node ids, as Slurm numbers tasks",
    options=(GROUPS,),
    place=place,
    freedom=freedom,
)
