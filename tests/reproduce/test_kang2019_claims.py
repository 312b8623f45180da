"""Claims of Kang 2019 that are computed from two rows, and rows without a verdict, on rows made by hand."""

import dataclasses

import pytest

from odonata.reproduce.kang2019.claims import QUOTIENTS, with_quotients, without_verdict
from odonata.reproduce.kang2019.published import expected, explain
from odonata.reproduce.rows import Row, statement

ROWS = [*expected(), *expected("expected_large.csv")]


def row(what: str, ours: float, verdict: str = "no match", kind: str = "R") -> Row:
    (of,) = (of for of in ROWS if of.what == what)
    made = statement(of.id, what, ours, of.theirs, of.unit, of.tolerance, of.where, model="correct", kind=kind)
    return dataclasses.replace(made, verdict=verdict)


def test_every_claim_is_about_two_rows_that_there_are():
    names = {of.what for of in ROWS}
    for quotient in QUOTIENTS:
        assert {quotient.over, quotient.under} <= names
        assert quotient.what not in names


def quotient_of(over: float, under: float, words: str, verdict: str = "no match") -> Row:
    (of,) = (of for of in QUOTIENTS if words in of.what)
    rows = with_quotients([row(of.over, over, verdict), row(of.under, under, verdict)])
    assert with_quotients(rows) == rows
    assert [made.what for made in rows] == [of.over, of.under, of.what]
    return rows[-1]


def test_the_published_values_give_the_published_quotients():
    """6.67 x and more than 50 x (section 4.4), from 74.1 and 11.1 %, and from 874.29 and 13.32 GiB/s."""
    made = quotient_of(74.1, 11.1, "root in its groups over that outside")
    assert (made.id, made.theirs, made.verdict) == ("K51", 6.67, "match")
    assert made.ours == pytest.approx(6.67, abs=0.01)
    made = quotient_of(874.29, 13.32, "contiguous, 520 %")
    assert (made.id, made.verdict) == ("K53", "direction")
    assert made.ours == pytest.approx(65.6, abs=0.1)
    assert quotient_of(874.29, 20.0, "contiguous, 520 %").verdict == "no match"
    assert quotient_of(2.46, 2.56, "4 MB: 0.7 ms over 4 ms").verdict == "match"
    assert quotient_of(2.46, 1.56, "4 MB: 0.7 ms over 4 ms").verdict == "no match"


def test_a_quotient_of_what_cannot_be_compared_cannot_be_compared():
    assert quotient_of(2.46, 2.56, "4 MB: 0.7 ms over 4 ms", "not comparable").verdict == "not comparable"


def test_no_quotient_without_both_rows():
    (of,) = (of for of in QUOTIENTS if "4 MB" in of.what)
    rows = [row(of.over, 2.46)]
    assert with_quotients(rows) == rows


@pytest.mark.parametrize(
    ("what", "judged"),
    [
        ("broadcast, random-in: slowdown by 520 % background every 1 us", True),
        ("broadcast, random-in: slowdown by 520 % background every 10 us", False),
        ("broadcast, random-out: slowdown by 520 % background every 100 us", False),
        ("uniform-random, random, every 1 us: slowdown by 130 % background every 1 us", True),
        ("uniform-random, random, every 1 us: slowdown by 130 % background every 100 us", False),
        ("uniform-random, 4 MB every 4 ms: difference between the placements (the paper's own means: 0.7 %)", True),
        ("uniform-random, 4 MB every 1 ms: difference between the placements (the paper's own means: 9 %)", False),
    ],
)
def test_one_statement_has_one_verdict(what, judged):
    """Three intervals of a background, of which the paper states none, are one statement."""
    (made,) = without_verdict([row(what, 1000.0)])
    assert (made.verdict == "no match") == judged
    assert bool(made.why) != judged
    assert without_verdict([made]) == [made]


def test_the_quotient_of_two_printed_values_that_are_not_equal_has_no_verdict():
    rows = [
        row("uniform-random, contiguous: 0.5 us over 3 us", 18.4),
        row("uniform-random, random: 0.5 us over 3 us", 11.6),
    ]
    made = explain(rows)[-1]
    assert (made.id, made.verdict) == ("K31", "not comparable")
    assert "contradicts itself" in made.why
