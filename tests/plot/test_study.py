"""What the picture of a study shows: positions, heights and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from odonata.analysis.by_axis import arrange
from odonata.errors import InputError
from odonata.plot.study import plot_arranged
from odonata.plot.style import relabel, save

if TYPE_CHECKING:
    from pathlib import Path

ROWS = pl.DataFrame(
    {
        "interval": ["1 us", "2 us"] * 6,
        "place": ["near"] * 6 + ["far"] * 6,
        "time_ps": [value * 1_000_000 for value in (1, 2, 3, 4, 8, 6, 10, 20, 30, 40, 80, 60)],
    }
)


def axes(key: str, series: str | None, **more: Any) -> Any:
    return plot_arranged(arrange(ROWS, key, "time_ps", series), job="target", **more).axes[0]


def test_an_axis_of_times_gives_lines_of_medians_with_quartiles() -> None:
    drawn = axes("interval", "place", log=False)
    near, far = (line for line in drawn.lines if line.get_marker() in "os")
    assert list(near.get_xdata()) == [1.0, 2.0]
    assert list(near.get_ydata()) == [3.0, 4.0]
    assert list(far.get_ydata()) == [30.0, 40.0]
    band = drawn.collections[0].get_paths()[0].vertices
    assert {tuple(vertex) for vertex in band} >= {(1.0, 2.0), (1.0, 5.5), (2.0, 3.0), (2.0, 5.0)}
    dots = [line for line in drawn.lines if line.get_marker() == "."]
    assert sorted(value for line in dots for value in line.get_ydata()) == sorted(np.array(ROWS["time_ps"]) / 1e6)
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("interval between messages (µs)", "time of target (µs)")
    legend = drawn.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["near", "far"]
    assert legend.get_title().get_text() == "placement"
    assert drawn.get_ylim() == (0, pytest.approx(80 * 1.05)), "in the unit of the axis"


def test_an_axis_of_names_gives_boxes() -> None:
    drawn = axes("place", None, log=False)
    assert [text.get_text() for text in drawn.get_xticklabels()] == ["near", "far"]
    boxes = [patch.get_path().get_extents() for patch in drawn.patches]
    assert [(box.y0, box.y1) for box in boxes] == [(2.25, 5.5), (22.5, 55.0)]
    assert [round((box.x0 + box.x1) / 2, 6) for box in boxes] == [0.0, 1.0]
    assert drawn.get_legend() is None


def test_boxes_of_several_series_stand_side_by_side() -> None:
    drawn = axes("place", "interval")
    middles = sorted(
        round((box.x0 + box.x1) / 2, 6) for box in (patch.get_path().get_extents() for patch in drawn.patches)
    )
    assert middles == [-0.2, 0.2, 0.8, 1.2]
    assert len({patch.get_edgecolor() for patch in drawn.patches}) == 2


def test_the_spread_decides_for_a_logarithmic_axis() -> None:
    assert axes("place", None).get_yscale() == "log"  # 1 to 80
    assert axes("place", None, log=False).get_yscale() == "linear"
    few = ROWS.filter(pl.col("place") == "near")
    drawn = plot_arranged(arrange(few, "interval", "time_ps", None)).axes[0]
    assert drawn.get_yscale() == "linear"


@pytest.mark.parametrize("names", [["x" * 40, "y" * 40], [f"name {n}" for n in range(20)]])
def test_names_that_do_not_fit_are_slanted(names: list[str]) -> None:
    rows = pl.DataFrame({"place": names, "time_ps": list(range(1, len(names) + 1))})
    drawn = plot_arranged(arrange(rows, "place", "time_ps", None)).axes[0]
    labels = drawn.get_xticklabels()
    assert {label.get_rotation() for label in labels} == ({35.0} if len(names) == 2 else {labels[0].get_rotation()})
    assert all(len(line) <= 28 for label in labels for line in label.get_text().split("\n"))
    assert [label.get_text().replace("\n", "") for label in labels] == names


def test_tables_as_names_are_whole_and_legends_fit() -> None:
    policies = [f'{{ name = "application-aware", policy = "app-aware", min_ratio = 0.{n} }}' for n in (5, 7)]
    rows = ROWS.with_columns(routing=pl.Series(policies * 6))
    drawn = plot_arranged(arrange(rows, "interval", "time_ps", "routing")).axes[0]
    legend = [text.get_text().split("\n") for text in drawn.get_legend().get_texts()]
    assert legend == [["application-aware, policy", f"app-aware, min_ratio 0.{n}"] for n in (5, 7)]
    frame = drawn.figure.bbox
    assert all(drawn.get_legend().get_window_extent().x1 <= frame.x1 for _ in [drawn.figure.canvas.draw()])


def test_columns_have_the_unit_of_the_registry() -> None:
    rows = ROWS.with_columns(throughput=pl.col("time_ps") * 1e4, nodes=pl.lit(3))
    drawn = plot_arranged(arrange(rows, "interval", "throughput", None)).axes[0]
    assert drawn.get_ylabel() == "throughput (GB/s)"
    assert max(drawn.lines[0].get_ydata()) < 1000
    assert plot_arranged(arrange(rows, "interval", "nodes", None)).axes[0].get_ylabel() == "nodes"


LOADS = ROWS.with_columns(
    load=pl.Series(["20 %", "90 %"] * 6),
    saturated=pl.Series([False, True] * 5 + [None, True]),
    accepted_fraction=pl.Series([1.0, 0.6] * 6),
)


def saturated_marks(drawn: Any) -> list[tuple[float, float]]:
    lines = [line for line in drawn.lines if line.get_marker() == "x"]
    return [(x, y) for line in lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def test_saturated_runs_are_marked_with_a_legend_entry() -> None:
    """On lines and on boxes, exactly the runs that are saturated."""
    drawn: Any = plot_arranged(arrange(LOADS, "load", "time_ps", None), log=False).axes[0]
    expected = sorted(value / 1e6 for value in LOADS.filter(pl.col("saturated"))["time_ps"])
    assert sorted(y for _, y in saturated_marks(drawn)) == expected
    assert {x for x, _ in saturated_marks(drawn)} == {90.0}
    assert [text.get_text() for text in drawn.get_legend().get_texts()] == ["saturated run"]
    boxes: Any = plot_arranged(arrange(LOADS, "place", "time_ps", "load"), log=False).axes[0]
    assert sorted(y for _, y in saturated_marks(boxes)) == expected
    assert boxes.get_legend().get_texts()[-1].get_text() == "saturated run"
    none: Any = plot_arranged(arrange(LOADS.filter(load="20 %"), "place", "time_ps", None)).axes[0]
    assert saturated_marks(none) == []
    assert none.get_legend() is None


def test_a_saturated_median_is_marked_if_runs_are_too_many_for_dots() -> None:
    many = pl.DataFrame({"load": [0.5] * 40, "time_ps": list(range(1, 41)), "saturated": [True] * 25 + [False] * 15})
    drawn: Any = plot_arranged(arrange(many, "load", "time_ps", None)).axes[0]
    assert len(saturated_marks(drawn)) == 1
    few = many.with_columns(saturated=pl.Series([True] * 5 + [False] * 35))
    assert saturated_marks(plot_arranged(arrange(few, "load", "time_ps", None)).axes[0]) == []


def test_shares_are_numbers_in_percent() -> None:
    drawn: Any = plot_arranged(arrange(LOADS, "load", "accepted_fraction", None), job="all").axes[0]
    assert drawn.get_xlabel() == "offered load (%)"
    assert drawn.get_ylabel() == "accepted share of the offered load of all (%)"
    line = next(line for line in drawn.lines if line.get_marker() == "o")
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([20.0, 90.0], [100.0, 60.0])


def test_a_logarithmic_axis_has_numbers_without_powers() -> None:
    drawn: Any = plot_arranged(arrange(ROWS, "place", "time_ps", None)).axes[0]
    drawn.figure.draw_without_rendering()
    assert "10" in [label.get_text() for label in drawn.get_yticklabels()]


def two_routings() -> Any:
    """A study of two routings in which some runs are saturated."""
    words = {"near": "minimal", "far": "valiant"}
    rows = LOADS.with_columns(routing=pl.col("place").replace(words))
    return plot_arranged(arrange(rows, "load", "time_ps", "routing"), job="all", title="load; saturated in 6 of 12")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["png", "pgf"])
def test_a_picture_for_a_column_of_a_paper_is_whole(tmp_path: Path, kind: str) -> None:
    """At 3.4 x 2.4 inches the legend is in the picture, and the axes have most of it."""
    made = two_routings()
    relabel(made, title=None, x_label=None, y_label=None, size=(3.4, 2.4))
    save(made, tmp_path / f"a.{kind}")
    (drawn,) = made.axes
    legend = drawn.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["minimal", "valiant", "saturated run"]
    assert legend.get_window_extent().x1 <= made.bbox.x1
    box = drawn.get_window_extent()
    assert box.width >= 0.7 * made.bbox.width
    assert box.height >= 0.3 * made.bbox.height


@pytest.mark.filterwarnings("error")
def test_a_picture_that_is_too_small_says_which_size_is_enough(tmp_path: Path) -> None:
    made = two_routings()
    relabel(made, title=None, x_label=None, y_label=None, size=(1, 0.7))
    with pytest.raises(InputError, match="too small at 1 x") as caught:
        save(made, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []
    said = str(caught.value.hint).rpartition(" ")[2]
    wide, high = map(float, said.split("x"))
    made = two_routings()
    relabel(made, title=None, x_label=None, y_label=None, size=(wide, high))
    save(made, tmp_path / "a.png")


@pytest.mark.parametrize("column", ["iteration_variation", "slowdown"])
@pytest.mark.parametrize("key", ["place", "interval"])
def test_ratios_begin_near_one(tmp_path: Path, column: str, key: str) -> None:
    """Boxes from 1.01 to 1.05 fill the axis, and the label beside it is whole."""
    rows = ROWS.with_columns(pl.Series(column, [1.01, 1.02, 1.03, 1.04, 1.05, 1.02] * 2))
    made: Any = plot_arranged(arrange(rows, key, column, None), job="application", title="a study")
    low, high = made.axes[0].get_ylim()
    assert 0.99 < low < 1 < 1.05 < high < 1.06
    relabel(made, title=None, x_label=None, y_label=None, size=(3.4, 2.4))
    save(made, tmp_path / "a.png")
    made.draw_without_rendering()
    box = made.axes[0].yaxis.label.get_window_extent()
    assert -1 <= box.y0 < box.y1 <= made._suptitle.get_window_extent().y0 + 1
    wide = plot_arranged(arrange(rows.with_columns(pl.col(column) * 10), key, column, None)).axes[0]
    assert wide.get_ylim()[1] > 10
