"""The first step of Slurm's `select/linear`: the lowest switch that has room for a job."""

from odonata.placement.free import Free, tightest


def lowest_switch(free: Free, count: int) -> tuple[list[list[int]], str]:
    """Free nodes of the leaves under the lowest switch with `count` of them, and what that switch is called.

    A leaf comes before an island, and an island before the machine; of one level the switch with the fewest free
    nodes that suffice, and of equal ones the first.
    """
    leaf = tightest(free.routers, count)
    if leaf is not None:
        return [free.routers[leaf]], f"on leaf {leaf}"
    island = tightest(free.groups, count)
    if island is not None:
        return free.routers_of(island), f"on island {island}"
    return free.routers, "on the whole machine"
