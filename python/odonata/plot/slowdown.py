"""What each job suffers from the others: how many times as long it takes beside them (the column `slowdown`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from odonata.plot.style import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_JOBS = 8
"""Jobs that are drawn: those that suffer most."""


def draw_slowdowns(axes: Axes, jobs: pl.DataFrame, *, colours: dict[str, str]) -> Axes:
    """A pale bar of 1 for each job alone, and one for the same beside the others. Of more than eight jobs those that
    suffer most. Of jobs that were not run alone there is no bar."""
    known = jobs.filter(pl.col("slowdown").is_not_null()).sort("slowdown", descending=True).head(MOST_JOBS)
    if known.is_empty():
        axes.text(
            0.5, 0.5, "--alone shows what each job\nsuffers from the others", ha="center", transform=axes.transAxes
        )
        axes.set_axis_off()
        return axes
    for at, (name, slowdown) in enumerate(known.select("name", "slowdown").iter_rows()):
        axes.bar(at - 0.2, 1.0, 0.38, color=colours[name], alpha=0.35)
        axes.bar(at + 0.2, slowdown, 0.38, color=colours[name])
        axes.text(at + 0.2, slowdown, f"{slowdown:.2f} x", ha="center", va="bottom", weight="bold", size=13)
    axes.set_xticks(range(known.height), [plain(name) for name in known["name"]])
    axes.tick_params(axis="x", length=0)
    room = 0.6 if known.height > 1 else 1.0
    axes.set_xlim(-room, known.height - 1 + room)
    axes.margins(y=0.12)
    axes.set_ylabel("time over time alone")
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_title("pale: alone; full: beside the other jobs", fontsize=9)
    return axes
