"""Tables as plain text, in colour on a terminal, and as HTML for notebooks. rich lays them out."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from odonata.errors import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import IO, Literal

    from rich.table import Table as RichTable
    from rich.text import Text

UNLIMITED = 1_000_000
"""Characters of a line if the output is not a terminal: nothing is wrapped or cut off."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    right: bool = True
    """Aligned to the right, as numbers are."""
    unit: str = ""
    """Shown behind the name, in parentheses."""
    styles: Mapping[str, str] = field(default_factory=dict)
    """Cell to its style on a terminal, as rich names styles."""

    @property
    def heading(self) -> str:
        """The name with its unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


def columns(names: Sequence[str]) -> list[Column]:
    """Columns of these names: the first aligned to the left, the others to the right."""
    return [Column(name, right=index > 0) for index, name in enumerate(names)]


@dataclass(frozen=True, slots=True)
class Table:
    """Headings and rows of cells (texts)."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    title: str = ""

    def lines(self, width: int | None = None) -> list[str]:
        """Lines of plain text.

        If they are wider than `width` characters, rows become columns, unless that is wider still.
        """
        lines = self._drawn()
        if width is not None and len(lines[0]) > width:
            turned = self._turned()._drawn()
            lines = turned if len(turned[1]) < len(lines[1]) else lines
        return [self.title, "", *lines] if self.title else lines

    def html(self) -> str:
        """An HTML table."""

        def line(cells: Sequence[str], tag: str) -> str:
            sides = ["right" if column.right else "left" for column in self.columns]
            pairs = zip(cells, sides, strict=True)
            found = (f'<{tag} style="text-align: {side}">{escape(_shown(cell))}</{tag}>' for cell, side in pairs)
            return f"<tr>{''.join(found)}</tr>"

        caption = f"<caption>{escape(_shown(self.title))}</caption>" if self.title else ""
        head = line([column.heading for column in self.columns], "th")
        body = "".join(line(row, "td") for row in self.rows)
        return f"<table>{caption}<thead>{head}</thead><tbody>{body}</tbody></table>"

    def show(self) -> None:
        """Print it: in colour and wrapped to the width of a terminal, in full and plain elsewhere."""
        if sys.stdout.isatty():
            # Commands escape what they print, colours too; cells are escaped already.
            stream = getattr(sys.stdout, "unescaped", sys.stdout)
            _print(self._laid_out(wrap=True), stream, shutil.get_terminal_size().columns, colours=True)
        else:
            print("\n".join(self.lines()))

    def _turned(self) -> Table:
        """Its rows as columns."""
        first, *others = zip([column.heading for column in self.columns], *self.rows, strict=True)
        return Table(columns(first), others)

    def _drawn(self) -> list[str]:
        return _lines(self._laid_out(wrap=False))

    def _laid_out(self, *, wrap: bool) -> RichTable:
        found = _empty(
            [column.right for column in self.columns], [column.heading for column in self.columns], wrap=wrap
        )
        for row in self.rows:
            styles = [column.styles.get(cell, "") for column, cell in zip(self.columns, row, strict=True)]
            found.add_row(*map(_cell, row, styles))
        return found


def aligned(rows: Sequence[Sequence[str]], right: Sequence[bool] | None = None, indent: str = "") -> list[str]:
    """Rows with their columns aligned, two blanks apart: to the right where `right` is true, to the left without it."""
    if not rows:
        return []
    found = _empty(right or [False] * len(rows[0]))
    for row in rows:
        found.add_row(*map(_cell, row))
    return [f"{indent}{line}" for line in _lines(found)]


def terminal_width() -> int | None:
    """Characters of a line of the terminal; None if standard output is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _empty(right: Sequence[bool], headings: Sequence[str] = (), *, wrap: bool = False) -> RichTable:
    """A table without rows: two blanks between columns, a rule of dashes below the headings, if there are any."""
    from rich.box import Box
    from rich.table import Table as RichTable

    box = Box("\n".join(["    ", "    ", "----", *["    "] * 5]), ascii=True)
    found = RichTable(box=box, show_edge=False, show_header=bool(headings), header_style="", pad_edge=False)
    found.padding = (0, 1, 0, 0)  # the other blank is the box's
    for index, to_right in enumerate(right):
        found.add_column(
            _cell(headings[index]) if headings else "",
            justify="right" if to_right else "left",
            no_wrap=not wrap,
            overflow="fold",
        )
    return found


def _shown(text: str) -> str:
    """The text in one line, control characters as escapes."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _cell(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(_shown(text), style)


def _lines(table: RichTable) -> list[str]:
    from io import StringIO

    drawn = StringIO()
    _print(table, drawn, UNLIMITED, colours=False)
    return [line.rstrip(" ") for line in drawn.getvalue().split("\n")[:-1]]


def _print(table: RichTable, file: IO[str], width: int, *, colours: bool) -> None:
    from rich.console import Console

    # A notebook would display the table itself, and variables such as FORCE_COLOR would put colours into texts.
    terminal = None if colours else False
    system: Literal["auto"] | None = "auto" if colours else None
    console = Console(file=file, width=width, color_system=system, force_terminal=terminal, force_jupyter=False)
    console.print(table, crop=False)
