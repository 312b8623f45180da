"""Slurm as described by Zhang 2018: one router with room, else the routers with the fewest idle nodes.

The text (Zhang 2018, section IV, "Slurm"; catalogue L10) takes the first router with room: `slurm-zhang-text`. Salimi
Beni 2022, section 4.1 (V18) describes Slurm the same way. The scheduler of SST until December 2020, which the authors
of Zhang 2018 ran, takes the tightest router: `slurm-zhang-sst`. Real Slurm does neither: see `slurm-dragonfly` and
`slurm-tree`.
"""

from collections.abc import Callable, Sequence
from itertools import chain, islice

from odonata.placement.free import first_with, tightest
from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import Placement, Policy, Request


def _policy(
    name: str, which: str, source: str, router_with_room: Callable[[Sequence[Sequence[int]], int], int | None]
) -> Policy:
    def place(request: Request) -> Placement:
        free, where = request.room()
        count = request.wanted()
        router = router_with_room(free.routers, count)
        if router is not None:
            nodes = free.routers[router][:count]
            return Placement(nodes, f"{count:,} nodes on router {router}, the {which} with as many idle {where}")
        scarce = sorted((nodes for nodes in free.routers if nodes), key=len)
        nodes = list(islice(chain.from_iterable(scarce), count))
        return Placement(nodes, f"{count:,} nodes {where}, from the routers with the fewest idle nodes")

    return Policy(
        name=name,
        summary=f"the {which} router with room, else the routers with the fewest idle nodes ({source} of Zhang 2018)",
        rank_order="as taken, router by router, on each ascending",
        options=(GROUPS,),
        place=place,
        freedom=freedom,
    )


TEXT = _policy("slurm-zhang-text", "first", "text", first_with)
SST = _policy("slurm-zhang-sst", "tightest", "code", tightest)
