"""Types of the values in a document: quantities with units, ratios, counts and seeds.

In a model they are plain integers (picoseconds, bytes, millionths of a byte per second) or a
`Fraction`; dumped to JSON they are texts with a unit again, as a person would write them.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from odonata import units
from odonata.core_options import LIMITS
from odonata.errors import InputError, shortened

T = TypeVar("T")

#: Largest time: 53 days.
MAX_TIME_PS = LIMITS["time_ps"]


def input_error_as_problem(read: Callable[[Any], T]) -> Callable[[Any], T]:
    """A reader whose InputError becomes a validation problem, which knows its place in the model."""

    def wrapped(value: Any) -> T:
        try:
            return read(value)
        except InputError as e:
            raise problem(e.message, e.hint, e.path) from None

    wrapped.reader = read  # type: ignore[attr-defined] # schemas know readers by their names
    return wrapped


def problem(message: str, hint: str | None = None, path: tuple[str | int, ...] = ()) -> PydanticCustomError:
    """A validation problem with the text of an InputError; `path` leads on from where it is raised."""
    context = {"message": message, "hint": hint, "path": path}
    return PydanticCustomError("odonata", "{message}", context)


def _time(value: Any) -> int:
    ps = units.time_ps(value)
    if ps > MAX_TIME_PS:
        raise InputError(f"`{value}` is longer than 2^62 ps (53 days)")
    return ps


def _positive_time(value: Any) -> int:
    ps = _time(value)
    if ps == 0:
        raise InputError(f"`{value}` must be longer than 0")
    return ps


def positive_bandwidth(value: Any) -> int:
    """A bandwidth of the core, in millionths of a byte per second. Raises InputError."""
    micro = units.bandwidth_micro(value)
    if micro == 0:
        raise InputError(f"`{value}`: a link without bandwidth never delivers a packet")
    if micro >= 2**64:
        raise InputError(f"`{value}` is more than 2^64 millionths of a byte per second (18 TB/s)")
    return micro


def _integer(value: Any, what: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"expected {what} (a whole number), found `{value!r}`")
    if not least <= value <= most:
        name = {2**64 - 1: "2^64 - 1", 2**32 - 1: "2^32 - 1"}.get(most, f"{most:,}")
        raise InputError(f"{what} must be between {least} and {name}, found {value}")
    return value


#: Largest ratio, and what the smallest above 0 is a part of. Assumed: beyond anything that has a meaning; a ratio must
#: remain a number above 0 and below infinity when it is used as a float.
_MOST_RATIO = 10**18


def _ratio(value: Any) -> Fraction:
    ratio = units.fraction(value)
    if ratio > _MOST_RATIO or 0 < ratio * _MOST_RATIO < 1:
        raise InputError(f"a ratio must be 0 or from 1e-18 to 1e18, found `{shortened(str(value), 60)}`")
    return ratio


def _count(value: Any) -> int:
    return _integer(value, "a count", 1, 2**32 - 1)


def _count_or_zero(value: Any) -> int:
    return _integer(value, "a count", 0, 2**32 - 1)


def _seed(value: Any) -> int:
    return _integer(value, "a seed", 0, 2**64 - 1)


def _as_json(text: Callable[[Any], Any]) -> PlainSerializer:
    return PlainSerializer(lambda v: None if v is None else text(v), when_used="json")


#: A time in picoseconds, from a text with a unit.
Time = Annotated[int, BeforeValidator(input_error_as_problem(_time)), _as_json(units.format_time)]
#: A time above 0.
PositiveTime = Annotated[int, BeforeValidator(input_error_as_problem(_positive_time)), _as_json(units.format_time)]
#: A size in bytes, from a text with a unit.
Size = Annotated[int, BeforeValidator(input_error_as_problem(units.size_bytes)), _as_json(units.format_bytes)]
#: A bandwidth in millionths of a byte per second, from a text with a unit.
Bandwidth = Annotated[
    int, BeforeValidator(input_error_as_problem(positive_bandwidth)), _as_json(units.format_bandwidth)
]
#: A ratio, from a number or a percentage.
Ratio = Annotated[
    Fraction,
    BeforeValidator(input_error_as_problem(_ratio)),
    _as_json(lambda v: float(v)),
]
#: A whole number from 1 on.
Count = Annotated[int, BeforeValidator(input_error_as_problem(_count)), Field()]
#: A whole number from 0 on.
CountOrZero = Annotated[int, BeforeValidator(input_error_as_problem(_count_or_zero)), Field()]
#: The seed of a random stream: 0 to 2^64 - 1.
Seed = Annotated[int, BeforeValidator(input_error_as_problem(_seed)), Field()]
