"""The draws of the fixed layouts for the machine of Kang 2019.

The paper used one random layout for all experiments and says of it only that 29.6 % of the 2,304 target
processes, 682, were in groups 0 to 2 beside the background (section 3.4.2; K18). Ours is a uniform draw
under that condition. For the broadcast experiments with up to 8 background nodes per leaf (K13) no layout
can have 682 there: 3 groups x 24 leaves x 8 free nodes are 576; that layout is a plain uniform draw.

Every draw is `SplitMix64.sample` with the seed 2019.
"""

from odonata.machine import Shape
from odonata.placement.splitmix import SplitMix64

#: The machine: 9 groups of 24 leaves of 16 nodes (K1).
SHAPE = Shape(groups=9, routers_per_group=24, nodes_per_router=16)
#: Ranks of the target job.
RANKS = 2304
#: Ranks of the target in the background's groups: 29.6 % of 2,304.
INSIDE = 682
#: The background's groups.
BACKGROUND_GROUPS = (0, 1, 2)
SEED = 2019


def free_nodes(background_per_leaf: int) -> tuple[list[int], list[int]]:
    """Nodes that the background leaves free: in its groups, and elsewhere; ascending."""
    inside = [
        node
        for node in range(SHAPE.nodes)
        if SHAPE.group_of(node) in BACKGROUND_GROUPS and node % SHAPE.nodes_per_router >= background_per_leaf
    ]
    outside = [n for n in range(SHAPE.nodes) if SHAPE.group_of(n) not in BACKGROUND_GROUPS]
    return inside, outside


def random_layout() -> list[int]:
    """`kang2019-random`.

    One stream draws 682 of the 1,008 free nodes in groups 0 to 2 (2 per leaf are the background's), then
    1,622 of the 2,304 in groups 3 to 8, then the order of the ranks from the former followed by the
    latter.
    """
    inside, outside = free_nodes(2)
    stream = SplitMix64(SEED)
    nodes = stream.sample(inside, INSIDE) + stream.sample(outside, RANKS - INSIDE)
    return stream.sample(nodes, RANKS)


def broadcast_layout() -> list[int]:
    """`kang2019-random-broadcast`: 2,304 of the 2,880 nodes free beside 8 background nodes per leaf."""
    inside, outside = free_nodes(8)
    return SplitMix64(SEED).sample(inside + outside, RANKS)
