"""Measures on outcomes made by hand."""

import pytest

from odonata.reproduce.measures import MEASURES, SCALE
from odonata.reproduce.outcome import Outcome


def outcome(mean_us=1.0, **more):
    numbers = {
        "mean_ps": mean_us * 1e6,
        "quantiles_ps": {},
        "delivered": 1,
        "minimal": 1.0,
        "end_ps": 1,
        "up_ports": [],
        "global_ports": [],
        "root_rate": None,
        "background_in": None,
        "background_out": None,
    }
    return Outcome(**(numbers | more))


@pytest.mark.parametrize(
    ("measure", "cases", "reference", "value"),
    [
        ("mean", [2.5], [], 2.5e6),
        ("ratio", [6.0], [4.0], 1.5),
        ("mean-ratio", [6.0, 10.0], [4.0, 4.0], 2.0),
        ("largest-ratio", [6.0, 10.0], [4.0, 4.0], 2.5),
        ("least-ratio", [6.0, 10.0], [4.0, 4.0], 1.5),
        ("ratio-of-largest", [6.0, 10.0, 5.0, 4.0], [4.0] * 4, 2.0),
        ("slowdown", [5.0], [4.0], 25.0),
        ("largest-slowdown", [5.0, 6.0], [4.0, 4.0], 50.0),
        ("spread", [4.0, 5.0, 4.5], [], 25.0),
    ],
)
def test_latencies(measure, cases, reference, value):
    found = MEASURES[measure]([outcome(mean) for mean in cases], [outcome(mean) for mean in reference])
    assert found == pytest.approx(value)


def test_rates():
    one = outcome(root_rate=13.32 * 2**30, background_in=800.0 * 2**30, background_out=900.0 * 2**30)
    assert MEASURES["rate"]([one], []) / SCALE["GiB/s"] == pytest.approx(13.32)
    assert MEASURES["background"]([one], []) / SCALE["GiB/s"] == pytest.approx(1700)
    # K53: 384 links of 4.37 GiB/s are 1,678 GiB/s.
    assert MEASURES["background-load"]([one], []) == pytest.approx(1700 / 1678.08)


def test_a_measure_of_one_case_refuses_two():
    with pytest.raises(ValueError, match="too many values"):
        MEASURES["mean"]([outcome(), outcome()], [])
