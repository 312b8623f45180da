"""An analysis as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.analysis.correlation import CAUSE
from odonata.analysis.dispersion import TAIL_OF_EXPONENTIAL, TAIL_OF_NORMAL
from odonata.analysis.fits import CRITERIA
from odonata.analysis.peaks import MOST_PEAKS
from odonata.text import Column, Table, columns
from odonata.text.numbers import digits, fixed, unit_of

if TYPE_CHECKING:
    from odonata.analysis.correlation import Coefficient
    from odonata.iterations.analysis import Analysis, Related, Series

SHOWN = 5
"""Families of a series that are shown; `--json` has all."""

CORRELATED = 0.2
"""Correlation of neighbours from which the text warns of it. Assumed: the interval of independent values is then 20 %
too narrow, by sqrt((1 + r) / (1 - r))."""


def as_text(analysis: Analysis) -> str:
    """All tables, with what they mean."""
    lines = [*_dispersion(analysis), *_notes(analysis)]
    for series in analysis.series:
        if series.fits is not None:
            lines += ["", *_fits(series)]
    if analysis.related:
        lines += ["", *_related(analysis), "", CAUSE]
    if analysis.left_out:
        lines += ["", *(f"left out: {label}: {why}" for label, why in analysis.left_out.items())]
    if analysis.unfinished:
        lines.append(f"left out: {analysis.unfinished:,} rows without a time: not done at the end of the run")
    return "\n".join(lines)


def _dispersion(analysis: Analysis) -> list[str]:
    unit, factor = unit_of(series.dispersion.median for series in analysis.series if series.dispersion.median > 0)
    label = ", ".join(analysis.keys) or "series"
    names = [label, "n", "median", "95 %", "IQR", "QCD", "mean", "p99", "max", "tail", "p99/median", "peaks"]
    rows = []
    for series in analysis.series:
        of = series.dispersion
        peaks = "-"
        if series.peaks is not None:
            peaks = str(series.peaks.count) + ("+" if series.peaks.count == MOST_PEAKS else "")
        between = "-" if of.interval is None else " to ".join(digits(end, factor) for end in of.interval)
        times = [digits(value, factor) for value in (of.iqr, of.mean, of.p99, of.maximum)]
        rows.append(
            [
                series.label,
                f"{of.n:,}",
                digits(of.median, factor),
                between,
                times[0],
                fixed(of.qcd, ".4f"),
                *times[1:],
                fixed(of.tail_share, ".1%"),
                fixed(of.tail_length, ".2f"),
                peaks,
            ]
        )
    table = Table(columns(names), rows)
    of_ranks = " of the slowest rank of each iteration" if analysis.slowest_rank else ""
    return [f"`{analysis.value}`{of_ranks}, times in {unit}", "", *table.lines()]


def _notes(analysis: Analysis) -> list[str]:
    lines = [
        "",
        "95 %: interval of the median; QCD: (Q3 - Q1) / (Q3 + Q1); tail: share above Q3 + 1.5 IQR "
        f"({fixed(TAIL_OF_NORMAL, '.1%')} of a normal, {fixed(TAIL_OF_EXPONENTIAL, '.1%')} of an exponential "
        "distribution); peaks: Silverman's test",
    ]
    for series in analysis.series:
        if series.peaks is not None and series.peaks.count > 1:
            unit, factor = unit_of(series.peaks.at)
            places = " and ".join(digits(at, factor) for at in series.peaks.at)
            lines.append(f"{series.label}: peaks at {places} {unit}; p of one peak {series.peaks.p_one:.3f}")
        if series.peaks is None:
            lines.append(f"{series.label}: peaks not tested: too few values, or too few different ones")
        if series.unfit:
            lines.append(f"{series.label}: no distribution fitted: {series.unfit}")
    correlated = [series for series in analysis.series if (series.dispersion.autocorrelation or 0) > CORRELATED]
    if correlated:
        most = max(series.dispersion.autocorrelation or 0 for series in correlated)
        lines.append(
            f"{len(correlated)} of {len(analysis.series)} series: neighbours are correlated (rank correlation up to "
            f"{most:.2f}), so that intervals are too narrow and drift can make peaks"
        )
    return lines


def _fits(series: Series) -> list[str]:
    assert series.fits is not None
    fits = series.fits
    if not fits.fits:
        return [f"{series.label}: no family fits"]
    ranks = {criterion: fits.ranks(criterion) for criterion in CRITERIA}
    shown = [fit for fit in fits.fits if min(ranks[c][fit.family] for c in CRITERIA) == 1]
    shown = sorted({fit.family: fit for fit in (*fits.fits[:SHOWN], *shown)}.values(), key=lambda fit: fit.aic)
    least = fits.fits[0].aic
    rows = [
        [
            fit.family,
            str(len(fit.parameters)),
            f"{fit.aic - least:,.1f}",
            str(ranks["aic"][fit.family]),
            f"{fit.ks:.4f}",
            str(ranks["ks"][fit.family]),
            f"{fit.histogram_error:.2e}",
            str(ranks["histogram_error"][fit.family]),
        ]
        for fit in shown
    ]
    of = f" (every {-(-fits.of // fits.n)}th value)" if fits.n < fits.of else ""
    head = (
        f"{series.label}: {len(fits.fits)} of {len(fits.fits) + len(fits.failures)} families fit {fits.n:,} values{of}"
    )
    names = ("family", "parameters", "AIC over the best", "rank", "KS", "rank", "histogram", "rank")
    table = Table([Column(name, index > 0) for index, name in enumerate(names)], rows)
    lines = [head, "", *table.lines(), ""]
    if fits.rejected:
        bound = 1.36 / fits.n**0.5
        lines.append(f"none describes the values: KS of the best is {fits.fits[0].ks:.4f}, above {bound:.4f} (95 %)")
    why: dict[str, list[str]] = {}
    for family, reason in fits.failures.items():
        why.setdefault(reason, []).append(family)
    lines += [f"not fitted: {', '.join(families)}: {reason}" for reason, families in why.items()]
    return lines


def _related(analysis: Analysis) -> list[str]:
    first = analysis.related[0]
    names = [", ".join(analysis.keys) or "series", "points", "r", "95 %", "rho", "95 %"]
    with_hours = first.time_of_day is not None
    if with_hours:
        names += ["r without hour", "95 %", "rho without hour", "95 %"]
    rows = [_relation(relation, with_hours=with_hours) for relation in analysis.related]
    table = Table(columns(names), rows)
    said = f"mean of `{analysis.value}` against `{first.column}`; a point is a value of `{first.points}`"
    if with_hours:
        said += f"; without hour: what the time of day (`{first.time_of_day}`) explains is left out"
    return [said, "", *table.lines()]


def _relation(relation: Related, *, with_hours: bool) -> list[str]:
    of = relation.correlation
    cells = [relation.label, str(of.n), *_coefficient(of.pearson), *_coefficient(of.spearman)]
    if with_hours:
        cells += [*_coefficient(of.partial_pearson), *_coefficient(of.partial_spearman)]
    return cells


def _coefficient(coefficient: Coefficient | None) -> list[str]:
    if coefficient is None or coefficient.value != coefficient.value:
        return ["-", "-"]
    between = "-" if coefficient.interval is None else f"{coefficient.interval[0]:.2f} to {coefficient.interval[1]:.2f}"
    return [f"{coefficient.value:.2f}", between]
