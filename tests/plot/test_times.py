"""Pictures of measured times show the values of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

from odonata.analysis.correlation import correlate
from odonata.analysis.fit import fit
from odonata.plot.times import Sample, draw_densities, draw_histogram, draw_qcd, draw_scatter

TIMES = np.random.default_rng(1).gamma(3, 2e6, 1000) + 50e6


def axes() -> Any:
    return Figure().subplots()


def labels(drawn: Any) -> list[str]:
    return [text.get_text() for text in drawn.get_legend().get_texts()]


def test_the_density_is_that_of_the_fit_and_what_lies_beyond_is_counted() -> None:
    fitted = fit("gamma", TIMES)
    drawn = draw_densities(axes(), [Sample("a", TIMES, fitted), Sample("b", TIMES + 1e6)])
    (line,) = drawn.lines
    x, y = line.get_data()
    assert np.trapezoid(y, x) == pytest.approx(0.99, abs=0.015)  # in 1/us
    assert x[np.argmax(y)] == pytest.approx(54, abs=1)
    assert labels(drawn) == ["a, gamma, 9 beyond", "b, 10 beyond"]
    assert drawn.get_xlabel() == "time (µs)"
    (outline,) = [patch for patch in drawn.patches if isinstance(patch, StepPatch)]
    heights, edges = outline.get_data().values, outline.get_data().edges
    assert (heights * np.diff(edges)).sum() == pytest.approx(0.99, abs=0.002)


def test_histogram_with_median_and_p85() -> None:
    drawn = draw_histogram(axes(), Sample("a $x$", TIMES, fit("gamma", TIMES)))
    assert labels(drawn) == ["10 beyond", "gamma", "median", "p85"]
    median, p85 = (line.get_xdata()[0] for line in drawn.lines[1:])
    assert (median, p85) == pytest.approx((np.median(TIMES) / 1e6, np.quantile(TIMES, 0.85) / 1e6))
    assert drawn.get_title() == r"a \$x\$"


def test_a_constant_sample_and_a_density_without_bound() -> None:
    drawn = draw_histogram(axes(), Sample("", np.full(50, 3e6)))
    low, high = drawn.get_xlim()
    assert low < 3 < high
    steep = fit("arcsine", np.linspace(1e6, 2e6, 50))
    assert np.isfinite(
        draw_densities(axes(), [Sample("", np.linspace(1e6, 2e6, 50), steep)]).lines[0].get_ydata()
    ).all()


def test_scatter_has_points_line_and_coefficients() -> None:
    x = np.arange(10.0)
    y = 2e6 * x + 5e6 + np.tile([1e5, -1e5], 5)
    correlation = correlate(x, y)
    drawn = draw_scatter(axes(), x, y, correlation, "b")
    points, line = drawn.lines
    assert list(points.get_xdata()) == list(x)
    assert points.get_ydata() == pytest.approx(y / 1e6)
    slope = np.diff(line.get_ydata()) / np.diff(line.get_xdata())
    assert slope == pytest.approx(2, abs=0.02)
    (text,) = drawn.texts
    assert text.get_text().startswith("r = 1.00 (")
    assert "ρ = " in text.get_text()
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("b", "mean time (µs)")


def test_qcd_against_size() -> None:
    drawn = draw_qcd(axes(), {"bcast": [(2048, 0.1), (4, 0.3)], "reduce": [(4, 0.2)]}, "bytes", log=True)
    assert [list(line.get_xdata()) for line in drawn.lines] == [[4, 2048], [4]]
    assert list(drawn.lines[0].get_ydata()) == [0.3, 0.1]
    assert [tick.get_text() for tick in drawn.get_xticklabels()] == ["4 B", "2 KiB"]
    assert labels(drawn) == ["bcast", "reduce"]
