"""HyperX (Ahn 2009): in each dimension K S >= T/taper, the links that uniform random traffic on minimal paths needs.

Then the relative bisection, K S / 2 T, is one half at a taper of 1:1.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod
from typing import TYPE_CHECKING

from odonata.machine.design.wanted import Design, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Most dimensions that a machine can have.
_DIMENSIONS = 3


def hyperxes(wanted: Wanted) -> Iterator[Design]:
    """Machines of one, two and three dimensions."""
    rails = wanted.nics_per_node
    for dimensions in range(1, _DIMENSIONS + 1):
        for sizes in combinations_with_replacement(range(2, wanted.radix + 1), dimensions):
            if sum(sizes) - dimensions >= wanted.radix:
                continue
            routers = prod(sizes)
            nodes = -(-wanted.nics // (routers * rails))
            cables = [wanted.links(Fraction(nodes * rails, size)) for size in sizes]
            ports = sum(of * (size - 1) for of, size in zip(cables, sizes, strict=True))
            if nodes * rails + ports <= wanted.radix:
                shape = {"dimensions": list(sizes), "dimension_links": cables, "nodes_per_router": nodes}
                several = {"rails": rails} if rails > 1 else {}
                yield Design("hyperx", shape | several, routers * nodes * rails, routers, routers * ports // 2)
