"""Rows from outcomes made by hand: which number of messages is compared, and what is said about it."""

import pytest

from odonata.reproduce.expected import Expected
from odonata.reproduce.outcome import Outcome
from odonata.reproduce.rows import compare


def outcome(mean_us):
    return Outcome(mean_us * 1e6, {}, 1, 1.0, 1, [], [], None, None, None)


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
    }
    return Expected(**(row | more))


GROWING = {("correct", "a"): {100: outcome(20), 300: outcome(51), 400: outcome(70)}}


def test_without_an_inferred_number_what_grows_is_not_comparable():
    (row,) = compare([wanted()], GROWING, ["correct"])
    assert (row.messages, row.ours, row.verdict, row.growth) == (400, 70.0, "not comparable", "grows")
    assert row.by_messages == {100: 20.0, 300: 51.0, 400: 70.0}
    assert row.meets_at == pytest.approx(100 + 200 * 30 / 31)
    assert row.why == "grows with the number of messages, which the paper does not state; the cause"


def test_at_the_inferred_number_it_is_judged():
    (row,) = compare([wanted()], GROWING, ["correct"], inferred=300)
    assert (row.messages, row.ours, row.verdict) == (300, 51.0, "match")
    assert row.why == "at 300 messages, a number inferred from another value"
    (row,) = compare([wanted(theirs=90.0)], GROWING, ["correct"], inferred=300)
    assert row.verdict == "no match"
    assert row.why.endswith("; the cause")


def test_an_inferred_number_that_was_not_simulated_makes_nothing_comparable():
    (row,) = compare([wanted()], GROWING, ["correct"], inferred=200)
    assert (row.messages, row.verdict) == (400, "not comparable")


def test_the_value_from_which_it_was_inferred_proves_nothing():
    (row,) = compare([wanted(kind="F")], GROWING, ["correct"], inferred=300)
    assert row.verdict == "not comparable"
    assert "was inferred from this value" in row.why


def test_a_ratio_takes_the_numbers_that_both_have():
    results = GROWING | {("correct", "b"): {100: outcome(10), 300: outcome(17)}}
    ratio = wanted(measure="ratio", reference=("b",), theirs=3.0, unit="x")
    (row,) = compare([ratio], results, ["correct"])
    assert row.by_messages == pytest.approx({100: 2.0, 300: 3.0})


def test_what_was_not_simulated_has_no_row():
    assert compare([wanted(cases=("c",))], GROWING, ["correct"]) == []
    assert compare([wanted()], GROWING, ["as-published"]) == []
