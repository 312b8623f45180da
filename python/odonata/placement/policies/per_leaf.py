"""Per leaf: the same number of nodes on every leaf of some groups.

Source: the background application of Kang 2019, section 3.3 and figure 4b (K11: two nodes on each of the
24 leaves of groups 0, 1 and 2; K13: 4, 6 and 8).
"""

from odonata.errors import InputError
from odonata.placement.policy import (
    COUNT,
    Freedom,
    Option,
    Placement,
    Policy,
    Request,
    groups_option,
    whole_number,
)


def place(request: Request) -> Placement:
    """The lowest free nodes of each leaf, leaf by leaf."""
    per_leaf: int = request.options["per_leaf"]
    free, where = request.within(request.options.get("groups"))
    shape = request.shape
    if per_leaf > shape.nodes_per_router:
        raise InputError(
            f"{per_leaf} nodes per leaf do not fit: a leaf has {shape.nodes_per_router}",
            path=("per_leaf",),
        )
    groups = request.options.get("groups") or list(range(shape.groups))
    taken = {
        group * shape.routers_per_group + router: 0 for group in groups for router in range(shape.routers_per_group)
    }
    nodes = []
    for node in free:
        router = shape.router_of(node)
        if taken[router] < per_leaf:
            taken[router] += 1
            nodes.append(node)
    short = next((router for router, count in taken.items() if count < per_leaf), None)
    if short is not None:
        group, leaf = divmod(short, shape.routers_per_group)
        raise InputError(
            f"{per_leaf} nodes per leaf do not fit: leaf {leaf} of group {group} has only {taken[short]} free"
        )
    if request.count is not None and request.count != len(nodes):
        raise InputError(
            f"{per_leaf} nodes on each of {len(taken)} leaves make {len(nodes)}, not {request.count}",
            hint="leave the number out, or make them agree",
            path=COUNT,
        )
    return Placement(nodes, f"{per_leaf} on each of {len(taken)} leaves {where}, the lowest free ones")


POLICY = Policy(
    name="per-leaf",
    summary="the same number of nodes on every leaf",
    rank_order="ascending node ids",
    options=(
        Option("per_leaf", "nodes on each leaf", whole_number("a number of nodes", 1, 2**32 - 1)),
        groups_option("all groups"),
    ),
    place=place,
    freedom=lambda _: Freedom.LEAF,
    counts_itself=True,
)
