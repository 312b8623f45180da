"""Data go into a file and come out of it as they were."""

from __future__ import annotations

import polars as pl
import pytest
from tests.report.conftest import data_of

from odonata.report.page import page
from odonata.report.payload import pack


def round_trip(**document):
    return data_of(page("title", document))


@pytest.mark.parametrize(
    "values",
    [[], [0], [255, 0, 3], [256, 1], [65_536, 65_535], [2**32 - 1], [2**32, 7], [2**53], [-1, 2], [0.1, -2.5e300]],
)
def test_numbers_of_every_size_come_back(values):
    assert round_trip(table=pl.DataFrame({"x": values}))["table"]["x"] == values


def test_nothing_is_nan_and_texts_are_texts():
    table = pl.DataFrame({"x": [1, None, 3], "name": ["ä", "</script>", "ä"], "flag": [True, False, True]})
    returned = round_trip(rest=[1, "two", None, {"three": [3.5]}], table=table)
    assert returned["rest"] == [1, "two", None, {"three": [3.5]}]
    assert returned["table"]["name"] == ["ä", "</script>", "ä"]
    assert returned["table"]["flag"] == [1, 0, 1]
    assert str(returned["table"]["x"]) == "[1.0, nan, 3.0]"


def test_columns_are_stored_in_the_smallest_type_and_equal_data_give_equal_bytes():
    small, large = pl.DataFrame({"x": [200] * 10_000}), pl.DataFrame({"x": [2.0**40] * 10_000})
    assert len(pack({"t": small})) < 200
    assert pack({"t": large}) == pack({"t": large.clone()})


def test_a_number_that_is_not_finite_is_refused_outside_of_tables():
    with pytest.raises(ValueError, match="JSON"):
        pack({"x": float("nan")})
