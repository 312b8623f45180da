"""A page of a figure: what it is, the paper's statements with verdicts, what does not match and why, tables."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from odonata.reproduce.markdown import number, reasons, table
from odonata.reproduce.zhang2018.gathered import PACKAGE, cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.rows import Row


def title(figure: str) -> str:
    """What the page is about."""
    return str(_intro(figure)["title"])


def page(figure: str, rows: Sequence[Row], tables: str, *, picture: str) -> str:
    """The page; `picture` says what is in it, "" if there is none."""
    sizes = sorted({case.setup.nodes for case in cases(figure)}) or [272]
    names = ", ".join(f"`zhang2018-{nodes}`" for nodes in sizes)
    return Template((files(PACKAGE) / "page.md").read_text(encoding="utf-8")).substitute(
        title=title(figure),
        name=f"zhang2018-{figure}",
        intro=_intro(figure)["text"].strip(),
        machines=f"s {names}" if len(sizes) > 1 else f" {names}",
        picture=f"\n![{picture}](zhang2018-{figure}.png)\n" if picture else "",
        counts=_counts(rows),
        rows=_rows(rows),
        reasons=_reasons(rows),
        tables=tables.strip("\n"),
    )


def _intro(figure: str) -> dict[str, str]:
    text = (files(PACKAGE) / "intros.toml").read_text(encoding="utf-8")
    found: dict[str, str] = tomllib.loads(text)[figure]
    return found


def _counts(rows: Sequence[Row]) -> str:
    """Number of rows by verdict, in words."""
    verdicts = [row.verdict for row in rows]
    words = [f"{verdicts.count(name)} {name}" for name in ("match", "no match", "not comparable") if name in verdicts]
    return ", ".join(words)


def _rows(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        verdict = f"**{row.verdict}**" if row.verdict == "no match" else row.verdict
        theirs = "" if row.verdict == "not comparable" else f"{number(row.theirs, row.unit)} {row.unit}"
        place = row.where.removeprefix("Zhang 2018, ")
        lines.append(
            [row.id, row.what, f"{number(row.ours, row.unit)} {row.unit}", theirs, row.tolerance, verdict, place]
        )
    return table(["id", "what", "ours", "paper", "tolerance", "verdict", "where"], lines, "llrrlll")


def _reasons(rows: Sequence[Row]) -> str:
    text = reasons(rows)
    return f"\n{text}\n" if text else ""
