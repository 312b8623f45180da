"""Policies of other distributions, by entry point.

A distribution offers a policy under the group `odonata.placement`, as a `Policy` or as a function from `Request` to a
`Placement` or to nodes:

    [project.entry-points."odonata.placement"]
    my-policy = "my_package.place:my_policy"

The distribution is imported only when the policy is used or described.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from inspect import getdoc
from operator import index
from typing import Any

from odonata.errors import InputError
from odonata.placement.policy import Freedom, Placement, Policy, Request

#: The group of entry points.
GROUP = "odonata.placement"


@cache
def offered() -> Mapping[str, tuple[EntryPoint, ...]]:
    """The installed policies: name -> entry point."""
    points: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name, provider(p))):
        points[point.name] = (*points.get(point.name, ()), point)
    return points


def provider(point: EntryPoint) -> str:
    """Name and version of the distribution that offers it."""
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown distribution"


def load(name: str, points: tuple[EntryPoint, ...]) -> Policy:
    """The policy with a name. An unusable policy raises its error when it is called."""
    if len(points) > 1:
        return _broken(name, points, f"more than one distribution offers it: {_names(points)}")
    point = points[0]
    try:
        loaded: Any = point.load()
    except Exception as e:  # a foreign module may raise anything when it is imported
        return _broken(name, points, f"{point.value} cannot be imported: {type(e).__name__}: {e}")
    if isinstance(loaded, Policy):
        return replace(loaded, name=name, provider=provider(point))
    if callable(loaded):
        return Policy(
            name=name,
            summary=((getdoc(loaded) or "").partition("\n")[0] or f"a policy of {provider(point)}").rstrip("."),
            rank_order=f"as returned by {provider(point)}",
            options=(),
            place=_adapted(name, loaded),
            freedom=lambda _: Freedom.ANYWHERE,
            provider=provider(point),
        )
    return _broken(name, points, f"{point.value} is neither a Policy nor a function, but {type(loaded).__name__}")


def shadowed(name: str, points: tuple[EntryPoint, ...]) -> Policy:
    """Replaces a policy that is not accessible because Odonata has one of the same name."""
    return _broken(name, points, "Odonata has a policy of that name")


def _adapted(name: str, function: Callable[[Request], Placement | Iterable[int]]) -> Callable[[Request], Placement]:
    def place(request: Request) -> Placement:
        answer = function(request)
        if isinstance(answer, Placement):
            return answer
        return Placement([index(node) for node in answer], f"as {name} chose")

    return place


def _broken(name: str, points: tuple[EntryPoint, ...], why: str) -> Policy:
    whose = _names(points)

    def refuse(_: Any) -> Any:
        hint = f"repair or uninstall {whose}"
        raise InputError(f"the placement policy `{name}` of {whose} cannot be used: {why}", hint=hint)

    return Policy(
        name=name,
        summary=f"cannot be used: {why} ({whose})",
        rank_order="none",
        options=(),
        place=refuse,
        freedom=refuse,
        provider=whose,
    )


def _names(points: tuple[EntryPoint, ...]) -> str:
    return " and ".join(provider(point) for point in points)
