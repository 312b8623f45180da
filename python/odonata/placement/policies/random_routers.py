"""Random Routers (RDR): routers drawn one after the other, each with all its idle nodes.

Source: Zhang 2018, section IV, after Jain et al. 2014 (L11). The authors' code draws with replacement from all routers
and does nothing when it meets a full one; drawing from those with idle nodes, each once, has the same distribution.
"""

from itertools import chain, islice

from odonata.placement.options import DEFAULT_SEED, GROUPS, SEED, freedom
from odonata.placement.policy import Placement, Policy, Request
from odonata.placement.splitmix import SplitMix64


def place(request: Request) -> Placement:
    """Whole routers in random order, the last one cut off."""
    free, where = request.room()
    seed = request.options.get("seed", DEFAULT_SEED)
    routers = [router for router in free.routers if router]
    # Each has a node at least, so no more of them are needed than nodes.
    drawn = SplitMix64(seed).sample(routers, min(request.wanted(), len(routers)))
    nodes = list(islice(chain.from_iterable(drawn), request.wanted()))
    return Placement(nodes, f"{len(nodes):,} nodes {where}, router by router, drawn with seed {seed}")


POLICY = Policy(
    name="random-routers",
    summary="whole routers drawn one after the other (Zhang 2018: RDR)",
    rank_order="routers in the order of the draw, in each ascending",
    options=(GROUPS, SEED),
    place=place,
    freedom=freedom,
    aliases=("RDR",),
)
