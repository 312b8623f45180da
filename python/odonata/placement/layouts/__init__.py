"""Fixed layouts: placements that a paper used in all its experiments, shipped as files of node ids.

A layout is used like a policy: `place = "kang2019-random"`. Its module documents how the file was derived, and a test
repeats the derivation; the file is authoritative.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import as_file, files

from odonata.errors import InputError
from odonata.machine import Shape
from odonata.placement.layouts import kang2019
from odonata.placement.node_file import read_nodes
from odonata.placement.policy import COUNT, Freedom, Option, Placement, Policy, Request, read_groups


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
            "random placement of Kang 2019: 2,304 nodes, 682 of them in groups 0 to 2 (K18)",
            kang2019.SHAPE,
            kang2019.random_layout,
        ),
        Layout(
            "kang2019-random-broadcast",
            "2,304 random nodes beside a background of 8 per leaf in groups 0 to 2 (K13, K51)",
            kang2019.SHAPE,
            kang2019.broadcast_layout,
        ),
    )
}
