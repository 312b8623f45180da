"""Same group: all nodes on one switch.

Source: Salimi Beni 2022, section 4.1, scenario a (V4). The paper calls the nodes of one leaf switch a group and what is
a group here an island. The first leaf with room is taken (the paper leaves this open).
"""

from odonata.errors import InputError
from odonata.placement.free import first_with
from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import COUNT, Placement, Policy, Request


def place(request: Request) -> Placement:
    """The lowest free nodes of the first leaf with room."""
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


POLICY = Policy(
    name="same-group",
    summary="all on one leaf switch, which Salimi Beni 2022 calls a group",
    rank_order="ascending node ids",
    options=(GROUPS,),
    place=place,
    freedom=freedom,
)
