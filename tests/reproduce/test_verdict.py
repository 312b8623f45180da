"""Verdicts: tolerance, relation, growth with the number of messages."""

import pytest

from odonata.reproduce.rows import growth, judge, meets_at, within


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
