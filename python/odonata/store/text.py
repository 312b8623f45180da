"""Numbers and tables as text, for the screen and for notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

UNITS = [("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3), ("ps", 1)]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as text: one row per job."""

    title: str
    unit: str
    """Unit of all times in it."""
    header: list[str]
    rows: list[list[str]]

    def lines(self, width: int | None) -> list[str]:
        """In plain text; turned on its side if it is wider than `width` characters."""
        upright = [self.header, *self.rows]
        lines = aligned(upright)
        if width is not None and len(lines[0]) > width:
            lines = aligned([list(row) for row in zip(*upright, strict=True)])
        rule = "-" * max(len(line) for line in lines)
        return [self.title, "", lines[0], rule, *lines[1:]]

    def html(self) -> str:
        """For a notebook."""

        def line(cells: list[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line(row, "td") for row in self.rows)
        head = f"<caption>{escape(self.title)}</caption><thead>{line(self.header, 'th')}</thead>"
        return f"<table>{head}<tbody>{body}</tbody></table>"


def unit_of(times_ps: Iterable[float]) -> tuple[str, int]:
    """The largest unit in which the least of these times is 1 or more, and its picoseconds."""
    least = min(times_ps, default=0)
    return next(((unit, factor) for unit, factor in UNITS if least >= factor), UNITS[-1])


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
    """A time by itself, in the unit that fits: `51.36 us`."""
    unit, factor = unit_of([ps])
    return f"{digits(ps, factor)} {unit}"


def fixed(value: float | None, form: str, unit: str = "") -> str:
    """A number in this form, with a blank before a sign of per cent; `-` for none."""
    return "-" if value is None else f"{value:{form}}{unit}".replace("%", " %")


def aligned(lines: list[list[str]], right: Sequence[bool] | None = None) -> list[str]:
    """Columns under each other, those of which `right` is true to the right; without it all but the first."""
    columns = list(zip(*lines, strict=True))
    right = right or [False, *[True] * (len(columns) - 1)]
    padded = [
        [text.rjust(width) if to_right else text.ljust(width) for text in column]
        for column, to_right in zip(columns, right, strict=True)
        for width in [max(map(len, column))]
    ]
    return ["  ".join(line).rstrip() for line in zip(*padded, strict=True)]
