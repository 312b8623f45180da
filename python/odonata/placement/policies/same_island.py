"""Same island: all nodes in one group, over several of its leaves.

Source: Salimi Beni 2022, section 4.1, scenario b (V4). The paper calls a group an island and the nodes of one leaf
switch a group. It says that the nodes are distributed over groups (leaves) of one island; which island, and how evenly,
it leaves open: the first with room on at least two leaves, and its leaves in turn.
"""

from itertools import islice

from odonata.errors import InputError
from odonata.placement.free import interleave
from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import COUNT, Placement, Policy, Request


def place(request: Request) -> Placement:
    """A node from each leaf of one group in turn."""
    free, where = request.room()
    count = request.wanted()
    for group, nodes in enumerate(free.groups):
        leaves = [leaf for leaf in free.routers_of(group) if leaf]
        if len(nodes) >= count and len(leaves) >= min(count, 2):
            taken = list(islice(interleave(leaves), count))
            text = f"{count:,} nodes in group {group}, the first with room {where}, one from each leaf in turn"
            return Placement(taken, text)
    most = max(map(len, free.groups))
    raise InputError(
        f"{count:,} nodes do not fit in one group on several leaves: the emptiest group has {most:,} free {where}",
        hint="an island of Salimi Beni 2022 is a group here; `different-islands` uses several",
        path=COUNT,
    )


POLICY = Policy(
    name="same-island",
    summary="all in one group (an island of Salimi Beni 2022), a node from each leaf in turn",
    rank_order="as taken, round by round over the leaves",
    options=(GROUPS,),
    place=place,
    freedom=freedom,
)
