"""The decorator `routing`, and what it makes of a function."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from odonata.errors import InputError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MOST_HOPS = 16
"""Most virtual channels of a link, and so most links of a path."""
MOST_STATE = 1 << 20
"""Most numbers of a router (`state` of the core's `custom`)."""
EXTENTS = ("routers", "groups", "ports", "nodes")
"""Sizes of a machine that the shape of an array may name.

`ports`: the most of a router, with those to nodes. `nodes`: the most of these, which come first.
"""

_HOPS_ARE = 'expected a number, or such as "2 * diameter + 1"'
_HOPS = re.compile(r"(?:(?P<times>\d+) *\* *)?diameter(?: *\+ *(?P<more>\d+))?")


@dataclass(frozen=True)
class OwnRouting:
    """A function that routes, with the functions that belong to it, and what they need.

    `start` and `learn` are decorators for two further functions.
    """

    function: Callable[..., Any]
    hops: int | str
    state: Mapping[str, Sequence[int | str]]
    parameters: Mapping[str, float]
    keys: Literal["packet", "flow"] = "packet"
    others: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def start(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of `(ports, router)` that fills the state of each router before the run."""
        self.others["start"] = _with_arguments(function, ("ports", "router"))
        return function

    def learn(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of `(answer, router)` that the router that sent a packet calls for the decision at the next one.

        It is called when the latency of the link has passed since that decision.
        """
        if self.keys == "flow":
            raise InputError('a routing that learns has `keys="packet"`, so that answers can be told apart')
        self.others["learn"] = _with_arguments(function, ("answer", "router"))
        return function

    def hops_on(self, extent: Mapping[str, int]) -> int:
        """Most links of a path on a machine, 1 if it has a single router. Raises InputError if it is none."""
        if isinstance(self.hops, int):
            return checked_hops(self.hops)
        match = _HOPS.fullmatch(self.hops.strip())
        if match is None:
            raise InputError(f"`hops` is `{self.hops}`", hint=_HOPS_ARE)
        return checked_hops(max(int(match["times"] or 1) * extent["diameter"] + int(match["more"] or 0), 1))

    def shapes_on(self, extent: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
        """Shape of each array of a router on a machine. Raises InputError for a size that there is not."""
        return {name: tuple(_size(name, size, extent) for size in _sizes(shape)) for name, shape in self.state.items()}


def checked_hops(hops: int) -> int:
    """A number of links. Raises InputError if no path can have so many."""
    if not 1 <= hops <= MOST_HOPS:
        hint = f"a link has at most {MOST_HOPS} channels, one for each link of a path"
        raise InputError(f"`hops` is {hops}, expected 1 to {MOST_HOPS}", hint=hint)
    return hops


def _with_arguments(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """Raises InputError if a function does not take so many arguments."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount != len(names) or code.co_flags & 12:  # *args, **kwargs
        told = f"`{getattr(function, '__name__', function)}` must take the arguments ({', '.join(names)})"
        raise InputError(told, line=None if code is None else code.co_firstlineno)
    return function


def _sizes(shape: Any) -> tuple[Any, ...]:
    return tuple(shape) if isinstance(shape, tuple | list) else (shape,)


def _size(name: str, size: Any, extent: Mapping[str, int]) -> int:
    if isinstance(size, str):
        if size not in EXTENTS:
            raise unknown("size", size, EXTENTS)
        return extent[size]
    if type(size) is not int or size < 1:
        raise InputError(f"the state `{name}` has the size `{size!r}`", hint=f"a number, or {', '.join(EXTENTS)}")
    return size


def routing(
    function: Callable[..., Any] | None = None,
    *,
    hops: int | str = "2 * diameter",
    state: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    keys: Literal["packet", "flow"] = "packet",
) -> Any:
    """Make a routing of a function of `(packet, ports, router)` that returns the position of a port in `ports`.

    Parameters
    ----------
    hops
        Most links between routers of a path, which is the number of virtual channels that it needs. A number, or
        `diameter` with a factor and a summand: the most links of a shortest path of the machine.
    state
        Arrays of floating-point numbers that each router keeps: name to shape. A size is a number or `routers`,
        `groups`, `ports` or `nodes`. A function finds them as `router.state.NAME`, all 0 at first.
    parameters
        Numbers that a scenario may change: name to default. A function finds them as `router.parameters.NAME`.

    keys
        Which packets have the same `packet.key`, and so the same random numbers: none (`packet`), or those from one
        node to another (`flow`).

    Examples
    --------
    >>> from odonata.routing import routing
    >>> @routing
    ... def first(packet, ports, router):
    ...     return 0
    """

    for name in (*(state or {}), *(parameters or {})):
        if not str(name).isidentifier() or keyword.iskeyword(str(name)) or str(name).startswith("_"):
            raise InputError(f"`{name}` of `state` or `parameters` is no name that Python allows after a point")

    if isinstance(hops, bool) or not isinstance(hops, int | str):
        raise InputError(f"`hops` is `{hops!r}`", hint=_HOPS_ARE)
    if keys not in ("packet", "flow"):
        raise InputError(f"`keys` is `{keys}`, expected `packet` or `flow`")

    def made(function: Callable[..., Any]) -> OwnRouting:
        _with_arguments(function, ("packet", "ports", "router"))
        numbers = {name: float(value) for name, value in (parameters or {}).items()}
        return OwnRouting(function, hops, dict(state or {}), numbers, keys)

    return made if function is None else made(function)
