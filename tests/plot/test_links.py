"""The heat maps show the matrices, and say the percentages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from odonata.plot.links import draw_group_matrix, draw_local, scale_for

BUSY = np.array([[np.nan, 0.42, 0.07], [0.005, np.nan, 0.2], [0.0, 0.1, np.nan]])


def test_the_matrix_is_drawn_as_it_is() -> None:
    axes: Any = draw_group_matrix(Figure().subplots(), BUSY)
    (image,) = axes.images
    np.testing.assert_array_equal(np.ma.filled(image.get_array(), np.nan), BUSY)
    assert image.get_clim() == (0, 0.5)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("to group", "from group")


def test_each_cell_with_links_says_its_percentage() -> None:
    axes: Any = draw_group_matrix(Figure().subplots(), BUSY)
    written = {tuple(int(x) for x in text.get_position()): text.get_text() for text in axes.texts}
    assert written == {(1, 0): "42", (2, 0): "7", (0, 1): "<1", (2, 1): "20", (0, 2): "0", (1, 2): "10"}


def test_equal_numbers_are_written_in_one_colour() -> None:
    axes: Any = draw_group_matrix(Figure().subplots(), np.array([[0.596, 0.604], [0.61, 0.0]]), top=1.0)
    assert [text.get_color() for text in axes.texts] == ["black", "black", "white", "black"]
    assert [text.get_text() for text in axes.texts] == ["60", "60", "61", "0"]


def test_a_large_matrix_has_no_numbers() -> None:
    assert not draw_group_matrix(Figure().subplots(), np.full((30, 30), 0.5)).texts


def test_routers_are_drawn_group_by_group() -> None:
    axes: Any = draw_local(Figure().subplots(), BUSY[:2], top=1.0)
    assert axes.images[0].get_array().shape == (2, 3)
    assert axes.images[0].get_clim() == (0, 1.0)


@pytest.mark.parametrize(("peak", "top"), [(0.0, 0.01), (0.013, 0.02), (0.2, 0.2), (0.51, 1.0), (1.2, 1.0)])
def test_the_scale_is_one_of_few_and_holds_the_peak_up_to_all_the_time(peak: float, top: float) -> None:
    assert scale_for(np.array([[np.nan, peak]]), np.array([[0.0]])) == top


def test_no_links_at_all_can_be_drawn() -> None:
    nothing = np.full((1, 1), np.nan)
    assert scale_for(nothing) == 0.01
    assert not draw_group_matrix(Figure().subplots(), nothing).texts


def test_the_busiest_link_is_named_and_leaves_are_told_from_spines() -> None:
    axes: Any = draw_local(Figure().subplots(), BUSY, busiest=(0.874, "router 3 to 7 of group 1"), leaves=2)
    assert "busiest link: 87 % (router 3 to 7 of group 1)" in axes.get_title(loc="left")
    assert axes.get_xlabel() == "router in the group, by id (leaves: 0 to 1; spines: 2 to 2)"
    (line,) = axes.lines
    assert set(line.get_xdata()) == {1.5}


def test_more_than_all_the_time_is_explained() -> None:
    said = "above 100 %: granted, but not sent by the end"
    for busy, there in ((BUSY, False), (BUSY / np.nanmax(BUSY) * 1.02, True)):
        assert (said in draw_group_matrix(Figure().subplots(), busy).get_title()) == there
