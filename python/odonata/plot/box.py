"""Box plots of latencies as in Kang 2019, figures 5 to 7.

Whiskers reach from the least to the greatest latency, the box from the lower to the upper quartile, a line marks the
median and a purple circle the mean. Of up to five values, each is a dot instead of a box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter

from odonata.plot.drawn import draw_box
from odonata.plot.style import MEAN, SERIES, legend_above, time_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

LOG_FROM = 30.0
"""Ratio of the greatest to the least latency above which the axis is logarithmic by default."""


DENSE_TO = 1000.0
"""Ratio up to which a logarithmic axis has numbers between the powers of ten."""


CHARACTER_INCH = 0.075
"""Width of a character of a name under a group, with a little room."""

FEW = 5
"""Up to as many values are drawn one by one: the quantiles of a box, which are values themselves, are all of them."""

LONGEST = 24
"""Most characters of a slanted name; of a longer name both ends are shown."""


@dataclass(frozen=True, slots=True)
class Box:
    """One distribution of latencies, or of the times of iterations."""

    group: str
    """Boxes of a group stand together; its name is under them (a job, a load)."""
    series: str
    """Its series; boxes of a series have one colour."""
    latency_ps: Mapping[str, float]
    """`min`, `p25`, `p50`, `p75`, `max` and `mean`, in picoseconds."""
    count: int | None = None
    """How many times these are of; `None` if that is not known."""


def boxes_of(jobs: pl.DataFrame) -> list[Box]:
    """The boxes of a run: a group for each job with latencies, alone (if it was run alone) and with the others."""
    return [box for row in jobs.iter_rows(named=True) for box in _boxes(row, _LATENCIES)]


_LATENCIES = (("alone", "alone", "alone_count"), ("latency", "with the other jobs", "latency_count"))
_ITERATIONS = (
    ("alone_iteration", "alone", "alone_iterations"),
    ("iteration", "with the other jobs", "iterations"),
)
_NAMES = ("min", "p25", "p50", "p75", "max", "mean")


def _boxes(row: Mapping[str, Any], of: Sequence[tuple[str, str, str]], what: str = "") -> list[Box]:
    """A box of a job for each of some kinds of times: the prefix of its columns, its series, and the column of its
    count; `what` says below the name what is timed."""
    cut_off = False in (row.get("complete"), row.get("alone_complete"))
    # Latencies of a saturated job depend on how long it sends.
    notes = ["cut off"] * cut_off + ["saturated"] * (row.get("saturated") is True)
    name = f"{row['name']} ({', '.join(notes)})" if notes else row["name"]
    return [
        Box(
            f"{name}\n{what}" if what else name,
            series,
            {name: row[f"{prefix}_{name}_ps"] for name in _NAMES},
            row.get(count),
        )
        for prefix, series, count in of
        if row.get(f"{prefix}_mean_ps") is not None
    ]


def iteration_boxes_of(jobs: pl.DataFrame) -> list[Box]:
    """The times of the iterations of each program of a run: alone (if it was run alone) and with the others."""
    return [box for row in jobs.iter_rows(named=True) for box in _boxes(row, _ITERATIONS)]


def mixed_boxes_of(jobs: pl.DataFrame) -> list[Box]:
    """For each job the times of its iterations, or of its messages if it has none; a second line of the name says
    which."""
    return [
        box
        for row in jobs.iter_rows(named=True)
        for box in _boxes(row, _ITERATIONS, "iterations") or _boxes(row, _LATENCIES, "messages")
    ]


def draw_boxes(axes: Axes, boxes: Sequence[Box], *, log: bool | None = None, what: str = "message latency") -> Axes:
    """Draw boxes in groups, in the order given. `log` makes the time axis logarithmic; `None` decides by the spread.

    `what` says what the times measure.
    """
    groups = list(dict.fromkeys(box.group for box in boxes))
    series = list(dict.fromkeys(box.series for box in boxes))
    unit, factor = time_unit(box.latency_ps["mean"] for box in boxes)
    of_group = {group: [box for box in boxes if box.group == group] for group in groups}
    step = 0.8 / max((len(values) for values in of_group.values()), default=1)
    width = min(step * 0.8, 0.4)

    for x, values in enumerate(of_group.values()):
        for index, box in enumerate(values):
            at = x + (index - (len(values) - 1) / 2) * step
            colour = SERIES[series.index(box.series) % len(SERIES)]
            named = {"group": box.group, "series": box.series}
            _draw(axes, at, width, _scaled(box, factor), named, colour, dots=box.count is not None and box.count <= FEW)

    _names(axes, groups)
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(f"{what} ({unit})")
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    if boxes and (log if log is not None else _spread(boxes) > LOG_FROM):
        axes.set_yscale("log")
        plain_numbers(axes.yaxis, _spread(boxes))
    elif boxes:
        axes.set_ylim(bottom=0)
    _legend(axes, series)
    return axes


def _names(axes: Axes, groups: Sequence[str]) -> None:
    """Names under the groups: slanted, and long ones without their middle, if they do not fit."""
    room = axes.bbox.width / axes.figure.dpi / max(len(groups), 1)
    longest = max((len(line) for group in groups for line in group.split("\n")), default=0)
    if longest * CHARACTER_INCH <= room:
        axes.set_xticks(range(len(groups)), groups)
        return
    shown = ["\n".join(map(_shortened, name.split("\n"))) for name in groups]
    axes.set_xticks(range(len(groups)), shown, rotation=40, ha="right", rotation_mode="anchor")


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST // 2]}…{name[-(LONGEST // 2) :]}"


def _scaled(box: Box, factor: float) -> dict[str, Any]:
    value = {name: ps / factor for name, ps in box.latency_ps.items()}
    return {
        "whislo": value["min"],
        "q1": value["p25"],
        "med": value["p50"],
        "q3": value["p75"],
        "whishi": value["max"],
        "mean": value["mean"],
    }


def _draw(
    axes: Axes, at: float, width: float, stats: dict[str, Any], named: dict[str, str], colour: str, *, dots: bool
) -> None:
    if dots:
        values = sorted({stats[name] for name in ("whislo", "q1", "med", "q3", "whishi")})
        axes.plot([at] * len(values), values, "o", color=colour, markeredgecolor="black", markersize=5, zorder=3)
    draw_box(
        axes,
        at,
        width,
        stats,
        named,
        showmeans=True,
        showbox=not dots,
        showcaps=not dots,
        boxprops={"facecolor": colour, "edgecolor": "black", "linewidth": 0.8},
        medianprops={"color": "black", "linewidth": 1.4},
        whiskerprops={"linewidth": 0.8},
        capprops={"linewidth": 0.8},
        meanprops={"marker": "o", "markersize": 4.5, "markerfacecolor": MEAN, "markeredgecolor": "white"},
    )


def _spread(boxes: Sequence[Box]) -> float:
    least = min(box.latency_ps["min"] for box in boxes)
    return max(box.latency_ps["max"] for box in boxes) / least if least > 0 else 1.0


def plain_numbers(axis: Axis, spread: float) -> None:
    """Gives a logarithmic axis numbers such as 1, 10 and 100 instead of powers; also 2 and 5 if it spans little."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if spread < DENSE_TO else (1,)))
    axis.set_major_formatter(_plain)
    axis.set_minor_formatter(NullFormatter())


def _plain(value: float, _position: float) -> str:
    """Powers of ten in decimal form: 0.1, 1, 10, 1,000."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _legend(axes: Axes, series: Sequence[str]) -> None:
    entries: list[Any] = []
    if len(series) > 1:
        entries += [
            Patch(facecolor=SERIES[index % len(SERIES)], edgecolor="black", linewidth=0.8, label=name)
            for index, name in enumerate(series)
        ]
    mean: dict[str, Any] = {
        "marker": "o",
        "markersize": 5,
        "markerfacecolor": MEAN,
        "markeredgecolor": "white",
        "linestyle": "none",
    }
    entries.append(Line2D([], [], label="mean", **mean))
    legend_above(axes, handles=entries, ncols=3, columnspacing=1.2, handletextpad=0.5)
