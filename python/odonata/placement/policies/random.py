"""Random: free nodes drawn uniformly, ranks in the order of the draw.

Source: Kang 2019, section 3.4.2 (K18).
"""

from odonata.placement.options import DEFAULT_SEED, GROUPS, SEED, freedom
from odonata.placement.policy import Placement, Policy, Request
from odonata.placement.splitmix import SplitMix64


def place(request: Request) -> Placement:
    """A uniform draw without replacement (Fisher-Yates on splitmix64) from the free nodes, ascending."""
    free, where = request.within(request.options.get("groups"))
    seed = request.options.get("seed", DEFAULT_SEED)
    nodes = SplitMix64(seed).sample(request.enough(free, where), request.wanted())
    return Placement(nodes, f"{len(nodes):,} of {len(free):,} free nodes {where}, drawn with seed {seed}")


POLICY = Policy(
    name="random",
    summary="free nodes drawn uniformly",
    rank_order="order of the draw",
    options=(GROUPS, SEED),
    place=place,
    freedom=freedom,
)
