"""Random: free nodes drawn uniformly, ranks in the order of the draw.

Source: Kang 2019, section 3.4.2 (K18).
"""

from odonata.placement.policy import (
    Freedom,
    Option,
    Placement,
    Policy,
    Request,
    groups_option,
    whole_number,
)
from odonata.placement.splitmix import SplitMix64

#: The seed of a draw outside a scenario.
DEFAULT_SEED = 1


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
    options=(
        groups_option("the whole machine"),
        Option(
            "seed",
            "seed of the draw",
            whole_number("a seed", 0, 2**64 - 1),
            "in a scenario the run's seed plus the job's number, else 1",
        ),
    ),
    place=place,
    freedom=lambda options: Freedom.GROUPS if "groups" in options else Freedom.ANYWHERE,
)
