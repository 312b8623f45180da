"""The picture of `latency-load`: latency and accepted throughput against offered load, for both traffics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.plot.style import LINES, figure, settings
from odonata.reproduce.latency_load.curves import curves, stable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.latency_load.curves import LoadResults
    from odonata.reproduce.latency_load.load_outcome import LoadOutcome
    from odonata.reproduce.rows import Row

_TITLES = {"uniform": "Uniform random traffic", "worst-case": "Worst case: every group sends to the next one"}
_MARKERS = "os^DvP"


def draw(_: Sequence[Row], results: LoadResults) -> Figure:
    """The picture of the full study."""
    found = curves(results)
    with settings():
        made = figure(10.5, 7.6)
        grid = made.subplots(2, len(found), sharex="col", height_ratios=(1.2, 1), squeeze=False)
        for column, (traffic, lines) in enumerate(found.items()):
            upper, lower = grid[0][column], grid[1][column]
            _latencies(upper, lines)
            upper.set_title(_TITLES[traffic])
            _throughput(lower, lines, traffic)
        grid[0][0].legend(loc="upper left", title="mean (solid), 99 % (dashed)")
    return made


def _latencies(axes: Axes, lines: Mapping[str, Mapping[float, LoadOutcome]]) -> None:
    """Where the load is accepted; elsewhere the latency depends on when the run ends."""
    for (model, curve), colour, marker in zip(lines.items(), LINES, _MARKERS, strict=False):
        loads = sorted(curve)
        kept = [load for load in loads if stable(curve[load])]
        axes.plot(
            kept, [curve[load].mean_ps / 1e6 for load in kept], marker, ls="-", lw=1.2, ms=4, color=colour, label=model
        )
        axes.plot(kept, [curve[load].p99_ps / 1e6 for load in kept], ls="--", lw=0.8, color=colour)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel("message latency [µs]")
    axes.grid(axis="y", color="0.9")


def _throughput(axes: Axes, lines: Mapping[str, Mapping[float, LoadOutcome]], traffic: str) -> None:
    axes.plot([0, 100], [0, 100], color="0.7", lw=0.8)
    bounds = [("50 %", 50.0, 1, "left")]
    if traffic == "worst-case":
        bounds.append(("1/(ah)", next(iter(lines["minimal"].values())).pair_share * 100, 100, "right"))
    for text, bound, at, align in bounds:
        axes.axhline(bound, color="0.5", lw=0.8, ls=":")
        axes.text(at, bound + 1, text, ha=align, va="bottom", fontsize=8, color="0.4")
    for (model, curve), colour, marker in zip(lines.items(), LINES, _MARKERS, strict=False):
        loads = sorted(curve)
        axes.plot(
            loads, [curve[load].accepted * 100 for load in loads], marker, ls="-", lw=1.2, ms=4, color=colour,
            label=model,
        )  # fmt: skip
    axes.set_xlim(0, 102)
    axes.set_ylim(0, 102 if traffic == "uniform" else 62)
    axes.set_xlabel("offered load [% of what the nodes can inject]")
    axes.set_ylabel("accepted [%]")
    axes.grid(axis="y", color="0.9")
