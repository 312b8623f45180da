"""The policies of Zhang 2018: simple, random, round robin, level spread, Slurm as described there, and Jokanovic.

Nodes are labelled router by router and group by group, as everywhere here.
"""

from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import TypeVar

from odonata.placement.free import Free, first_with, interleave, most, sites, tightest
from odonata.placement.policy import (
    DEFAULT_SEED,
    GROUPS,
    SEED,
    START,
    Option,
    Placement,
    Policy,
    Request,
    freedom,
    yes_or_no,
)
from odonata.placement.splitmix import SplitMix64

T = TypeVar("T")


def next_group(request: Request) -> int:
    """The group to begin with: 0, or the one after the last node of the job that was placed before."""
    last = _last_node(request)
    return 0 if last is None else (request.shape.group_of(last) + 1) % request.shape.groups


def next_router(request: Request, group: int) -> int:
    """The router of the group to begin with: 0, or the one after that node if it is in this group."""
    last = _last_node(request)
    if last is None or request.shape.group_of(last) != group:
        return 0
    routers = sites(request.shape).group_routers[group]
    return (request.shape.router_of(last) + 1 - routers.start) % len(routers)


def turned(parts: Sequence[T], first: int) -> list[T]:
    """The parts from `first` on, then those before it."""
    return [*parts[first:], *parts[:first]]


def _last_node(request: Request) -> int | None:
    if request.options.get("start", "first") == "first":
        return None
    return next(reversed(request.owners), None)


def simple(request: Request) -> Placement:
    """Simple: idle nodes in the order of their labels.

    The lowest idle nodes.

    Source: Zhang 2018, section IV. Nodes are labelled router by router and group by group, as everywhere here.
    """
    free, where = request.room()
    nodes = free.nodes[: request.wanted()]
    return Placement(nodes, f"{len(nodes):,} nodes {where} in label order")


SIMPLE = Policy(
    name="simple",
    summary="idle nodes in label order (Zhang 2018)",
    rank_order="ascending node ids",
    options=(GROUPS,),
    place=simple,
    freedom=freedom,
)


def random_nodes(request: Request) -> Placement:
    """Random Nodes (RDN): nodes drawn uniformly from the entire machine.

    A uniform draw without replacement.

    Source: Zhang 2018, section IV, after Jain et al. 2014. The draw is that of `random`: the same seed gives the
    same nodes.
    """
    free, where = request.room()
    seed = request.options.get("seed", DEFAULT_SEED)
    nodes = SplitMix64(seed).sample(free.nodes, request.wanted())
    return Placement(nodes, f"{len(nodes):,} of {len(free.nodes):,} free nodes {where}, drawn with seed {seed}")


RANDOM_NODES = Policy(
    name="random-nodes",
    summary="nodes drawn uniformly (Zhang 2018: RDN)",
    rank_order="order of the draw",
    options=(GROUPS, SEED),
    place=random_nodes,
    freedom=freedom,
    aliases=("RDN",),
)


def _random_units(unit: str, acronym: str, alias: str, units: Callable[[Free], Sequence[Sequence[int]]]) -> Policy:
    """Random Routers (RDR) and Random Groups (RDG): whole routers or groups, drawn one after the other.

    Source: Zhang 2018, section IV, after Jain et al. 2014. The authors' code draws with replacement
    from all of them and does nothing when it meets a full one. Drawing each one with idle nodes once is equivalent.
    """

    def place(request: Request) -> Placement:
        free, where = request.room()
        seed = request.options.get("seed", DEFAULT_SEED)
        idle = [nodes for nodes in units(free) if nodes]
        # Each has at least one free node, so `count` of them are enough.
        drawn = SplitMix64(seed).sample(idle, min(request.wanted(), len(idle)))
        nodes = list(islice(chain.from_iterable(drawn), request.wanted()))
        name = request.shape.router_name if unit == "router" else request.shape.group_name
        return Placement(nodes, f"{len(nodes):,} nodes {where}, {name} by {name}, drawn with seed {seed}")

    return Policy(
        name=f"random-{unit}s",
        summary=f"whole {unit}s drawn one after the other (Zhang 2018: {acronym})",
        rank_order=f"{unit}s in the order of the draw, in each ascending",
        options=(GROUPS, SEED),
        place=place,
        freedom=freedom,
        aliases=(acronym, alias),
    )


