"""Dragonflies (Kim 2008): the links that uniform random traffic on minimal paths needs.

A packet takes up to two links of a group, one in its own and one in that of its destination. So a router with p NICs
sends p (2 - 1/g) (a - 1)/a over its links to the a - 1 others of its group, and a group p a/g to each of g - 1 others.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from odonata.machine.design.wanted import Design, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator


def dragonflies(wanted: Wanted) -> Iterator[Design]:
    """Machines of at least two groups. Only if there is none with one link between two routers of a group, as Kim 2008
    and most real ones have it, those with several.
    """
    all_of_them = list(_with_any_local_links(wanted))
    yield from [of for of in all_of_them if of.shape["local_links"] == 1] or all_of_them


def _with_any_local_links(wanted: Wanted) -> Iterator[Design]:
    rails = wanted.nics_per_node
    for nics in range(1, wanted.radix):
        for routers in range(rails, wanted.radix, rails):
            groups = -(-wanted.nics // (nics * routers))
            if groups < 2:
                break
            local = wanted.links(nics * (2 - Fraction(1, groups)) / routers)
            pair = wanted.links(Fraction(nics * routers, groups))
            out = pair * (groups - 1)
            each = -(-out // routers)
            if nics + local * (routers - 1) + each <= wanted.radix:
                shape = {
                    "groups": groups,
                    "routers": routers,
                    "nodes_per_router": nics,
                    "local_links": local,
                    "global_links_per_router": each,
                    "links_per_pair": pair,
                    "spread": "round-robin",
                }
                several = {"rails": rails, "rails_on": "different-routers"} if rails > 1 else {}
                links = groups * (local * routers * (routers - 1) + out) // 2
                yield Design("dragonfly", shape | several, groups * routers * nics, groups * routers, links)
