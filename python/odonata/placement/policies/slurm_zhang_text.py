"""Slurm as the text of Zhang 2018 has it: the first router with room, else those with the fewest idle nodes.

Source: Zhang 2018, section IV, "Slurm" (L10). Salimi Beni 2022, section 4.1 (V18) describes Slurm in the same way. Real
Slurm does neither: see `slurm-dragonfly` and `slurm-tree`. What the authors ran is `slurm-zhang-sst`.
"""

from itertools import chain, islice

from odonata.placement.free import first_with
from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import Placement, Policy, Request


def place(request: Request) -> Placement:
    """One router if there is one with room; groups play no part."""
    free, where = request.room()
    count = request.wanted()
    router = first_with(free.routers, count)
    if router is not None:
        nodes = free.routers[router][:count]
        return Placement(nodes, f"{count:,} nodes on router {router}, the first with as many idle {where}")
    scarce = sorted((nodes for nodes in free.routers if nodes), key=len)
    nodes = list(islice(chain.from_iterable(scarce), count))
    return Placement(nodes, f"{count:,} nodes {where}, from the routers with the fewest idle nodes")


POLICY = Policy(
    name="slurm-zhang-text",
    summary="the first router with room, else the routers with the fewest idle nodes (text of Zhang 2018)",
    rank_order="as taken, router by router, on each ascending",
    options=(GROUPS,),
    place=place,
    freedom=freedom,
)
