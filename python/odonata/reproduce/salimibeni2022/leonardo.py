"""`salimi-beni2022-on-leonardo`: the analysis of Salimi Beni 2022 on times of Leonardo, its page and picture."""

from __future__ import annotations

from collections import Counter, defaultdict
from importlib.resources import files
from string import Template
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.analysis.correlation import CAUSE
from odonata.analysis.dispersion import TAIL_OF_EXPONENTIAL, TAIL_OF_NORMAL
from odonata.plot.style import figure, settings
from odonata.plot.times import Sample, draw_histogram, draw_qcd
from odonata.reproduce.markdown import counts, reasons, side_by_side, table
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
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

DRAWN = (
    ("2025-03-19T20:04:47", "allreduce", 2**19),
    ("2025-03-28T18:19:43", "allreduce", 2**20),
    ("2025-03-28T16:48:20", "allreduce", 2**20),
)
"""Series whose histogram is drawn: 512 KiB on 128 nodes, 1 MiB on 512 and on 2,048 nodes."""


def _page(rows: Sequence[Row], runs: Runs) -> str:
    found = series(runs)
    fitted = [one for one in found if one.fits is not None]
    nodes = [one.nodes for one in found]
    template = (files("odonata.reproduce.salimibeni2022") / "leonardo.md").read_text(encoding="utf-8")
    return Template(template).substitute(
        series=len(found),
        allocations=len({one.run for one in found}),
        least=min(nodes),
        most=f"{max(nodes):,}",
        counts=counts(rows, MODEL),
        statements=side_by_side(rows, [MODEL]),
        reasons=reasons(rows),
        cause=fill(CAUSE, 118, break_on_hyphens=False),
        spread=_spread(found),
        bound=f"{1.36 / found[0].dispersion.n ** 0.5:.3f}",
        families=_families(fitted),
        winners=_winners(fitted),
        agree=fill(f"{_agree(fitted)}. {_described(fitted)}", 118),
        failures=_failures(fitted),
        limit=f"{LIMIT_S:g}",
        normal=fixed(TAIL_OF_NORMAL, ".1%"),
        exponential=fixed(TAIL_OF_EXPONENTIAL, ".1%"),
        all=_all(found),
    )


def _name(one: Measured) -> str:
    return f"{one.collective}, {format_bytes(one.size)}, {one.nodes:,} nodes"


def _spread(found: Sequence[Measured]) -> str:
    lines = []
    for one in relations(found):
        both = (one.correlation.pearson, one.correlation.spearman)
        lines.append([one.measure, one.spread, *map(_coefficient, both)])
    return table(["measure", "against", "r", "ρ"], lines, "llrr")


def _coefficient(of: Coefficient) -> str:
    return f"{of.value:.2f}" + (f" ({of.interval[0]:.2f} to {of.interval[1]:.2f})" if of.interval else "")


def _families(fitted: Sequence[Measured]) -> str:
    lines = []
    for one in fitted:
        assert one.fits is not None
        aic, ks, histogram = (one.fits.best(by) for by in ("aic", "ks", "histogram_error"))
        if aic is None or ks is None or histogram is None:
            continue
        second = one.fits.fits[1] if len(one.fits.fits) > 1 else None
        lines.append(
            [
                _name(one),
                f"{aic.family} ({len(aic.parameters)})",
                "" if second is None else f"{second.family} (+{second.aic - aic.aic:.1f})",
                f"{ks.family} ({ks.ks:.3f})",
                histogram.family,
                f"{len(one.fits.fits)} of {len(one.fits.fits) + len(one.fits.failures)}",
            ]
        )
    head = ["series", "AIC (parameters)", "second (AIC over the first)", "KS", "histogram", "fitted"]
    return table(head, lines, "lllllr")


def _winners(fitted: Sequence[Measured]) -> str:
    best = Counter(found.family for one in fitted if one.fits and (found := one.fits.best()))
    ordered = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{family} ({count})" for family, count in ordered)
    return fill(f"Best by AIC (in brackets: how often): {told}.", 118)


