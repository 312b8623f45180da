"""The boxes are where the numbers are."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from odonata.plot.box import Box, boxes_of, draw_boxes, iteration_boxes_of, mixed_boxes_of
from odonata.plot.style import figure, relabel

US = 1e6
QUIET = {"min": 1 * US, "p25": 2 * US, "p50": 3 * US, "p75": 4 * US, "max": 8 * US, "mean": 3.5 * US}
LOADED = {"min": 1 * US, "p25": 3 * US, "p50": 5 * US, "p75": 9 * US, "max": 16 * US, "mean": 6 * US}
BOXES = [Box("target", "alone", QUIET), Box("target", "with", LOADED), Box("other", "with", QUIET)]


def _axes() -> Any:
    return Figure().subplots()


def test_whiskers_boxes_median_and_mean_are_the_numbers() -> None:
    axes: Any = draw_boxes(_axes(), BOXES[1:2])
    (box,) = axes.patches
    corners = box.get_path().vertices
    assert (corners[:, 1].min(), corners[:, 1].max()) == (3.0, 9.0)
    flat = {tuple(line.get_ydata()) for line in axes.lines}
    assert (5.0, 5.0) in flat  # median
    assert {(3.0, 1.0), (9.0, 16.0)} <= flat  # whiskers end at the least and the greatest
    (mean,) = (line for line in axes.lines if line.get_marker() == "o")
    assert list(mean.get_ydata()) == [6.0]
    assert mean.get_markerfacecolor() == "#7030a0"
    assert axes.get_ylabel() == "message latency (µs)"


def test_boxes_of_a_group_stand_side_by_side_over_its_name() -> None:
    axes: Any = draw_boxes(_axes(), BOXES)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["target", "other"]
    means = [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == "o"]
    assert means == pytest.approx([-0.2, 0.2, 1.0])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["alone", "with", "mean"]
    colours = [patch.get_facecolor() for patch in axes.patches]
    assert colours[1] == colours[2] != colours[0]


def test_many_long_names_do_not_run_into_each_other() -> None:
    made = figure(7.0, 3.4)
    axes: Any = draw_boxes(made.subplots(), [Box(f"a-long-application-name-of-nr{n}", "a", QUIET) for n in range(8)])
    made.draw_without_rendering()
    labels = axes.get_xticklabels()
    assert [label.get_text() for label in labels[:2]] == ["a-long-appli…-name-of-nr0", "a-long-appli…-name-of-nr1"]
    assert {label.get_rotation() for label in labels} == {40.0}
    assert min(label.get_window_extent().x0 for label in labels) >= 0
    # Slanted lines of text are clear of each other if the distance across them is more than their height.
    apart = (labels[1].get_window_extent().x0 - labels[0].get_window_extent().x0) * np.sin(np.radians(40))
    assert apart > 8.5 / 72 * made.dpi


def test_boxes_do_not_overlap() -> None:
    axes: Any = draw_boxes(_axes(), [Box("load", str(index), QUIET) for index in range(6)])
    spans = sorted(
        (patch.get_path().vertices[:, 0].min(), patch.get_path().vertices[:, 0].max()) for patch in axes.patches
    )
    assert all(left[1] < right[0] for left, right in itertools.pairwise(spans))


@pytest.mark.parametrize(("log", "factor", "scale"), [(None, 1, "linear"), (None, 100, "log"), (True, 1, "log")])
def test_the_axis_is_logarithmic_when_asked_for_or_needed(log: bool | None, factor: int, scale: str) -> None:
    boxes = [Box("a", "a", QUIET), Box("b", "a", {name: value * factor for name, value in QUIET.items()})]
    assert draw_boxes(_axes(), boxes, log=log).get_yscale() == scale


def test_a_linear_axis_asked_for_begins_at_zero() -> None:
    wide = Box("a", "a", {**QUIET, "max": 1000 * US})
    axes: Any = draw_boxes(_axes(), [wide], log=False)
    assert (axes.get_yscale(), axes.get_ylim()[0]) == ("linear", 0)


def test_boxes_of_a_run_leave_out_what_was_not_recorded() -> None:
    names = ("min", "p25", "p50", "p75", "max", "mean")
    jobs = pl.DataFrame(
        {"name": ["target", "noise", "silent"]}
        | {f"latency_{name}_ps": [LOADED[name], QUIET[name], None] for name in names}
        | {f"alone_{name}_ps": [QUIET[name], None, None] for name in names}
    )
    boxes = boxes_of(jobs)
    assert [(box.group, box.series) for box in boxes] == [
        ("target", "alone"),
        ("target", "with the other jobs"),
        ("noise", "with the other jobs"),
    ]
    assert boxes[0].latency_ps == QUIET
    assert boxes[1].latency_ps == LOADED


def test_iterations_of_programs_have_boxes_of_their_own() -> None:
    names = ("min", "p25", "p50", "p75", "max", "mean")
    row = {f"iteration_{name}_ps": float(value) for value, name in enumerate(names, 1)}
    none = dict.fromkeys(row)
    boxes = iteration_boxes_of(pl.DataFrame([{"name": "noise", **none}, {"name": "target", **row}]))
    assert [(box.group, box.latency_ps["p50"], box.latency_ps["mean"]) for box in boxes] == [("target", 3.0, 6.0)]
    axes = draw_boxes(figure(3, 3).subplots(), boxes, what="time of an iteration")
    assert axes.get_ylabel() == "time of an iteration (ps)"


def test_programs_show_their_iterations_alone_and_with_the_others(tmp_path):
    """Catches an overview of programs that draws latencies of messages, which may be those alone."""
    import odonata as od

    here = Path(__file__).parents[2] / "examples" / "halo-neighbours.toml"
    run = od.run(od.load(here, ["job.halo.iterations=2", "job.transform.iterations=3"]), alone=True)
    axes = run.plot().subfigs[0].axes[0]
    assert axes.get_ylabel().startswith("time of an iteration")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["alone", "with the other jobs", "mean"]
    boxes = iteration_boxes_of(run.jobs)
    transform = {box.series: box.latency_ps["mean"] for box in boxes if box.group == "transform"}
    assert transform["with the other jobs"] / transform["alone"] > 1.2
    assert run.plot()._repr_png_().startswith(b"\x89PNG")
    assert b"<html" in run.report(tmp_path / "report.html").read_bytes()[:200]


def test_a_program_beside_a_pattern_has_a_box_each() -> None:
    """Catches an overview that shows the iterations of one job and leaves out the other."""
    names = ("min", "p25", "p50", "p75", "max", "mean")
    of = {
        kind: {f"{kind}_{name}_ps": float(value) for value, name in enumerate(names, 1)}
        for kind in ("iteration", "latency")
    }
    program = {"name": "incast", **of["iteration"], **of["latency"], "iterations": 3, "latency_count": 90}
    pattern = {"name": "victim", **dict.fromkeys(of["iteration"]), **of["latency"], "latency_count": 90}
    boxes = mixed_boxes_of(pl.DataFrame([program, pattern]))
    assert [(box.group, box.count) for box in boxes] == [("incast\niterations", 3), ("victim\nmessages", 90)]


def test_a_few_values_are_dots_and_not_a_solid_block() -> None:
    some = {"min": 4.0, "p25": 4.0, "p50": 8.0, "p75": 9.0, "max": 9.0, "mean": 7.0}
    few, many = (draw_boxes(_axes(), [Box("a", "a", some, count)]) for count in (3, 300))
    assert next(list(line.get_ydata()) for line in few.lines if line.get_marker() == "o") == [4.0, 8.0, 9.0]
    assert not few.patches
    assert len(many.patches) == 1


def test_labels_and_size_can_be_given():
    made = figure(4, 3)
    made.subplots().set_ylabel("time")
    relabel(made, title="a $ b", x_label=None, y_label="other", size=(6, 2))
    assert made.get_suptitle() == r"a \$ b"
    assert (made.axes[0].get_xlabel(), made.axes[0].get_ylabel()) == ("", "other")
    assert made.get_size_inches().tolist() == [6, 2]
