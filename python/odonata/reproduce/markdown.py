"""Rows as text: Markdown tables that are the same for the same numbers."""

from __future__ import annotations

import re
from textwrap import fill
from typing import TYPE_CHECKING

from odonata.reproduce.provenance import abouts
from odonata.reproduce.rows import VERDICTS, unsure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from odonata.reproduce.rows import Row

FITTED = "fitted"
COUNTED = (*VERDICTS[:3], FITTED, VERDICTS[3])
"""Columns of tables of counts."""

_DECIMALS = {
    "us": 2,
    "ms": 3,
    "s": 1,
    "x": 2,
    "%": 1,
    "GiB/s": 2,
    "GB/s": 1,
    "Tflop/s": 1,
    "rho": 2,
    "p": 2,
    "area": 2,
    "families": 0,
    "peaks": 0,
    "packets": 0,
    "links": 2,
}


def number(value: float, unit: str) -> str:
    """A value with the decimals that suit its unit."""
    return f"{value:,.{_DECIMALS[unit]}f}"


def table(head: Sequence[str], lines: Iterable[Sequence[str]], align: str = "") -> str:
    """A Markdown table; `align` has one of `l` and `r` for each column (default: all left)."""
    marks = {"l": "---", "r": "---:"}
    bars = [marks[letter] for letter in align or "l" * len(head)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, bars, *lines))


def comparable(rows: Iterable[Row]) -> list[Row]:
    """The rows of statements that some model has a verdict on."""
    rows = list(rows)
    known = {(row.id, row.what) for row in rows if counted(row) != "not comparable"}
    return [row for row in rows if (row.id, row.what) in known]


def pivot(
    rows: Iterable[Row], line: Callable[[Row], Sequence[str]], column: Callable[[Row], str], head: Sequence[str]
) -> str:
    """A line for each group of rows, a column for each kind, as `side_by_side`."""
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        cells.setdefault(tuple(line(row)), {})[column(row)] = told(row)
    columns = list(dict.fromkeys(name for of in cells.values() for name in of))
    lines = [[*words, *(of.get(name, "") for name in columns)] for words, of in cells.items()]
    return table([*head, *columns], lines, "l" * len(head) + "r" * len(columns))


def latencies(rows: Sequence[Row], model: str) -> str:
    """Values that depend on the number of messages, for each number that was simulated."""
    chosen = [row for row in rows if row.model == model and row.kind in "SNF" and len(row.by_messages) > 1]
    numbers = sorted({n for row in chosen for n in row.by_messages})
    lines = [
        [
            row.id,
            row.what,
            published(row),
            *(number(row.by_messages[n], row.unit) if n in row.by_messages else "" for n in numbers),
            row.growth or "",
            "" if row.meets_at is None else f"{row.meets_at:.0f}",
        ]
        for row in chosen
    ]
    head = ["id", "what", "published", *(f"N = {n}" for n in numbers), "", "meets it at N"]
    return table(head, lines, "llr" + "r" * len(numbers) + "lr")


def side_by_side(rows: Sequence[Row], models: Sequence[str]) -> str:
    """One line a published value, a column for each model: bold outside of the tolerance, in brackets without a
    verdict."""
    by_statement = {(row.id, row.what, row.model): row for row in rows}
    lines = []
    for first in _distinct(rows):
        ours = [by_statement.get((first.id, first.what, model)) for model in models]
        cells = ["" if row is None else told(row) for row in ours]
        lines.append([first.id, first.what, published(first), first.tolerance, *cells])
    return table(["id", "what", "published", "tolerance", *models], lines, "llrl" + "r" * len(models))


def told(row: Row, *, interval: bool = False) -> str:
    """Ours: bold outside of the tolerance, in brackets without a verdict."""
    value = number(row.ours, row.unit)
    said = f"({value})" if row.verdict == "not comparable" else bold_if(value, row.verdict == "no match")
    ends = [number(end, row.unit) for end in row.interval or ()] if interval else []
    return f"{said}, {' to '.join(ends)}" if {*ends} - {value} else said


def bold_if(text: str, is_so: bool) -> str:
    """The text, bold if that is so."""
    return f"**{text}**" if is_so else text


