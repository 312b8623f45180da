"""The page and the picture of `latency-load`."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.plot.style import LINES, figure, settings
from odonata.reproduce.latency_load.checks import SATURATED, curves, one_pair, stable
from odonata.reproduce.markdown import bold, held, number, reasons, table
from odonata.reproduce.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.machine import System
    from odonata.reproduce.latency_load.checks import Curve, Curves
    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

_TITLES = {"uniform": "Uniform random traffic", "worst-case": "Worst case: every group sends to the next one"}
_MARKERS = "os^DvP"


def page_of(machine: Callable[[], str]) -> Page:
    """The page; `machine` describes the machine."""

    def of_rows(rows: Sequence[Row], _: Texts) -> Texts:
        return {
            "machine": machine(),
            "counts": held(rows),
            "saturated": f"{SATURATED * 100:.0f}",
            "rows": _statements(rows),
            "reasons": reasons(rows),
        }

    def of_runs(_: Sequence[Row], runs: Runs) -> Texts:
        by_traffic = curves(runs)
        return {
            "throughput": _by_load(by_traffic, lambda run: number(run["accepted"] * 100, "%")),
            "latency": _by_load(by_traffic, lambda run: _unless_saturated(run, run["mean_ps"])),
            "buffers": _buffers(runs),
            "tail": _by_load(by_traffic, lambda run: _unless_saturated(run, run["p99_ps"])),
        }

    template = files("odonata.reproduce.latency_load") / "latency_load.md"
    return Page(lambda: template.read_text("utf-8"), of_rows, of_runs)


def _statements(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        values = (f"{number(value, row.unit)} {row.unit}" for value in (row.ours, row.theirs))
        lines.append([row.id, row.what, f"`{row.model}`", *values, row.tolerance, bold(row.verdict), row.where])
    return table(["id", "what", "routing", "ours", "wanted", "tolerance", "verdict", "source"], lines, "lllrrlll")


def _by_load(by_traffic: Curves, cell: Callable[[Mapping[str, Any]], str]) -> str:
    """A table for each traffic: a line for each load, a column for each routing."""
    parts = []
    for traffic, lines in by_traffic.items():
        loads = sorted({load for curve in lines.values() for load in curve})
        head = [f"{traffic}: offered", *lines]
        body = [[f"{load:g} %", *(cell(curve[load]) for curve in lines.values())] for load in loads]
        parts.append(table(head, body, "r" * len(head)))
    return "\n\n".join(parts)


def _buffers(runs: Runs) -> str:
    lines = [[run["buffer"], number(run["accepted"] * 100, "%")] for run in runs if run["buffer"]]
    return table(["buffer per channel", "accepted, %"], lines, "rr")


def _unless_saturated(run: Mapping[str, Any], ps: float) -> str:
    return number(ps / 1e6, "us") if stable(run) else "–"


def draw(runs: Runs, system: System) -> Figure:
    """The picture of the full study."""
    by_traffic = curves(runs)
    with settings():
        made = figure(10.5, 7.6)
        grid = made.subplots(2, len(by_traffic), sharex="col", height_ratios=(1.2, 1), squeeze=False)
        for column, (traffic, lines) in enumerate(by_traffic.items()):
            upper, lower = grid[0][column], grid[1][column]
            _latencies(upper, lines)
            upper.set_title(_TITLES[traffic])
            _throughput(lower, lines, traffic, one_pair(system))
        grid[0][0].legend(loc="upper left", title="mean (solid), 99 % (dashed)")
    return made


def _latencies(axes: Axes, lines: Mapping[str, Curve]) -> None:
    """Where the load is accepted; elsewhere the latency depends on when the run ends."""
    for (model, curve), colour, marker in zip(lines.items(), LINES, _MARKERS, strict=False):
        loads = sorted(curve)
        kept = [load for load in loads if stable(curve[load])]
        axes.plot(
            kept,
            [curve[load]["mean_ps"] / 1e6 for load in kept],
            marker,
            ls="-",
            lw=1.2,
            ms=4,
            color=colour,
            label=model,
        )
        axes.plot(kept, [curve[load]["p99_ps"] / 1e6 for load in kept], ls="--", lw=0.8, color=colour)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel("message latency [µs]")
    axes.grid(axis="y", color="0.9")


def _throughput(axes: Axes, lines: Mapping[str, Curve], traffic: str, pair: float) -> None:
    axes.plot([0, 100], [0, 100], color="0.7", lw=0.8)
    bounds = [("50 %", 50.0, 1, "left")]
    if traffic == "worst-case":
        bounds.append(("1/(ah)", pair, 100, "right"))
    for text, bound, at, align in bounds:
        axes.axhline(bound, color="0.5", lw=0.8, ls=":")
        axes.text(at, bound + 1, text, ha=align, va="bottom", fontsize=8, color="0.4")
    for (model, curve), colour, marker in zip(lines.items(), LINES, _MARKERS, strict=False):
        loads = sorted(curve)
        axes.plot(
            loads, [curve[load]["accepted"] * 100 for load in loads], marker, ls="-", lw=1.2, ms=4, color=colour,
            label=model,
        )  # fmt: skip
    axes.set_xlim(0, 102)
    axes.set_ylim(0, 102 if traffic == "uniform" else 62)
    axes.set_xlabel("offered load [% of what the nodes can inject]")
    axes.set_ylabel("accepted [%]")
    axes.grid(axis="y", color="0.9")
