"""`salimi-beni2022`: the experiment of Salimi Beni 2022 in the simulator, its page and picture."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from odonata.analysis.correlation import CAUSE
from odonata.analysis.fits import fit_all
from odonata.plot.style import figure, settings
from odonata.plot.times import Sample, draw_densities, draw_histogram, draw_scatter
from odonata.reproduce.markdown import reasons, side_by_side, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.salimibeni2022.queue import APPS, ENDS, LARGEST, LOCALITIES, SINGLE
from odonata.reproduce.salimibeni2022.relations import (
    MODEL,
    Measured,
    at,
    compare,
    judged_here,
    plots,
    spread_by_slurm,
)
from odonata.reproduce.salimibeni2022.runs import (
    APP_ITERATIONS,
    APP_QUEUES,
    COLLECTIVES,
    DRAWN,
    DRAWS,
    FAR,
    LONG,
    MANY,
    MINIMAL,
    OFTEN,
    QUEUES,
    ROUTING,
    keep,
    make,
    points,
    utilisation,
)
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from odonata.analysis.correlation import Coefficient
    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

FAMILIES = ("exponnorm", "genextreme", "genlogistic", "gumbel_r", "johnsonsu", "norm", "skewnorm", "t")
"""Families that are fitted for the picture. The paper fits more than 100 and names none. These have one peak; families
whose density may be without bound at the least time, as gamma, would hide the others."""
LIMIT_S = 5.0
"""Processor time for one fit."""


def _shown(row: Row) -> bool:
    """Whether the page has the row: of the correlations with b those of one size, and no peaks."""
    return row.unit != "peaks" and (row.id != "V11" or row.what.endswith("32 KiB"))


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    b = [utilisation(*queue) for queue in DRAWS]
    return {
        "statements": side_by_side([row for row in rows if _shown(row)], [MODEL]),
        "reasons": reasons(rows),
        "queues": str(len(DRAWS)),
        "least": f"{min(b):.2f}",
        "most": f"{max(b):.2f}",
        "low": f"{utilisation(*QUEUES['low']):.2f}",
        "middle": f"{utilisation(*QUEUES['middle']):.2f}",
        "high": f"{utilisation(*QUEUES['high']):.2f}",
        "many": ", ".join(f"{app} {count}" for app, count in MANY.items()),
        "often": f"{OFTEN['4 B']} (of {LONG} {OFTEN[LONG]}; of all-to-all half as many)",
        "iterations": str(APP_ITERATIONS),
        "apps": ", ".join(f"`{name}`" for name in APPS),
        "ends": str(ENDS),
        "single": fixed(SINGLE, ".0%"),
        "largest": str(LARGEST),
        "full": fixed(spread_by_slurm()[0] / 100, ".0%"),
        "switch": fixed(spread_by_slurm()[1] / 100, ".0%"),
        "empty": fixed(spread_by_slurm(0.6)[1] / 100, ".0%"),
        "cause": CAUSE,
        "families": str(len(FAMILIES)),
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    injected = [run["injected"] for run in runs if (run["draw"], run["load"]) == QUEUES["high"]]
    peaked = sum(measured.peaks is not None and measured.peaks.count > 1 for measured in _drawn(runs))
    return {
        "runs": str(len(runs)),
        "injected": fixed(float(np.mean(injected)), ".0%"),
        "correlations": _correlations(runs),
        "distributions": _distributions(runs),
        "applications": _applications(runs),
        "peaked": str(peaked or "none"),
        "ratio": f"{_minimal_over_adaptive(runs):.2f}",
        "diverted": fixed(max(1 - run["minimal"] for run in runs), ".1%"),
    }


def _correlations(runs: Runs) -> str:
    lines = [
        [
            measured.app,
            measured.size,
            f"{measured.means_ps.min() / 1e6:,.1f} to {measured.means_ps.max() / 1e6:,.1f}",
            _coefficient(measured.correlation.pearson),
            _coefficient(measured.correlation.spearman),
        ]
        for measured in plots(runs)
    ]
    return table(["collective", "size", "means (us)", "r", "ρ"], lines, "llrrr")


def _coefficient(of: Coefficient) -> str:
    return f"{of.value:.2f}" + (f" ({of.interval[0]:.2f} to {of.interval[1]:.2f})" if of.interval else "")


def _line(words: Sequence[str], measured: Measured) -> list[str]:
    of, peaks = measured.dispersion, measured.peaks
    return [
        *words,
        f"{measured.b:.2f}",
        str(of.n),
        *(f"{value / 1e6:,.1f}" for value in (of.median, of.mean, of.p85, of.p99, of.maximum)),
        fixed(of.qcd, ".4f"),
        "" if peaks is None else str(peaks.count),
        fixed(1 - measured.run["minimal"], ".2%"),
    ]


_HEAD = ("b", "n", "median", "mean", "p85", "p99", "greatest", "QCD", "peaks", "non-minimal")


def _drawn(runs: Runs) -> list[Measured]:
    """The distributions of figures 1, 3 and 5."""
    chosen = [("middle", locality, ROUTING) for locality in LOCALITIES]
    chosen += [("low", FAR, ROUTING), ("high", FAR, ROUTING), ("high", FAR, MINIMAL)]
    drawn = [at(runs, app, *setting) for app in COLLECTIVES for setting in chosen]
    return [measured for measured in drawn if measured is not None]


def _minimal_over_adaptive(runs: Runs) -> float:
    """Tail with minimal routing over that with the usual one, beside the queue of high b: median of the collectives."""
    pairs = [(at(runs, app, "high", FAR, MINIMAL), at(runs, app, "high")) for app in COLLECTIVES]
    return float(np.median([ours.tail_ps / usual.tail_ps for ours, usual in pairs if ours and usual]))


def _distributions(runs: Runs) -> str:
    names = ("app", "locality", "routing")
    lines = [_line([measured.run[name] for name in names], measured) for measured in _drawn(runs)]
    return table(["collective", "locality", "routing", *_HEAD], lines, "lll" + "r" * len(_HEAD))


def _applications(runs: Runs) -> str:
    lines = [
        _line([app], measured)
        for app, names in APP_QUEUES.items()
        for name in names
        if (measured := at(runs, app, name)) is not None
    ]
    return table(["proxy", *_HEAD], lines, "l" + "r" * len(_HEAD))


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Densities by locality and by b, correlations of the longest size, and histograms of the applications."""
    panels: list[tuple[str, list[tuple[str, Measured]]]] = []
    for app in COLLECTIVES:
        samples = [(name, at(runs, app, "middle", name)) for name in LOCALITIES]
        panels.append((f"{app}, {DRAWN}, b = {utilisation(*QUEUES['middle']):.2f}", _there(samples)))
    for app in COLLECTIVES:
        samples = [(f"b = {utilisation(*QUEUES[name]):.2f}", at(runs, app, name)) for name in ("low", "high")]
        panels.append((f"{app}, {DRAWN}, different islands", _there(samples)))
    apps = [
        (f"{app}, b = {utilisation(*QUEUES[name]):.2f}", at(runs, app, name))
        for app, names in APP_QUEUES.items()
        for name in names
    ]
    all_of = [measured for _, several in panels for _, measured in several] + [measured for _, measured in _there(apps)]
    # Times that do not vary have no fit.
    fitted = [
        measured.times_ps
        for measured in all_of
        if np.ptp(measured.times_ps) > 0 and len(np.unique(measured.times_ps)) > 4
    ]
    fits = {
        id(times): fitted_families.best()
        for times, fitted_families in zip(fitted, fit_all(fitted, names=FAMILIES, limit_s=LIMIT_S), strict=True)
    }
    with settings():
        made = figure(11, 13.5)
        grid = made.subplots(4, 3)
        for axes, (title, several) in zip(grid[:2].ravel(), panels, strict=True):
            draw_densities(
                axes, [Sample(name, measured.times_ps, fits.get(id(measured.times_ps))) for name, measured in several]
            )
            axes.set_title(title)
        of_long = [measured for measured in plots(runs) if measured.size == LONG]
        for axes, plot in zip(grid[2], of_long, strict=True):
            draw_scatter(axes, plot.b, plot.means_ps, plot.correlation, "b")
            axes.set_title(f"{plot.app}, {plot.size}")
        shown = _there(apps)
        for axes, (name, measured) in zip(grid[3], [shown[0], shown[1], shown[3]], strict=True):
            draw_histogram(axes, Sample(name, measured.times_ps, fits.get(id(measured.times_ps))))
    return made


def _there(samples: Sequence[tuple[str, Measured | None]]) -> list[tuple[str, Measured]]:
    return [(name, measured) for name, measured in samples if measured is not None]


REPRODUCTION = Reproduction(
    name="salimi-beni2022",
    title="Long tails on Marconi100: locality, background utilisation, routing, applications (Salimi Beni 2022)",
    points=points,
    make=make,
    rows=compare,
    explain=judged_here,
    text=Page(
        lambda: (files("odonata.reproduce.salimibeni2022") / "marconi100.md").read_text("utf-8"), _of_rows, _of_runs
    ),
    picture=draw,
    keep=keep,
)
