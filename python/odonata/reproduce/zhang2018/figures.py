"""`zhang2018-fig2`, `zhang2018-fig4` to `zhang2018-fig13`, `zhang2018-variants`, and their pages."""

from __future__ import annotations

import tomllib
from functools import partial
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from odonata.reproduce.markdown import number, reasons, table
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.zhang2018 import pictures, tables
from odonata.reproduce.zhang2018.job_rows import RDG, fig2, fig4, fig7, fig8
from odonata.reproduce.zhang2018.link_rows import fig5, fig6
from odonata.reproduce.zhang2018.random_rows import fig10, fig11, fig12, fig13, variants
from odonata.reproduce.zhang2018.router_rows import router_tables, routers
from odonata.reproduce.zhang2018.runs import keep, make, points
from odonata.reproduce.zhang2018.size_rows import draw_sizes, fig9, size_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

    Tables = Callable[[str, Runs], str]

PACKAGE = "odonata.reproduce.zhang2018"
_ROUTERS = " Routers are ideal and store and forward, which the preset\nno longer does."


def page(figure: str, rows: Sequence[Row], tables: str, *, picture: str) -> str:
    """The page; `picture` says what is in it, "" if there is none."""
    sizes = sorted({point["nodes"] for point in points(figure, False)}) or [272]
    names = ", ".join(f"`zhang2018-{nodes}`" for nodes in sizes)
    return Template((files(PACKAGE) / "page.md").read_text(encoding="utf-8")).substitute(
        title=_intro(figure)["title"],
        name=f"zhang2018-{figure}",
        intro=_intro(figure)["text"].strip(),
        machines=f"s {names}" if len(sizes) > 1 else f" {names}",
        picture=f"\n![{picture}](zhang2018-{figure}.png)\n" if picture else "",
        routers="" if figure == "routers" else _ROUTERS,
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


def _figure(
    figure: str,
    rows: Callable[[Runs], list[Row]],
    shown: Tables,
    draw: Callable[[Runs], Figure] | None = None,
    seen: str = "",
) -> Reproduction:
    return Reproduction(
        name=f"zhang2018-{figure}",
        title=_intro(figure)["title"],
        points=partial(points, figure),
        make=make,
        rows=rows,
        page=lambda found, runs: page(figure, found, shown(figure, runs), picture=seen),
        picture=None if draw is None else lambda _, runs: draw(runs),
        keep=keep,
        study="zhang2018",
    )


_SMALL_AND_LARGE = "Times of small and large jobs over Simple's"
_PORTS = "Packets and stalls of output ports"
_POINTS = "Times of small and large jobs of random workloads over those under Level-Spread"

ALL = {
    one.name: one
    for one in (
        _figure("fig2", fig2, partial(tables.times, against=RDG), pictures.draw_fig2, "Times with RDN over RDG"),
        _figure("fig4", fig4, tables.times, pictures.draw_fig4, "Times of jobs of one size over Simple's"),
        _figure("fig5", fig5, tables.links, pictures.draw_links, _PORTS),
        _figure("fig6", fig6, tables.links, pictures.draw_links, _PORTS),
        _figure("fig7", fig7, tables.times, pictures.draw_fig7, _SMALL_AND_LARGE),
        _figure("fig8", fig8, tables.times, pictures.draw_fig8, _SMALL_AND_LARGE),
        _figure("fig9", fig9, size_tables, draw_sizes, "How often each size occurs"),
        *(
            _figure(name, rows, tables.random, partial(pictures.draw_random, name=name), _POINTS)
            for name, rows in (("fig10", fig10), ("fig11", fig11), ("fig12", fig12), ("fig13", fig13))
        ),
        _figure("variants", variants, tables.variant_tables),
        _figure("routers", routers, router_tables),
    )
}
"""Name -> reproduction."""
