"""`kang2019-broadcast`: both directions of the background, and five nodes per leaf."""

import pytest

from odonata.reproduce import find
from odonata.reproduce.kang2019 import broadcast
from odonata.reproduce.kang2019.runs import make

BOX = ("min", "p25", "p50", "p75", "max")


def quantiles(mean):
    return {f"latency_{name}_ps": mean * share for name, share in zip(BOX, (0.2, 0.5, 0.9, 1.2, 3.0), strict=True)}


def test_a_broadcast_keeps_both_directions_of_its_background(reduced):
    alone, beside = reduced("kang2019-broadcast")
    assert alone["background_in"] is None
    assert beside["background_in"] + beside["background_out"] == pytest.approx(beside["background_rate"])
    # What comes into a group without processes of the background goes out again.
    assert beside["background_in"] == pytest.approx(beside["background_out"], rel=0.05)
    # At most three groups with 48 links each can send into it.
    assert beside["background_in"] < 3 * 48 * 4.37 * 2**30
    assert 64 < len(beside["series"]) <= 128
    assert 5 * 2**30 < max(beside["series"]) < 1.02 * 16 * 2**30


def test_five_nodes_per_leaf_stand_in_for_the_largest_load(reduced):
    wanted = [row for row in broadcast._wanted() if "325 %" in row.what and row.what.startswith("broadcast")]
    assert len(wanted) == 9
    assert all("520" not in f"{row.what}{row.cases}" for row in wanted)
    (point,) = [point for point in find("kang2019-broadcast").points(True) if "325%" in point["case"]]
    assert make(point).data["job"][1]["place"]["per_leaf"] == 5
    rows = find("kang2019-broadcast").rows(reduced("kang2019-broadcast"))
    assert {(row.id, row.theirs) for row in rows} == {("K51", 0.27), ("K52", 13.32), ("K53", 874.29)}


def test_the_picture_of_broadcasts_has_a_box_for_each_load_and_the_rates_of_both_models():
    runs = [
        {
            **quantiles(2.7e8),
            "model": model,
            "case": f"broadcast/{place}/100us{load}",
            "messages": 1,
            "latency_mean_ps": 2.7e8,
            "series": [0.0, 8.0 * 2**30, 4.0 * 2**30],
            "series_ps": 4_000_000,
        }
        for model in ("correct", "as-published")
        for place in broadcast.THREE
        for load in ("", "/520%@1us")
    ]
    upper, lower = (find("kang2019-broadcast").picture([], runs).axes[at : at + 3] for at in (0, 3))
    assert [axes.get_title() for axes in upper] == ["9(a): contiguous", "9(b): random-out", "9(c): random-in"]
    # Alone and beside the heaviest background; the model as published has no box.
    assert [len(axes.patches) for axes in upper] == [2, 2, 2]
    rates = [line for line in lower[0].lines if line.get_label() in ("correct", "as-published")]
    assert [list(line.get_ydata()) for line in rates] == [[0.0, 8.0, 4.0]] * 2
    assert list(rates[0].get_xdata()) == [0.0, 4.0, 8.0]
    assert [line.get_ydata()[0] for line in lower[0].lines if line.get_linestyle() == "--"] == [16.0]


def test_what_the_two_rates_of_the_background_leave_for_its_direct_links():
    """1,758.43 - 2 x 874.29 GiB/s: in the text of the page, since the paper has no such value."""
    assert broadcast._left() == pytest.approx(9.85)
    assert not [row for row in broadcast._wanted() if row.theirs == pytest.approx(9.85)]
