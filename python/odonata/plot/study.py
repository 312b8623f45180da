"""The picture of a study: a column of its runs by one axis.

An axis of numbers or quantities gives lines: the median over the runs, and a band from the lower to the upper quartile.
An axis of names gives boxes: quartiles and median, whiskers to the least and the greatest run. Every run is a dot where
there are not too many.
"""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from odonata.analysis.by_axis import LOG_FROM, is_logarithmic
from odonata.analysis.derived import VARIATION
from odonata.plot.box import plain_numbers
from odonata.plot.drawn import draw_box
from odonata.plot.style import LINES, MARKERS, MOST_LINES, SERIES, figure, legend_above, plain, settings, time_unit
from odonata.plot.words import column_words, key_words
from odonata.store.columns import columns_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.analysis.by_axis import Arranged, Series, Spot

RATIO_FROM = 0.5
"""Least ratio from which the axis begins near 1 instead of 0."""
DOTS_TO = 30
"""Runs at one place up to which each is a dot."""
HALF = 0.5
CHARACTER_INCH = 0.075
LONGEST = 28

_UNITS = {"size": "bytes", "bandwidth": "bytes/s", "share": "%"}
_FACTORS = {"share": 0.01}

SATURATED: Any = {"marker": "x", "color": "#b2182b", "markersize": 5, "markeredgewidth": 1.3, "linestyle": "none"}
"""The mark of runs whose job is saturated; at a median, if half of its runs are."""


def plot_arranged(
    data: Arranged, *, job: str | None = None, log: bool | None = None, title: str | None = None
) -> Figure:
    """Draws a study. `log` makes the axis of the column logarithmic; `None` decides by its spread."""
    with settings():
        places = len({spot.label for series in data.series for spot in series.spots})
        boxes = data.kind == "name"
        width = min(max(4.2, 1.6 + 0.45 * places * max(1, len(data.series)) ** 0.7), 14.0) if boxes else 6.0
        made = figure(width, 3.8)
        draw(made.subplots(), data, job=job, log=log)
        if title is not None:
            made.suptitle(plain(title), x=0.01, ha="left", fontsize=8.5)
    return made


def draw(axes: Axes, data: Arranged, *, job: str | None = None, log: bool | None = None) -> Axes:
    """Draws into axes."""
    unit, factor = _unit(data)
    (_boxes if data.kind == "name" else _lines)(axes, data, factor)
    named = plain(column_words(data.column) + (f" of {job}" if job else ""))
    axes.set_ylabel(f"{named} ({unit})" if unit else named)
    values = np.concatenate([spot.values for series in data.series for spot in series.spots])
    positive = bool(values.min() > 0)
    if log if log is not None else positive and values.max() / values.min() > LOG_FROM:
        axes.set_yscale("log")
        plain_numbers(axes.yaxis, float(values.max() / values.min()) if positive else math.inf)
    elif _is_ratio(data.column) and values.min() >= RATIO_FROM:
        # Ratios are compared with 1, not with 0: an axis from 0 would make their boxes flat.
        room = 0.05 * (max(float(values.max()), 1.0) - min(float(values.min()), 1.0)) or 0.05
        axes.set_ylim(min(float(values.min()), 1.0) - room, max(float(values.max()), 1.0) + room)
    elif values.min() >= 0:
        axes.set_ylim(0, values.max() / factor * 1.05 or None)
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    handles: list[Any] = []
    if len(data.series) > 1:
        shown = data.series if data.kind == "name" else _drawn_as_lines(data)
        handles = [
            Line2D([], [], color=LINES[index % len(LINES)], linewidth=3, label=name)
            if data.kind == "name"
            else Line2D([], [], color=LINES[index], marker=MARKERS[index % len(MARKERS)], linewidth=1.5, label=name)
            for index, name in enumerate(_wrapped(series.name) for series in shown)
        ]
        if len(shown) < len(data.series):
            handles.append(Patch(color="0.85", label=f"{len(data.series) - len(shown)} others (medians)"))
    if any(spot.saturated.any() for series in data.series for spot in series.spots):
        handles.append(Line2D([], [], **SATURATED, label="saturated run"))
    if handles:
        key = data.series_key if len(data.series) > 1 else None
        words = key and plain(key_words(key))
        legend_above(axes, handles=handles, ncols=_columns(handles), title=words, alignment="left")
    return axes


def _is_ratio(column: str) -> bool:
    """Whether 1 is what values of a column are compared with."""
    return column in (VARIATION, "slowdown")


def _columns(handles: list[Any]) -> int:
    """Columns of a legend whose longest line fits into the width of the axes."""
    longest = max(len(line) for handle in handles for line in str(handle.get_label()).split("\n"))
    return max(1, min(3, int(6.0 / (0.5 + longest * CHARACTER_INCH))))


def _wrapped(name: str) -> str:
    """A name in lines; that of a table (`{ name = "a", policy = "b" }`) without brackets and quotation marks."""
    if name.startswith("{ ") and name.endswith(" }"):
        name = name[2:-2].replace('"', "").replace(" = ", " ").removeprefix("name ")
    return plain("\n".join(textwrap.wrap(name, LONGEST) or [name]))


