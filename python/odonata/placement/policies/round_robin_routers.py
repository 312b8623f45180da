"""Round Robin Routers (RRR): a router from each group in turn.

Source: Zhang 2018, section IV, after Jain et al. 2014 (L11): from the first group on, the first router of the group
that has an idle node, with all its idle nodes in label order, then the next group, and so on. Full groups are
skipped.
"""

from itertools import chain, islice

from odonata.placement.free import interleave
from odonata.placement.options import GROUPS, START, freedom
from odonata.placement.policy import Placement, Policy, Request
from odonata.placement.turns import next_group, turned


def place(request: Request) -> Placement:
    """The idle nodes of the first router of one group after the other."""
    free, where = request.room()
    groups = [[router for router in free.routers_of(g) if router] for g in range(request.shape.groups)]
    routers = interleave(turned(groups, next_group(request)))
    nodes = list(islice(chain.from_iterable(routers), request.wanted()))
    return Placement(nodes, f"{len(nodes):,} nodes {where}, a router from each group in turn")


POLICY = Policy(
    name="round-robin-routers",
    summary="a router from each group in turn (Zhang 2018: RRR)",
    rank_order="as taken, router by router, on each ascending",
    options=(GROUPS, START),
    place=place,
    freedom=freedom,
    aliases=("RRR",),
)
