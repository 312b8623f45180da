"""Slurm with `TopologyPlugin=topology/tree` and `SelectType=select/linear`.

The lowest switch (leaf, island, machine) that has room, of several the one with the fewest idle nodes; under it whole
leaves, those with the fewest idle nodes first, of equal ones the first.

Source: `_job_test_topo` in Slurm's `select/linear`, release 22.05 (topology was taken out of that plugin in 24.05);
checked against allocations that a real Slurm 22.05 made (L10). It leaves out what `slurm-dragonfly` leaves out.
"""

from itertools import chain, islice

from odonata.placement.lowest_switch import lowest_switch
from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import Placement, Policy, Request


def place(request: Request) -> Placement:
    """The lowest switch with room, and its leaves one by one."""
    free, where = request.room()
    count = request.wanted()
    leaves, switch = lowest_switch(free, count)
    scarce = sorted(leaves, key=len)
    nodes = sorted(islice(chain.from_iterable(scarce), count))
    return Placement(nodes, f"{count:,} nodes {switch}, the lowest switch with room {where}, its scarcest leaves first")


POLICY = Policy(
    name="slurm-tree-linear",
    summary="Slurm with topology/tree: the lowest switch with room, its scarcest leaves first (select/linear)",
    rank_order="ascending node ids, as Slurm numbers tasks",
    options=(GROUPS,),
    place=place,
    freedom=freedom,
)
