"""Fat trees of two and three levels. Only leaves are tapered, as is usual; spines send up as much as they receive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.machine.design.wanted import Design, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator


def fat_trees(wanted: Wanted) -> Iterator[Design]:
    """Trees of two levels, and of three."""
    for down in range(1, wanted.radix):
        up = wanted.links(down)
        if down + up <= wanted.radix:
            for cables in (n for n in range(1, up + 1) if up % n == 0):
                yield from _two_levels(wanted, down, up, cables)
                yield from _three_levels(wanted, down, up, cables)


def _two_levels(wanted: Wanted, down: int, up: int, cables: int) -> Iterator[Design]:
    block = wanted.nics_per_node
    leaves = -(-wanted.nics // (down * block)) * block
    spines = up // cables
    if leaves > 1 and leaves * cables <= wanted.radix:
        shape = {"leaves": leaves, "spines": spines, "nodes_per_leaf": down, "leaf_links": cables}
        yield _tree(wanted, shape, leaves * down, leaves + spines, leaves * up)


def _three_levels(wanted: Wanted, down: int, up: int, cables: int) -> Iterator[Design]:
    block, spines = wanted.nics_per_node, up // cables
    for leaves in range(block, wanted.radix // cables + 1, block):
        pods = -(-wanted.nics // (down * leaves))
        if not 2 <= pods <= wanted.radix:
            continue
        to_core = min(wanted.radix // pods, leaves * cables)
        each = -(-leaves * cables // to_core)
        if leaves * cables + each * to_core <= wanted.radix:
            cores = spines * each
            shape = {
                "pods": pods,
                "leaves": leaves,
                "spines": spines,
                "cores": cores,
                "nodes_per_leaf": down,
                "leaf_links": cables,
                "core_links": to_core,
            }
            links = pods * (leaves * up + cores * to_core)
            yield _tree(wanted, shape, pods * leaves * down, pods * (leaves + spines) + cores, links)


def _tree(wanted: Wanted, shape: dict[str, int], nics: int, switches: int, links: int) -> Design:
    several = {"rails": wanted.nics_per_node, "rails_on": "different-leaves"} if wanted.nics_per_node > 1 else {}
    return Design("fat-tree", shape | several, nics, switches, links)
