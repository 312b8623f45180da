"""Jokanovic: small jobs from the low end of the machine, large ones from the high end.

Source: Zhang 2018, sections IV and VI-F (L12), after Jokanovic et al. 2015, "Quiet neighborhoods". A job of at most
one group's nodes gets the first group that has as many idle, in label order; a larger one gets the last idle nodes of
the machine. The boundary between the two parts of the machine is where they meet, so it moves with the jobs. Where no
group has room for a small job, the paper is silent; as in the authors' code it gets the lowest idle nodes.

The published code has a defect: having found its group, a small job falls through to that last case, and its ranks are
given the lowest idle nodes outside the group, if there are any. `fall_through` repeats it.
"""

from odonata.placement.free import first_with
from odonata.placement.options import GROUPS, freedom, yes_or_no
from odonata.placement.policy import Option, Placement, Policy, Request
from odonata.placement.sites import sites


def place(request: Request) -> Placement:
    """The first group with room, or the last nodes of the machine."""
    free, where = request.room()
    count = request.wanted()
    if count > max(map(len, sites(request.shape).groups)):
        nodes = free.nodes[: -count - 1 : -1]
        return Placement(nodes, f"{count:,} nodes {where} from the last one down: more than a group holds")
    group = first_with(free.groups, count)
    if group is None:
        return Placement(free.nodes[:count], f"{count:,} nodes {where} in label order: no group has as many idle")
    nodes = free.groups[group][:count]
    text = f"{count:,} nodes in group {group}, the first {where} with as many idle"
    if request.options.get("fall_through", False):
        taken = set(nodes)
        lowest = [node for node in free.nodes[: 2 * count] if node not in taken][:count]
        nodes = lowest + nodes[len(lowest) :]
        text = f"{count:,} of the lowest nodes {where}, instead of those of group {group}"
    return Placement(nodes, text)


POLICY = Policy(
    name="jokanovic",
    summary="small jobs in the first group with room, large ones from the last node down (Zhang 2018)",
    rank_order="as taken, ascending in a group, descending from the last node",
    options=(
        GROUPS,
        Option("fall_through", "repeat the defect of the published code", yes_or_no, "false"),
    ),
    place=place,
    freedom=freedom,
)
