"""Random Nodes (RDN): nodes drawn uniformly from the entire machine.

Source: Zhang 2018, section IV, after Jain et al. 2014 (L11). The draw is that of `random`: the same seed gives the
same nodes.
"""

from odonata.placement.options import DEFAULT_SEED, GROUPS, SEED, freedom
from odonata.placement.policy import Placement, Policy, Request
from odonata.placement.splitmix import SplitMix64


def place(request: Request) -> Placement:
    """A uniform draw without replacement."""
    free, where = request.room()
    seed = request.options.get("seed", DEFAULT_SEED)
    nodes = SplitMix64(seed).sample(free.nodes, request.wanted())
    return Placement(nodes, f"{len(nodes):,} of {len(free.nodes):,} free nodes {where}, drawn with seed {seed}")


POLICY = Policy(
    name="random-nodes",
    summary="nodes drawn uniformly (Zhang 2018: RDN)",
    rank_order="order of the draw",
    options=(GROUPS, SEED),
    place=place,
    freedom=freedom,
    aliases=("RDN",),
)
