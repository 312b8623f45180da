"""`zhang2018-fig2`, `zhang2018-fig4` to `zhang2018-fig13`, `zhang2018-variants`, and their pages."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

from odonata.reproduce.markdown import number, pivot, reasons, table, told
from odonata.reproduce.page import Page, quoted
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.zhang2018 import pictures, tables
from odonata.reproduce.zhang2018.gathered import by_routers, explain, twice
from odonata.reproduce.zhang2018.job_rows import RDG, fig2, fig4, fig7, fig8
from odonata.reproduce.zhang2018.link_rows import fig5, fig6
from odonata.reproduce.zhang2018.random_rows import fig10, fig11, fig12, fig13, variants
from odonata.reproduce.zhang2018.router_rows import router_tables, routers
from odonata.reproduce.zhang2018.runs import (
    AS_PUBLISHED,
    AS_RUN,
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
    VIRTUAL: "virtual-output-queued",
    TODAY: "today",
    STORED: "store-and-forward, ideal",
    UGAL: "today, ugal-l",
    "": "ours",
}
"""Kind of routers -> its name on the pages."""


def page_of(figure: str, shown: Tables, picture: str) -> Page:
    """The section; `picture` says what is in it, "" if there is none."""

    def of_rows(rows: Sequence[Row], _: Texts) -> Texts:
        intro = _intro(figure)
        return {
            "intro": quoted(intro["text"], rows).strip(),
            "picture": f"![{picture}](zhang2018-{figure}.png)\n\n" if picture else "",
            "rows": _by_variant(rows) if figure == "variants" else _side_by_side(rows),
            "differs": quoted(intro.get("differs", ""), rows).strip(),
            "reasons": reasons(rows),
        }

    def of_runs(_: Sequence[Row], runs: Runs) -> Texts:
        made = shown(figure, runs)
        if isinstance(made, str):
            return {"tables": made.strip("\n")}
        return {f"tables {name}": text for name, text in made.items()}

    return Page(lambda: (files(PACKAGE) / "page.md").read_text("utf-8"), of_rows, of_runs)


def _intro(figure: str) -> dict[str, str]:
    text = (files(PACKAGE) / "intros.toml").read_text(encoding="utf-8")
    intros: dict[str, str] = tomllib.loads(text)[figure]
    return intros


def _side_by_side(rows: Sequence[Row]) -> str:
    """A line for each statement, with all kinds of routers."""
    by_statement = {(row.what, row.model): row for row in rows}
    kinds = [name for name in NAMES if name in {row.model for row in rows}]
    lines = []
    for what in dict.fromkeys(row.what for row in rows):
        shown = {name: by_statement[what, name] for name in kinds if (what, name) in by_statement}
        cells = [told(shown[name], interval=True) if name in shown else "" for name in kinds]
        first = next((row for row in shown.values() if row.verdict != "not comparable"), next(iter(shown.values())))
        lines.append([first.id, what, _theirs(first), first.tolerance, *cells])
    head = ["id", "what", "paper", "tolerance", *(NAMES[name] for name in kinds)]
    return table(head, lines, "llrl" + "r" * len(kinds))


def _by_variant(rows: Sequence[Row]) -> str:
    """A line for each kind of routers and variant, a column for each statement."""
    return pivot(
        rows,
        lambda row: (NAMES[row.model], row.what.partition(": ")[0]),
        lambda row: f"{row.what.partition(': ')[2]} (%)",
        ("routers", "variant"),
    )


def _theirs(row: Row) -> str:
    """The published number; a paper that gives none has 0 in a row that is not comparable."""
    unknown = row.verdict == "not comparable" and row.theirs == 0
    return "" if unknown else f"{number(row.theirs, row.unit)} {row.unit}"


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
