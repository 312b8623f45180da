"""Random axes: `[random]`, seeded.

Each key has its own random stream, made from the seed and the key. So a further key or more samples do not change
earlier draws, and their runs are not repeated. Drawn numbers are rounded to six significant digits. This makes them
readable and independent of the mathematical library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from odonata.errors import InputError, unknown
from odonata.placement.splitmix import SplitMix64, stream_seed
from odonata.study.values import Number, bounds, written

DIGITS = 6
"""Significant digits of a drawn number."""

DISTRIBUTIONS = ("uniform", "log-uniform", "integers", "log-integers", "choice")


def is_distribution(value: object) -> bool:
    """Whether a table is a distribution (even a misspelt one) and not a table of keys one level deeper."""
    return isinstance(value, Mapping) and not all(isinstance(inner, Mapping) for inner in value.values())


def draw(key: str, given: object, *, samples: int, seed: int) -> tuple[Any, ...]:
    """Draw values of a key. Raises InputError for anything but a distribution; its path begins below the key."""
    if not isinstance(given, Mapping) or len(given) != 1:
        hint = 'such as { uniform = [0.1, 0.9] }, { log-uniform = ["1 us", "10 us"] } or { choice = ["a", "b"] }'
        raise InputError(f"expected one distribution, found `{given!r}`", hint=hint)
    ((name, of),) = given.items()
    if name not in DISTRIBUTIONS:
        raise unknown("distribution", str(name), DISTRIBUTIONS)
    stream = SplitMix64(stream_seed(seed, key))
    try:
        next_value = _choice(of) if name == "choice" else _between(name, of)
    except InputError as e:
        raise e.under(name) from None
    return tuple(next_value(stream) for _ in range(samples))


def _choice(of: object) -> Callable[[SplitMix64], Any]:
    if not isinstance(of, list) or not of:
        raise InputError(f"expected a list of values to choose from, found `{of!r}`")
    return lambda stream: of[stream.below(len(of))]


def _between(name: str, of: object) -> Callable[[SplitMix64], Any]:
    if not isinstance(of, list) or len(of) != 2:
        raise InputError(f"expected two bounds such as [1, 10], found `{of!r}`")
    low, high = bounds(*of)
    if name.startswith("log") and low.value <= 0:
        raise InputError(f"a logarithm needs bounds above 0, found `{of[0]}`")
    if name.endswith("integers"):
        return _integers(name, low, high)
    return lambda stream: _drawn(stream, low, high, log=name.startswith("log"))


def _integers(name: str, low: Number, high: Number) -> Callable[[SplitMix64], int]:
    if not (low.whole and high.whole):
        raise InputError("expected whole numbers without a unit", hint="quantities are drawn by `uniform`")
    least, most = int(low.value), int(high.value)
    if name == "integers":
        return lambda stream: least + stream.below(most - least + 1)

    def spread(stream: SplitMix64) -> int:
        # Each integer n has the logarithmic length of [n, n + 1).
        value = math.exp(math.log(least) + stream.unit() * (math.log(most + 1) - math.log(least)))
        return min(max(math.floor(_rounded(value, 12)), least), most)

    return spread


def _drawn(stream: SplitMix64, low: Number, high: Number, *, log: bool) -> int | float | str:
    least, most, share = float(low.value), float(high.value), stream.unit()
    if log:
        value = math.exp(math.log(least) + share * (math.log(most) - math.log(least)))
    else:
        value = least + share * (most - least)
    exact = Fraction(str(_rounded(value, DIGITS)))
    return written(min(max(exact, low.value), high.value), low.kind, whole=False)


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