RANDOM_ROUTERS = _random_units("router", "RDR", "random-leaves", lambda free: free.routers)
RANDOM_GROUPS = _random_units("group", "RDG", "random-pods", lambda free: free.groups)


def round_robin_nodes(request: Request) -> Placement:
    """Round Robin Nodes (RRN): a node from each group in turn.

    The lowest idle node of one group after the other.

    Source: Zhang 2018, section IV, after Jain et al. 2014: from the first group on, the first idle node of the
    group in label order, then the next group, and so on. Full groups are skipped.
    """
    free, where = request.room()
    nodes = list(islice(interleave(turned(free.groups, next_group(request))), request.wanted()))
    return Placement(nodes, f"{len(nodes):,} nodes {where}, one from each {request.shape.group_name} in turn")


ROUND_ROBIN_NODES = Policy(
    name="round-robin-nodes",
    summary="a node from each group in turn (Zhang 2018: RRN)",
    rank_order="as taken, round by round over the groups",
    options=(GROUPS, START),
    place=round_robin_nodes,
    freedom=freedom,
    aliases=("RRN",),
)


def round_robin_routers(request: Request) -> Placement:
    """Round Robin Routers (RRR): a router from each group in turn.

    The idle nodes of the first router of one group after the other.

    Source: Zhang 2018, section IV, after Jain et al. 2014: from the first group on, the first router of the group
    that has an idle node, with all its idle nodes in label order, then the next group, and so on. Full groups are
    skipped.
    """
    free, where = request.room()
    groups = [[router for router in free.routers_of(g) if router] for g in range(request.shape.groups)]
    routers = interleave(turned(groups, next_group(request)))
    nodes = list(islice(chain.from_iterable(routers), request.wanted()))
    unit, part = request.shape.router_name, request.shape.group_name
    return Placement(nodes, f"{len(nodes):,} nodes {where}, a {unit} from each {part} in turn")


ROUND_ROBIN_ROUTERS = Policy(
    name="round-robin-routers",
    summary="a router from each group in turn (Zhang 2018: RRR)",
    rank_order="as taken, router by router, on each ascending",
    options=(GROUPS, START),
    place=round_robin_routers,
    freedom=freedom,
    aliases=("RRR", "round-robin-leaves"),
)


def level_spread(request: Request) -> Placement:
    """Level-Spread: the smallest level in which the job fits, and spread inside it.

    One router, else one group, else the machine.

    Source: Zhang 2018, section III-B. A job that fits on one router gets the router with the most idle nodes;
    else, if it fits in one group, the group with the most idle nodes, router by router in turn; else the whole machine,
    group by group in turn, in each group the lowest idle node. What the paper leaves open is as in the authors' code:
    exactly enough counts as a fit, of equals the lowest id is taken, a round robin begins at router 0 or group 0 for
    every job, and full units are skipped.
    """
    free, where = request.room()
    count = request.wanted()
    unit, part = request.shape.router_name, request.shape.group_name
    router = most(free.routers)
    if count <= len(free.routers[router]):
        nodes = free.routers[router][:count]
        return Placement(nodes, f"{count:,} nodes on {unit} {router}, the one with the most idle nodes {where}")
    group = most(free.groups)
    if count <= len(free.groups[group]):
        parts = turned(free.routers_of(group), next_router(request, group))
        text = f"{count:,} nodes in {part} {group}, the one with the most idle nodes {where}, {unit} by {unit} in turn"
    else:
        parts = turned(free.groups, next_group(request))
        text = f"{count:,} nodes {where}, {part} by {part} in turn: no {unit} and no {part} has as many idle"
    return Placement(list(islice(interleave(parts), count)), text)