NAMED = 2
"""So many rows of an equal reason are named; of more, their number and ids."""


def reasons(rows: Iterable[Row]) -> str:
    """What agrees neither within a tolerance nor in direction: the cause with the experiment that supports it, that it
    is not explained, or what the paper leaves open. One line for equal reasons."""
    said: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if counted(row) in ("no match", "not comparable"):
            said.setdefault((row.verdict, reason(row)), []).append(row)
    lines = (f"- **{verdict}**: {_which(of)}. {why}" for (verdict, why), of in said.items())
    return "\n".join(
        fill(line, 120, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False) for line in lines
    )


def _which(rows: Sequence[Row]) -> str:
    named = dict.fromkeys(f"{row.id} {row.what}" for row in rows)
    if len(named) <= NAMED:
        return "; ".join(named)
    ids = dict.fromkeys(row.id for row in rows)
    return f"{len(rows)} rows ({', '.join(ids)})"


def reasons_by_model(rows: Sequence[Row]) -> str:
    """The same for each model, under its name."""
    by_model = {
        model: reasons(row for row in rows if row.model == model) for model in dict.fromkeys(r.model for r in rows)
    }
    return "\n\n".join(f"*{model}*:\n\n{text}" for model, text in by_model.items() if text)


def reason(row: Row) -> str:
    """Why a row does not agree or cannot be compared."""
    if row.verdict == "not comparable" and row.kind == "F":
        return "A parameter was chosen by it (kind F)."
    if not row.why and unsure(row):
        return "Cannot be told: ours agrees, and an end of its interval does not."
    if not row.why:
        return "Not explained." if row.verdict == "no match" else "The paper does not determine it."
    cause = row.why[:1].upper() + row.why[1:].rstrip(".") + "."
    if row.verdict != "no match":
        return cause
    of = row.experiment
    return f"{cause} Experiment: {f'[{of}](study:{of})' if of in abouts() else of}."


def counted(row: Row) -> str:
    """The column of a table of counts for a row."""
    return FITTED if row.verdict == "not comparable" and row.kind == "F" else row.verdict


def held(rows: Iterable[Row]) -> str:
    """How many rows match, how many orderings hold, out of how many."""
    verdicts = [row.verdict for row in rows]
    return f"{verdicts.count('match')} match and {verdicts.count('direction')} directions hold, of {len(verdicts)}"


def bold(verdict: str) -> str:
    """A verdict in a table."""
    return f"**{verdict}**" if verdict == "no match" else verdict


def relations(rows: Iterable[Row]) -> str:
    """Rows that rest on an interval: ratio, interval, number of values."""
    lines = []
    for row in rows:
        wanted = f"1 ± {row.tolerance}" if row.tolerance.endswith("%") else row.tolerance
        low, high = row.interval or (row.ours, row.ours)
        lines.append(
            [
                row.id,
                row.what,
                f"{row.ours:.3f}",
                f"{low:.3f} to {high:.3f}" if row.interval else "",
                str(row.repetitions or ""),
                wanted,
                bold(row.verdict),
            ]
        )
    return table(["id", "what", "ratio", "95 % interval", "of", "wanted", "verdict"], lines, "llrrrll")


def published(row: Row) -> str:
    """The published value with its unit."""
    return f"{number(row.theirs, row.unit)} {row.unit}"


def wrapped(page: str) -> str:
    """The page with paragraphs and items of lists filled anew, since values change their lengths."""
    blocks = []
    for block in page.split("\n\n"):
        if block.startswith(("#", "|", "!", "```")):
            blocks.append(block)
            continue
        items = re.split(r"\n(?=- )", block)
        blocks.append(
            "\n".join(
                fill(
                    " ".join(item.split()),
                    120,
                    subsequent_indent="  " if item.startswith("- ") else "",
                    break_on_hyphens=False,
                    break_long_words=False,
                )
                for item in items
            )
        )
    return "\n\n".join(blocks) + "\n"


def _distinct(rows: Iterable[Row]) -> list[Row]:
    return list({(row.id, row.what): row for row in reversed(list(rows))}.values())[::-1]
