"""Intensity-aware: heavy communicators are spread, light ones packed.

Ours, after two studies that found that each kind of job needs its own placement: Yang et al. 2016, "Watch out for the
bully! Job interference study on dragonfly network" (random placement lets communication-intensive jobs slow down the
others, and no placement suits all) and Wang et al. 2018, "Trade-off study of localizing communication and balancing
network traffic on a dragonfly system". They propose no policy; the rule is ours:

- heavy: one node from each group in turn, and in a group one from each router in turn, so that no link carries much;
- light: the smallest of router and group that has room, the tightest of these (so that large gaps stay for others),
  else as few groups as possible, the emptiest first, so that few links are shared.
"""

from itertools import chain, islice
from typing import Any

from odonata.errors import InputError
from odonata.placement.free import interleave, tightest
from odonata.placement.options import GROUPS, freedom, one_of
from odonata.placement.policy import Option, Placement, Policy, Request

#: A job is heavy from this fraction of its nodes' bandwidth on. Assumed: the studies give no number.
HEAVY_FROM = 0.1


def place(request: Request) -> Placement:
    """Spread or packed, depending on the intensity."""
    free, where = request.room()
    count = request.wanted()
    given = request.options["intensity"]
    threshold = request.options.get("heavy_from", HEAVY_FROM)
    if given == "heavy" or (given != "light" and given >= threshold):
        spread = [list(interleave(free.routers_of(group))) for group in range(request.shape.groups)]
        nodes = list(islice(interleave(spread), count))
        return Placement(nodes, f"{count:,} nodes {where} for a heavy job, spread over groups and routers")
    for level, parts in (("router", free.routers), ("group", free.groups)):
        best = tightest(parts, count)
        if best is not None:
            text = f"{count:,} nodes for a light job on {level} {best}, the tightest with room {where}"
            return Placement(parts[best][:count], text)
    emptiest = sorted(free.groups, key=len, reverse=True)
    nodes = list(islice(chain.from_iterable(emptiest), count))
    return Placement(nodes, f"{count:,} nodes {where} for a light job, in as few groups as possible")


def _intensity(value: Any) -> str | float:
    return one_of("heavy", "light")(value) if isinstance(value, str) else _fraction(value)


def _fraction(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise InputError(f"expected a fraction of the bandwidth of a node, found `{value!r}`")
    return float(value)


POLICY = Policy(
    name="intensity-aware",
    summary="heavy communicators spread over the machine, light ones packed (after Yang 2016 and Wang 2018)",
    rank_order="as taken, spread round by round over the groups, packed ascending in each group",
    options=(
        GROUPS,
        Option("intensity", "`heavy`, `light`, or the fraction of a node's bandwidth that the job uses", _intensity),
        Option("heavy_from", "the fraction above which a job is heavy", _fraction, f"{HEAVY_FROM:g} (assumed)"),
    ),
    place=place,
    freedom=freedom,
)
