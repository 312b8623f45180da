"""`zhang2018-fig2`, `zhang2018-fig4` to `zhang2018-fig13`, `zhang2018-variants`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from odonata.reproduce.study import Study
from odonata.reproduce.zhang2018 import bars_figure, comm_tables, links_figure, panels_figure, scatter_figure
from odonata.reproduce.zhang2018.gathered import FILE, PACKAGE
from odonata.reproduce.zhang2018.heterogeneous_rows import fig7, fig8
from odonata.reproduce.zhang2018.homogeneous_rows import RDG, fig2, fig4
from odonata.reproduce.zhang2018.link_rows import fig5, fig6
from odonata.reproduce.zhang2018.random_rows import fig10, fig11, fig12, fig13
from odonata.reproduce.zhang2018.size_rows import draw_sizes, fig9, size_tables
from odonata.reproduce.zhang2018.study_grid import read_figure
from odonata.reproduce.zhang2018.variant_rows import variant_tables, variants
from odonata.reproduce.zhang2018.zhang_page import page, title

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import CommResults

    Rows = Callable[[CommResults, Sequence[str]], list[Row]]
    Tables = Callable[[str, CommResults], str]
    Draw = Callable[[Sequence[Row], CommResults], Figure]


def _study(figure: str, rows: Rows, tables: Tables, draw: Draw | None = None, seen: str = "") -> Study:
    def write(found: Sequence[Row], results: CommResults) -> str:
        return page(figure, found, tables(figure, results), picture=seen)

    return Study(
        name=f"zhang2018-{figure}",
        title=title(figure),
        package=PACKAGE,
        file=FILE,
        compare=rows,
        page=write,
        picture=draw,
        read=partial(read_figure, figure),
    )


_POINTS = "Times of small and large jobs of random workloads over those under Level-Spread"

ALL = {
    study.name: study
    for study in (
        _study("fig2", fig2, partial(comm_tables.times, against=RDG), bars_figure.draw_fig2, "Times with RDN over RDG"),
        _study("fig4", fig4, comm_tables.times, bars_figure.draw_fig4, "Times of jobs of one size over Simple's"),
        _study("fig5", fig5, comm_tables.links, links_figure.draw_fig5, "Packets and stalls of output ports"),
        _study("fig6", fig6, comm_tables.links, links_figure.draw_fig6, "Packets and stalls of output ports"),
        _study("fig7", fig7, comm_tables.times, panels_figure.draw_fig7, "Times of small and large jobs over Simple's"),
        _study("fig8", fig8, comm_tables.times, panels_figure.draw_fig8, "Times of small and large jobs over Simple's"),
        _study("fig9", fig9, size_tables, draw_sizes, "How often each size occurs"),
        _study("fig10", fig10, comm_tables.random, scatter_figure.draw_fig10, _POINTS),
        _study("fig11", fig11, comm_tables.random, scatter_figure.draw_fig11, _POINTS),
        _study("fig12", fig12, comm_tables.random, scatter_figure.draw_fig12, _POINTS),
        _study("fig13", fig13, comm_tables.random, scatter_figure.draw_fig13, _POINTS),
        _study("variants", variants, variant_tables),
    )
}
"""Name -> study."""
