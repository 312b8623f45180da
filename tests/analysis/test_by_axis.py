"""The runs of a study arranged for a picture."""

from __future__ import annotations

import polars as pl
import pytest

from odonata.analysis.by_axis import arrange, numeric, usual_axes
from odonata.errors import InputError

ROWS = pl.DataFrame(
    {
        "interval": ["2 us", "500 ns", "2 us", "500 ns"] * 2,
        "place": ["near"] * 4 + ["far"] * 4,
        "run.seed": [1, 1, 2, 2] * 2,
        "time_ps": [40, 10, 20, 30, 400, 100, 200, None],
    }
)


def test_quantities_are_numbers_and_in_order() -> None:
    arranged = arrange(ROWS, "interval", "time_ps", "place")
    assert (arranged.kind, arranged.series_key, [series.name for series in arranged.series]) == (
        "time",
        "place",
        ["near", "far"],
    )
    near, far = arranged.series
    assert [(spot.label, spot.x, spot.values.tolist()) for spot in near.spots] == [
        ("500 ns", 500_000.0, [10.0, 30.0]),
        ("2 us", 2_000_000.0, [20.0, 40.0]),
    ]
    assert [spot.values.tolist() for spot in far.spots] == [[100.0], [200.0, 400.0]]


def test_names_keep_their_order() -> None:
    (series,) = arrange(ROWS, "place", "time_ps", None).series
    assert [(spot.label, spot.x, len(spot.values)) for spot in series.spots] == [("near", 0.0, 4), ("far", 1.0, 3)]


@pytest.mark.parametrize(
    ("labels", "kind", "numbers"),
    [
        ([1, 2.5], "number", [1.0, 2.5]),
        (["4 KB", "1 KiB"], "size", [4000.0, 1024.0]),
        (["1 GB/s", "8 Gbit/s"], "bandwidth", [1e9, 1e9]),
        (["1 us", "4 KB"], "name", [0.0, 1.0]),
        (["1 us", "near"], "name", [0.0, 1.0]),
        ([True, False], "name", [0.0, 1.0]),
    ],
)
def test_what_an_axis_measures(labels: list[object], kind: str, numbers: list[float]) -> None:
    assert numeric(labels) == (kind, numbers)


def test_the_first_axis_of_quantities_is_drawn_along_and_the_seed_last() -> None:
    axes = ["place", "run.seed", "interval"]
    assert usual_axes(axes, ROWS, "run.seed") == ("interval", "place")
    assert usual_axes(["place", "run.seed"], ROWS, "run.seed") == ("place", None)
    assert usual_axes(["run.seed"], ROWS, "run.seed") == ("run.seed", None)


def test_a_column_of_nothing() -> None:
    with pytest.raises(InputError, match="no run of the study has a number in `slowdown`"):
        arrange(ROWS.with_columns(slowdown=pl.lit(None, dtype=pl.Float64)), "place", "slowdown", None)
