"""Pictures of an analysis."""

from __future__ import annotations

from collections import defaultdict
from math import ceil
from typing import TYPE_CHECKING, Literal

from odonata.analysis.correlation import CAUSE
from odonata.errors import InputError
from odonata.plot.style import LINES, figure, plain, settings
from odonata.plot.times import Sample, draw_densities, draw_histogram, draw_qcd, draw_scatter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from odonata.iterations.analysis import Analysis, Series
    from odonata.plot.style import Picture

Kind = Literal["density", "histogram", "scatter", "qcd"]

MOST_PANELS = 12
"""Panels of a picture."""
_WIDTH, _HEIGHT = 3.4, 2.7


def figure_of(analysis: Analysis, kind: Kind) -> Figure:
    """Draws an analysis.

    `density`: all series in one panel. `histogram`: a panel for each series. `scatter`: a panel for each correlation.
    `qcd`: the quartile coefficient of dispersion against the key that is a number. Raises InputError for more series
    than a picture holds, and for what the analysis lacks.
    """
    with settings():
        if kind == "density":
            _at_most(len(analysis.series), len(LINES), "lines", kind)
            made = figure(6.4, 4)
            draw_densities(made.subplots(), [_sample(series) for series in analysis.series])
            return made
        if kind == "qcd":
            made = figure(6.4, 4)
            _qcd(made, analysis)
            return made
        if kind == "histogram":
            made, panels = _panels(len(analysis.series), kind)
            for axes, series in zip(panels, analysis.series, strict=True):
                draw_histogram(axes, _sample(series))
            return made
        if not analysis.related:
            raise InputError("nothing is correlated, so there is no scatter plot", hint="say --correlate COLUMN")
        made, panels = _panels(len(analysis.related), kind)
        for axes, related in zip(panels, analysis.related, strict=True):
            draw_scatter(axes, related.x, related.y_ps, related.correlation, related.column)
            axes.set_title(plain(related.label))
        made.supxlabel(CAUSE.partition(":")[0], fontsize=8, color="0.35")
        return made


def _sample(series: Series) -> Sample:
    return Sample(series.label, series.times_ps, series.fits.best() if series.fits else None)


def _at_most(count: int, most: int, what: str, kind: str) -> None:
    if count > most:
        hint = "choose some with --where, or fewer columns with --by"
        raise InputError(f"a picture of kind `{kind}` has {most} {what} at most; here are {count}", hint=hint)


def _panels(count: int, kind: str) -> tuple[Picture, list]:  # type: ignore[type-arg]
    _at_most(count, MOST_PANELS, "panels", kind)
    across = min(count, 3)
    down = ceil(count / across)
    made = figure(max(across * _WIDTH, 4.4), down * _HEIGHT)
    grid = made.subplots(down, across, squeeze=False)
    panels = list(grid.flat)
    for empty in panels[count:]:
        empty.set_visible(False)
    return made, panels[:count]


def _qcd(made: Figure, analysis: Analysis) -> None:
    numbers = [name for name in analysis.keys if all(_is_number(series.key[name]) for series in analysis.series)]
    if not numbers:
        hint = "for example --by bytes"
        raise InputError("no column of --by holds numbers, against which the QCD could be drawn", hint=hint)
    across = "bytes" if "bytes" in numbers else numbers[-1]
    lines: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for series in analysis.series:
        if series.dispersion.qcd is not None:
            name = ", ".join(str(value) for key, value in series.key.items() if key != across)
            lines[name].append((float(series.key[across]), series.dispersion.qcd))
    _at_most(len(lines), len(LINES), "lines", "qcd")
    positive = all(x > 0 for points in lines.values() for x, _ in points)
    spread = max(x for points in lines.values() for x, _ in points) >= 8 * min(
        x for points in lines.values() for x, _ in points
    )
    draw_qcd(made.subplots(), lines, across, log=positive and spread)


def _is_number(value: object) -> bool:
    try:
        return float(str(value)) == float(str(value))
    except ValueError:
        return False
