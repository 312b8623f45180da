"""Tables as plain text, in colour on a terminal, and as HTML for notebooks. rich lays them out."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from odonata.errors import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import IO, Literal

    from rich.table import Table as RichTable
    from rich.text import Text


UNLIMITED = 1_000_000
"""Characters of a line if the output is not a terminal: nothing is wrapped or cut off."""
GAP = 2
"""Blanks between two columns."""
NO_BREAK = "\u00a0"
"""A blank at which no line ends."""
_UNIT = re.compile(r"(?<=\d) (?=%|[mµunp]?s\b|min\b|h\b)")
_WORDS: Any = {"break_long_words": False, "break_on_hyphens": False}


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
        """Lines of plain text, no wider than `width` characters as far as no word is broken.

        A table that is wider has its rows as columns, or its cells in several lines, or its columns in several tables.
        """
        drawn = [_lines(piece) for piece in self._pieces(width)]
        lines = [line for number, piece in enumerate(drawn) for line in ([""] * (number > 0) + piece)]
        title = self.title if width is None else textwrap.fill(self.title, width, **_WORDS)
        return [*title.split("\n"), "", *lines] if self.title else lines

    def html(self) -> str:
        """An HTML table."""

        def line(cells: Sequence[str], tag: str) -> str:
            sides = ["right" if column.right else "left" for column in self.columns]
            pairs = zip(cells, sides, strict=True)
            cells_html = (f'<{tag} style="text-align: {side}">{escape(_shown(cell))}</{tag}>' for cell, side in pairs)
            return f"<tr>{''.join(cells_html)}</tr>"

        caption = f"<caption>{escape(_shown(self.title))}</caption>" if self.title else ""
        head = line([column.heading for column in self.columns], "th")
        body = "".join(line(row, "td") for row in self.rows)
        return f"<table>{caption}<thead>{head}</thead><tbody>{body}</tbody></table>"

    def show(self) -> None:
        """Print it: in colour and wrapped to the width of a terminal, in full and plain elsewhere."""
        if sys.stdout.isatty():
            # Commands escape what they print, colours too; cells are escaped already.
            stream = getattr(sys.stdout, "unescaped", sys.stdout)
            width = shutil.get_terminal_size().columns
            for number, piece in enumerate(self._pieces(width)):
                stream.write("\n" * (number > 0))
                _print(piece, stream, UNLIMITED, colours=True)
        else:
            print("\n".join(self.lines()))

    def _turned(self) -> Table:
        """Its rows as columns."""
        first, *others = zip([column.heading for column in self.columns], *self.rows, strict=True)
        return Table(columns(first), others)

    def _pieces(self, width: int | None) -> list[RichTable]:
        """What is drawn one below the other within a width."""
        if width is None or self._width(_natural) <= width:
            return [self._laid_out()]
        turned = self._turned()
        if self.rows and turned._width(_natural) <= width:
            return [turned._laid_out()]
        if self._width(_least) <= width:
            return [self._laid_out(self._shrunk(width))]
        return [piece._laid_out(piece._shrunk(width)) for piece in self._split(width)]

    def _cells(self) -> list[list[str]]:
        """The cells of each column with its heading."""
        return [list(cells) for cells in zip([column.heading for column in self.columns], *self.rows, strict=True)]

    def _width(self, of: Callable[[str], int]) -> int:
        return sum(max(map(of, cells)) for cells in self._cells()) + GAP * (len(self.columns) - 1)

    def _shrunk(self, width: int) -> list[int]:
        """Widths of the columns that fit together: the widest give way, down to their longest words."""
        return _shrunk(self._cells(), width)

    def _split(self, width: int) -> list[Table]:
        """Tables of as many columns as fit, each with the first column."""
        pieces: list[Table] = []
        taken: list[int] = []
        for index in range(1, len(self.columns)):
            if taken and self._only([0, *taken, index])._width(_least) > width:
                pieces.append(self._only([0, *taken]))
                taken = []
            taken.append(index)
        return [*pieces, self._only([0, *taken])]

    def _only(self, indices: Sequence[int]) -> Table:
        rows = [[row[index] for index in indices] for row in self.rows]
        return Table([self.columns[index] for index in indices], rows)

    def _laid_out(self, widths: Sequence[int] = ()) -> RichTable:
        room = widths or [UNLIMITED] * len(self.columns)
        headings = [_wrapped(column.heading, most) for column, most in zip(self.columns, room, strict=True)]
        laid_out = _empty([column.right for column in self.columns], headings)
        for row in self.rows:
            styles = [column.styles.get(cell, "") for column, cell in zip(self.columns, row, strict=True)]
            laid_out.add_row(*(_cell(cell, style, most) for cell, style, most in zip(row, styles, room, strict=True)))
        return laid_out


def aligned(
    rows: Sequence[Sequence[str]],
    right: Sequence[bool] | None = None,
    indent: str = "",
    width: int | None = None,
) -> list[str]:
    """Rows with their columns aligned, two blanks apart: to the right where `right` is true, to the left without it.

    In lines of `width` characters, cells have several lines, as far as no word is broken.
    """
    if not rows:
        return []
    cells = [list(column) for column in zip(*rows, strict=True)]
    room = [UNLIMITED] * len(cells) if width is None else _shrunk(cells, width - len(indent))
    laid_out = _empty(right or [False] * len(rows[0]))
    for row in rows:
        laid_out.add_row(*(_cell(cell, "", most) for cell, most in zip(row, room, strict=True)))
    return [f"{indent}{line}" for line in _lines(laid_out)]


def terminal_width() -> int | None:
    """Characters of a line of the terminal; None if standard output is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _shrunk(columns: Sequence[Sequence[str]], width: int) -> list[int]:
    """Widths of columns that fit together into a width: the widest give way, down to their longest words."""
    widths = [max(map(_natural, cells)) for cells in columns]
    least = [max(map(_least, cells)) for cells in columns]
    while sum(widths) + GAP * (len(widths) - 1) > width:
        wide = [index for index, of in enumerate(widths) if of > least[index]]
        if not wide:
            break
        widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _natural(text: str) -> int:
    """Characters of a cell in one line."""
    from rich.cells import cell_len

    return cell_len(_shown(text))


