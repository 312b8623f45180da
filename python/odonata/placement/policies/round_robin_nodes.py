"""Round Robin Nodes (RRN): a node from each group in turn.

Source: Zhang 2018, section IV, after Jain et al. 2014 (L11): from the first group on, the first idle node of the
group in label order, then the next group, and so on. Full groups are skipped.
"""

from itertools import islice

from odonata.placement.free import interleave
from odonata.placement.options import GROUPS, START, freedom
from odonata.placement.policy import Placement, Policy, Request
from odonata.placement.turns import next_group, turned


def place(request: Request) -> Placement:
    """The lowest idle node of one group after the other."""
    free, where = request.room()
    nodes = list(islice(interleave(turned(free.groups, next_group(request))), request.wanted()))
    return Placement(nodes, f"{len(nodes):,} nodes {where}, one from each group in turn")


POLICY = Policy(
    name="round-robin-nodes",
    summary="a node from each group in turn (Zhang 2018: RRN)",
    rank_order="as taken, round by round over the groups",
    options=(GROUPS, START),
    place=place,
    freedom=freedom,
    aliases=("RRN",),
)