def _agree(fitted: Sequence[Measured]) -> str:
    told = []
    for criterion, name in (("ks", "KS"), ("histogram_error", "the histogram")):
        same = sum(
            one.fits is not None and one.fits.best() == one.fits.best(criterion)  # type: ignore[arg-type]
            for one in fitted
        )
        told.append(f"{name} agrees with AIC in {same} of {len(fitted)} series")
    return "; ".join(told)


def _described(fitted: Sequence[Measured]) -> str:
    described = sum(one.fits is not None and one.fits.rejected is False for one in fitted)
    return f"The best family by AIC describes {described} of {len(fitted)} series."


def _failures(fitted: Sequence[Measured]) -> str:
    which: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in fitted:
        for family, why in (one.fits.failures if one.fits else {}).items():
            which[why][family] += 1
    lines = [f"Not fitted (in brackets: in how many of the {len(fitted)} series):", ""]
    for why, found in sorted(which.items()):
        families = ", ".join(f"{family} ({count})" for family, count in sorted(found.items()))
        lines.append(fill(f"- {families}: {why}", 118, subsequent_indent="  ", break_on_hyphens=False))
    return "\n".join(lines)


def _all(found: Sequence[Measured]) -> str:
    lines = []
    for one in found:
        of = one.dispersion
        low, high = of.interval or of.notch
        lines.append(
            [
                f"{one.run.partition('T')[0]}",
                one.collective,
                format_bytes(one.size),
                f"{one.nodes:,}",
                str(one.groups),
                str(one.leaves),
                f"{of.median / 1e6:,.1f}",
                f"{low / 1e6:,.1f} to {high / 1e6:,.1f}",
                f"{of.maximum / 1e6:,.1f}",
                fixed(of.qcd, ".4f"),
                fixed(of.tail_share, ".1%"),
                fixed(of.tail_length, ".2f"),
                "" if one.peaks is None else str(one.peaks.count),
                fixed(of.autocorrelation, ".2f"),
            ]
        )
    head = ["run", "collective", "size", "nodes", "groups", "leaves", "median", "95 %", "greatest", "QCD", "tail"]
    return table([*head, "p99/median", "peaks", "neighbours"], lines, "llrrrrrrrrrrrr")


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Histograms with fits, the tail against the spread of the allocations, and dispersion against size."""
    found = series(runs)
    of = {(one.run, one.collective, one.size): one for one in found}
    with settings():
        made = figure(12, 6.6)
        grid = made.subplots(2, 3)
        for axes, key in zip(grid[0], DRAWN, strict=True):
            one = of[key]
            draw_histogram(axes, Sample(_name(one), one.times_ps, one.fits.best() if one.fits else None))
        _tails(grid[1][0], found)
        lines: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        for one in found:
            lines[f"{one.collective}, {one.nodes:,} nodes"].append((float(one.size), one.dispersion.qcd or 0.0))
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


def _tails(axes: Axes, found: Sequence[Measured]) -> None:
    """The tail of each series against the groups of its allocation, and the medians of allocations."""
    measure = "share of the tail"
    x = np.array([one.groups for one in found])
    y = np.array([100 * MEASURES[measure](one) for one in found])
    axes.plot(x, y, "o", color="0.6", markersize=3.5, alpha=0.7, label="a series")
    (one,) = (one for one in relations(found) if (one.spread, one.measure) == ("groups", measure))
    runs = list(dict.fromkeys(each.run for each in found))
    medians = [
        float(np.median([value for each, value in zip(found, y, strict=True) if each.run == run])) for run in runs
    ]
    groups = [next(each.groups for each in found if each.run == run) for run in runs]
    axes.plot(groups, medians, "D", color="#d55e00", markersize=5, label="median of an allocation")
    of = one.correlation
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
    page=_page,
    picture=draw,
    gather=gather,
)
