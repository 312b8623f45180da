"""The start of a round robin (option `start`)."""

from collections.abc import Sequence
from typing import TypeVar

from odonata.placement.policy import Request
from odonata.placement.sites import sites

T = TypeVar("T")


def next_group(request: Request) -> int:
    """The group to begin with: 0, or the one after the last node of the job that was placed before."""
    last = _last_node(request)
    return 0 if last is None else (request.shape.group_of(last) + 1) % request.shape.groups


def next_router(request: Request, group: int) -> int:
    """The router of the group to begin with: 0, or the one after that node if it is in this group."""
    last = _last_node(request)
    if last is None or request.shape.group_of(last) != group:
        return 0
    routers = sites(request.shape).group_routers[group]
    return (request.shape.router_of(last) + 1 - routers.start) % len(routers)


def turned(parts: Sequence[T], first: int) -> list[T]:
    """The parts from `first` on, then those before it."""
    return [*parts[first:], *parts[:first]]


def _last_node(request: Request) -> int | None:
    if request.options.get("start", "first") == "first":
        return None
    return next(reversed(request.owners), None)
