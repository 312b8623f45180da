"""Fixed layouts: placements that a paper used in all its experiments, shipped as files of node ids.

A layout is used like a policy: `place = "kang2019-random"`. A file is authoritative; a test repeats its derivation.

Kang 2019 used one random layout for all experiments and says of it only that 29.6 % of the 2,304 target processes, 682,
were in groups 0 to 2 beside the background (section 3.4.2). Ours is a uniform draw under that condition. For the
broadcast experiments with up to 8 background nodes per leaf (Kang 2019, section 3.4.1) no layout can have 682 there: 3
groups x 24 leaves x 8 free nodes are 576; that layout is a plain uniform draw. Every draw is `SplitMix64.sample` with
the seed 2019.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import as_file, files

from odonata.errors import InputError
from odonata.machine import Shape
from odonata.placement.ids import read_nodes
from odonata.placement.policy import COUNT, Freedom, Option, Placement, Policy, Request, read_groups
from odonata.placement.splitmix import SplitMix64

#: The machine: 9 groups of 24 leaves of 16 nodes (Kang 2019, section 2.1).
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


@dataclass(frozen=True)
class Layout:
    """A fixed layout: the machine it is for, and how it was derived."""

    name: str
    summary: str
    shape: Shape
    derive: Callable[[], list[int]]

    def nodes(self) -> list[int]:
        """The nodes in rank order, from the file that ships with Odonata."""
        with as_file(files("odonata.placement.layouts") / f"{self.name}.txt") as path:
            return [node for node, _ in read_nodes(path)]

    def policy(self) -> Policy:
        """The layout in the form of a policy."""
        return Policy(
            name=self.name,
            summary=self.summary,
            rank_order="order of the draw; with `root_groups`, rank 0 changes places with another",
            options=(Option("root_groups", ROOT_DOC, read_groups, "rank 0 as drawn"),),
            place=self._place,
            freedom=lambda _: Freedom.NONE,
            counts_itself=True,
        )

    def _place(self, request: Request) -> Placement:
        if request.shape != self.shape:
            raise InputError(
                f"the layout `{self.name}` is for a machine of {self.shape.nodes:,} nodes in "
                f"{self.shape.groups} groups, not of {request.shape.nodes:,} in {request.shape.groups}"
            )
        nodes = self.nodes()
        if request.count is not None and request.count != len(nodes):
            message = f"the layout `{self.name}` has {len(nodes):,} nodes, not {request.count:,}"
            raise InputError(message, path=COUNT)
        taken = next((node for node in nodes if not request.is_free(node)), None)
        if taken is not None:
            raise request.taken(taken, f" of the layout `{self.name}`")
        reason = f"the fixed layout `{self.name}`"
        root_groups = request.options.get("root_groups")
        if root_groups is not None:
            root = next((r for r, n in enumerate(nodes) if self.shape.group_of(n) in root_groups), None)
            if root is None:
                raise InputError("the layout has no node in these groups", path=("root_groups",))
            nodes[0], nodes[root] = nodes[root], nodes[0]
            reason += f", rank 0 on node {nodes[0]} in group {self.shape.group_of(nodes[0])}"
        return Placement(nodes, reason)


ROOT_DOC = "groups in which rank 0 must be, the root of a broadcast: it changes places with the first rank there"

#: All layouts.
LAYOUTS: dict[str, Layout] = {
    layout.name: layout
    for layout in (
        Layout(
            "kang2019-random",
            "random placement of Kang 2019: 2,304 nodes, 682 of them in groups 0 to 2",
            SHAPE,
            random_layout,
        ),
        Layout(
            "kang2019-random-broadcast",
            "2,304 random nodes beside 8 background nodes per leaf of groups 0 to 2 (Kang 2019, figure 9)",
            SHAPE,
            broadcast_layout,
        ),
    )
}
