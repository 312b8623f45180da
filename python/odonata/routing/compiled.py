"""Compiles the functions of a routing to the C functions that the core calls, with Numba."""

from __future__ import annotations

import warnings
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba import cfunc, from_dtype, int64, njit, types, void
from numba.core import cgutils
from numba.extending import intrinsic

from odonata.errors import InputError
from odonata.routing.interface import ANSWER, PACKET, PORT, RAISED, ROUTER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from odonata.routing.decorator import OwnRouting

carray: Any = numba.carray  # type: ignore[attr-defined]

_PACKETS, _PORTS, _ROUTERS, _ANSWERS = (types.CPointer(from_dtype(of)) for of in (PACKET, PORT, ROUTER, ANSWER))  # type: ignore[no-untyped-call]
_SIGNATURES = {
    "route": int64(_PACKETS, _PORTS, int64, _ROUTERS),
    "start": void(_PORTS, int64, _ROUTERS),
    "learn": void(_ANSWERS, _ROUTERS),
}


@intrinsic
def _pointer(typing: Any, address: Any) -> Any:  # noqa: ARG001 - the signature that Numba calls
    """The pointer with an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(int64), generate


_named: Any = namedtuple  # Numba knows these; a user names their fields


def _router_of(own: OwnRouting, shapes: Mapping[str, tuple[int, ...]], parameters: Mapping[str, float]) -> Any:
    """The function that makes the router that a function sees: a named tuple with arrays."""
    state = _named("State", list(shapes) or ["none"])
    numbers = _named("Parameters", list(own.parameters) or ["none"])
    router = _named("Router", "router time routers state links groups ends parameters")
    values = numbers(*(float(parameters[name]) for name in own.parameters)) if parameters else numbers(0.0)
    cells, first = [], 0
    for shape in shapes.values():
        count = int(np.prod(shape))
        cells.append(f"cells[{first}:{first + count}].reshape({shape!r})")
        first += count
    lines = f"""
def router_of(view):
    at = carray(view, 1)[0]
    cells = carray(pointer(at.state), ({max(first, 1)},), float64)
    links = carray(pointer(at.links), (at.routers, at.routers), uint8)
    groups = carray(pointer(at.groups), (at.routers,), int64)
    ends = carray(pointer(at.ends), (at.end_count,), int64)
    return Router(at.router, at.time, at.routers, State({", ".join(cells) or "0"}), links, groups, ends, parameters)
"""
    names: dict[str, Any] = {
        "Router": router,
        "State": state,
        "carray": carray,
        "float64": np.float64,
        "int64": np.int64,
        "parameters": values,
        "pointer": _pointer,
        "uint8": np.uint8,
    }
    exec(compile(lines, "<router>", "exec"), names)
    return njit(names["router_of"])


def compiled(own: OwnRouting, shapes: Mapping[str, tuple[int, ...]], parameters: Mapping[str, float]) -> dict[str, Any]:
    """The C functions of a routing: `route`, and `start` and `learn` if it has them. Keep them.

    Raises InputError for a function that Numba cannot compile.
    """
    router_of = _router_of(own, shapes, parameters)
    route = njit(boundscheck=True)(own.function)
    made = {"route": _c("route", own.function, _route(route, router_of))}
    for name, wrap in (("start", _start), ("learn", _learn)):
        if name in own.others:
            made[name] = _c(name, own.others[name], wrap(njit(boundscheck=True)(own.others[name]), router_of))
    return made


def _route(function: Any, router_of: Any) -> Callable[..., Any]:
    def route(packet, ports, count, router):  # type: ignore[no-untyped-def]
        try:
            return int64(function(carray(packet, 1)[0], carray(ports, count), router_of(router)))
        except Exception:
            return RAISED

    return route


def _start(function: Any, router_of: Any) -> Callable[..., Any]:
    def start(ports, count, router):  # type: ignore[no-untyped-def]
        function(carray(ports, count), router_of(router))

    return start


def _learn(function: Any, router_of: Any) -> Callable[..., Any]:
    def learn(answer, router):  # type: ignore[no-untyped-def]
        function(carray(answer, 1)[0], router_of(router))

    return learn


def _c(name: str, function: Callable[..., Any], wrapper: Callable[..., Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", numba.NumbaWarning)
            return cfunc(_SIGNATURES[name])(wrapper)
    except Exception as e:  # Numba raises some errors as they are: for an unknown field, KeyError
        code = function.__code__
        raise InputError(f"`{function.__name__}` cannot be compiled: {_short(e)}", line=code.co_firstlineno) from None


def _short(error: Exception) -> str:
    """The first line of an error that says something of the user's function."""
    if isinstance(error, KeyError):
        return f"there is no `{error.args[0]}`"
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in", "During:", "-", "File ", "<source"))]
    return told[0] if told else str(error)
