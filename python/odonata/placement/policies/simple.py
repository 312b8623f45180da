"""Simple: idle nodes in the order of their labels.

Source: Zhang 2018, section IV (L9). Nodes are labelled router by router and group by group, as everywhere here.
"""

from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import Placement, Policy, Request


def place(request: Request) -> Placement:
    """The lowest idle nodes."""
    free, where = request.room()
    nodes = free.nodes[: request.wanted()]
    return Placement(nodes, f"{len(nodes):,} nodes {where} in label order")


POLICY = Policy(
    name="simple",
    summary="idle nodes in label order (Zhang 2018)",
    rank_order="ascending node ids",
    options=(GROUPS,),
    place=place,
    freedom=freedom,
)
