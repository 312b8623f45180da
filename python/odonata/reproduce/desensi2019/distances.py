"""`desensi2019-fig3`: a ping-pong at four distances (De Sensi 2019, section 3.1; D19)."""

from __future__ import annotations

import re
from dataclasses import replace
from math import log
from operator import truediv
from typing import TYPE_CHECKING

import numpy as np

from odonata.analysis.dispersion import Dispersion, describe
from odonata.plot.style import SERIES, figure, settings
from odonata.reproduce.desensi2019.page import MODEL, judged, page_of
from odonata.reproduce.desensi2019.pingpong import DISTANCES, keep, make, point
from odonata.reproduce.desensi2019.relations import EQUAL, Median, median_of
from odonata.reproduce.desensi2019.setting import BACKGROUNDS, LOAD, PRODUCTION, UNIFORM
from odonata.reproduce.markdown import comparable, table
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import Row, judged_again, statement
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Points, Runs

ITERATIONS = 61
LOADS = (10.0, 20.0, 40.0)
"""Loads of the jobs of a production machine."""
MEANS, LARGEST = "mean, inter-chassis over inter-nodes", "largest time over the median, inter-groups"
"""The statements of which the paper has a number."""
SLOT = "40 us"
"""Time from one iteration to the next. The paper waits a second."""
STEPS = (("inter-blades", "inter-nodes"), ("inter-chassis", "inter-blades"), ("inter-groups", "inter-chassis"))


def points(reduced: bool) -> Points:
    """Pairs at all four distances in one run, beside each background."""
    names = list(DISTANCES)
    if reduced:
        few = {"machine": "small", "iterations": 12, "slot": SLOT}
        return [point("distances", "16 KiB", 1, names, 2, **few, background=each) for each in (UNIFORM, PRODUCTION)]
    return [
        point("distances", "16 KiB", 1, names, 6, iterations=ITERATIONS, slot=SLOT, background=background, load=load)
        for background in BACKGROUNDS
        for load in (LOADS if background == PRODUCTION else (LOAD,))
    ]


def heading(run: Mapping[str, object]) -> str:
    """The background of a run, with its load where several were simulated."""
    of = run["background"]
    return f"`{of}`, load {run['load']:g} %" if of == PRODUCTION else f"`{of}`"


def chosen(rows: Sequence[Row]) -> float:
    """The load of the jobs of a production machine whose values are nearest to the two numbers of the paper: least sum
    of the logarithms of their ratios, whatever their sign."""
    apart: dict[float, float] = {}
    for row in rows:
        if (match := re.match(rf"`{PRODUCTION}`, load (.+?) %: (.+)", row.what)) and match[2] in (MEANS, LARGEST):
            apart[float(match[1])] = apart.get(float(match[1]), 0) + abs(log(row.ours / row.theirs))
    return min(apart, key=lambda load: apart[load])


def by_distance(run: Mapping[str, object]) -> dict[str, list[Dispersion]]:
    """Distance -> the times of each pair."""
    each = [describe(np.array(times)) for times in run["times_ps"]]  # type: ignore[attr-defined]
    pairs: int = run["pairs"]  # type: ignore[assignment]
    return {distance: each[at * pairs : (at + 1) * pairs] for at, distance in enumerate(DISTANCES)}


def compare(runs: Runs) -> list[Row]:
    """D19: figure 3. Of the loads of the jobs of a production machine, one is judged: it is fitted to two values."""
    rows = [row for run in runs for row in _rows(by_distance(run), heading(run))]
    load = f"`{PRODUCTION}`, load {chosen(rows):g} %: "
    return [_candidate(row, load) if row.what.startswith(f"`{PRODUCTION}`") else row for row in rows]


def _candidate(row: Row, load: str) -> Row:
    if not row.what.startswith(load):
        why = "a candidate; the load that is nearest to the paper is judged"
        return replace(row, verdict="not comparable", why=why)
    if row.what.removeprefix(load) in (MEANS, LARGEST):
        return judged_again(replace(row, kind="F"))
    return row


