"""Pictures of measured times: densities, histograms, scatter plots (Salimi Beni 2022, figures 1 and 3 to 6) and
coefficients of dispersion (De Sensi 2019, figure 5).

Density and histogram end at the 99 % quantile, as tails may be a thousand times longer than the rest. What lies beyond
is counted in the legend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import NullLocator

from odonata.analysis.fit import density
from odonata.plot.style import LINES, MARKERS, SERIES, plain, time_unit
from odonata.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from odonata.analysis.correlation import Coefficient, Correlation
    from odonata.analysis.fit import Fit

BINS = 60
"""Bins of a histogram that is drawn."""
POINTS = 600
"""Points of a curve."""


@dataclass(frozen=True)
class Sample:
    """Times with a name, and the family that fits them best."""

    name: str
    times_ps: NDArray[np.float64]
    """Shape `(n,)`."""
    fit: Fit | None = None


def draw_densities(axes: Axes, samples: Sequence[Sample]) -> Axes:
    """Draws the fitted density of each sample as a line; a histogram in outline where there is no fit."""
    unit, factor = time_unit(float(np.median(sample.times_ps)) for sample in samples)
    end = max(float(np.quantile(sample.times_ps, 0.99)) for sample in samples)
    begin = min(float(sample.times_ps.min()) for sample in samples)
    for sample, colour in zip(samples, LINES, strict=False):
        label = _label(sample, end)
        if sample.fit is None:
            edges = np.linspace(begin, end, BINS + 1)
            axes.stairs(_heights(sample.times_ps, edges) * factor, edges / factor, color=colour, label=label)
        else:
            at, heights = _curve(sample, begin, end)
            axes.plot(at / factor, heights * factor, color=colour, linewidth=1.6, label=label)
    _density_axes(axes, unit)
    return axes


def draw_histogram(axes: Axes, sample: Sample) -> Axes:
    """Draws a sample: histogram, fitted density, median and 85 % quantile."""
    unit, factor = time_unit([float(np.median(sample.times_ps))])
    begin, end = float(sample.times_ps.min()), float(np.quantile(sample.times_ps, 0.99))
    if begin == end:
        begin, end = begin - factor / 2, end + factor / 2
    edges = np.linspace(begin, end, BINS + 1)
    heights = _heights(sample.times_ps, edges) * factor
    label = _label(Sample("", sample.times_ps), end) or None
    axes.stairs(heights, edges / factor, fill=True, color=SERIES[0], label=label)
    if sample.fit is not None:
        at, curve = _curve(sample, begin, end)
        axes.plot(at / factor, curve * factor, color=LINES[1], linewidth=1.6, label=sample.fit.family)
        # A fitted density may be without bound at its end.
        axes.set_ylim(0, 1.15 * max(heights.max(), min(curve.max() * factor, 1.5 * heights.max())))
    for share, style in ((0.5, "-"), (0.85, "--")):
        name = "median" if share == 0.5 else "p85"
        axes.axvline(
            float(np.quantile(sample.times_ps, share)) / factor, color="0.25", lw=0.9, linestyle=style, label=name
        )
    axes.set_title(plain(sample.name))
    _density_axes(axes, unit)
    return axes


def draw_scatter(
    axes: Axes, x: NDArray[np.float64], y_ps: NDArray[np.float64], correlation: Correlation, x_name: str
) -> Axes:
    """Draws points, the line of least squares, and both coefficients with their 95 % intervals."""
    unit, factor = time_unit([float(np.median(y_ps))])
    axes.plot(x, y_ps / factor, "o", color=LINES[0], markersize=4, alpha=0.8)
    slope, start = np.polyfit(x, y_ps / factor, 1)
    ends = np.array([x.min(), x.max()])
    axes.plot(ends, slope * ends + start, color=LINES[1], linewidth=1.2)
    said = [f"r = {_coefficient(correlation.pearson)}", f"ρ = {_coefficient(correlation.spearman)}"]
    if correlation.partial_pearson is not None:
        said.append(f"r without hour = {_coefficient(correlation.partial_pearson)}")
    axes.text(0.03, 0.97, "\n".join(said), transform=axes.transAxes, va="top", fontsize=8)
    axes.set_xlabel(plain(x_name))
    axes.set_ylabel(f"mean time ({unit})")
    # Room for the coefficients above the points.
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.25 * (high - low))
    return axes


def draw_qcd(axes: Axes, lines: Mapping[str, Sequence[tuple[float, float]]], x_name: str, *, log: bool) -> Axes:
    """Draws a line for each name through its points (x, QCD)."""
    for number, (name, points) in enumerate(lines.items()):
        x, y = zip(*sorted(points), strict=True)
        colour, marker = LINES[number % len(LINES)], MARKERS[number % len(MARKERS)]
        axes.plot(x, y, marker=marker, markersize=4.5, linewidth=1.4, color=colour, label=plain(name) or None)
    if log:
        axes.set_xscale("log", base=2)
        ticks: list[float] = []
        for tick in sorted({at for points in lines.values() for at, _ in points}):
            if not ticks or tick >= 4 * ticks[-1]:  # labels of nearer ones overlap
                ticks.append(tick)
        names = [format_bytes(int(tick)) if x_name == "bytes" else f"{tick:g}" for tick in ticks]
        axes.set_xticks(ticks, names)
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(bottom=0)
    axes.set_xlabel("size" if x_name == "bytes" else plain(x_name))
    axes.set_ylabel("QCD = (Q3 - Q1) / (Q3 + Q1)")
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    if any(lines):
        axes.legend()
    return axes


def _heights(times: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Density in the bins of all values, those beyond the last edge included in the total."""
    return np.asarray(np.histogram(times, edges)[0] / (len(times) * (edges[1] - edges[0])))


def _curve(sample: Sample, begin: float, end: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    assert sample.fit is not None
    # Quantiles too, for peaks that are narrow beside the tail.
    inside = np.quantile(sample.times_ps, np.linspace(0, 0.99, POINTS))
    at = np.unique(np.concatenate([np.linspace(begin, end, POINTS), inside]))
    heights = density(sample.fit, at)
    # Some densities have no bound at one end.
    finite = np.isfinite(heights)
    return at, np.where(finite, heights, heights[finite].max(initial=0.0))


def _label(sample: Sample, end: float) -> str:
    beyond = int((sample.times_ps > end).sum())
    parts = [plain(sample.name)] if sample.name else []
    if sample.fit is not None:
        parts.append(sample.fit.family)
    if beyond:
        parts.append(f"{beyond:,} beyond")
    return ", ".join(parts)


def _density_axes(axes: Axes, unit: str) -> None:
    axes.set_xlabel(f"time ({unit})")
    axes.set_ylabel(f"density (1/{unit})")
    axes.set_ylim(bottom=0)
    axes.legend()


def _coefficient(coefficient: Coefficient) -> str:
    between = (
        "" if coefficient.interval is None else f" ({coefficient.interval[0]:.2f} to {coefficient.interval[1]:.2f})"
    )
    return f"{coefficient.value:.2f}{between}"
