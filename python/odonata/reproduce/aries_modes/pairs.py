"""Which nodes talk to each other in the second experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from odonata.placement.splitmix import SplitMix64

if TYPE_CHECKING:
    from odonata.machine import Shape

Where = Literal["intra", "inter"]
"""Both nodes in one group, or in two."""


def draw_pairs(shape: Shape, where: Where, seed: int) -> list[tuple[int, int]]:
    """A pair of routers from each group: sender and receiver, all on different routers."""
    stream, used, found = SplitMix64(seed), set[int](), []
    for group in range(shape.groups):
        while True:
            other = group if where == "intra" else (group + 1 + stream.below(shape.groups - 1)) % shape.groups
            pair = _router(shape, group, stream), _router(shape, other, stream)
            if pair[0] != pair[1] and not used & set(pair):
                break
        used |= set(pair)
        found.append(pair)
    return found


def _router(shape: Shape, group: int, stream: SplitMix64) -> int:
    inside = shape.routers_in(group)
    return inside[stream.below(len(inside))]
