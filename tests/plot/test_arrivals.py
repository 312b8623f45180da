"""Lines of traffic over time are the rates, and the capacity is a line of its own."""

from __future__ import annotations

from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

from odonata.plot.arrivals import draw_arrivals
from odonata.plot.style import MOST_LINES


def _rates(groups: int) -> pl.DataFrame:
    rows = [
        (start, 10_000_000, group, float(10 * group + start / 1e7))
        for start in (0, 10_000_000)
        for group in range(groups)
    ]
    return pl.DataFrame(rows, schema=["start_ps", "width_ps", "group", "rate"], orient="row")


def _steps(axes: Any) -> list[Any]:
    return [patch for patch in axes.patches if isinstance(patch, StepPatch)]


def test_a_step_line_for_each_group() -> None:
    axes: Any = draw_arrivals(Figure().subplots(), _rates(3), way="in")
    steps = _steps(axes)
    assert [step.get_label() for step in steps] == ["group 0", "group 1", "group 2"]
    assert list(steps[2].get_data().values) == [20.0, 21.0]
    assert list(steps[2].get_data().edges) == [0.0, 10.0, 20.0]
    assert axes.get_xlabel() == "simulated time (µs)"
    assert axes.get_ylabel() == "traffic into the group\n(GiB/s)"


def test_capacity_is_drawn_and_named() -> None:
    axes: Any = draw_arrivals(Figure().subplots(), _rates(2), capacity=1678.0)
    (line,) = axes.lines
    assert set(line.get_ydata()) == {1678.0}
    assert "capacity in and out" in [text.get_text() for text in axes.get_legend().get_texts()]
    assert axes.get_ylim()[1] > 1678.0


def test_of_many_groups_the_busiest_are_lines_and_the_others_a_band() -> None:
    axes: Any = draw_arrivals(Figure().subplots(), _rates(40))
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["35 other groups", *(f"group {group}" for group in range(35, 40))]
    band, *lines = _steps(axes)
    assert len(lines) == MOST_LINES - 1
    assert list(band.get_data().baseline) == [0.0, 1.0]
    assert list(band.get_data().values) == [340.0, 341.0]


def test_the_root_of_an_incast_is_a_line_though_its_senders_have_higher_peaks() -> None:
    """Catches a choice by peaks alone, which draws the group with most traffic grey."""
    bursts = [(0, 10_000_000, group, 20.0 - group) for group in range(17)]
    after = [
        (start * 10_000_000, 10_000_000, group, 1.0 * (group == 16)) for start in range(1, 40) for group in range(17)
    ]
    rates = pl.DataFrame([*bursts, *after], schema=["start_ps", "width_ps", "group", "rate"], orient="row")
    axes: Any = draw_arrivals(Figure().subplots(), rates)
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["12 other groups", "group 0", "group 1", "group 2", "group 3", "group 16"]


def test_six_groups_are_all_lines() -> None:
    axes: Any = draw_arrivals(Figure().subplots(), _rates(6))
    assert [step.get_label() for step in _steps(axes)] == [f"group {group}" for group in range(6)]
