"""Numbers as text: four digits or more, in the unit that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

UNITS = [("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1)]
SIZES = [("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("B", 1)]


def unit_of(times_ps: Iterable[float]) -> tuple[str, int]:
    """The largest unit in which the least of these times is 1 or more, and its picoseconds."""
    least = min(times_ps, default=0)
    return next(((unit, factor) for unit, factor in UNITS if least >= factor), UNITS[-1])


def unit_of_bytes(sizes: Iterable[float]) -> tuple[str, int]:
    """The largest decimal unit in which the least of these sizes is 1 or more, and its bytes; as reports have them."""
    least = min(sizes, default=0)
    return next(((unit, factor) for unit, factor in SIZES if least >= factor), SIZES[-1])


def size(value: int) -> str:
    """A single size, in a suitable unit: `51.36 kB`."""
    unit, factor = unit_of_bytes([value])
    return f"{digits(value, factor)} {unit}"


def digits(ps: float | None, factor: int) -> str:
    """Four digits or more, never a power of ten: 1.234, 51.36, 1,234, 12,345."""
    if ps is None:
        return "-"
    return four_digits(ps / factor) if factor > 1 else f"{ps:,.0f}"


def four_digits(value: float) -> str:
    """Four digits or more, never a power of ten."""
    places = next((p for p, below in ((3, 10), (2, 100), (1, 1000)) if abs(value) < below), 0)
    return f"{value:,.{places}f}"


def time(ps: float) -> str:
    """A single time, in a suitable unit: `51.36 us`."""
    unit, factor = unit_of([ps])
    return f"{digits(ps, factor)} {unit}"


def duration(seconds: float) -> str:
    """A wall time with about two digits: 12 s, 3 min, 2.5 h, 4 days."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 36 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.0f} days"


def fixed(value: float | None, form: str, unit: str = "") -> str:
    """A number in this form, with a blank before a sign of per cent; `-` for none."""
    return "-" if value is None else f"{value:{form}}{unit}".replace("%", " %")
