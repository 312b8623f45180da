"""The picture of `kang2019-broadcast`: figures 9 and 10.

Above: latencies of 4 KB in the correct model, a panel for each placement, a box for each background. Below: what leaves
the root's group over time beside the heaviest background, in both models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.plot.style import LINES, SERIES, figure, settings
from odonata.reproduce.kang2019.figure_large import box
from odonata.reproduce.kang2019.published import SCALE, expected
from odonata.reproduce.kang2019.runs import AS_PUBLISHED, CORRECT, by_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.kang2019.runs import ByCase
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

_PLACES = ("contiguous", "random-out", "random-in")
_LOADS = ("", *(f"/{load}%@1us" for load in (50, 90, 130, 260, 390, 520)))
_LINK = 16.0
"""GiB/s of the root's link to its leaf (section 4.4)."""


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """The picture of the runs of the full study."""
    cases = by_case(runs)
    with settings():
        made = figure(11.5, 7.0)
        upper, lower = made.subplots(2, len(_PLACES), sharey="row")
        for letter, place, boxes, rates in zip("abc", _PLACES, upper, lower, strict=True):
            _boxes(boxes, cases, f"broadcast/{place}/100us")
            boxes.set_title(f"9({letter}): {place}")
            _rates(rates, cases, f"broadcast/{place}/100us{_LOADS[-1]}")
            rates.set_title(f"10({letter}): {place}, 520 %")
        upper[0].set_ylabel("latency, ms")
        lower[0].set_ylabel("out of the root's group, GiB/s")
        lower[0].legend()
    return made


def _boxes(axes: Axes, cases: ByCase, alone: str) -> None:
    """A box for each background; published means as black lines."""
    published = {row.cases[0]: row.theirs * SCALE[row.unit] / 1e9 for row in expected() if row.measure == "mean"}
    for at, load in enumerate(_LOADS):
        case = alone + load
        for run in cases.get((CORRECT, case), {}).values():
            box(axes, at, run, 1e9, SERIES[at % len(SERIES)])
        if case in published:
            axes.plot([at - 0.45, at + 0.45], [published[case]] * 2, color="black", lw=1.6)
    axes.set_xticks(range(len(_LOADS)), [load[1:].partition("@")[0].replace("%", " %") or "alone" for load in _LOADS])
    axes.tick_params(axis="x", labelsize=7)
    axes.grid(axis="y", color="0.9")


def _rates(axes: Axes, cases: ByCase, case: str) -> None:
    """What leaves the group, by time since the start of the run."""
    for model, colour in ((CORRECT, LINES[0]), (AS_PUBLISHED, LINES[1])):
        for run in cases.get((model, case), {}).values():
            times = [number * run["series_ps"] / 1e6 for number in range(len(run["series"]))]
            axes.plot(times, [value / 2**30 for value in run["series"]], color=colour, lw=1, label=model)
    axes.axhline(_LINK, color="black", lw=1, ls="--")
    axes.set_xlabel("time, µs")
    axes.set_ylim(0, None)
    axes.grid(axis="y", color="0.9")
