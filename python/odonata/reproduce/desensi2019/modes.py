"""`desensi2019-fig7`: 4 MiB inside a group and between groups, two modes in turn (De Sensi 2019, section 4.1; D22)."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch

from odonata.analysis.dispersion import describe
from odonata.plot.style import SERIES, figure, settings
from odonata.reproduce.desensi2019.page import MODEL, page_of
from odonata.reproduce.desensi2019.pingpong import DEFAULT, HIGH_BIAS, INTRA, keep, make, point
from odonata.reproduce.desensi2019.relations import EQUAL, GREATER, SMALLER, Relation, as_row, median_of
from odonata.reproduce.desensi2019.setting import LOAD, PACKET
from odonata.reproduce.markdown import table
from odonata.reproduce.reproduction import Reproduction
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

INTER = "inter-groups"
WHERE = [INTRA, INTER]
MODES = [DEFAULT, HIGH_BIAS]
SLOT = "1150 us"
"""Time between the iterations of two modes: more than an iteration takes."""
PAIRS = 6
OTHER_LOAD = 20.0
"""A second load, in percent, of fewer iterations."""
SAID: dict[str, tuple[tuple[str, str, float, str, str], ...]] = {
    INTRA: (
        ("time is longer", "times_ps", 0, GREATER, "7(a)"),
        ("stalls (1 + s) are more", "stalls", 1, GREATER, "7(b)"),
        ("latency L is similar", "latency_ps", 0, EQUAL, "7(c)"),
        ("time by equation 2 is longer", "estimates_ps", 0, GREATER, "7(d)"),
    ),
    INTER: (
        ("time is shorter", "times_ps", 0, SMALLER, "7(a)"),
        ("stalls (1 + s) are comparable", "stalls", 1, EQUAL, "7(b)"),
        ("latency L is lower", "latency_ps", 0, SMALLER, "7(c)"),
        ("time by equation 2 is shorter", "estimates_ps", 0, SMALLER, "7(d)"),
    ),
}
"""Distance -> statements of figure 7: what, the kept value, what is added to it, the tolerance, and the panel."""


OF_BURSTS = ((INTRA, "stalls"), (INTRA, "estimates_ps"))
BURSTS = "it rests on bursts of 1 KiB: with packets of 64 B no flit stalls inside a group with either mode"
"""Why stalls inside a group have no verdict, nor what equation 2 makes of them: the lines with packets of 64 B."""


def points(reduced: bool) -> Points:
    """Beside the background, on the idle machine, and there with single packets of Aries."""
    if reduced:
        return [point("modes", "256 KiB", 1, WHERE, 2, modes=MODES, iterations=3, slot="120 us", machine="small")]
    idle = {"modes": MODES, "slot": SLOT, "iterations": 3, "load": 0.0}
    return [
        point("modes", "4 MiB", 1, WHERE, PAIRS, **idle),
        point("modes", "4 MiB", 1, WHERE, PAIRS, **{**idle, "load": LOAD, "iterations": 6}),
        point("modes", "4 MiB", 1, WHERE, PAIRS, **{**idle, "load": OTHER_LOAD, "iterations": 2}),
        point("modes", "4 MiB", 1, WHERE, 1, **idle, packet="64 B"),
    ]


def of(run: Mapping[str, Any], name: str, where: str, mode: str) -> list[Any]:
    """A kept value for each pair."""
    first, turn, modes = run["distances"].index(where), run["modes"].index(mode), len(run["modes"])
    return list(run[name][(first * run["pairs"]) * modes + turn : (first + 1) * run["pairs"] * modes : modes])


def _ratios(run: Mapping[str, Any], name: str, where: str, plus: float = 0.0) -> list[float]:
    """High bias over the default, pair by pair: medians of the iterations."""
    high, low = (of(run, name, where, mode) for mode in (HIGH_BIAS, DEFAULT))
    return [(median(a) + plus) / (median(b) + plus) for a, b in zip(high, low, strict=True)]


def relations(run: Mapping[str, Any]) -> list[Relation]:
    """D22 for one load."""
    load = f"load {run['load']:g} %" + (", packets of 64 B" if run["packet"] != PACKET else "")
    of_load = (
        "" if run["load"] == LOAD else f"the statement is judged at load {LOAD:g} %, beside other jobs as in the paper"
    )
    made = [
        Relation(
            "D22",
            f"{where}, {load}, high bias over the default: {what}",
            MODEL,
            tolerance,
            median_of(_ratios(run, name, where, plus)),
            f"De Sensi 2019, section 4.1, figure {panel}",
            BURSTS if (where, name) in OF_BURSTS and run["packet"] == PACKET else of_load,
        )
        for where, each in SAID.items()
        for what, name, plus, tolerance, panel in each
    ]
    if run["load"] and run["iterations"] > 5:
        high, low = (
            [describe(np.array(of_pair)).iqr for of_pair in of(run, "latency_ps", INTER, mode)] for mode in MODES[::-1]
        )
        spread = median_of([a / b for a, b in zip(high, low, strict=True)])
        what = f"{INTER}, {load}, high bias over the default: IQR of L is lower"
        made.append(Relation("D22", what, MODEL, SMALLER, spread, "De Sensi 2019, section 4.1, figure 7(c)"))
    return made


def compare(runs: Runs) -> list[Row]:
    """D22: figure 7, at each load."""
    return [as_row(relation, run["iterations"] - 1) for run in runs for relation in relations(run)]


def _coarse(runs: Runs) -> list[Mapping[str, Any]]:
    return [run for run in runs if run["packet"] == PACKET]


def _loaded(runs: Runs) -> Mapping[str, Any]:
    """The run with most iterations beside a background."""
    return max(_coarse(runs), key=lambda run: (run["load"] > 0, run["iterations"]))


def _exact(runs: Runs) -> Mapping[str, Any]:
    return next((run for run in runs if run["packet"] != PACKET), runs[0])


def _cells(run: Mapping[str, Any], where: str, mode: str) -> list[str]:
    def values(name: str) -> list[float]:
        return [value for pair in of(run, name, where, mode) for value in pair]

    times = [describe(np.array(of_pair)).qcd for of_pair in of(run, "times_ps", where, mode) if len(of_pair) >= 5]
    return [
        where,
        f"{run['load']:g} %",
        run["packet"],
        f"`{mode}`",
        f"{median(values('times_ps')) / 1e6:.1f}",
        "" if not times else fixed(median(time or 0.0 for time in times), ".2%"),
        f"{median(values('stalls')):.3f}",
        f"{median(values('latency_ps')) / 1e6:.2f}",
        f"{median(values('estimates_ps')) / 1e6:.0f}",
        fixed(median(of(run, "minimal", where, mode)), ".1%"),
    ]


def _of_runs(runs: Runs) -> dict[str, str]:
    """Values of the page."""
    head = ["", "load", "packets", "mode", "time, µs", "QCD", "s", "L, µs", "eq. 2, µs", "minimal"]
    lines = [_cells(run, where, mode) for where in WHERE for run in runs for mode in MODES]
    loaded = _loaded(runs)
    return {
        "medians": table(head, lines, "lrrlrrrrrr"),
        "pairs": str(loaded["pairs"]),
        "iterations": str(loaded["iterations"] - 1),
        "faster": _change(loaded, "times_ps", INTRA, 1),
        "shorter": _change(loaded, "times_ps", INTER, -1),
        "exact": _change(_exact(runs), "times_ps", INTRA, 1),
        "lower": _change(loaded, "latency_ps", INTER, -1),
    }


def _change(run: Mapping[str, Any], name: str, where: str, sign: int) -> str:
    return fixed(sign * (median(_ratios(run, name, where)) - 1), ".1%")


def picture(_: Sequence[Row], runs: Runs) -> Figure:
    """The four panels of figure 7, beside the background."""
    run = _loaded(runs)
    panels = (
        ("Time of an iteration", "times_ps", 1e6, "µs"),
        ("Stalls s of a flit", "stalls", 1, "cycles"),
        ("Packet latency L", "latency_ps", 1e6, "µs"),
        ("Time by equation 2", "estimates_ps", 1e6, "µs"),
    )
    with settings():
        made = figure(10, 3.6)
        for axes, (title, name, unit, words) in zip(made.subplots(1, 4), panels, strict=True):
            for index, mode in enumerate(MODES):
                axes.boxplot(
                    [[value / unit for pair in of(run, name, where, mode) for value in pair] for where in WHERE],
                    positions=[at + (index - 0.5) * 0.36 for at in range(2)],
                    widths=0.3,
                    whis=(0, 100),
                    manage_ticks=False,
                    patch_artist=True,
                    medianprops={"color": "black"},
                    boxprops={"facecolor": SERIES[index], "edgecolor": "0.3"},
                )
            axes.set_xticks(range(2), WHERE)
            axes.set_title(title)
            axes.set_ylabel(words)
            axes.set_ylim(bottom=-0.02 if name == "stalls" else 0)
            axes.grid(axis="y", color="0.9")
            if name == "times_ps":
                patches = [Patch(facecolor=SERIES[i], edgecolor="0.3", label=mode) for i, mode in enumerate(MODES)]
                axes.legend(handles=patches, loc="lower right")
    return made


REPRODUCTION = Reproduction(
    name="desensi2019-fig7",
    title="4 MiB inside a group and between groups, two modes in turn: time, stalls, latency, model (De Sensi 2019)",
    points=points,
    make=make,
    rows=compare,
    text=page_of("fig7", _of_runs),
    picture=picture,
    keep=keep,
)
