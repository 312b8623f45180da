"""Names of routers and nodes in the files that Odonata writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odonata.machine import System


def node_names(system: System) -> list[str]:
    """`node0012`: as in the lists of `odonata place --nodelist`."""
    nodes = system.shape.nodes
    width = len(str(nodes - 1))
    return [f"node{node:0{width}}" for node in range(nodes)]


def router_names(system: System) -> list[str]:
    """`g3-leaf0` and `g3-spine1`, `g3-r2`, or `g3-c0-s5` (chassis and slot): the group, and the place in it.

    On a fat tree, `p3-leaf0`, `p3-spine1` and `core2`.
    """
    table = system.table
    own = [table.router_name(router) for router in range(table.routers_in_all())]
    if all(name is not None for name in own):
        return [str(name) for name in own]
    columns = getattr(table, "columns", None)
    names: list[str] = []
    at = 0
    before: int | None = -1
    leaf = True
    for router in range(table.routers_in_all()):
        group = table.group_of_router(router)
        is_leaf = bool(table.nodes_of_router(router))
        if group != before or is_leaf != leaf:
            at = 0
        before, leaf = group, is_leaf
        if table.kind == "dragonfly-plus":
            names.append(f"g{group}-{'leaf' if is_leaf else 'spine'}{at}")
        elif columns is not None:
            names.append(f"g{group}-c{at // columns}-s{at % columns}")
        else:
            names.append(f"g{group}-r{at}")
        at += 1
    return names