def _rows(known: dict[str, list[Dispersion]], head: str) -> list[Row]:
    where = "De Sensi 2019, section 3.1, figure 3"
    count = known["inter-groups"][0].n

    def paired(far: str, near: str, value: str, of: Callable[[float, float], float]) -> Median:
        """Pairs of the same number begin in the same group."""
        both = zip(known[far], known[near], strict=True)
        return median_of([of(getattr(a, value), getattr(b, value)) for a, b in both])

    def row(words: str, ours: Median, theirs: float, unit: str, tolerance: str) -> Row:
        made = statement(
            "D19",
            f"{head}: {words}",
            ours.value,
            theirs,
            unit,
            tolerance,
            where,
            model=MODEL,
            messages=count,
            interval=(ours.low, ours.high),
        )
        return replace(made, repetitions=ours.count)

    return [
        *(
            row(f"median, {far} over {near}", paired(far, near, "median", truediv), 1, "x", "> 1")
            for far, near in STEPS
        ),
        row(
            "median, inter-chassis over inter-nodes (`barely higher`)",
            paired("inter-chassis", "inter-nodes", "median", truediv),
            1,
            "x",
            EQUAL,
        ),
        row(
            MEANS,
            paired("inter-chassis", "inter-nodes", "mean", truediv),
            2,
            "x",
            "25 %",
        ),
        *(
            row(f"IQR, {far} minus {near}", paired(far, near, "iqr", lambda a, b: (a - b) / 1e6), 0, "us", "> 0")
            for far, near in STEPS
        ),
        row(
            LARGEST,
            median_of([pair.maximum / pair.median for pair in known["inter-groups"]]),
            1000,
            "x",
            ">= 1000",
        ),
    ]


def _table(known: dict[str, list[Dispersion]]) -> str:
    lines = []
    for distance, pairs in known.items():
        for number, pair in enumerate(pairs):
            low, high = pair.interval or pair.notch
            times = (pair.median, low, high, pair.mean, pair.iqr, pair.p99, pair.maximum)
            cells = [f"{value / 1e6:.2f}" for value in times]
            lines.append(["" if number else distance, *cells, fixed(pair.qcd, ".4f"), str(pair.outliers_high)])
    head = ["distance", "median, µs", "95 % from", "to", "mean", "IQR", "p99", "largest", "QCD", "outliers"]
    return table(head, lines, "l" + "r" * (len(head) - 1))


def _of_runs(runs: Runs) -> dict[str, str]:
    """Values of the page."""
    tables = "\n\n".join(f"Beside {heading(run)}:\n\n{_table(by_distance(run))}" for run in runs)
    loads = [f"{run['load']:g} %" for run in runs if run["background"] == PRODUCTION]
    return {
        "count": str(runs[0]["iterations"] - 1),
        "pairs": str(runs[0]["pairs"]),
        "distances": tables,
        "slot": SLOT.replace("us", "µs"),
        "loads": " and ".join(filter(None, (", ".join(loads[:-1]), loads[-1]))),
    }


def _of_rows(rows: Sequence[Row]) -> dict[str, str]:
    shown = [row for row in comparable(rows) if not row.what.startswith("`bursts`")]
    return {"statements": judged(shown), "chosen": f"{chosen(rows):g} %"}


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Boxes with notches, one for each pair."""
    with settings():
        columns = min(3, len(runs))
        lines = -(-len(runs) // columns)
        made = figure(11, 3.4 * lines)
        grid = list(made.subplots(lines, columns, sharey=True, squeeze=False).flat)
        for axes in grid[len(runs) :]:
            axes.remove()
        for axes, run in zip(grid, runs, strict=False):
            pairs = run["pairs"]
            for number in range(len(DISTANCES)):
                axes.boxplot(
                    [np.array(times) / 1e6 for times in run["times_ps"][number * pairs : (number + 1) * pairs]],
                    positions=[number * (pairs + 1) + at for at in range(pairs)],
                    widths=0.7,
                    notch=True,
                    manage_ticks=False,
                    patch_artist=True,
                    flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "0.4"},
                    medianprops={"color": "black"},
                    boxprops={"facecolor": SERIES[number], "edgecolor": "0.3"},
                )
            middles = [number * (pairs + 1) + (pairs - 1) / 2 for number in range(len(DISTANCES))]
            axes.set_xticks(middles, [name.removeprefix("inter-") for name in DISTANCES])
            axes.set_title(heading(run).replace("`", ""))
            axes.set_yscale("log")
            axes.set_yticks([20, 30, 50, 100], ["20", "30", "50", "100"])
            axes.set_yticks([], minor=True)
            axes.grid(axis="y", color="0.9")
        for axes in grid[::columns]:
            axes.set_ylabel("16 KiB there and back, µs")
    return made


REPRODUCTION = Reproduction(
    name="desensi2019-fig3",
    title="Ping-pong of 16 KiB at four distances: medians, spread and outliers (De Sensi 2019)",
    points=points,
    make=make,
    rows=compare,
    text=page_of("fig3", _of_runs, of_rows=_of_rows),
    picture=draw,
    keep=keep,
)
