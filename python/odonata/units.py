"""Quantities with units, read and written exactly.

Everything is computed with `fractions.Fraction`, so `"4.37 GiB/s"` is 4,692,251,770.88 B/s and not
nearly that. Decimal prefixes are powers of 1,000 (`"4 KB"` = 4,000 bytes, Kang 2019, table 2), binary
ones powers of 1,024 (`"4 KiB"` = 4,096). A number without a unit is refused: the reader of a
scenario should never have to guess one.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from odonata.errors import InputError, nearest, shortened

_DECIMAL = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}

#: Units of time, in picoseconds.
TIME: Mapping[str, Fraction] = {
    "ps": Fraction(1),
    "ns": Fraction(10**3),
    "us": Fraction(10**6),
    "µs": Fraction(10**6),  # micro sign
    "μs": Fraction(10**6),  # Greek mu
    "ms": Fraction(10**9),
    "s": Fraction(10**12),
    "min": Fraction(60 * 10**12),
}

#: Units of size, in bytes.
SIZE: Mapping[str, Fraction] = {f"{prefix}B": Fraction(factor) for prefix, factor in (_DECIMAL | _BINARY).items()}

#: Units of bandwidth, in bytes per second.
BANDWIDTH: Mapping[str, Fraction] = {f"{unit}/s": factor for unit, factor in SIZE.items()} | {
    f"{prefix}bit/s": Fraction(factor, 8) for prefix, factor in _DECIMAL.items()
}

#: Units of the rate of floating-point operations, in operations per second.
FLOP_RATE: Mapping[str, Fraction] = {
    f"{prefix}flop/s": Fraction(10 ** (3 * step)) for step, prefix in enumerate(("", "k", "M", "G", "T", "P", "E"))
}

_NUMBER = r"[+-]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]{1,3})?"
#: Most digits of a quantity; a float written in full has 309.
_MOST_DIGITS = 400
#: Texts of quantities that are remembered: a scenario has the same few in each of its jobs, a study in each point.
_REMEMBERED = 4096
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*(.*?)\s*", re.DOTALL)


def time_ps(value: object) -> int:
    """A time such as `"100 ns"`, in picoseconds.

    Raises InputError for anything but a whole, non-negative number of picoseconds with a unit.
    """
    exact = _quantity(value, TIME, "time", "100 ns")
    if exact.denominator != 1:
        raise InputError(f"{_show(value)} is not a whole number of picoseconds")
    return _fits(exact.numerator, value, "picoseconds")


def size_bytes(value: object) -> int:
    """A size such as `"4 KB"` (4,000) or `"4 KiB"` (4,096), in bytes.

    Raises InputError for anything but a whole, non-negative number of bytes with a unit.
    """
    exact = _quantity(value, SIZE, "size", "4 KB")
    if exact.denominator != 1:
        raise InputError(f"{_show(value)} is not a whole number of bytes")
    return _fits(exact.numerator, value, "bytes")


def bandwidth_micro(value: object) -> int:
    """A bandwidth such as `"4.37 GiB/s"` or `"200 Gbit/s"`, in millionths of a byte per second.

    Decimals beyond a millionth of a byte per second are rounded (half to even): an error of less
    than one part in 10^12 for any link faster than 1 MB/s. Raises InputError for a negative
    number, a missing or an unknown unit.
    """
    return round(_quantity(value, BANDWIDTH, "bandwidth", "200 Gbit/s") * 10**6)


def flop_rate(value: object) -> int:
    """A rate of floating-point operations such as `"312 Tflop/s"`, in operations per second.

    Raises InputError for anything but a whole, non-negative number of operations per second with a unit.
    """
    exact = _quantity(value, FLOP_RATE, "rate of floating-point operations", "312 Tflop/s")
    if exact.denominator != 1:
        raise InputError(f"{_show(value)} is not a whole number of operations per second")
    return _fits(exact.numerator, value, "operations per second")


def fraction(value: object) -> Fraction:
    """A ratio: a number (`0.5`) or a percentage (`"50 %"`), exactly as written in decimal.

    Raises InputError for a negative or infinite number and for any other unit.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise InputError(f'expected a ratio such as 0.5 or "50 %", found {_show(value)}')
    match = _QUANTITY.fullmatch(str(value))
    if match is None or match[2] not in ("", "%"):
        raise InputError(f'expected a ratio such as 0.5 or "50 %", found {_show(value)}')
    exact = _number(match[1]) / (100 if match[2] else 1)
    if exact < 0:
        raise InputError(f"a ratio must not be negative, found {_show(value)}")
    return exact


