"""Level-Spread: the smallest level in which the job fits, and spread inside it.

Source: Zhang 2018, section III-B (L6-L8). A job that fits on one router gets the router with the most idle nodes;
else, if it fits in one group, the group with the most idle nodes, router by router in turn; else the whole machine,
group by group in turn, in each group the lowest idle node. What the paper leaves open is as in the authors' code:
exactly enough counts as a fit, of equals the lowest id is taken, a round robin begins at router 0 or group 0 for
every job, and full units are skipped.
"""

from itertools import islice

from odonata.placement.free import interleave, most
from odonata.placement.options import GROUPS, START, freedom
from odonata.placement.policy import Placement, Policy, Request
from odonata.placement.turns import next_group, next_router, turned


def place(request: Request) -> Placement:
    """One router, else one group, else the machine."""
    free, where = request.room()
    count = request.wanted()
    router = most(free.routers)
    if count <= len(free.routers[router]):
        nodes = free.routers[router][:count]
        return Placement(nodes, f"{count:,} nodes on router {router}, the one with the most idle nodes {where}")
    group = most(free.groups)
    if count <= len(free.groups[group]):
        parts = turned(free.routers_of(group), next_router(request, group))
        text = f"{count:,} nodes in group {group}, the one with the most idle nodes {where}, router by router in turn"
    else:
        parts = turned(free.groups, next_group(request))
        text = f"{count:,} nodes {where}, group by group in turn: no router and no group has as many idle"
    return Placement(list(islice(interleave(parts), count)), text)


POLICY = Policy(
    name="level-spread",
    summary="spread inside the smallest of router, group and machine that has room (Zhang 2018)",
    rank_order="as taken, round by round over routers or groups",
    options=(GROUPS, START),
    place=place,
    freedom=freedom,
)
