"""Pictures of figures 10 to 13: random workloads, times over those under Level-Spread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from odonata.plot.style import figure, settings
from odonata.reproduce.zhang2018.drawing import mark
from odonata.reproduce.zhang2018.gathered import ACRONYMS, BASELINES, JOKANOVIC
from odonata.reproduce.zhang2018.points import headline, points
from odonata.reproduce.zhang2018.prepare import CODED
from odonata.reproduce.zhang2018.random_rows import mixed
from odonata.reproduce.zhang2018.statement import share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import CommResults
    from odonata.reproduce.zhang2018.points import Point

SHOWN = (0.5, 4.0)
"""Range of both axes; the few points beyond stand at the border."""


def draw_random(name: str, _: Sequence[Row], results: CommResults) -> Figure:
    """All points; for the seven baselines also the policies one by one."""
    order = "large-first" if name in ("fig11", "fig13") else "small-first"
    policies: tuple[str, ...] = (JOKANOVIC, CODED) if name in ("fig12", "fig13") else BASELINES
    found = points(mixed(name, results, order), policies)
    with settings():
        # All baselines together, then one by one; Jokanovic's two forms only one by one.
        shown: list[tuple[str, ...]] = [(policy,) for policy in policies]
        shown = [policies, *shown] if policies == BASELINES else shown
        rows = -(-len(shown) // 4)
        made = figure(3 * min(len(shown), 4) + (3 if rows == 1 else 0), 3.1 * rows + (1.2 if rows == 1 else 0))
        grid = made.subplots(rows, len(shown) // rows, sharex=True, sharey=True, squeeze=False)
        for axes, which in zip(grid.flat, shown, strict=True):
            _panel(axes, [point for point in found if point.policy in which], which)
            axes.set_title(f"all baselines, {order}" if len(which) > 1 else ACRONYMS[which[0]])
        for axes in grid.flat:
            axes.label_outer()
    return made


def _panel(axes: Axes, of: Sequence[Point], policies: Sequence[str]) -> None:
    for policy in policies:
        mine = [point for point in of if point.policy == policy]
        small, large = ([_inside(getattr(point, name)) for point in mine] for name in ("small", "large"))
        mark(axes, policy, small, large, ms=2.2, mew=0, alpha=0.55)
    for line in (axes.axvline, axes.axhline):
        line(1, color="#3a9a3a", lw=0.9, ls="--")
    axes.set(xscale="log", yscale="log", xlim=SHOWN, ylim=SHOWN)
    ticks = (0.5, 1, 2, 4)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_ticks((), minor=True)
    said = headline(of)
    left_above = share([point.small < 1 and point.large > 1 for point in of])
    right_below = share([point.small > 1 and point.large < 1 for point in of])
    for value, across, up in (
        (said.better, 0.97, 0.97), (said.worse, 0.03, 0.03), (left_above, 0.03, 0.97), (right_below, 0.97, 0.03),
    ):  # fmt: skip
        axes.text(
            across, up, f"{value:.0f} %", transform=axes.transAxes, color="#1030a0", weight="bold",
            ha="right" if across > 0.5 else "left", va="top" if up > 0.5 else "bottom",
        )  # fmt: skip
    axes.set_xlabel("small jobs: time over Level-Spread's")
    axes.set_ylabel("large jobs: time over Level-Spread's")


def _inside(ratio: float) -> float:
    return min(max(ratio, SHOWN[0]), SHOWN[1])


draw_fig10, draw_fig11, draw_fig12, draw_fig13 = (
    partial(draw_random, name) for name in ("fig10", "fig11", "fig12", "fig13")
)
