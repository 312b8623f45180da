"""The values of an axis: a list, or a range such as `{ from = 1, to = 10 }`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from odonata import units
from odonata.errors import InputError, unknown

RANGE_KEYS = frozenset({"from", "to", "step", "count"})
LARGEST = 1_000_000
"""Most values of an axis."""

Kind = Literal["number", "time", "size", "bandwidth", "percentage"]


@dataclass(frozen=True)
class Number:
    """A bound of a range: its exact value in the base unit (ps, bytes, bytes per second, 1, percent), and its kind."""

    value: Fraction
    kind: Kind
    whole: bool
    """Whether it was written as a whole number without unit."""


def is_range(value: object) -> bool:
    """Whether a table is a range and not a table of keys one level deeper.

    No key of a scenario is named `from` or `to`.
    """
    return isinstance(value, Mapping) and (
        (bool(value) and value.keys() <= RANGE_KEYS) or not value.keys().isdisjoint(("from", "to"))
    )


def values(given: object) -> tuple[Any, ...]:
    """The values of a list or a range. Raises InputError with a path that begins below the axis."""
    if isinstance(given, list | tuple):
        if not given:
            raise InputError("the axis has no values", hint="an axis is a list such as [1, 2, 3]")
        if len(given) > LARGEST:
            raise InputError(f"the axis has {len(given):,} values, at most {LARGEST:,} are possible")
        return tuple(given)
    if is_range(given):
        assert isinstance(given, Mapping)
        return _range(given)
    hint = 'such as ["fpar", "minimal"] or { from = 1, to = 10 }'
    raise InputError(f"expected a list of values or a range, found `{given!r}`", hint=hint)


def number(given: object) -> Number:
    """Reads a number or a quantity with its unit. Raises InputError if it is neither."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        try:
            return Number(Fraction(str(given)), "number", isinstance(given, int))
        except ValueError:
            raise InputError(f"`{given}` is not a number") from None
    if isinstance(given, str):
        unit = given.strip().lstrip("+-0123456789._eE").strip() or given
        if unit == "%":
            return Number(units.fraction(given) * 100, "percentage", False)
        if unit in units.SIZE:
            return Number(Fraction(units.size_bytes(given)), "size", False)
        if unit in units.BANDWIDTH:
            return Number(Fraction(units.bandwidth_micro(given), 10**6), "bandwidth", False)
        return Number(Fraction(units.time_ps(given)), "time", False)
    raise InputError(f'expected a number or a quantity such as "1 us", found `{given!r}`')


def written(value: Fraction, kind: Kind, *, whole: bool) -> int | float | str:
    """The value in the notation of a scenario; quantities are rounded to whole base units."""
    if kind == "number":
        return int(value) if whole and value.denominator == 1 else float(value)
    if kind == "percentage":
        return f"{float(value):.12g} %"
    if kind == "bandwidth":
        return units.format_bandwidth(round(value * 10**6))
    return units.format_time(round(value)) if kind == "time" else units.format_bytes(round(value))


def bounds(low: object, high: object) -> tuple[Number, Number]:
    """Two bounds of the same kind, in order. Raises InputError if they are not."""
    first, last = number(low), number(high)
    if first.kind != last.kind:
        raise InputError(f"`{low}` is a {first.kind}, `{high}` is a {last.kind}")
    if first.value > last.value:
        raise InputError(f"`{low}` is more than `{high}`", hint="write the smaller bound first")
    return first, last


def _range(given: Mapping[str, object]) -> tuple[Any, ...]:
    for key in given:
        if key not in RANGE_KEYS:
            raise unknown("key of a range", key, RANGE_KEYS).but(path=(key,))
    for key in ("from", "to"):
        if key not in given:
            raise InputError(f"the range has no `{key}`", hint="a range is { from = 1, to = 10 }, both included")
    low, high = bounds(given["from"], given["to"])
    if "count" in given:
        return _counted(given, low, high)
    if "step" not in given and low.kind != "number":
        raise InputError("a range of quantities needs a `step` or a `count`", hint='such as step = "1 us"')
    step = number(given.get("step", 1))
    if step.kind != low.kind:
        raise InputError(f"the step is a {step.kind}, the bounds are a {low.kind}", path=("step",))
    if step.value <= 0:
        raise InputError("the step must be more than 0", path=("step",))
    many = (high.value - low.value) // step.value + 1
    if many > LARGEST:
        raise InputError(f"the range has {many:,} values, at most {LARGEST:,} are possible")
    whole = low.whole and step.whole
    return tuple(written(low.value + n * step.value, low.kind, whole=whole) for n in range(int(many)))


def _counted(given: Mapping[str, object], low: Number, high: Number) -> tuple[Any, ...]:
    count = given["count"]
    if "step" in given:
        raise InputError("a range has a `step` or a `count`, not both", path=("count",))
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= LARGEST:
        raise InputError(f"expected a count from 2 to {LARGEST:,}, found `{count!r}`", path=("count",))
    step = (high.value - low.value) / (count - 1)
    whole = low.whole and high.whole and step.denominator == 1
    return tuple(written(low.value + n * step, low.kind, whole=whole) for n in range(count))
