"""`desensi2019-fig3`: a ping-pong at four distances (De Sensi 2019, section 3.1; D19)."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from odonata.analysis.dispersion import Dispersion, describe
from odonata.plot.style import SERIES, figure, settings
from odonata.reproduce.aries_modes.relations import EQUAL
from odonata.reproduce.desensi2019.page import MODEL, page_of
from odonata.reproduce.desensi2019.pingpong import DISTANCES, keep, make, point
from odonata.reproduce.desensi2019.setting import BACKGROUNDS
from odonata.reproduce.markdown import table
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import Row, statement
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Points, Runs

SLOT = "20 us"
"""Time from one iteration to the next. The paper waits a second."""
STEPS = (("inter-blades", "inter-nodes"), ("inter-chassis", "inter-blades"), ("inter-groups", "inter-chassis"))


def points(reduced: bool) -> Points:
    """Pairs at all four distances in one run, beside each background."""
    names = list(DISTANCES)
    if reduced:
        return [point("distances", "16 KiB", 1, names, 2, machine="small", iterations=12, slot=SLOT)]
    return [
        point("distances", "16 KiB", 1, names, 6, iterations=201, slot=SLOT, background=background)
        for background in BACKGROUNDS
    ]


def by_distance(run: Mapping[str, object]) -> dict[str, list[Dispersion]]:
    """Distance -> the times of each pair."""
    each = [describe(np.array(times)) for times in run["times_ps"]]  # type: ignore[attr-defined]
    pairs: int = run["pairs"]  # type: ignore[assignment]
    return {distance: each[at * pairs : (at + 1) * pairs] for at, distance in enumerate(DISTANCES)}


def compare(runs: Runs) -> list[Row]:
    """D19: figure 3."""
    return [row for run in runs for row in _rows(by_distance(run), run["background"])]


def _rows(known: dict[str, list[Dispersion]], background: str) -> list[Row]:
    def mid(distance: str, value: str) -> float:
        return float(median(getattr(pair, value) for pair in known[distance]))

    def row(words: str, ours: float, theirs: float, unit: str, tolerance: str) -> Row:
        where = "De Sensi 2019, section 3.1, figure 3"
        count = known["inter-groups"][0].n
        words = f"`{background}`: {words}"
        return statement("D19", words, ours, theirs, unit, tolerance, where, model=MODEL, messages=count)

    rows = [
        row(f"median, {far} over {near}", mid(far, "median") / mid(near, "median"), 1, "x", "> 1")
        for far, near in STEPS
    ]
    similar = mid("inter-chassis", "median") / mid("inter-nodes", "median")
    rows.append(row("median, inter-chassis over inter-nodes (`barely higher`)", similar, 1, "x", EQUAL))
    means = mid("inter-chassis", "mean") / mid("inter-nodes", "mean")
    rows.append(row("mean, inter-chassis over inter-nodes", means, 2, "x", "25 %"))
    rows += [
        row(f"IQR, {far} minus {near}", (mid(far, "iqr") - mid(near, "iqr")) / 1e6, 0, "us", "> 0")
        for far, near in STEPS
    ]
    largest = max(pair.maximum / pair.median for pair in known["inter-groups"])
    rows.append(row("largest time over the median, inter-groups", largest, 1000, "x", ">= 1000"))
    return rows


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
    known = {run["background"]: by_distance(run) for run in runs}
    tables = "\n\n".join(f"Beside `{name}`:\n\n{_table(distances)}" for name, distances in known.items())
    count = known["uniform"]["inter-groups"][0].n
    return {"count": str(count), "pairs": str(runs[0]["pairs"]), "distances": tables}


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Boxes with notches, one for each pair."""
    with settings():
        made = figure(12, 4.4)
        for axes, run in zip(made.subplots(1, len(runs), sharey=True, squeeze=False)[0], runs, strict=True):
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
            axes.set_xticks(middles, list(DISTANCES))
            axes.set_title(f"beside the background `{run['background']}`")
            axes.grid(axis="y", color="0.9")
        made.axes[0].set_ylabel("16 KiB there and back, µs")
    return made


REPRODUCTION = Reproduction(
    name="desensi2019-fig3",
    title="Ping-pong of 16 KiB at four distances: medians, spread and outliers (De Sensi 2019)",
    points=points,
    make=make,
    rows=compare,
    text=page_of("fig3", _of_runs),
    picture=draw,
    keep=keep,
)
