"""Policies that look at the links of a machine, whatever its kind: by distance, and by the cut around a job."""

from odonata.errors import InputError
from odonata.placement.links import Links, links_of
from odonata.placement.policy import GROUPS, Option, Placement, Policy, Request, freedom, whole_number

#: Largest sum of the weights of edges that METIS gets; its numbers have 32 bits.
_MOST_WEIGHT = 2**30


def nearest(request: Request) -> Placement:
    """By distance: the free nodes with the fewest links between their routers and that of a first node.

    Ties go to the lowest number. The first node need not be free.
    """
    room, where = request.room()
    links = links_of(request)
    first: int = request.options.get("from", room.nodes[0] if room.nodes else 0)
    request.shape.check_node(first)
    distances = links.distances(int(links.router_of[first]))
    far = links.routers

    def away(node: int) -> int:
        links_between = int(distances[links.router_of[node]])
        return far if links_between < 0 else links_between

    nodes = sorted(room.nodes, key=lambda node: (away(node), node != first, node))[: request.wanted()]
    most = max(map(away, nodes))
    within = "some of them cut off" if most == far else f"within {most} link{'' if most == 1 else 's'}"
    return Placement(nodes, f"{len(nodes):,} nodes {where}, the nearest to node {first}, {within} between routers")


NEAREST = Policy(
    name="nearest",
    summary="the free nodes with the fewest links to a first node",
    rank_order="by distance, then ascending",
    options=(
        Option("from", "the first node", whole_number("a node", 0, 2**32 - 1), "the lowest free node"),
        GROUPS,
    ),
    place=nearest,
    freedom=freedom,
    needs_links=True,
)


def least_cut(request: Request) -> Placement:
    """By cut: the free nodes that little bandwidth joins to the rest of the machine.

    METIS divides the routers into two parts, of which one has about as many free nodes as the job. Then nodes move, the
    one that adds least to the cut first, until the number is right. Which nodes a job gets depends on the version of
    METIS.

    Source: Karypis and Kumar, SIAM Journal on Scientific Computing 20, 1998.
    """
    room, where = request.room()
    links, wanted = links_of(request), request.wanted()
    free = [0] * links.routers
    for node in room.nodes:
        free[links.router_of[node]] += 1
    inside = _fitted(links, free, _halves(links, free, wanted), wanted)
    nodes, left = [], [0] * links.routers
    for node in room.nodes:
        router = links.router_of[node]
        if left[router] < inside[router]:
            left[router] += 1
            nodes.append(node)
    routers = sum(count > 0 for count in inside)
    what = f"on {routers:,} router{'' if routers == 1 else 's'} that few links join to the others"
    return Placement(nodes, f"{len(nodes):,} nodes {where}, {what}")


def _halves(links: Links, free: list[int], wanted: int) -> list[bool]:
    """Whether each router is in the part that the job gets."""
    if wanted == sum(free) or not len(links.others):
        return [True] * links.routers
    try:
        import pymetis
    except ImportError:
        message = "the placement `least-cut` needs METIS, which is not installed"
        raise InputError(message, hint="pip install 'odonata[all]' adds it") from None
    scale = min(_MOST_WEIGHT / links.bandwidth.sum(), 1_000 / links.bandwidth.max())
    share = wanted / sum(free)
    _, parts = pymetis.part_graph(
        2,
        pymetis.CSRAdjacency(links.starts.tolist(), links.others.tolist()),
        vweights=free,
        eweights=[max(1, round(bandwidth * scale)) for bandwidth in links.bandwidth.tolist()],
        tpwgts=[share, 1 - share],
        recursive=True,
    )
    return [part == 0 for part in parts]


def _fitted(links: Links, free: list[int], part: list[bool], wanted: int) -> list[int]:
    """The nodes that the job gets on each router: those in its part, with moves that change the cut least.

    A router counts as inside to the share of its free nodes that the job has.
    """
    import numpy as np

    inside = [count if own else 0 for count, own in zip(free, part, strict=True)]
    routers = np.repeat(np.arange(links.routers), np.diff(links.starts))
    total = np.bincount(routers, links.bandwidth, links.routers)
    shared = np.bincount(routers, links.bandwidth * np.asarray(part, dtype=float)[links.others], links.routers)
    while (lacking := wanted - sum(inside)) != 0:
        more = lacking > 0
        movable = [r for r, count in enumerate(inside) if (count < free[r] if more else count > 0)]
        gains = {r: (2 * shared[r] - total[r]) * (1 if more else -1) for r in movable}
        router = max(movable, key=lambda r: (0 < inside[r] < free[r], gains[r], -r))
        moved = min(lacking, free[router] - inside[router]) if more else -min(-lacking, inside[router])
        inside[router] += moved
        near = links.near(router)
        shared[links.others[near]] += links.bandwidth[near] * (moved / free[router])
    return inside


LEAST_CUT = Policy(
    name="least-cut",
    summary="the free nodes that little bandwidth joins to the rest of the machine (METIS)",
    rank_order="ascending node ids",
    options=(GROUPS,),
    place=least_cut,
    freedom=freedom,
    needs_links=True,
)
