"""The policies of Salimi Beni 2022: on one leaf switch, in one group, over several groups.

The paper calls a group an island and the nodes of one leaf switch a group.
"""

from itertools import islice

from odonata.errors import InputError
from odonata.placement.free import first_with, interleave
from odonata.placement.policy import COUNT, GROUPS, Placement, Policy, Request, freedom


def same_group(request: Request) -> Placement:
    """Same group: all nodes on one switch.

    The lowest free nodes of the first leaf with room.

    Source: Salimi Beni 2022, section 4.1, scenario a. The paper calls the nodes of one leaf switch a group and
    what is a group here an island. The first leaf with room is taken (the paper leaves this open).
    """
    free, where = request.room()
    count = request.wanted()
    leaf = first_with(free.routers, count)
    if leaf is None:
        most = max(map(len, free.routers))
        raise InputError(
            f"{count:,} nodes do not fit on one leaf: the emptiest has {most:,} free {where}",
            hint="a group of Salimi Beni 2022 is a leaf here; `same-island` stays in one group",
            path=COUNT,
        )
    return Placement(free.routers[leaf][:count], f"{count:,} nodes on leaf {leaf}, the first with as many free {where}")


SAME_GROUP = Policy(
    name="same-group",
    summary="all on one leaf switch, which Salimi Beni 2022 calls a group",
    rank_order="ascending node ids",
    options=(GROUPS,),
    place=same_group,
    freedom=freedom,
    aliases=("same-leaf",),
)


def same_island(request: Request) -> Placement:
    """Same island: all nodes in one group, over several of its leaves.

    A node from each leaf of one group in turn.

    Source: Salimi Beni 2022, section 4.1, scenario b. The paper calls a group an island and the nodes of one leaf
    switch a group. It says that the nodes are distributed over groups (leaves) of one island; which island, and how
    evenly, it leaves open: the first with room on at least two leaves, and its leaves in turn.
    """
    free, where = request.room()
    count = request.wanted()
    for group, nodes in enumerate(free.groups):
        leaves = [leaf for leaf in free.routers_of(group) if leaf]
        if len(nodes) >= count and len(leaves) >= min(count, 2):
            taken = list(islice(interleave(leaves), count))
            text = f"{count:,} nodes in {request.shape.group_name} {group}, the first with room {where}"
            return Placement(taken, f"{text}, one from each leaf in turn")
    most = max(map(len, free.groups))
    raise InputError(
        f"{count:,} nodes do not fit in one group on several leaves: the emptiest group has {most:,} free {where}",
        hint="an island of Salimi Beni 2022 is a group here; `different-islands` uses several",
        path=COUNT,
    )


SAME_ISLAND = Policy(
    name="same-island",
    summary="all in one group (an island of Salimi Beni 2022), a node from each leaf in turn",
    rank_order="as taken, round by round over the leaves",
    options=(GROUPS,),
    place=same_island,
    freedom=freedom,
    aliases=("same-pod",),
)


def different_islands(request: Request) -> Placement:
    """Different islands: nodes spread evenly over groups, and in each over its leaves.

    A node from each group in turn, in a group from each leaf in turn.

    Source: Salimi Beni 2022, sections 4.1 and 3.3, scenario c: 16 nodes as four on each of four islands, in
    different groups of it. The paper calls a group an island and the nodes of one leaf switch a group. Full islands and
    leaves are skipped. At least two islands must have free nodes.
    """
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
    part = request.shape.group_name
    return Placement(nodes, f"{count:,} nodes {where}, one from each {part} in turn, there from each leaf in turn")


DIFFERENT_ISLANDS = Policy(
    name="different-islands",
    summary="evenly over the groups (islands of Salimi Beni 2022), in each over its leaves",
    rank_order="as taken, round by round over the groups",
    options=(GROUPS,),
    place=different_islands,
    freedom=freedom,
    aliases=("different-pods",),
)