def _unit(data: Arranged) -> tuple[str, float]:
    unit = next((of.unit for of in columns_of("jobs", collective=True) if of.name == data.column), "")
    if unit == "bytes/s":
        return "GB/s", 1e9
    if data.column.endswith("_fraction") or data.column == "backlog_growth":
        return "%", 0.01
    if not data.column.endswith("_ps"):
        return unit if unit not in ("1", data.column) else "", 1.0
    return time_unit(float(np.median(spot.values)) for series in data.series for spot in series.spots)


def _drawn_as_lines(data: Arranged) -> tuple[Series, ...]:
    """The series with their own lines: at most six, or the first five if there is a band of the others."""
    return data.series if len(data.series) <= MOST_LINES else data.series[: MOST_LINES - 1]


def _band_of_others(axes: Axes, data: Arranged, factor: float, x_factor: float) -> None:
    """From the least to the greatest median of the series without their own lines."""
    medians: dict[float, list[float]] = {}
    for series in data.series[len(_drawn_as_lines(data)) :]:
        for spot in series.spots:
            medians.setdefault(spot.x / x_factor, []).append(float(np.median(spot.values)) / factor)
    if medians:
        x = sorted(medians)
        low, high = [min(medians[at]) for at in x], [max(medians[at]) for at in x]
        axes.fill_between(x, low, high, color="0.85", linewidth=0)


def _lines(axes: Axes, data: Arranged, factor: float) -> None:
    every = [spot.x for series in data.series for spot in series.spots]
    unit, x_factor = (
        time_unit(every) if data.kind == "time" else (_UNITS.get(data.kind, ""), _FACTORS.get(data.kind, 1.0))
    )
    _band_of_others(axes, data, factor, x_factor)
    for index, series in enumerate(_drawn_as_lines(data)):
        colour = LINES[index]
        x = [spot.x / x_factor for spot in series.spots]
        low, middle, high = (
            [float(np.quantile(spot.values, q)) / factor for spot in series.spots] for q in (0.25, 0.5, 0.75)
        )
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        marker = MARKERS[index % len(MARKERS)]
        axes.plot(x, middle, color=colour, marker=marker, markersize=4, linewidth=1.5, label=plain(series.name))
        for spot, at in zip(series.spots, x, strict=True):
            if 1 < len(spot.values) <= DOTS_TO:
                axes.plot([at] * len(spot.values), spot.values / factor, ".", color=colour, alpha=0.45, markersize=4)
            _mark(axes, at, spot, factor)
    key = plain(key_words(data.key))
    axes.set_xlabel(f"{key} ({unit})" if unit else key)
    if is_logarithmic(data.kind, every):
        axes.set_xscale("log")
        plain_numbers(axes.xaxis, max(every) / min(every))


def _mark(axes: Axes, at: float, spot: Spot, factor: float) -> None:
    """Marks the saturated runs of a place, or its median if there are too many."""
    if not spot.saturated.any():
        return
    values = spot.values[spot.saturated] if len(spot.values) <= DOTS_TO else np.array([np.median(spot.values)])
    if len(spot.values) <= DOTS_TO or spot.saturated.mean() >= HALF:
        axes.plot([at] * len(values), values / factor, **SATURATED, zorder=4)


def _boxes(axes: Axes, data: Arranged, factor: float) -> None:
    labels = list(dict.fromkeys(spot.label for series in data.series for spot in series.spots))
    order = {spot.label: spot.x for series in data.series for spot in series.spots}
    labels.sort(key=order.__getitem__)
    step = 0.8 / len(data.series)
    for index, series in enumerate(data.series):
        line = LINES[index % len(LINES)] if len(data.series) > 1 else "black"
        for spot in series.spots:
            at = labels.index(spot.label) + (index - (len(data.series) - 1) / 2) * step
            values = spot.values / factor
            named = {"group": spot.label, "series": series.name}
            _box(axes, at, min(step * 0.8, 0.4), values, named, line)
            if 1 < len(values) <= DOTS_TO:
                axes.plot([at] * len(values), values, ".", color="0.25", alpha=0.6, markersize=4)
            _mark(axes, at, spot, factor)
    _names(axes, labels)
    axes.set_xlim(-0.6, len(labels) - 0.4)
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel(plain(key_words(data.key)))


def _box(axes: Axes, at: float, width: float, values: Any, named: dict[str, str], line: str) -> None:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    stats = {"whislo": values[0], "q1": low, "med": middle, "q3": high, "whishi": values[-1]}
    draw_box(
        axes,
        at,
        width,
        stats,
        named,
        boxprops={"facecolor": f"{SERIES[0]}55" if line == "black" else f"{line}33", "edgecolor": line},
        medianprops={"color": line, "linewidth": 1.6},
        whiskerprops={"color": line},
        capprops={"color": line},
    )


def _names(axes: Axes, labels: list[str]) -> None:
    room = axes.bbox.width / axes.figure.dpi / max(len(labels), 1)
    if max(map(len, labels)) * CHARACTER_INCH <= room:
        axes.set_xticks(range(len(labels)), [plain(label) for label in labels])
        return
    shown = [_wrapped(name) for name in labels]
    axes.set_xticks(range(len(labels)), shown, rotation=35, ha="right", rotation_mode="anchor")
