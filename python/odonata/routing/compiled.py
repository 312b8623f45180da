"""Compiles the functions of a routing to the C functions that the core calls, with Numba."""

from __future__ import annotations

import dis
import re
import warnings
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba import cfunc, from_dtype, int64, njit, types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from odonata.errors import InputError, nearest
from odonata.routing.interface import ANSWER, PACKET, PORT, RAISED, ROUTER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from odonata.routing.decorator import OwnRouting

carray: Any = numba.carray  # type: ignore[attr-defined]

_PACKETS, _PORTS, _ROUTERS, _ANSWERS = (types.CPointer(from_dtype(of)) for of in (PACKET, PORT, ROUTER, ANSWER))  # type: ignore[no-untyped-call]
_SIGNATURES = {
    "route": int64(_PACKETS, _PORTS, int64, _ROUTERS),
    "start": int64(_PORTS, int64, _ROUTERS),
    "learn": int64(_ANSWERS, _ROUTERS),
}


@intrinsic
def _pointer(typing: Any, address: Any) -> Any:  # noqa: ARG001 - the signature that Numba calls
    """The pointer with an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(int64), generate


@intrinsic
def _readonly(typing: Any, array: Any) -> Any:  # noqa: ARG001
    """An array to which nothing can be written."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return impl_ret_borrowed(context, builder, signature.return_type, arguments[0])  # type: ignore[no-untyped-call]

    return array.copy(readonly=True)(array), generate


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
    links = readonly(carray(pointer(at.links), (at.routers, at.routers), uint8))
    groups = readonly(carray(pointer(at.groups), (at.routers,), int64))
    ends = readonly(carray(pointer(at.ends), (at.end_count,), int64))
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
        "readonly": _readonly,
        "uint8": np.uint8,
    }
    exec(compile(lines, "<router>", "exec"), names)
    return njit(names["router_of"])


def compiled(own: OwnRouting, shapes: Mapping[str, tuple[int, ...]], parameters: Mapping[str, float]) -> dict[str, Any]:
    """The C functions of a routing: `route`, and `start` and `learn` if it has them. Keep them.

    Raises InputError for a function that Numba cannot compile.
    """
    router_of = _router_of(own, shapes, parameters)
    functions = {"route": own.function, **own.others}
    made = {}
    for name, wrap in (("route", _route), ("start", _start), ("learn", _learn)):
        if name in functions:
            inner = njit(boundscheck=True)(functions[name])
            made[name] = _c(name, functions[name], inner, wrap(inner, router_of))
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
        try:
            function(carray(ports, count), router_of(router))
        except Exception:
            return RAISED
        return 0

    return start


def _learn(function: Any, router_of: Any) -> Callable[..., Any]:
    def learn(answer, router):  # type: ignore[no-untyped-def]
        try:
            function(carray(answer, 1)[0], router_of(router))
        except Exception:
            return RAISED
        return 0

    return learn


def _c(name: str, function: Callable[..., Any], inner: Any, wrapper: Callable[..., Any]) -> Any:
    """The C function of a wrapper around the compiled function `inner`. Raises InputError with the line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", numba.NumbaWarning)
            made = cfunc(_SIGNATURES[name])(wrapper)
    except Exception as e:  # Numba raises some errors as they are: for an unknown field, KeyError
        told = _returned(name, inner)
        raise _refused(function, e) if told is None else _at(function, told) from None
    told = _returned(name, inner)
    if told is not None:
        raise _at(function, told)
    return made


def _at(function: Callable[..., Any], message: str, line: int | None = None, hint: str | None = None) -> InputError:
    code = function.__code__
    return InputError(f"`{function.__name__}` {message}", line=line or code.co_firstlineno, hint=hint)


def _returned(name: str, inner: Any) -> str | None:
    """What is wrong with the type that a function returns, if it was compiled that far."""
    if name != "route" or not inner.nopython_signatures:
        return None
    returned = inner.nopython_signatures[-1].return_type
    if isinstance(returned, types.Integer | types.Boolean):
        return None
    named = {
        "a port": types.Record,
        "a text": types.UnicodeType | types.StringLiteral,
        "a number with a fraction": types.Float,
        "nothing": types.NoneType,
    }
    what = next(
        (name for name, of in named.items() if isinstance(returned, of)), f"no number ({type(returned).__name__})"
    )
    return f"returns {what}, expected the position of a port: a whole number"


_FIELDS = tuple(dict.fromkeys(name for of in (PACKET, PORT, ANSWER) for name in of.names or ()))
_ROUTER_FIELDS = ("router", "time", "routers", "state", "links", "groups", "ends", "parameters")


def _refused(function: Callable[..., Any], error: Exception) -> InputError:
    """The error of Numba in words for users: the line and the nearest name, if it says them."""
    text = str(error)
    code = function.__code__
    unknown_name = re.search(r"Unknown attribute '(\w+)' of type (\w+)\((.*)\)", text)
    if isinstance(error, KeyError) or unknown_name is not None:
        name = str(error.args[0]) if unknown_name is None else unknown_name[1]
        known = _FIELDS if unknown_name is None else (*_ROUTER_FIELDS, *re.findall(r"(\w+)", unknown_name[3]))
        near = nearest(name, known)
        hint = f"did you mean `{near}`?" if near else None
        return _at(function, f"cannot be compiled: there is no `{name}`", _line_of(function, name), hint)
    lines = [int(line) for line in re.findall(rf'File "{re.escape(code.co_filename)}", line (\d+)', text)]
    return _at(function, f"cannot be compiled: {_short(text)}", lines[-1] if lines else None)


def _line_of(function: Callable[..., Any], name: str) -> int | None:
    """The first line of a function that has an attribute."""
    for offset, names in _attributes(function.__code__):
        if names == name:
            return offset
    return None


def _attributes(code: Any) -> Iterator[tuple[int, str]]:
    """Lines and names of the attributes that a code reads or writes."""
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        line = instruction.starts_line if type(instruction.starts_line) is int else line
        line = getattr(instruction, "line_number", None) or line
        if instruction.opname in ("LOAD_ATTR", "STORE_ATTR", "LOAD_METHOD"):
            yield line, str(instruction.argval)


def _short(text: str) -> str:
    """The first line of an error that says something of the user's function."""
    lines = [line.strip() for line in text.splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in", "During:", "-", "File ", "<source"))]
    return (told[0] if told else text).split("args=(")[0].rstrip(": ")
