"""Routings that need nothing but what the core's list says of them: options, ranges, defaults and sources.

A routing has a class of its own only if a default depends on the machine in another way than `gateways`, or if a name
of a scenario stands for a routing of the core with some of its options.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, create_model

from odonata import units
from odonata.core_options import bounds, choice, key_of, meaning
from odonata.document import PositiveTime, Ratio, Size, input_error_as_problem
from odonata.errors import InputError
from odonata.scenario.routings.routing import GATEWAYS, LISTED, Routing, gateways_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from odonata import _core
    from odonata.machine import System

#: Unit in which the name of an option ends -> the type of a document, and how many of the unit are one.
_RATIOS = {"_milli": 1_000, "_ppm": 1_000_000}
_DECIMALS = {1: "no", 1_000: "three", 1_000_000: "six"}
_QUANTITIES: dict[str, Any] = {"_bytes": Size, "_ps": PositiveTime}


def _shown(number: int, unit: str) -> str:
    """A number of the core, in a unit, as a document writes it."""
    if unit in _QUANTITIES:
        return units.format_bytes(number) if unit == "_bytes" else units.format_time(number)
    return units.format_fraction(Fraction(number, _RATIOS.get(unit, 1)))


class _ListedRouting(Routing):
    """A routing of the list."""

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's gateways, if it has this option."""
        for option in LISTED[self.core]["options"]:
            self._checked(option)
        if "gateways" not in type(self).model_fields:
            return self
        return self.model_copy(update={"gateways": gateways_on(system, getattr(self, "gateways", None))})

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        told = {option["name"]: self._checked(option) for option in LISTED[self.core]["options"]}
        return {"name": self.core, **{name: value for name, value in told.items() if value is not None}}

    def _checked(self, option: _core.Option) -> Any:
        """The value of an option as the core reads it. Raises InputError, at its key, for one out of its range."""
        key = key_of(option["name"])
        value, unit = getattr(self, key), option["name"][len(key) :]
        if value is None or option["names"] is not None:
            return value
        parts = _RATIOS.get(unit, 1)
        if (Fraction(value) * parts).denominator != 1:
            raise InputError(f"`{key}` has more than {_DECIMALS[parts]} decimals", path=(key,))
        whole, (least, most) = int(value * parts), bounds(option)
        if not least <= whole <= most:
            shown = [_shown(number, unit) for number in (least, most, value if unit in _QUANTITIES else whole)]
            raise InputError(f"`{key}` must be between {shown[0]} and {shown[1]}, found {shown[2]}", path=(key,))
        return whole


def _whole(option: _core.Option) -> Callable[[Any], int]:
    least, most = bounds(option)

    def read(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise InputError(f"expected a whole number from {least:,} to {most:,}, found `{value!r}`")
        return value

    return read


def _field(option: _core.Option) -> Any:
    key = key_of(option["name"])
    if key == "gateways":
        return (Literal["nearest", "all"] | None, Field(None, description=GATEWAYS))
    about, unit, names = meaning(option["about"]), option["name"][len(key) :], option["names"]
    of: Any
    if names is not None:
        of, about = Literal[tuple(names)], f"{about}: {choice(names)}"
    elif unit in _RATIOS:
        of = Ratio
    else:
        of = _QUANTITIES.get(unit) or Annotated[int, BeforeValidator(input_error_as_problem(_whole(option)))]
    if option["default"] is not None:
        whole = names is None and unit not in _RATIOS and unit not in _QUANTITIES
        default = int(option["default"]) if whole else option["default"]
        return (of, Field(default, validate_default=True, description=about))
    return (of | None, Field(None, description=about)) if option["optional"] else (of, Field(description=about))


def __getattr__(attribute: str) -> Any:
    """The class of a routing by its own name, as `pickle` looks it up."""
    for name in LISTED:
        if _class_name(name) == attribute:
            return routing(name)
    raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


@cache
def routing(name: str) -> type[Routing]:
    """The routing of the list with this name."""
    info = LISTED[name]
    about, _, source = info["about"].partition(" Source: ")
    first, _, more = about.partition(". ")
    parts = [first.removesuffix(".") + ".", more, f"Source: {source}", f"Machines: {', '.join(info['machines'])}."]
    fields: dict[str, Any] = {key_of(option["name"]): _field(option) for option in info["options"]}
    made: type[Routing] = create_model(
        _class_name(name),
        __base__=_ListedRouting,
        __module__=__name__,
        __doc__="\n\n".join(part for part in parts if part),
        **{"name": (Literal[name], ...), **fields},
    )
    made.core = name
    made.kinds = tuple(info["machines"])
    return made
