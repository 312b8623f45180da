"""Per leaf: the same number of nodes on every leaf of some groups.

Source: the background application of Kang 2019, section 3.3 and figure 4b (K11: two nodes on each of the
24 leaves of groups 0, 1 and 2; K13: 4, 6 and 8).
"""

from odonata.errors import InputError
from odonata.placement.free import Free
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
from odonata.placement.sites import sites


def place(request: Request) -> Placement:
    """The lowest free nodes of each leaf, leaf by leaf."""
    per_leaf: int = request.options["per_leaf"]
    free, where = request.within(request.options.get("groups"))
    machine = sites(request.shape)
    largest = max(map(len, machine.routers))
    if per_leaf > largest:
        raise InputError(f"{per_leaf} nodes per leaf do not fit: a leaf has {largest}", path=("per_leaf",))
    leaves = Free(request.shape, free).routers
    groups = request.options.get("groups") or range(request.shape.groups)
    chosen = [(group, leaf, leaves[leaf]) for group in groups for leaf in machine.group_routers[group]]
    for group, leaf, idle in chosen:
        if len(idle) < per_leaf:
            where = f"leaf {leaf - machine.group_routers[group].start} of group {group}"
            raise InputError(f"{per_leaf} nodes per leaf do not fit: {where} has only {len(idle)} free")
    nodes = [node for _, _, idle in chosen for node in idle[:per_leaf]]
    if request.count is not None and request.count != len(nodes):
        raise InputError(
            f"{per_leaf} nodes on each of {len(chosen)} leaves make {len(nodes)}, not {request.count}",
            hint="leave the number out, or give equal numbers",
            path=COUNT,
        )
    return Placement(nodes, f"{per_leaf} on each of {len(chosen)} leaves {where}, the lowest free ones")


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
