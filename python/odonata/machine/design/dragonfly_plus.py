"""Dragonfly+: leaves carry the NICs, spines the links between groups, one between each two groups at least."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from odonata.machine.design.wanted import Design, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator


def dragonfly_pluses(wanted: Wanted) -> Iterator[Design]:
    """Machines of at least two groups."""
    rails = wanted.nics_per_node
    for down in range(rails, wanted.radix, rails):
        for leaves in range(1, wanted.radix):
            groups = -(-wanted.nics // (down * leaves))
            if groups < 2:
                break
            pair = wanted.links(Fraction(down * leaves, groups))
            if (design := _machine(wanted, down, leaves, groups, pair)) is not None:
                yield design


def _machine(wanted: Wanted, down: int, leaves: int, groups: int, pair: int) -> Design | None:
    """The machine with the fewest spines."""
    out = pair * (groups - 1)
    for spines in range(wanted.links(down), wanted.radix - down + 1):
        each = -(-out // spines)
        if leaves + each <= wanted.radix:
            shape = {
                "groups": groups,
                "leaves": leaves,
                "spines": spines,
                "nodes_per_leaf": down // wanted.nics_per_node,
                "global_links_per_spine": each,
                "links_per_pair": pair,
            }
            several = {"rails": wanted.nics_per_node} if wanted.nics_per_node > 1 else {}
            links = groups * leaves * spines + groups * out // 2
            return Design("dragonfly-plus", shape | several, groups * leaves * down, groups * (leaves + spines), links)
    return None