def _least(text: str) -> int:
    """Characters of its longest word."""
    return max(map(_natural, _glued(_shown(text)).split(" ")), default=0)


def _glued(text: str) -> str:
    """The text with numbers and their units as one word each."""
    return _UNIT.sub(NO_BREAK, text)


def _wrapped(text: str, width: int) -> str:
    """The text in lines of at most so many characters, broken between words only."""
    shown = _shown(text)
    if _natural(text) <= width:
        return shown
    return textwrap.fill(_glued(shown), width, **_WORDS).replace(NO_BREAK, " ")


def _empty(right: Sequence[bool], headings: Sequence[str] = ()) -> RichTable:
    """A table without rows: two blanks between columns, a rule of dashes below the headings, if there are any."""
    from rich.box import Box
    from rich.table import Table as RichTable

    box = Box("\n".join(["    ", "    ", "----", *["    "] * 5]), ascii=True)
    table = RichTable(box=box, show_edge=False, show_header=bool(headings), header_style="", pad_edge=False)
    table.padding = (0, 1, 0, 0)  # the other blank is the box's
    for index, to_right in enumerate(right):
        table.add_column(
            _plain(headings[index]) if headings else "",
            justify="right" if to_right else "left",
            no_wrap=True,
            overflow="fold",
        )
    return table


def _shown(text: str) -> str:
    """The text in one line, control characters as escapes."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _cell(text: str, style: str, width: int) -> Text:
    return _plain(_wrapped(text, width), style)


def _plain(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(text, style)


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


def html(sentences: Iterable[str], tables: Iterable[Table] = (), code: str = "") -> str:
    """A paragraph for each sentence that is not empty, the tables, and lines of code."""
    parts = [f"<p>{escape(visible(sentence))}</p>" for sentence in sentences if sentence]
    parts += [table.html() for table in tables]
    parts += [f"<pre>{escape(visible(code))}</pre>"] * bool(code)
    return f"<div>{''.join(parts)}</div>"
