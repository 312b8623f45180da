"""Contiguous: the lowest free nodes, in order.

Source: Kang 2019, section 3.4.2 (K18: 2,304 processes in groups 3 to 8).
"""

from collections.abc import Mapping
from typing import Any

from odonata.errors import InputError
from odonata.placement.policy import (
    Freedom,
    Option,
    Placement,
    Policy,
    Request,
    groups_option,
    whole_number,
)


def place(request: Request) -> Placement:
    """The lowest free nodes of the machine, of some groups, or from a group on."""
    groups, first = request.options.get("groups"), request.options.get("from_group")
    if groups is not None and first is not None:
        raise InputError("`groups` and `from_group` exclude each other", path=("from_group",))
    if first is not None:
        request.shape.check_group(first)
        groups = list(range(first, request.shape.groups))
    free, where = request.within(groups)
    nodes = request.enough(free, where)[: request.wanted()]
    return Placement(nodes, f"{len(nodes):,} nodes {where}, the lowest free ones")


def _freedom(options: Mapping[str, Any]) -> Freedom:
    limited = options.keys() & {"groups", "from_group"}
    return Freedom.GROUPS if limited else Freedom.ANYWHERE


POLICY = Policy(
    name="contiguous",
    summary="the lowest free nodes",
    rank_order="ascending node ids",
    options=(
        groups_option("the whole machine"),
        Option("from_group", "first group to use", whole_number("a group", 0, 2**32 - 1), "group 0"),
    ),
    place=place,
    freedom=_freedom,
)
