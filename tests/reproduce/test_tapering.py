"""The statements of figure 5 of Salimi Beni 2022 for several numbers of cables, on times that are known."""

from __future__ import annotations

import numpy as np
import pytest

from odonata.analysis import peaks
from odonata.reproduce.salimibeni2022 import runs as of_figure
from odonata.reproduce.salimibeni2022 import tapering

FAST, SLOW = 100e6, 640e6


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """Peaks are told from 60 samples of the bootstrap instead of 400, which take most of the time of these tests."""
    monkeypatch.setattr(peaks, "DRAWS", 60)


def run(point):
    """Times of one peak at low b and with minimal routing, of two peaks and 6.4 times as long at high b."""
    high, minimal = point["load"] == tapering.HIGH, point["routing"] == of_figure.MINIMAL
    generator = np.random.default_rng(point["draw"])
    times = generator.normal(SLOW if high else FAST, 1e6 * (3 if high else 1), 60)
    if high and not minimal:
        times[::2] += 60e6
    return {
        **point, "times_ps": times, "minimal": 0.7 if high else 0.9, "minimal_all": 0.8 if high else 0.9,
        "global": 0.4 if high else 0.1,
    }  # fmt: skip


@pytest.fixture(scope="module")
def measured():
    chosen = [point for point in tapering.points(False) if point["cables"] in (15, 3)]
    return [run(point) for point in chosen]


def test_fewer_cables_are_the_preset_with_fewer_cables():
    points = {point["cables"]: point for point in tapering.points(True)}
    shipped, fewer = (tapering.make(points[cables]).resolve() for cables in (15, 3))
    figure = of_figure.make(points[15]).resolve()
    assert shipped.spec["topology"] == figure.spec["topology"]
    assert fewer.spec["topology"] != shipped.spec["topology"]
    assert fewer.spec["jobs"] == shipped.spec["jobs"]


def test_known_times_give_their_verdicts_and_candidates_none(measured):
    rows = tapering.compare(measured)
    shipped = {row.what: row for row in rows if row.model == "100 %"}
    assert {row.verdict for row in rows if row.model == "20 %"} == {"not comparable"}
    mean = shipped["broadcast, 1 MiB: mean at high b over low b"]
    assert (mean.verdict, mean.repetitions) == ("match", tapering.QUEUE_PAIRS)
    assert mean.ours == pytest.approx(6.7, abs=0.1)
    assert mean.interval is not None
    assert mean.interval[0] < mean.ours < mean.interval[1]
    assert shipped["alltoall, 1 MiB: mean at high b over low b"].verdict == "no match"
    assert shipped["reduce: p of one peak at high b, minimal minus adaptive routing"].verdict == "direction"
    assert shipped["reduce: queues of high b with two peaks or more, adaptive routing"].ours == 100
    assert shipped["reduce: queues of high b with two peaks or more, adaptive routing"].verdict == "direction"
    assert shipped["reduce: queues of high b with two peaks or more, minimal routing"].verdict == "direction"
    assert shipped["alltoall: share of non-minimal packets at high b minus low b"].ours == pytest.approx(20)


def test_a_value_that_does_not_differ_is_no_direction(measured):
    same = [{**row, "times_ps": measured[0]["times_ps"], "minimal": 0.9} for row in measured]
    rows = [row for row in tapering.compare(same) if row.model == "100 %"]
    assert {row.verdict for row in rows if row.tolerance in ("> 0", "> 1", "< 1", "> 50")} == {"no match"}
