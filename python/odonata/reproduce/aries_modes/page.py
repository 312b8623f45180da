"""The page and the picture of `aries-modes`: phantom congestion, and figure 7 of De Sensi 2019 with all seven modes."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from matplotlib.patches import Patch

from odonata.plot.style import LINES, SERIES, figure, settings
from odonata.reproduce.aries_modes import relations as measures
from odonata.reproduce.aries_modes import tables
from odonata.reproduce.aries_modes.relations import compare, grouped, median_of
from odonata.reproduce.aries_modes.runs import DISTANCES, keep, make, points, setting
from odonata.reproduce.markdown import held, reasons
from odonata.reproduce.markdown import relations as measured
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.aries_modes.relations import GroupedRuns, OfPairs, OfRun
    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

_MARKERS = "os^D"
_TICKS = (250, 300, 400, 500, 700, 1000, 1400, 2000)


def _of_rows(rows: Sequence[Row], _: Texts) -> dict[str, str]:
    phantom, pairs = ([row for row in rows if row.id == id_] for id_ in ("D8", "D22"))
    return {
        "setting": setting(),
        "phantom_count": held(phantom),
        "pairs_count": held(pairs),
        "phantom": measured(phantom),
        "pairs_said": measured(pairs),
        "reasons": reasons(rows),
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> dict[str, str]:
    known = grouped(runs)
    return {
        "delays": tables.delays(known),
        "pairs": tables.pairs(known),
        "load": f"{known.modes_load():g}",
        "modes": tables.modes(known),
        "delay_variants": tables.delay_variants(known),
        "pair_variants": tables.pair_variants(known),
    }


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """The picture of the full study."""
    known = grouped(runs)
    load = known.modes_load()
    with settings():
        made = figure(11, 9.4)
        grid = made.subplots(3, 2)
        panels: tuple[tuple[str, str, OfPairs], ...] = (
            ("Time of a 4 MiB message", "T [µs]", lambda run: [t / 1e6 for pair in run["times_ps"] for t in pair]),
            ("Stalls at the NIC", "s", lambda run: list(run["stalls"])),
            ("Latency of a packet, both ways", "L [µs]", lambda run: [value / 1e6 for value in run["probe_ps"]]),
            ("Time by equation (2)", "T [µs]", lambda run: [value / 1e6 for value in measures.estimates(run)]),
        )
        for axes, (title, unit, value) in zip((*grid[0], *grid[1]), panels, strict=True):
            _boxes(axes, known, load, value, log=unit == "T [µs]")
            axes.set_title(f"{title} (load {load:g} %)")
            axes.set_ylabel(unit)
        names = (f"{where}-group" for where in DISTANCES)
        grid[0][0].legend(
            handles=[Patch(facecolor=SERIES[i], edgecolor="0.3", label=name) for i, name in enumerate(names)]
        )
        lines: tuple[tuple[str, OfRun], ...] = (
            ("variance", measures.variance_of_run),
            ("QCD", measures.qcd),
        )
        for axes, (name, measure) in zip(grid[2], lines, strict=True):
            _delays(axes, known, measure)
            axes.set_ylabel(f"{name} of latency, delay off over on")
        grid[2][0].set_title("Phantom congestion: adaptive-0 beside a background")
        grid[2][0].legend(title="load")
    return made


def _boxes(axes: Axes, known: GroupedRuns, load: float, value: OfPairs, *, log: bool) -> None:
    """A box for each mode and distance: quartiles, the whole range as whiskers."""
    modes = list(dict.fromkeys(key[3] for key in known.pairs if key[:2] == ("", load)))
    for index, where in enumerate(DISTANCES):
        values = [measures.all_pairs(known.pairs["", load, where, mode], value) for mode in modes]
        axes.boxplot(
            values,
            positions=[at + (index - 0.5) * 0.36 for at in range(len(modes))],
            widths=0.3,
            whis=(0, 100),
            manage_ticks=False,
            patch_artist=True,
            medianprops={"color": "black"},
            boxprops={"facecolor": SERIES[index], "edgecolor": "0.3"},
        )
    axes.set_xticks(range(len(modes)), modes, fontsize=7.5)
    if log:
        axes.set_yscale("log")
        axes.set_yticks(_TICKS, map(str, _TICKS))
        axes.minorticks_off()
    else:
        axes.set_ylim(bottom=-0.05)
    axes.grid(axis="y", color="0.9")


def _delays(axes: Axes, known: GroupedRuns, value: OfRun) -> None:
    """A point for each seed; a line through the medians."""
    delays = known.multiples()
    loads = known.delay_loads()
    axes.axhline(1, color="0.5", lw=0.8)
    for number, (load, colour, marker) in enumerate(zip(loads, LINES, _MARKERS, strict=False)):
        middles = []
        for at, delay in enumerate(delays):
            ratios = measures.off_over_on(known, "", load, delay, value)
            across = at + (number - (len(loads) - 1) / 2) * 0.12
            axes.plot([across] * len(ratios), ratios, marker, ms=3, mfc="none", mew=0.6, color=colour, ls="none")
            middles.append((across, median_of(ratios).value))
        axes.plot(*zip(*middles, strict=True), marker, ls="-", lw=1, ms=5, color=colour, label=f"{load:g} %")
    axes.set_xticks(range(len(delays)), [f"{delay} x" for delay in delays])
    axes.set_xlabel("delay of what credits tell, in round trips of the link")
    axes.grid(axis="y", color="0.9")


REPRODUCTION = Reproduction(
    name="aries-modes",
    title="Routing modes of Aries: phantom congestion; 4 MiB inside a group and between groups (De Sensi 2019)",
    points=points,
    make=make,
    rows=compare,
    text=Page(
        lambda: (files("odonata.reproduce.aries_modes") / "aries_modes.md").read_text("utf-8"), _of_rows, _of_runs
    ),
    picture=draw,
    keep=keep,
)
