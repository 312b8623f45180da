"""Rows of Kang 2019 from runs made by hand: measures, the compared number of messages, the reasons."""

import pytest

from odonata.reproduce.kang2019.published import MEASURES, SCALE, Expected, compare


def runs(case, by_messages, model="correct"):
    return [
        {"model": model, "case": case, "messages": n, "latency_mean_ps": mean_us * 1e6}
        for n, mean_us in by_messages.items()
    ]


def wanted(**more):
    row = {
        "id": "K30",
        "what": "a latency",
        "kind": "N",
        "theirs": 50.0,
        "unit": "us",
        "tolerance": "10 %",
        "measure": "mean",
        "cases": ("a",),
        "reference": (),
        "where": "",
        "why": {"correct": "the cause"},
        "tested": {"correct": "the page that shows it"},
    }
    return Expected(**(row | more))


GROWING = runs("a", {100: 20, 300: 51, 400: 70})


def test_without_an_inferred_number_what_grows_is_not_comparable():
    (row,) = compare([wanted()], GROWING)
    assert (row.messages, row.ours, row.verdict, row.growth) == (400, 70.0, "not comparable", "grows")
    assert row.by_messages == {100: 20.0, 300: 51.0, 400: 70.0}
    assert row.meets_at == pytest.approx(100 + 200 * 30 / 31)
    assert row.why == "grows with the number of messages, which the paper does not state"
    assert row.experiment == ""


def test_at_the_inferred_number_it_is_judged():
    (row,) = compare([wanted()], GROWING, inferred=300)
    assert (row.messages, row.ours, row.verdict) == (300, 51.0, "match")
    assert (row.why, row.note) == ("", "at 300 messages, a number inferred from another value")
    (row,) = compare([wanted(theirs=90.0)], GROWING, inferred=300)
    assert row.verdict == "no match"
    assert (row.why, row.experiment) == ("the cause", "the page that shows it")


def test_an_inferred_number_that_was_not_simulated_makes_nothing_comparable():
    (row,) = compare([wanted()], GROWING, inferred=200)
    assert (row.messages, row.verdict) == (400, "not comparable")


def test_the_value_by_which_a_parameter_was_chosen_counts_only_if_it_fails():
    (row,) = compare([wanted(kind="F")], GROWING, inferred=300)
    assert row.verdict == "not comparable"
    assert "was chosen by this value" in row.why
    (row,) = compare([wanted(kind="F", theirs=90.0)], GROWING, inferred=300)
    assert row.verdict == "no match"


def test_a_ratio_takes_the_numbers_that_both_have():
    results = [*GROWING, *runs("b", {100: 10, 300: 17})]
    ratio = wanted(measure="ratio", reference=("b",), theirs=3.0, unit="x")
    (row,) = compare([ratio], results)
    assert row.by_messages == pytest.approx({100: 2.0, 300: 3.0})


def test_what_was_not_simulated_has_no_row():
    assert compare([wanted(cases=("c",))], GROWING) == []
    assert [row.model for row in compare([wanted()], GROWING)] == ["correct"]


def latency(mean_us):
    return {"latency_mean_ps": mean_us * 1e6}


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
def test_measures_of_latencies(measure, cases, reference, value):
    measured = MEASURES[measure]([latency(mean) for mean in cases], [latency(mean) for mean in reference])
    assert measured == pytest.approx(value)


def test_rates():
    outcome = {"root_rate": 13.32 * 2**30, "background_rate": 1700.0 * 2**30}
    assert MEASURES["rate"]([outcome], []) / SCALE["GiB/s"] == pytest.approx(13.32)
    assert MEASURES["background"]([outcome], []) / SCALE["GiB/s"] == pytest.approx(1700)
    # K53: 384 links of 4.37 GiB/s are 1,678 GiB/s.
    assert MEASURES["background-load"]([outcome], []) == pytest.approx(1700 / 1678.08)


def test_a_measure_of_one_case_refuses_two():
    with pytest.raises(ValueError, match="too many values"):
        MEASURES["mean"]([latency(1), latency(1)], [])
