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


def as_text(found: Analysis) -> str:
    """All tables, with what they mean."""
    lines = [*_dispersion(found), *_notes(found)]
    for one in found.series:
        if one.fits is not None:
            lines += ["", *_fits(one)]
    if found.related:
        lines += ["", *_related(found), "", CAUSE]
    if found.left_out:
        lines += ["", *(f"left out: {label}: {why}" for label, why in found.left_out.items())]
    if found.unfinished:
        lines.append(f"left out: {found.unfinished:,} rows without a time: not done at the end of the run")
    return "\n".join(lines)


def _dispersion(found: Analysis) -> list[str]:
    unit, factor = unit_of(one.dispersion.median for one in found.series if one.dispersion.median > 0)
    label = ", ".join(found.keys) or "series"
    names = [label, "n", "median", "95 %", "IQR", "QCD", "mean", "p99", "max", "tail", "p99/median", "peaks"]
    rows = []
    for one in found.series:
        of = one.dispersion
        peaks = "-"
        if one.peaks is not None:
            peaks = str(one.peaks.count) + ("+" if one.peaks.count == MOST_PEAKS else "")
        between = "-" if of.interval is None else " to ".join(digits(end, factor) for end in of.interval)
        times = [digits(value, factor) for value in (of.iqr, of.mean, of.p99, of.maximum)]
        rows.append(
            [
                one.label,
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
    of_ranks = " of the slowest rank of each iteration" if found.slowest_rank else ""
    return [f"`{found.value}`{of_ranks}, times in {unit}", "", *table.lines()]


def _notes(found: Analysis) -> list[str]:
    lines = [
        "",
        "95 %: interval of the median; QCD: (Q3 - Q1) / (Q3 + Q1); tail: share above Q3 + 1.5 IQR "
        f"({fixed(TAIL_OF_NORMAL, '.1%')} of a normal, {fixed(TAIL_OF_EXPONENTIAL, '.1%')} of an exponential "
        "distribution); peaks: Silverman's test",
    ]
    for one in found.series:
        if one.peaks is not None and one.peaks.count > 1:
            unit, factor = unit_of(one.peaks.at)
            places = " and ".join(digits(at, factor) for at in one.peaks.at)
            lines.append(f"{one.label}: peaks at {places} {unit}; p of one peak {one.peaks.p_one:.3f}")
        if one.peaks is None:
            lines.append(f"{one.label}: peaks not tested: too few values, or too few different ones")
        if one.unfit:
            lines.append(f"{one.label}: no distribution fitted: {one.unfit}")
    correlated = [one for one in found.series if (one.dispersion.autocorrelation or 0) > CORRELATED]
    if correlated:
        most = max(one.dispersion.autocorrelation or 0 for one in correlated)
        lines.append(
            f"{len(correlated)} of {len(found.series)} series: neighbours are correlated (rank correlation up to "
            f"{most:.2f}), so that intervals are too narrow and drift can make peaks"
        )
    return lines


def _fits(one: Series) -> list[str]:
    assert one.fits is not None
    found = one.fits
    if not found.fits:
        return [f"{one.label}: no family fits"]
    ranks = {criterion: found.ranks(criterion) for criterion in CRITERIA}
    shown = [fit for fit in found.fits if min(ranks[c][fit.family] for c in CRITERIA) == 1]
    shown = sorted({fit.family: fit for fit in (*found.fits[:SHOWN], *shown)}.values(), key=lambda fit: fit.aic)
    least = found.fits[0].aic
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
    of = f" (every {-(-found.of // found.n)}th value)" if found.n < found.of else ""
    head = (
        f"{one.label}: {len(found.fits)} of {len(found.fits) + len(found.failures)} families fit {found.n:,} values{of}"
    )
    names = ("family", "parameters", "AIC over the best", "rank", "KS", "rank", "histogram", "rank")
    table = Table([Column(name, index > 0) for index, name in enumerate(names)], rows)
    lines = [head, "", *table.lines(), ""]
    if found.rejected:
        bound = 1.36 / found.n**0.5
        lines.append(f"none describes the values: KS of the best is {found.fits[0].ks:.4f}, above {bound:.4f} (95 %)")
    why: dict[str, list[str]] = {}
    for family, reason in found.failures.items():
        why.setdefault(reason, []).append(family)
    lines += [f"not fitted: {', '.join(families)}: {reason}" for reason, families in why.items()]
    return lines


def _related(found: Analysis) -> list[str]:
    first = found.related[0]
    names = [", ".join(found.keys) or "series", "points", "r", "95 %", "rho", "95 %"]
    with_hours = first.time_of_day is not None
    if with_hours:
        names += ["r without hour", "95 %", "rho without hour", "95 %"]
    rows = [_relation(one, with_hours=with_hours) for one in found.related]
    table = Table(columns(names), rows)
    said = f"mean of `{found.value}` against `{first.column}`; a point is a value of `{first.points}`"
    if with_hours:
        said += f"; without hour: what the time of day (`{first.time_of_day}`) explains is left out"
    return [said, "", *table.lines()]


def _relation(one: Related, *, with_hours: bool) -> list[str]:
    of = one.correlation
    cells = [one.label, str(of.n), *_coefficient(of.pearson), *_coefficient(of.spearman)]
    if with_hours:
        cells += [*_coefficient(of.partial_pearson), *_coefficient(of.partial_spearman)]
    return cells


def _coefficient(one: Coefficient | None) -> list[str]:
    if one is None or one.value != one.value:
        return ["-", "-"]
    between = "-" if one.interval is None else f"{one.interval[0]:.2f} to {one.interval[1]:.2f}"
    return [f"{one.value:.2f}", between]
