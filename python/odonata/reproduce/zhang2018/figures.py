"""`zhang2018-fig2`, `zhang2018-fig4` to `zhang2018-fig13`, `zhang2018-variants`, and their pages."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

from odonata.reproduce.markdown import bold, counted, number, reasons, table
from odonata.reproduce.page import Page, quoted
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import VERDICTS
from odonata.reproduce.zhang2018 import pictures, tables
from odonata.reproduce.zhang2018.gathered import by_routers, explain, twice
from odonata.reproduce.zhang2018.job_rows import RDG, fig2, fig4, fig7, fig8
from odonata.reproduce.zhang2018.link_rows import fig5, fig6
from odonata.reproduce.zhang2018.random_rows import fig10, fig11, fig12, fig13, variants
from odonata.reproduce.zhang2018.router_rows import router_tables, routers
from odonata.reproduce.zhang2018.runs import (
    AS_PUBLISHED,
    AS_RUN,
    ROUTERS,
    SHOWN,
    STORED,
    TODAY,
    UGAL,
    VIRTUAL,
    keep,
    make,
    points,
)
from odonata.reproduce.zhang2018.size_rows import draw_sizes, fig9, size_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.pictures import Draw

    Tables = Callable[[str, Runs], str | dict[str, str]]
    """Tables of a figure, or those of each kind of routers."""

PACKAGE = "odonata.reproduce.zhang2018"
NAMES = {
    AS_RUN: "as run",
    AS_PUBLISHED: "as published",
    TODAY: "today",
    STORED: "store-and-forward, ideal",
    VIRTUAL: "virtual-output-queued",
    UGAL: "today, ugal-l",
}
"""Kind of routers -> its name on the pages."""


def page_of(figure: str, shown: Tables, picture: str) -> Page:
    """The page; `picture` says what is in it, "" if there is none."""

    def of_rows(rows: Sequence[Row], texts: Texts) -> Texts:
        sizes = sorted({point["nodes"] for point in points(figure, False)}) or [272]
        differs = quoted(_intro(figure).get("differs", ""), rows).strip()
        names = ", ".join(f"`zhang2018-{nodes}`" for nodes in sizes)
        return {
            "title": _intro(figure)["title"],
            "name": f"zhang2018-{figure}",
            "intro": quoted(_intro(figure)["text"], rows).strip(),
            "machines": f"s {names}" if len(sizes) > 1 else f" {names}",
            "picture": f"\n![{picture}](zhang2018-{figure}.png)\n" if picture else "",
            "ways": _ways(rows),
            "counts": _counts(rows),
            "rows": _side_by_side(rows) if {row.model for row in rows} <= {*SHOWN, UGAL} else _rows(rows),
            "differs": f"\n### What differs\n\n{differs}\n" if differs else "",
            "reasons": _reasons(rows),
            **_tables(texts),
        }

    def of_runs(_: Sequence[Row], runs: Runs) -> Texts:
        made = shown(figure, runs)
        if isinstance(made, str):
            return {"tables": made.strip("\n")}
        return {f"{_OF}{name}": text for name, text in made.items()}

    return Page(lambda: (files(PACKAGE) / "page.md").read_text("utf-8"), of_rows, of_runs)


_OF = "tables "
"""What the names of texts begin with that have the tables of a kind of routers."""


def _tables(texts: Texts) -> Texts:
    """The tables of all kinds of routers, each under a heading of its own."""
    kinds = [name for name in ROUTERS if f"{_OF}{name}" in texts]
    parts = (f"## Routers: {NAMES[name]}\n{texts[_OF + name]}" for name in kinds)
    return {"tables": "\n\n".join(part.strip("\n") for part in parts)} if kinds else {}


def _ways(rows: Sequence[Row]) -> str:
    """What the kinds of runs are that the page has; pages with others have these as well."""
    texts = tomllib.loads((files(PACKAGE) / "ways.toml").read_text(encoding="utf-8"))
    there = {row.model for row in rows} or set(SHOWN)
    chosen = [text.strip() for name, text in texts.items() if name in there]
    return ";\n".join(chosen) + "."


def _intro(figure: str) -> dict[str, str]:
    text = (files(PACKAGE) / "intros.toml").read_text(encoding="utf-8")
    intros: dict[str, str] = tomllib.loads(text)[figure]
    return intros


def _counts(rows: Sequence[Row]) -> str:
    """Number of rows by routers and verdict."""
    lines = [
        [NAMES.get(name, name), *(str(sum(counted(row) == verdict for row in some)) for verdict in VERDICTS)]
        for name, some in _by_model(rows).items()
    ]
    return table(["routers", *VERDICTS], lines, "l" + "r" * len(VERDICTS))


def _by_model(rows: Sequence[Row]) -> dict[str, list[Row]]:
    by_model: dict[str, list[Row]] = {}
    for row in rows:
        by_model.setdefault(row.model, []).append(row)
    return by_model


def _rows(rows: Sequence[Row]) -> str:
    """A line for each row."""
    lines = [
        [row.id, NAMES.get(row.model, row.model), row.what, *_ours(row), _theirs(row), row.tolerance, _where(row)]
        for row in rows
    ]
    return table(["id", "routers", "what", "ours", "verdict", "paper", "tolerance", "where"], lines, "lllrlrll")


def _side_by_side(rows: Sequence[Row]) -> str:
    """A line for each statement, with all kinds of routers."""
    by_statement = {(row.what, row.model): row for row in rows}
    kinds = [name for name in (*SHOWN, UGAL) if name in {row.model for row in rows}]
    lines = []
    for what in dict.fromkeys(row.what for row in rows):
        shown = [by_statement[what, name] for name in kinds if (what, name) in by_statement]
        cells = [
            cell
            for name in kinds
            for cell in (_ours(by_statement[what, name]) if (what, name) in by_statement else ["", ""])
        ]
        first = next((row for row in shown if row.verdict != "not comparable"), shown[0])
        lines.append([first.id, what, _theirs(first), first.tolerance, *cells, _where(first)])
    head = ["id", "what", "paper", "tolerance"]
    for name in kinds:
        head += [NAMES[name], "verdict"]
    return table([*head, "where"], lines, "llrl" + "rl" * len(kinds) + "l")


def _ours(row: Row) -> list[str]:
    ends = [number(end, row.unit) for end in row.interval or ()]
    interval = f" ({' to '.join(ends)})" if ends else ""
    return [f"{number(row.ours, row.unit)} {row.unit}{interval}", bold(row.verdict)]


def _theirs(row: Row) -> str:
    """The published number; a paper that gives none has 0 in a row that is not comparable."""
    unknown = row.verdict == "not comparable" and row.theirs == 0
    return "" if unknown else f"{number(row.theirs, row.unit)} {row.unit}"


def _where(row: Row) -> str:
    return row.where.removeprefix("Zhang 2018, ")


def _reasons(rows: Sequence[Row]) -> str:
    """The reasons of each kind of routers."""
    by_model = {name: reasons(some) for name, some in _by_model(rows).items()}
    return "".join(f"\n### Not matched, {NAMES.get(name, name)}\n\n{text}\n" for name, text in by_model.items() if text)


def _by_routers(shown: Callable[[str, Runs], str]) -> Tables:
    """The tables of each kind of routers."""

    def both(figure: str, runs: Runs) -> dict[str, str]:
        return {name: shown(figure, some).rstrip("\n") for name, some in by_routers(runs).items()}

    return both


def _figure(
    figure: str,
    rows: Callable[[Runs], list[Row]],
    shown: Tables,
    draw: Callable[[Runs], Figure | None] | None = None,
    seen: str = "",
) -> Reproduction:
    return Reproduction(
        name=f"zhang2018-{figure}",
        title=_intro(figure)["title"],
        points=partial(points, figure),
        make=make,
        rows=rows,
        text=page_of(figure, shown, seen),
        picture=None if draw is None else lambda _, runs: draw(runs),
        keep=keep,
        study="zhang2018",
        model_key="routers",
    )


def _twice(
    figure: str,
    rows: Callable[[Runs], list[Row]],
    shown: Callable[[str, Runs], str],
    draw: Draw | None = None,
    seen: str = "",
) -> Reproduction:
    """A figure with each kind of routers."""
    both = None if draw is None else partial(pictures.twice, draw, names={name: NAMES[name] for name in SHOWN})
    return replace(
        _figure(figure, partial(twice, figure, rows), _by_routers(shown), both, seen), explain=partial(explain, figure)
    )


_SMALL_AND_LARGE = "Times of small and large jobs over Simple's"
_PORTS = "Packets and stalls of output ports"
_POINTS = "Times of small and large jobs of random workloads over those under Level-Spread"

ALL = {
    reproduction.name: reproduction
    for reproduction in (
        _twice("fig2", fig2, partial(tables.times, against=RDG), pictures.draw_fig2, "Times with RDN over RDG"),
        _twice("fig4", fig4, tables.times, pictures.draw_fig4, "Times of jobs of one size over Simple's"),
        _twice("fig5", fig5, tables.links, pictures.draw_links, _PORTS),
        _twice("fig6", fig6, tables.links, pictures.draw_links, _PORTS),
        _twice("fig7", fig7, tables.times, pictures.draw_fig7, _SMALL_AND_LARGE),
        _twice("fig8", fig8, tables.times, pictures.draw_fig8, _SMALL_AND_LARGE),
        _figure("fig9", fig9, size_tables, draw_sizes, "How often each size occurs"),
        *(
            _twice(name, rows, tables.random, partial(pictures.draw_random, name=name), _POINTS)
            for name, rows in (("fig10", fig10), ("fig11", fig11), ("fig12", fig12), ("fig13", fig13))
        ),
        _twice("variants", variants, tables.variant_tables),
        _figure("routers", partial(twice, "routers", routers), router_tables),
    )
}
"""Name -> reproduction."""
