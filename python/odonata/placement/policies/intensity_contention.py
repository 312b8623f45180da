"""Odonata's own policies: intensity-aware and contention-aware."""

from dataclasses import replace
from itertools import chain, islice
from typing import Any

from odonata.errors import InputError
from odonata.placement.free import Free, in_turn, interleave, tightest
from odonata.placement.group_load import background, cost, lighter, read_intensity, read_running, running
from odonata.placement.policy import GROUPS, Option, Placement, Policy, Request, freedom, one_of

#: A job is heavy from this fraction of its nodes' bandwidth on. Assumed: the studies give no number.
HEAVY_FROM = 0.1


def intensity_aware(request: Request) -> Placement:
    """Intensity-aware: heavy communicators are spread, light ones packed.

    Spread or packed, depending on the intensity.

    Ours, after two studies that found that each kind of job needs its own placement: Yang et al. 2016, "Watch out for
    the bully! Job interference study on dragonfly network" (random placement lets communication-intensive jobs slow
    down the others, and no placement suits all) and Wang et al. 2018, "Trade-off study of localizing communication and
    balancing network traffic on a dragonfly system". They propose no policy; the rule is ours:

    - heavy: one node from each group in turn, and in a group one from each router in turn, so that no link carries
    much;
    - light: the smallest of router and group that has room, the tightest of these (so that large gaps stay for others),
      else as few groups as possible, the emptiest first, so that few links are shared.
    """
    free, where = request.room()
    count = request.wanted()
    given = request.options["intensity"]
    threshold = request.options.get("heavy_from", HEAVY_FROM)
    if given == "heavy" or (given != "light" and given >= threshold):
        spread = [list(interleave(free.routers_of(group))) for group in range(request.shape.groups)]
        nodes = list(islice(interleave(spread), count))
        text = f"spread over {request.shape.group_name}s and {request.shape.router_names}"
        return Placement(nodes, f"{count:,} nodes {where} for a heavy job, {text}")
    levels = ((request.shape.router_name, free.routers), (request.shape.group_name, free.groups))
    for level, parts in levels:
        best = tightest(parts, count)
        if best is not None:
            text = f"{count:,} nodes for a light job on {level} {best}, the tightest with room {where}"
            return Placement(parts[best][:count], text)
    emptiest = sorted(free.groups, key=len, reverse=True)
    nodes = list(islice(chain.from_iterable(emptiest), count))
    return Placement(
        nodes, f"{count:,} nodes {where} for a light job, in as few {request.shape.group_name}s as possible"
    )


def _intensity(value: Any) -> str | float:
    return one_of("heavy", "light")(value) if isinstance(value, str) else _fraction(value)


def _fraction(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise InputError(f"expected a fraction of the bandwidth of a node, found `{value!r}`")
    return float(value)


INTENSITY_AWARE = Policy(
    name="intensity-aware",
    summary="heavy communicators spread over the machine, light ones packed (after Yang 2016 and Wang 2018)",
    rank_order="as taken, spread round by round over the groups, packed ascending in each group",
    options=(
        GROUPS,
        Option("intensity", "`heavy`, `light`, or the fraction of a node's bandwidth that the job uses", _intensity),
        Option("heavy_from", "the fraction above which a job is heavy", _fraction, f"{HEAVY_FROM:g} (assumed)"),
    ),
    place=intensity_aware,
    freedom=freedom,
)


def contention_aware(request: Request) -> Placement:
    """Contention-aware: as little expected load on loaded global links as possible.

    No global link if possible, else lightly loaded ones.

    Ours. A job that fits on one router, else in one group, gets the tightest that has room: it uses no global link.
    Else its nodes are shared among the groups: evenly at first, then nodes are moved, greedily, from the group where
    they cost most to the one where they cost least, as long as the sum of the squares of the expected loads of all
    pairs of groups falls (`placement/group_load.py`). The expected loads assume that every node of a job sends the same
    to every other, unless `running` says otherwise. In its groups the job gets one node from each router in turn.

    It ignores links inside groups, non-minimal paths, and differences between pairs of groups in their number of links.
    """
    count, jobs = request.wanted(), running(request)
    taken = {node for job in jobs for node in job.nodes}
    if not taken <= request.busy:
        request = replace(request, free=[node for node in request.free if node not in taken], cut=None)
    free, where = request.room()
    router = tightest(free.routers, count)
    if router is not None:
        nodes = free.routers[router][:count]
        unit = request.shape.router_name
        return Placement(nodes, f"{count:,} nodes on {unit} {router}, the tightest with room {where}: no links")
    group = tightest(free.groups, count)
    if group is not None:
        nodes = _spread(free, group, count)
        text = f"{count:,} nodes in {request.shape.group_name} {group}, the tightest with room {where}"
        return Placement(nodes, f"{text}: no {request.shape.links_out}")
    intensity = request.options.get("intensity", 1.0)
    room = [len(nodes) for nodes in free.groups]
    shares = in_turn(room, count)
    text = f"{count:,} nodes {where}, evenly over the {request.shape.group_name}s"
    if intensity:
        loads = background(request.shape, jobs, pair=2 * intensity / (count - 1))
        before = cost(loads, shares)
        shares = lighter(loads, room, shares)
        saved = 1 - cost(loads, shares) / before if before else 0.0
        whose = f"{len(jobs)} running job{'' if len(jobs) == 1 else 's'}"
        text = f"{count:,} nodes {where}, away from the {request.shape.links_out} of {whose}: "
        text += f"the squares of the expected loads are {saved:.1%} below those of an even spread"
    nodes = [node for group, share in enumerate(shares) for node in _spread(free, group, share)]
    return Placement(nodes, text)


def _spread(free: Free, group: int, count: int) -> list[int]:
    return list(islice(interleave(free.routers_of(group)), count))


CONTENTION_AWARE = Policy(
    name="contention-aware",
    summary="where the expected load of running jobs on global links is least",
    rank_order="group by group, in a group round by round over its routers",
    options=(
        GROUPS,
        Option("intensity", "traffic of a node of this job, relative to a node of a running job", read_intensity, "1"),
        Option(
            "running",
            'jobs that run: a list of nodes such as "0-15", or of tables { nodes, intensity, flows = [[from, to, '
            "amount]] }",
            read_running,
            "the jobs of the scenario; else all busy nodes as one job",
        ),
    ),
    place=contention_aware,
    freedom=freedom,
)
