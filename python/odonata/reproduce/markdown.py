"""Rows as text: Markdown tables that are the same for the same numbers."""

from __future__ import annotations

import re
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from odonata.reproduce.rows import Row

_DECIMALS = {"us": 2, "ms": 3, "x": 2, "%": 1, "GiB/s": 2, "rho": 2, "families": 0, "peaks": 0, "packets": 0}


def number(value: float, unit: str) -> str:
    """A value with the decimals that suit its unit."""
    return f"{value:,.{_DECIMALS[unit]}f}"


def table(head: Sequence[str], lines: Iterable[Sequence[str]], align: str = "") -> str:
    """A Markdown table; `align` has one of `l` and `r` for each column (default: all left)."""
    marks = {"l": "---", "r": "---:"}
    bars = [marks[letter] for letter in align or "l" * len(head)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, bars, *lines))


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
    """One line a published value, one pair of columns a model."""
    head = ["id", "what", "published", "tolerance", "kind"]
    for model in models:
        head += [model, "verdict"]
    by_statement = {(row.id, row.what, row.model): row for row in rows}
    lines = []
    for first in _distinct(rows):
        cells = [first.id, first.what, published(first), first.tolerance, first.kind]
        for model in models:
            row = by_statement.get((first.id, first.what, model))
            cells += ["", ""] if row is None else [number(row.ours, row.unit), _verdict(row)]
        lines.append(cells)
    return table(head, lines, "llrll" + "rl" * len(models))


def reasons(rows: Iterable[Row]) -> str:
    """What did not match and why: one line for equal reasons."""
    said: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.verdict != "match":
            said.setdefault((row.verdict, row.why), []).append(f"{row.id} {row.what}")
    lines = []
    for (verdict, why), which in said.items():
        cause = why[:1].upper() + why[1:].rstrip(".") + "." if why else "Cause unknown."
        lines.append(f"- **{verdict}**: {'; '.join(which)}.\n  {cause}")
    return "\n".join(lines)


def counts(rows: Iterable[Row], model: str) -> str:
    """Number of rows by verdict, in words."""
    mine = [row.verdict for row in rows if row.model == model]
    return ", ".join(f"{mine.count(verdict)} {verdict}" for verdict in ("match", "no match", "not comparable"))


def published(row: Row) -> str:
    """The published value with its unit."""
    return f"{number(row.theirs, row.unit)} {row.unit}"


def wrapped(page: str) -> str:
    """The page with paragraphs and items of lists filled anew, since values change their lengths."""
    blocks = []
    for block in page.split("\n\n"):
        if block.startswith(("#", "|", "!")):
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


def _verdict(row: Row) -> str:
    return f"**{row.verdict}**" if row.verdict == "no match" else row.verdict


def _distinct(rows: Iterable[Row]) -> list[Row]:
    return list({(row.id, row.what): row for row in reversed(list(rows))}.values())[::-1]
