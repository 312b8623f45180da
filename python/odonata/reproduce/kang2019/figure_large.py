"""The picture of `kang2019-512kb-4mb`: latencies as in figures 5 to 7, and the slowdowns of figure 8.

A row for each pattern, a column for each size and placement. A box shows the minimum, the quartiles and the maximum
over all messages of the correct model, at the largest number of messages that was simulated alone and beside all the
backgrounds of the group. Crosses are means of the model as published at the same number, black lines published means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullLocator

from odonata.plot.style import LINES, MEAN, SERIES, figure, settings
from odonata.reproduce.kang2019.published import SCALE, expected
from odonata.reproduce.kang2019.runs import (
    AS_PUBLISHED,
    BOTH,
    CORRECT,
    INTERVALS,
    LOADS,
    by_case,
    largest_slowdown,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.kang2019.runs import ByCase
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row


FIGURES = {5: "uniform-random", 6: "stencil", 7: "tornado"}
_COLOURS = (SERIES[3], SERIES[0], SERIES[2], SERIES[1])
"""Colours of the boxes alone and beside each background, nearly those of the paper."""
_BOX = {"whislo": "min", "q1": "p25", "med": "p50", "q3": "p75", "whishi": "max"}
_WORST = {"tornado/random/512KB@150us": 8.22}
"""The one slowdown of figure 8 whose case the text names."""


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """The picture of the runs of the full study."""
    cases = by_case(runs)
    columns = [(size, place) for size in INTERVALS for place in BOTH]
    with settings():
        made = figure(15.5, 11.5)
        grid = made.subplots(len(FIGURES) + 1, len(columns))
        for line, (number, pattern) in zip(grid, FIGURES.items(), strict=False):
            for axes, (size, place) in zip(line, columns, strict=True):
                boxes(axes, cases, f"{pattern}/{place}", size)
                axes.set_title(f"{number}({letter(size, place)}): {place}, {size}")
            share(line)
            line[0].set_ylabel(f"{pattern}: latency")
        for axes, (size, place) in zip(grid[-1], columns, strict=True):
            _slowdowns(axes, cases, f"tornado/{place}", size)
            axes.set_title(f"8: {place}, {size}")
        grid[-1][0].set_ylabel("tornado: largest slowdown of the mean")
        legend(made)
    return made


def share(line: Sequence[Axes]) -> None:
    """The same latencies in both placements of a size, which stand side by side."""
    for left, right in zip(line[::2], line[1::2], strict=True):
        limits = (*left.get_ylim(), *right.get_ylim())
        left.set_ylim(min(limits) / 1.1, max(limits) * 1.1)
        right.sharey(left)


def legend(made: Figure, *, published: bool = True) -> None:
    """What boxes and marks are; `published` if the model as published is shown."""
    patches = [
        Patch(facecolor=colour, edgecolor="black", label=load[1:].partition("@")[0].replace("%", " %") or "alone")
        for load, colour in zip(LOADS, _COLOURS, strict=True)
    ]
    cross = Line2D([], [], marker="x", ls="none", ms=5, color=LINES[1], label="mean, as published")
    marks = [
        Line2D([], [], marker="o", ls="none", ms=4, color=MEAN, label="mean"),
        *([cross] if published else []),
        Line2D([], [], color="black", lw=1.6, label="paper"),
    ]
    made.legend(handles=[*patches, *marks], loc="outside upper center", ncols=len(patches) + len(marks))


def letter(size: str, place: str) -> str:
    """That of the paper: (a) to (c) are contiguous, (d) to (f) random."""
    return "abcdef"[BOTH.index(place) * len(INTERVALS) + list(INTERVALS).index(size)]


def boxes(axes: Axes, cases: ByCase, job: str, size: str, loads: Sequence[str] = LOADS) -> None:
    """A group of boxes for each interval, a box for each of `loads`."""
    rows = [*expected(), *expected("expected_large.csv")]
    published = {row.cases[0]: row.theirs * SCALE[row.unit] for row in rows if row.measure == "mean"}
    unit = 1e6 if size == "4 KB" else 1e9
    for group, interval in enumerate(INTERVALS[size]):
        correct, other = (shown(cases, model, f"{job}/{interval}", loads) for model in (CORRECT, AS_PUBLISHED))
        for number, (load, colour) in enumerate(zip(loads, _COLOURS, strict=True)):
            at = group * (len(loads) + 1) + number
            if load in correct:
                box(axes, at, correct[load], unit, colour)
            if load in other:
                axes.plot(at, other[load]["latency_mean_ps"] / unit, "x", ms=5, color=LINES[1])
            case = f"{job}/{interval}{load}"
            if case in published:
                axes.plot([at - 0.45, at + 0.45], [published[case] / unit] * 2, color="black", lw=1.6)
    axes.set_yscale("log")
    _say_if_empty(axes)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(f"interval; latency in {'µs' if size == '4 KB' else 'ms'}", fontsize=7.5)
    _name(axes, size, len(LOADS) + 1)


def box(axes: Axes, at: float, run: Mapping[str, Any], unit: float, colour: str) -> None:
    """Minimum, quartiles, maximum and mean of a run's latencies, in so many picoseconds."""
    values = {key: run[f"latency_{quantile}_ps"] / unit for key, quantile in _BOX.items()}
    drawn = axes.bxp(
        [values], positions=[at], widths=0.8, showfliers=False, patch_artist=True, medianprops={"color": "black"}
    )
    drawn["boxes"][0].set_facecolor(colour)
    axes.plot(at, run["latency_mean_ps"] / unit, "o", ms=4, color=MEAN)


def _slowdowns(axes: Axes, cases: ByCase, job: str, size: str) -> None:
    """Bars by interval."""
    for at, interval in enumerate(INTERVALS[size]):
        for model, colour, shift in ((CORRECT, LINES[0], -0.2), (AS_PUBLISHED, LINES[1], 0.2)):
            slowdown = largest_slowdown(cases, model, f"{job}/{interval}")
            if slowdown is not None:
                axes.bar(at + shift, slowdown - 1, width=0.4, bottom=1, color=colour)
                axes.text(at + shift, slowdown, f"{slowdown:.2f}", ha="center", va="bottom", fontsize=7)
        worst = _WORST.get(f"{job}/{interval}")
        if worst is not None:
            axes.plot([at - 0.4, at + 0.4], [worst] * 2, color="black", lw=1.6)
    _say_if_empty(axes)
    axes.axhline(1, color="0.6", lw=0.8)
    _name(axes, size, 1)


def _say_if_empty(axes: Axes) -> None:
    if not axes.patches:
        axes.text(0.5, 0.5, "not simulated here", ha="center", transform=axes.transAxes, color="0.4")


def _name(axes: Axes, size: str, step: int) -> None:
    """The intervals below the groups, which lie `step` apart."""
    middle = (step - 2) / 2 if step > 1 else 0
    words = [every.partition("@")[2] or every for every in INTERVALS[size]]
    words = [every.replace("us", " µs").replace("ms", " ms") for every in words]
    axes.set_xticks([group * step + middle for group in range(len(words))], words)
    axes.set_xlim(-0.8, (len(words) - 1) * step + 2 * middle + 0.8)
    axes.grid(axis="y", color="0.9")
