"""Contention-aware: as little expected load on loaded global links as possible.

Ours. A job that fits on one router, else in one group, gets the tightest that has room: it uses no global link. Else
its nodes are shared among the groups: evenly at first, then nodes are moved, greedily, from the group where they cost
most to the one where they cost least, as long as the sum of the squares of the expected loads of all pairs of groups
falls (`placement/group_load.py`). The expected loads assume that every node of a job sends the same to every other,
unless `running` says otherwise. In its groups the job gets one node from each router in turn.

It ignores links inside groups, non-minimal paths, and differences between pairs of groups in their number of links.
"""

from dataclasses import replace
from itertools import islice

from odonata.placement.free import Free, in_turn, interleave, tightest
from odonata.placement.group_load import background, cost, lighter
from odonata.placement.options import GROUPS, freedom
from odonata.placement.policy import Option, Placement, Policy, Request
from odonata.placement.running import read_intensity, read_running, running


def place(request: Request) -> Placement:
    """No global link if possible, else lightly loaded ones."""
    count, jobs = request.wanted(), running(request)
    taken = {node for job in jobs for node in job.nodes}
    if not taken <= request.busy:
        request = replace(request, free=[node for node in request.free if node not in taken], cut=None)
    free, where = request.room()
    router = tightest(free.routers, count)
    if router is not None:
        nodes = free.routers[router][:count]
        return Placement(nodes, f"{count:,} nodes on router {router}, the tightest with room {where}: no links")
    group = tightest(free.groups, count)
    if group is not None:
        nodes = _spread(free, group, count)
        return Placement(nodes, f"{count:,} nodes in group {group}, the tightest with room {where}: no global links")
    intensity = request.options.get("intensity", 1.0)
    room = [len(nodes) for nodes in free.groups]
    shares = in_turn(room, count)
    text = f"{count:,} nodes {where}, evenly over the groups"
    if intensity:
        loads = background(request.shape, jobs, pair=2 * intensity / (count - 1))
        before = cost(loads, shares)
        shares = lighter(loads, room, shares)
        saved = 1 - cost(loads, shares) / before if before else 0.0
        whose = f"{len(jobs)} running job{'' if len(jobs) == 1 else 's'}"
        text = f"{count:,} nodes {where}, away from the global links of {whose}: "
        text += f"the squares of the expected loads are {saved:.1%} below those of an even spread"
    nodes = [node for group, share in enumerate(shares) for node in _spread(free, group, share)]
    return Placement(nodes, text)


def _spread(free: Free, group: int, count: int) -> list[int]:
    return list(islice(interleave(free.routers_of(group)), count))


POLICY = Policy(
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
    place=place,
    freedom=freedom,
)
