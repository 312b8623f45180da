"""`salimi-beni2022-on-leonardo`: the analysis of Salimi Beni 2022 on times of Leonardo, its page and picture."""

from __future__ import annotations

from collections import Counter, defaultdict
from importlib.resources import files
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.analysis.correlation import CAUSE
from odonata.plot.style import figure, settings
from odonata.plot.times import Sample, draw_histogram, draw_qcd
from odonata.reproduce.markdown import reasons, side_by_side, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.salimibeni2022.measured import LIMIT_S, Measured, gather, series
from odonata.reproduce.salimibeni2022.statements import MEASURES, MODEL, compare, relations
from odonata.text.numbers import fixed
from odonata.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.analysis.correlation import Coefficient
    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

DRAWN = (
    ("2025-03-19T20:04:47", "allreduce", 2**19),
    ("2025-03-28T18:19:43", "allreduce", 2**20),
    ("2025-03-28T16:48:20", "allreduce", 2**20),
)
"""Series whose histogram is drawn: 512 KiB on 128 nodes, 1 MiB on 512 and on 2,048 nodes."""


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    return {
        "statements": side_by_side(rows, [MODEL]),
        "reasons": reasons(rows),
        "cause": fill(CAUSE, 118, break_on_hyphens=False),
        "limit": f"{LIMIT_S:g}",
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    measurements = series(runs)
    fitted = [measured for measured in measurements if measured.fits is not None]
    nodes = [measured.nodes for measured in measurements]
    return {
        "series": str(len(measurements)),
        "allocations": str(len({measured.run for measured in measurements})),
        "least": str(min(nodes)),
        "most": f"{max(nodes):,}",
        "spread": _spread(measurements),
        "bound": f"{1.36 / measurements[0].dispersion.n ** 0.5:.3f}",
        "families": _families(fitted),
        "winners": _winners(fitted),
        "agree": fill(f"{_agree(fitted)}. {_described(fitted)}", 118),
        "failures": _failures(fitted),
        "all": _all(measurements),
    }


def _name(measured: Measured) -> str:
    return f"{measured.collective}, {format_bytes(measured.size)}, {measured.nodes:,} nodes"


def _spread(measurements: Sequence[Measured]) -> str:
    lines = []
    for relation in relations(measurements):
        both = (relation.correlation.pearson, relation.correlation.spearman)
        lines.append([relation.measure, relation.spread, *map(_coefficient, both)])
    return table(["measure", "against", "r", "ρ"], lines, "llrr")


def _coefficient(of: Coefficient) -> str:
    return f"{of.value:.2f}" + (f" ({of.interval[0]:.2f} to {of.interval[1]:.2f})" if of.interval else "")


def _families(fitted: Sequence[Measured]) -> str:
    lines = []
    for measured in fitted:
        assert measured.fits is not None
        aic, ks, histogram = (measured.fits.best(by) for by in ("aic", "ks", "histogram_error"))
        if aic is None or ks is None or histogram is None:
            continue
        second = measured.fits.fits[1] if len(measured.fits.fits) > 1 else None
        lines.append(
            [
                _name(measured),
                f"{aic.family} ({len(aic.parameters)})",
                "" if second is None else f"{second.family} (+{second.aic - aic.aic:.1f})",
                f"{ks.family} ({ks.ks:.3f})",
                histogram.family,
                f"{len(measured.fits.fits)} of {len(measured.fits.fits) + len(measured.fits.failures)}",
            ]
        )
    head = ["series", "AIC (parameters)", "second (AIC over the first)", "KS", "histogram", "fitted"]
    return table(head, lines, "lllllr")


def _winners(fitted: Sequence[Measured]) -> str:
    best = Counter(fit.family for measured in fitted if measured.fits and (fit := measured.fits.best()))
    ordered = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{family} ({count})" for family, count in ordered)
    return fill(f"Best by AIC (in brackets: how often): {told}.", 118)


def _agree(fitted: Sequence[Measured]) -> str:
    told = []
    for criterion, name in (("ks", "KS"), ("histogram_error", "the histogram")):
        same = sum(
            measured.fits is not None and measured.fits.best() == measured.fits.best(criterion)  # type: ignore[arg-type]
            for measured in fitted
        )
        told.append(f"{name} agrees with AIC in {same} of {len(fitted)} series")
    return "; ".join(told)


def _described(fitted: Sequence[Measured]) -> str:
    described = sum(measured.fits is not None and measured.fits.rejected is False for measured in fitted)
    return f"The best family by AIC describes {described} of {len(fitted)} series."


def _failures(fitted: Sequence[Measured]) -> str:
    which: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for measured in fitted:
        for family, why in (measured.fits.failures if measured.fits else {}).items():
            which[why][family] += 1
    lines = [f"Not fitted (in brackets: in how many of the {len(fitted)} series):", ""]
    for why, families_of in sorted(which.items()):
        families = ", ".join(f"{family} ({count})" for family, count in sorted(families_of.items()))
        lines.append(fill(f"- {families}: {why}", 118, subsequent_indent="  ", break_on_hyphens=False))
    return "\n".join(lines)


def _all(measurements: Sequence[Measured]) -> str:
    lines = []
    for measured in measurements:
        of = measured.dispersion
        low, high = of.interval or of.notch
        lines.append(
            [
                f"{measured.run.partition('T')[0]}",
                measured.collective,
                format_bytes(measured.size),
                f"{measured.nodes:,}",
                str(measured.groups),
                str(measured.leaves),
                f"{of.median / 1e6:,.1f}",
                f"{low / 1e6:,.1f} to {high / 1e6:,.1f}",
                f"{of.maximum / 1e6:,.1f}",
                fixed(of.qcd, ".4f"),
                fixed(of.tail_share, ".1%"),
                fixed(of.tail_length, ".2f"),
                "" if measured.peaks is None else str(measured.peaks.count),
                fixed(of.autocorrelation, ".2f"),
            ]
        )
    head = ["run", "collective", "size", "nodes", "groups", "leaves", "median", "95 %", "greatest", "QCD", "tail"]
    return table([*head, "p99/median", "peaks", "neighbours"], lines, "llrrrrrrrrrrrr")


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Histograms with fits, the tail against the spread of the allocations, and dispersion against size."""
    measurements = series(runs)
    of = {(measured.run, measured.collective, measured.size): measured for measured in measurements}
    with settings():
        made = figure(12, 6.6)
        grid = made.subplots(2, 3)
        for axes, key in zip(grid[0], DRAWN, strict=True):
            measured = of[key]
            draw_histogram(
                axes, Sample(_name(measured), measured.times_ps, measured.fits.best() if measured.fits else None)
            )
        _tails(grid[1][0], measurements)
        lines: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        for measured in measurements:
            lines[f"{measured.collective}, {measured.nodes:,} nodes"].append(
                (float(measured.size), measured.dispersion.qcd or 0.0)
            )
        several: Mapping[str, Any] = {name: points for name, points in lines.items() if len(points) >= 4}
        for axes, words in zip(grid[1][1:], ("allgather", "all others"), strict=True):
            chosen = {
                name.removeprefix("allgather, "): points
                for name, points in several.items()
                if name.startswith("allgather") == (words == "allgather")
            }
            draw_qcd(axes, chosen, "bytes", log=True)
            axes.set_title(f"Dispersion: {words}")
    return made


def _tails(axes: Axes, measurements: Sequence[Measured]) -> None:
    """The tail of each series against the groups of its allocation, and the medians of allocations."""
    measure = "share of the tail"
    x = np.array([measured.groups for measured in measurements])
    y = np.array([100 * MEASURES[measure](measured) for measured in measurements])
    axes.plot(x, y, "o", color="0.6", markersize=3.5, alpha=0.7, label="a series")
    (relation,) = (
        relation for relation in relations(measurements) if (relation.spread, relation.measure) == ("groups", measure)
    )
    runs = list(dict.fromkeys(each.run for each in measurements))
    medians = [
        float(np.median([value for each, value in zip(measurements, y, strict=True) if each.run == run]))
        for run in runs
    ]
    groups = [next(each.groups for each in measurements if each.run == run) for run in runs]
    axes.plot(groups, medians, "D", color="#d55e00", markersize=5, label="median of an allocation")
    of = relation.correlation
    axes.set_title(f"r = {of.pearson.value:.2f}, ρ = {of.spearman.value:.2f} ({len(runs)} allocations)")
    axes.set_xlabel("groups of the allocation")
    axes.set_ylabel("share of the tail (%)")
    axes.legend()


REPRODUCTION = Reproduction(
    name="salimi-beni2022-on-leonardo",
    title="Times measured on Leonardo, analysed as Salimi Beni 2022 does: tails, peaks, families, spread",
    points=lambda _: [],
    make=None,
    rows=compare,
    text=Page(
        lambda: (files("odonata.reproduce.salimibeni2022") / "leonardo.md").read_text("utf-8"),
        _of_rows,
        _of_runs,
    ),
    picture=draw,
    gather=gather,
)
