"""The places of a fat tree that Odonata wrote, by the names of its switches.

A file that does not list switches that have failed, such as the output of ibnetdiscover, cannot show that a tree of two
levels lacks one. So Odonata says the sizes of such a tree in comments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.recognition.graph import count
from odonata.recognition.layout import Layout

if TYPE_CHECKING:
    from odonata.recognition.graph import Fabric

#: Keys of the sizes.
SIZES = ("pods", "leaves", "spines", "cores")

_NAME = re.compile(r"(?:p([0-9]{1,9})-(leaf|spine)|(core))([0-9]{1,9})")


def layout_of(fabric: Fabric, planes: int) -> Layout | None:
    """The layout if comments give the sizes, and every switch has the name that Odonata gives it; else None.

    Raises InputError for sizes that this file cannot have.
    """
    if not {"leaves", "spines"} <= set(fabric.remarks):
        return None
    sizes = {key: fabric.remarks[key] for key in SIZES if key in fabric.remarks}
    for key, value in sizes.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"a comment of Odonata gives `{key} = {value}`", hint=f"{key} = 2")
    pods, leaves, spines = sizes.get("pods", 1), planes * sizes["leaves"], planes * sizes["spines"]
    routers = pods * (leaves + spines) + planes * sizes.get("cores", 0)
    if routers > 2 * len(fabric.switches) + 100:
        given, here = f"{routers:,} switches", count(len(fabric.switches), "switch")
        raise InputError(f"comments of Odonata describe a fat tree of {given}, but the file lists {here}")
    row: list[int | None] = [None] * routers
    for number, switch in enumerate(fabric.switches):
        match = _NAME.fullmatch(switch.name)
        if match is None:
            return None
        pod, level, core, index = match[1], match[2], match[3], int(match[4])
        first = pods * (leaves + spines) if core else int(pod) * (leaves + spines) + (leaves if level == "spine" else 0)
        limit = routers - first if core else {"leaf": leaves, "spine": spines}[level]
        if index >= limit or first + index >= routers:
            return None
        row[first + index] = number
    ranges = [range(pod * (leaves + spines), (pod + 1) * (leaves + spines)) for pod in range(pods)]
    with_nodes = [router for pod in ranges for router in pod[:leaves]]
    return Layout("fat-tree", sizes, row, ranges, with_nodes)