@lru_cache(maxsize=_REMEMBERED)
def format_time(ps: int, digits: int | None = None) -> str:
    """A time in its largest fitting unit: `format_time(1_500_000)` is `"1.5 us"`.

    Exact (`time_ps` reads it back) unless `digits` asks for that many significant digits.
    """
    if ps == 0:
        return "0 s"
    units = [("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1)]
    return _format(Fraction(ps), units, digits)


@lru_cache(maxsize=_REMEMBERED)
def format_bytes(size: int, digits: int | None = None) -> str:
    """A size with the prefix, decimal or binary, that needs the fewest digits.

    4,000 is `"4 KB"`, 4,096 `"4 KiB"` and 6,084 `"6084 B"`; with `digits` as in `format_time`, always
    decimal.
    """
    return _shortest(Fraction(size), "B", digits)


@lru_cache(maxsize=_REMEMBERED)
def format_bandwidth(micro: int, digits: int | None = None) -> str:
    """A bandwidth given in millionths of a byte per second; prefixes as in `format_bytes`."""
    return _shortest(Fraction(micro, 10**6), "B/s", digits)


def format_flop_rate(rate: int | None, digits: int | None = None) -> str | None:
    """A rate of floating-point operations with a unit: `312 Tflop/s`; None for none."""
    if rate is None:
        return None
    return _format(Fraction(rate), [(unit, int(size)) for unit, size in FLOP_RATE.items()], digits)


def format_fraction(value: Fraction) -> str:
    """A ratio as a decimal number where that is exact, else as numerator/denominator."""
    return _decimal(value) or f"{value.numerator}/{value.denominator}"


def _fits(number: int, value: object, unit: str) -> int:
    """A number that the simulator can hold. Raises InputError for a larger one."""
    if number >= 1 << 64:
        raise InputError(f"{_show(value)} is 2^64 {unit} or more")
    return number


def _quantity(value: object, units: Mapping[str, Fraction], what: str, example: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f'expected a {what} such as "{example}", found {_show(value)}')
    usual = example.split()[1] if units is not SIZE else "B"
    if not isinstance(value, str):
        raise _without_unit(what, shortened(str(value), 60), f"{value}", units, usual)
    match = _QUANTITY.fullmatch(value)
    if match is None:
        raise InputError(f'expected a {what} such as "{example}", found {_show(value)}')
    number, unit = match[1], match[2]
    if not unit:
        raise _without_unit(what, _show(value), number, units, usual)
    if unit not in units:
        raise _unknown_unit(unit, units, what)
    exact = _number(number) * units[unit]
    if exact < 0:
        raise InputError(f"a {what} must not be negative, found {_show(value)}")
    return exact


def _without_unit(what: str, shown: str, number: str, units: Mapping[str, Fraction], usual: str) -> InputError:
    hint = f'write the unit: "{shortened(number, 60)} {usual}", or another of {_list(units)}'
    return InputError(f"the {what} {shown} has no unit", hint=hint)


def _unknown_unit(unit: str, units: Mapping[str, Fraction], what: str) -> InputError:
    if unit.startswith(","):
        return InputError("write numbers without commas", hint="use 4_000 or 4000 for 4,000")
    meant = {"bps": "bit/s", "b/s": "bit/s", "Bps": "B/s"}
    near = None
    for wrong, right in meant.items():
        if unit.endswith(wrong) and unit.removesuffix(wrong) + right in units:
            near = unit.removesuffix(wrong) + right
            break
    near = near or nearest(unit, units)
    hint = f"did you mean `{near}`?" if near else f"units of {what}: {_list(units)}"
    return InputError(f"{_show(unit)} is not a unit of {what}", hint=hint)


def _number(text: str) -> Fraction:
    mantissa, _, exponent = text.lower().partition("e")
    # An exponent of a few digits would take all memory: no quantity has so many.
    if len(mantissa) > _MOST_DIGITS or len(exponent) > 4:
        raise InputError(f"`{shortened(text)}` has too many digits")
    try:
        return Fraction(text)
    except ValueError:
        raise InputError(f"{_show(text)} is not a number") from None


def _show(value: object) -> str:
    return f"`{shortened(value if isinstance(value, str) else repr(value))}`"


def _list(units: Mapping[str, Fraction]) -> str:
    return ", ".join(unit for unit in units if unit.isascii())


def _format(value: Fraction, units: list[tuple[str, int]], digits: int | None = None) -> str:
    unit, factor = next(((u, f) for u, f in units if value >= f), units[-1])
    if digits is None:
        return f"{_decimal(value / factor)} {unit}"
    rounded = Fraction(f"{float(value / factor):.{digits}g}")
    larger = [(u, f) for u, f in units if f > factor]
    if larger and rounded * factor >= larger[-1][1]:
        unit, factor = larger[-1]
        rounded = Fraction(f"{float(value / factor):.{digits}g}")
    return f"{_decimal(rounded)} {unit}"


def _shortest(value: Fraction, unit: str, digits: int | None) -> str:
    decimal = [(p + unit, _DECIMAL[p]) for p in ("T", "G", "M", "K", "")]
    if digits is not None:
        return _format(value, decimal, digits)
    binary = [(p + unit, factor) for p, factor in reversed(_BINARY.items())]
    fitting = [(u, f) for u, f in decimal + binary if value >= f] or [(unit, 1)]
    numbers = [(_decimal(value / factor), name) for name, factor in fitting]
    number, name = min(numbers, key=lambda n: (len(n[0].replace(".", "")), "." in n[0]))
    return f"{number} {name}"


def _decimal(value: Fraction) -> str:
    """All decimals of a fraction whose denominator has no prime factors but 2 and 5, else empty."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return ""
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    if places == 0:
        return sign + digits
    return f"{sign}{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")
