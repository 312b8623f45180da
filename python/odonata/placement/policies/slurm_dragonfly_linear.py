"""Slurm with `TopologyPlugin=topology/tree`, `TopologyParam=dragonfly` and `SelectType=select/linear`.

The lowest switch (leaf, island, machine) that has room, of several the one with the fewest idle nodes; under it one
node at a time from the leaf that gave this job the fewest so far, of those from the one with the fewest idle nodes, of
those from the first.

Source: `_job_test_dfly` in Slurm's `select/linear`, release 22.05 (topology was taken out of that plugin in 24.05);
checked against allocations that a real Slurm 22.05 made (L10). It leaves out what `slurm-dragonfly` leaves out.
"""

from itertools import chain

from odonata.placement.free import in_turn
from odonata.placement.lowest_switch import lowest_switch
from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import Placement, Policy, Request


def place(request: Request) -> Placement:
    """The lowest switch with room, and all its leaves in turn."""
    free, where = request.room()
    count = request.wanted()
    leaves, switch = lowest_switch(free, count)
    # In every round the leaves that still have nodes are taken in the same order: each has given the same number, so
    # those with the fewest idle nodes at first have the fewest now.
    scarce = sorted(leaves, key=len)
    given = in_turn(list(map(len, scarce)), count)
    nodes = sorted(chain.from_iterable(leaf[:number] for leaf, number in zip(scarce, given, strict=True)))
    return Placement(nodes, f"{count:,} nodes {switch}, the lowest switch with room {where}, from its leaves in turn")


POLICY = Policy(
    name="slurm-dragonfly-linear",
    summary="Slurm with TopologyParam=dragonfly: the lowest switch with room, its leaves in turn (select/linear)",
    rank_order="ascending node ids, as Slurm numbers tasks",
    options=(GROUPS,),
    place=place,
    freedom=freedom,
)