LEVEL_SPREAD = Policy(
    name="level-spread",
    summary="spread inside the smallest of router, group and machine that has room (Zhang 2018)",
    rank_order="as taken, round by round over routers or groups",
    options=(GROUPS, START),
    place=level_spread,
    freedom=freedom,
)


def _slurm_zhang(
    name: str, which: str, source: str, router_with_room: Callable[[Sequence[Sequence[int]], int], int | None]
) -> Policy:
    """Slurm as described by Zhang 2018: one router with room, else the routers with the fewest idle nodes.

    The text (Zhang 2018, section IV, "Slurm") takes the first router with room: `slurm-zhang-text`.
    Salimi Beni 2022, section 4.1 describes Slurm the same way. The scheduler of SST until December 2020, which
    the authors of Zhang 2018 ran, takes the tightest router: `slurm-zhang-sst`. Real Slurm does neither: see
    `slurm-dragonfly` and `slurm-tree`.
    """

    def place(request: Request) -> Placement:
        free, where = request.room()
        count = request.wanted()
        router = router_with_room(free.routers, count)
        if router is not None:
            nodes = free.routers[router][:count]
            name = request.shape.router_name
            return Placement(nodes, f"{count:,} nodes on {name} {router}, the {which} with as many idle {where}")
        scarce = sorted((nodes for nodes in free.routers if nodes), key=len)
        nodes = list(islice(chain.from_iterable(scarce), count))
        names = request.shape.router_names
        return Placement(nodes, f"{count:,} nodes {where}, from the {names} with the fewest idle nodes")

    return Policy(
        name=name,
        summary=f"the {which} router with room, else the routers with the fewest idle nodes ({source} of Zhang 2018)",
        rank_order="as taken, router by router, on each ascending",
        options=(GROUPS,),
        place=place,
        freedom=freedom,
    )


SLURM_ZHANG_TEXT = _slurm_zhang("slurm-zhang-text", "first", "text", first_with)
SLURM_ZHANG_SST = _slurm_zhang("slurm-zhang-sst", "tightest", "code", tightest)


def jokanovic(request: Request) -> Placement:
    """Jokanovic: small jobs from the low end of the machine, large ones from the high end.

    The first group with room, or the last nodes of the machine.

    Source: Zhang 2018, sections IV and VI-F, after Jokanovic et al. 2015, "Quiet neighborhoods". A job of at most
    one group's nodes gets the first group that has as many idle, in label order; a larger one gets the last idle nodes
    of the machine. The boundary between the two parts of the machine is where they meet, so it moves with the jobs.
    Where no group has room for a small job, the paper is silent; as in the authors' code it gets the lowest idle nodes.

    The published code has a defect: having found its group, a small job falls through to that last case, and its ranks
    are given the lowest idle nodes outside the group, if there are any. `fall_through` repeats it.
    """
    free, where = request.room()
    count, part = request.wanted(), request.shape.group_name
    if count > max(map(len, sites(request.shape).groups)):
        nodes = free.nodes[: -count - 1 : -1]
        return Placement(nodes, f"{count:,} nodes {where} from the last one down: more than a {part} holds")
    group = first_with(free.groups, count)
    if group is None:
        return Placement(free.nodes[:count], f"{count:,} nodes {where} in label order: no {part} has as many idle")
    nodes = free.groups[group][:count]
    text = f"{count:,} nodes in {part} {group}, the first {where} with as many idle"
    if request.options.get("fall_through", False):
        taken = set(nodes)
        lowest = [node for node in free.nodes[: 2 * count] if node not in taken][:count]
        nodes = lowest + nodes[len(lowest) :]
        text = f"{count:,} of the lowest nodes {where}, instead of those of {part} {group}"
    return Placement(nodes, text)


JOKANOVIC = Policy(
    name="jokanovic",
    summary="small jobs in the first group with room, large ones from the last node down (Zhang 2018)",
    rank_order="as taken, ascending in a group, descending from the last node",
    options=(
        GROUPS,
        Option("fall_through", "repeat the defect of the published code", yes_or_no, "false"),
    ),
    place=jokanovic,
    freedom=freedom,
)
