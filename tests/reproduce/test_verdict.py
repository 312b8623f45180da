"""Verdicts: tolerance, relation, growth with the number of messages."""

import pytest

from odonata.reproduce.markdown import reason
from odonata.reproduce.rows import Row, growth, judge, judged_again, meets_at, statement, unsure, within


@pytest.mark.parametrize(
    ("ours", "theirs", "tolerance", "expected"),
    [
        (2.51, 2.79, "10 %", False),
        (2.5111, 2.79, "10 %", True),
        (3.069, 2.79, "10 %", True),
        (3.07, 2.79, "10 %", False),
        (7.2, 11.1, "± 4", True),
        (7.0, 11.1, "± 4", False),
        (1.07, 1.07, "<= 1.07", True),
        (1.0701, 1.07, "<= 1.07", False),
        (1.0, 1.0, "> 1", False),
        (1.0, 1.0, ">= 1", True),
        (0.99, 1.0, "< 1", True),
    ],
)
def test_tolerances(ours, theirs, tolerance, expected):
    assert within(ours, theirs, tolerance) is expected


@pytest.mark.parametrize("tolerance", ["", "10", "10%", "about 3", "== 1"])
def test_unknown_tolerances_are_refused(tolerance):
    with pytest.raises(ValueError, match="unknown tolerance"):
        within(1.0, 1.0, tolerance)


def test_growth_is_judged_by_the_two_largest_numbers():
    assert growth({100: 2.786, 200: 2.786}) == "steady"
    assert growth({100: 10.0, 200: 20.0}) == "grows"
    # 2^0.15 is 1.1096: below it a doubling is steady.
    assert growth({100: 10.0, 200: 11.0}) == "steady"
    assert growth({100: 10.0, 200: 11.2}) == "grows"
    # It filled up at first and then no more.
    assert growth({50: 1.0, 100: 10.0, 200: 10.1}) == "steady"


def test_growth_needs_two_numbers():
    assert growth({100: 3.0}) is None


def test_what_grows_is_not_comparable_but_what_is_steady_is_judged():
    assert judge("N", 51.2, 51.36, "10 %", "grows") == "not comparable"
    assert judge("N", 51.2, 51.36, "10 %", None) == "not comparable"
    assert judge("N", 51.2, 51.36, "10 %", "steady") == "match"
    assert judge("N", 4.8, 16.1, "10 %", "steady") == "no match"


def test_what_grows_is_judged_at_the_inferred_number_but_for_the_value_it_was_inferred_from():
    assert judge("N", 51.2, 51.36, "10 %", "grows", inferred=True) == "match"
    assert judge("N", 91.7, 51.36, "10 %", "grows", inferred=True) == "no match"
    assert judge("F", 51.2, 51.36, "10 %", "grows", inferred=True) == "not comparable"
    assert judge("F", 91.7, 51.36, "10 %", "grows", inferred=True) == "no match"


@pytest.mark.parametrize("kind", ["C", "S", "R"])
def test_other_kinds_are_always_judged(kind):
    assert judge(kind, 51.2, 51.36, "10 %", "grows") == "match"
    assert judge(kind, 5.0, 51.36, "10 %", "grows") == "no match"


def test_where_a_growing_value_meets_the_published_one():
    line = {100: 10.0, 200: 20.0, 300: 30.0}
    assert meets_at(line, 25.0) == pytest.approx(250)
    assert meets_at(line, 40.0) == pytest.approx(400)
    assert meets_at({100: 10.0, 200: 16.0, 300: 30.0}, 13.0) == pytest.approx(150)
    assert meets_at({100: 5.0, 200: 5.0}, 16.0) is None
    assert meets_at({100: 90.0, 200: 190.0}, -20.0) is None


@pytest.mark.parametrize(
    ("ours", "tolerance", "interval", "expected"),
    [
        (1.2, "> 1", None, "direction"),
        (1.2, "> 1", (1.05, 1.4), "direction"),
        (1.2, "> 1", (0.99, 1.4), "no match"),
        (0.8, "> 1", None, "no match"),
        (1.0013, "> 1", None, "no match"),
        (0.995, "< 1", (0.994, 0.996), "no match"),
        (0.985, "< 1", (0.98, 0.99), "direction"),
        (1.001, "<= 1.07", None, "direction"),
        (1.05, "10 %", (0.5, 3.0), "no match"),
        (1.05, "10 %", (0.91, 1.099), "match"),
        (1.05, "10 %", (0.89, 1.09), "no match"),
        (1.05, "10 %", (0.95, 1.11), "no match"),
        (1.36, "25 %", (0.77, 1.71), "no match"),
        (1.05, "± 0.1", (1.0, 1.2), "no match"),
        (1.05, "± 0.1", None, "match"),
    ],
)
def test_both_ends_of_an_interval_count_and_an_ordering_is_never_a_match(ours, tolerance, interval, expected):
    row = statement("D1", "what", ours, 1.0, "x", tolerance, "", model="m", interval=interval)
    assert row.verdict == expected
    assert judged_again(row) == row


def test_what_fails_only_by_its_interval_cannot_be_told():
    """A value of a kind that was fitted is judged by itself."""
    told = {"model": "m", "where": ""}
    for ours, interval, expected in ((1.05, (0.5, 3.0), True), (1.2, (1.15, 1.25), False), (1.05, (1.0, 1.09), False)):
        row = statement("D1", "what", ours, 1.0, "x", "10 %", **told, interval=interval)
        assert unsure(row) is expected
        assert ("Cannot be told" in reason(row)) is (expected and row.verdict == "no match")
    assert unsure(statement("D1", "what", 1.2, 1.0, "x", "> 1", **told, interval=(0.9, 1.5)))
    fitted = statement("D1", "what", 1.05, 1.0, "x", "10 %", **told, interval=(0.5, 3.0), kind="F")
    assert (fitted.verdict, unsure(fitted)) == ("not comparable", False)


def test_no_effect_is_about_ratios():
    assert judge("R", 0.995, 1.0, "< 1", None, unit="%") == "direction"
    assert judge("R", 0.995, 1.0, "< 1", None, unit="x") == "no match"


def test_a_cause_needs_an_experiment():
    told = {"model": "m", "why": "since it rains"}
    with pytest.raises(ValueError, match="a cause without an experiment"):
        statement("D1", "what", 2.0, 1.0, "x", "10 %", "", **told)
    row = statement("D1", "what", 2.0, 1.0, "x", "10 %", "", experiment="rain on and off", **told)
    assert (row.why, row.experiment) == ("since it rains", "rain on and off")
    assert statement("D1", "what", 1.0, 1.0, "x", "10 %", "", **told).why == ""
    assert statement("D1", "what", 2.0, 1.0, "x", "10 %", "", comparable=False, **told).why == "since it rains"


def test_a_row_that_is_judged_again_keeps_a_cause_only_while_it_fails():
    row = Row("D1", "w", "m", "R", "x", 1.2, 1.0, "> 1", "match", "", 1, "")
    assert judged_again(row).verdict == "direction"
    failed = Row("D1", "w", "m", "R", "x", 1.2, 1.0, "> 1", "no match", "it", 1, "", experiment="this")
    assert (judged_again(failed).verdict, judged_again(failed).why) == ("direction", "")
    open_ = Row("D1", "w", "m", "N", "x", 1.0, 1.0, "10 %", "not comparable", "the paper says nothing", 1, "")
    assert judged_again(open_) == open_
