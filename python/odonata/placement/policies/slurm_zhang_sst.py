"""Slurm as Zhang 2018 simulated it: the tightest router with room, else those with the fewest idle nodes.

Source: the scheduler of SST until December 2020, with which Zhang 2018 was simulated (L10). The text of the paper
differs: `slurm-zhang-text`.
"""

from itertools import chain, islice

from odonata.placement.free import tightest
from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import Placement, Policy, Request


def place(request: Request) -> Placement:
    """One router if there is one with room; groups play no part."""
    free, where = request.room()
    count = request.wanted()
    router = tightest(free.routers, count)
    if router is not None:
        nodes = free.routers[router][:count]
        return Placement(nodes, f"{count:,} nodes on router {router}, the tightest with as many idle {where}")
    scarce = sorted((nodes for nodes in free.routers if nodes), key=len)
    nodes = list(islice(chain.from_iterable(scarce), count))
    return Placement(nodes, f"{count:,} nodes {where}, from the routers with the fewest idle nodes")


POLICY = Policy(
    name="slurm-zhang-sst",
    summary="the tightest router with room, else the routers with the fewest idle nodes (code of Zhang 2018)",
    rank_order="as taken, router by router, on each ascending",
    options=(GROUPS,),
    place=place,
    freedom=freedom,
)
