"""Different islands: nodes spread evenly over groups, and in each over its leaves.

Source: Salimi Beni 2022, sections 4.1 and 3.3, scenario c (V4): 16 nodes as four on each of four islands, in different
groups of it. The paper calls a group an island and the nodes of one leaf switch a group. Full islands and leaves are
skipped. At least two islands must have free nodes.
"""

from itertools import islice

from odonata.errors import InputError
from odonata.placement.free import interleave
from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import COUNT, Placement, Policy, Request


def place(request: Request) -> Placement:
    """A node from each group in turn, in a group from each leaf in turn."""
    free, where = request.room()
    count = request.wanted()
    islands = [group for group, nodes in enumerate(free.groups) if nodes]
    if len(islands) < min(count, 2):
        raise InputError(
            f"{count:,} nodes do not fit on different islands: only group {islands[0]} has free nodes {where}",
            path=COUNT,
        )
    spread = [interleave(free.routers_of(group)) for group in islands]
    nodes = list(islice(interleave(spread), count))
    return Placement(nodes, f"{count:,} nodes {where}, one from each group in turn, there from each leaf in turn")


POLICY = Policy(
    name="different-islands",
    summary="evenly over the groups (islands of Salimi Beni 2022), in each over its leaves",
    rank_order="as taken, round by round over the groups",
    options=(GROUPS,),
    place=place,
    freedom=freedom,
)
