"""Random Groups (RDG): groups drawn one after the other, each with all its idle nodes.

Source: Zhang 2018, section IV, after Jain et al. 2014 (L11). The authors' code draws with replacement from all groups
and does nothing when it meets a full one; drawing from those with idle nodes, each once, has the same distribution.
"""

from itertools import chain, islice

from odonata.placement.options import DEFAULT_SEED, GROUPS, SEED, freedom
from odonata.placement.policy import Placement, Policy, Request
from odonata.placement.splitmix import SplitMix64


def place(request: Request) -> Placement:
    """Whole groups in random order, the last one cut off."""
    free, where = request.room()
    seed = request.options.get("seed", DEFAULT_SEED)
    drawn = SplitMix64(seed).shuffled([group for group in free.groups if group])
    nodes = list(islice(chain.from_iterable(drawn), request.wanted()))
    return Placement(nodes, f"{len(nodes):,} nodes {where}, group by group, drawn with seed {seed}")


POLICY = Policy(
    name="random-groups",
    summary="whole groups drawn one after the other (Zhang 2018: RDG)",
    rank_order="groups in the order of the draw, in each ascending",
    options=(GROUPS, SEED),
    place=place,
    freedom=freedom,
    aliases=("RDG",),
)
