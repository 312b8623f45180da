"""The conclusions of the papers: each verdict follows from rows, and the first page says what the rows say."""

import dataclasses
import re
from pathlib import Path

import pytest
from tests.reproduce.test_publish import ROW

from odonata.errors import InputError
from odonata.reproduce.conclusions import Conclusion, Evidence, Measured, conclusions, machines
from odonata.reproduce.front import OLD, _tables, front, rows_behind
from odonata.reproduce.provenance import SHIPPED, abouts

VALIDATION = Path("validation")
PAGE = "kang2019-matrix"
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def row(ours, tolerance="> 1", interval=None, theirs=1.0, what="a", **changed):
    verdict = changed.pop("verdict", "no match")
    changed = {"kind": "R", "unit": "x", "why": "", "experiment": "", **changed}
    return dataclasses.replace(
        ROW, model="correct", what=what, ours=ours, theirs=theirs, tolerance=tolerance, interval=interval,
        verdict=verdict, **changed,
    )  # fmt: skip


def settled(*rows, **changed):
    said = Conclusion("Kang 2019", "here", "says", "{a}", {"a": Evidence(PAGE, "correct", "*", **changed)})
    return said.settled({PAGE: list(rows)})


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (row(1.5), "confirmed"),
        (row(0.8), "cannot tell"),
        (row(3.0, "25 %", theirs=2.0), "contradicted"),
        (row(1.2, interval=(1.1, 1.3)), "confirmed"),
        (row(1.2, interval=(0.9, 1.5)), "cannot tell"),
        (row(0.9, interval=(0.7, 1.1)), "cannot tell"),
        (row(0.9, interval=(0.8, 0.95)), "contradicted"),
        (row(1.005, interval=(1.004, 1.006)), "cannot tell"),
        (row(2.0, "25 %", (1.9, 2.1), theirs=2.0), "confirmed"),
        (row(2.0, "25 %", (1.3, 3.0), theirs=2.0), "cannot tell"),
        (row(3.0, "25 %", (1.3, 3.2), theirs=2.0), "cannot tell"),
        (row(3.0, "25 %", (2.4, 3.2), theirs=2.0), "cannot tell"),
        (row(3.0, "25 %", (2.6, 3.2), theirs=2.0), "contradicted"),
        (row(1.5, verdict="not comparable"), "cannot tell"),
    ],
)
def test_a_row_settles_a_conclusion_only_with_its_whole_interval(given, verdict):
    assert settled(given) == verdict


def test_one_row_that_fails_contradicts_and_a_share_may_be_enough():
    good, bad, open_ = row(1.5), row(0.8, interval=(0.7, 0.9), what="b"), row(1.2, interval=(0.9, 1.5), what="c")
    assert settled(good, open_) == "cannot tell"
    assert settled(good, bad, open_) == "contradicted"
    assert settled(good, good, bad, holds=60) == "confirmed"
    assert settled(good, open_, bad, holds=60) == "cannot tell"
    assert settled(good, bad, bad, holds=60) == "contradicted"


def test_a_conclusion_may_read_less_than_the_value_of_a_row():
    value = row(22.2, "10 %", theirs=18.4)
    assert settled(value) == "contradicted"
    assert settled(value, reads="> 1") == "confirmed"


def test_its_words_have_the_interval_and_how_many_hold():
    assert Evidence(PAGE, "correct", "a").words([row(1.2, interval=(1.1, 1.3))]) == "1.20 x (1.10 to 1.30)"
    assert Evidence(PAGE, "correct", "a").words([row(1.2, interval=(1.199, 1.201))]) == "1.20 x"
    assert Evidence(PAGE, "correct", "*").words([row(1.2), row(0.9, what="b")]) == "0.90 to 1.20 x (1 of 2 hold)"


def test_numbers_that_decide_are_bold_and_an_open_conclusion_stays_open():
    decides, beside = Evidence(PAGE, "correct", "a"), Evidence(PAGE, "correct", "b")
    said = Conclusion("Kang 2019", "here", "says", "{x} and {y}", {"x": decides}, {"y": beside}, open="too few")
    rows = {PAGE: [row(1.5), row(0.8, what="b")]}
    assert said.text(said.ours, rows) == "**1.50 x** and 0.80 x"
    assert said.settled(rows) == "cannot tell"


def test_rows_that_are_not_there_are_an_error():
    with pytest.raises(InputError, match=r"`kang2019-matrix` has no row `b` of `correct`"):
        Evidence(PAGE, "correct", "b").of([row(1.0)])
    with pytest.raises(InputError, match="names no evidence `b`"):
        Conclusion("Kang 2019", "here", "says", "{b}", {"a": Evidence(PAGE, "correct", "*")})
    with pytest.raises(InputError, match="a cause without an experiment"):
        Conclusion("Kang 2019", "here", "says", "", {}, cause="so")


def test_the_first_page_is_committed():
    assert (VALIDATION / "README.md").read_text(encoding="utf-8") == front(VALIDATION)


@pytest.mark.parametrize("of", conclusions(), ids=lambda of: of.says)
def test_numbers_of_results_are_filled_and_not_typed(of):
    """A typed number would stay when its row changes."""
    known = {*of.evidence.values(), *of.other.values()}
    allowed = {number for e in known for number in NUMBER.findall(e.what)}
    typed = NUMBER.findall(re.sub(r"\{\w+\}", "", of.ours + of.turns + of.cause))
    assert {*typed} <= allowed


@pytest.mark.parametrize("of", conclusions(), ids=lambda of: of.says)
def test_a_conclusion_is_of_pages_of_its_paper_and_says_what_deviates(of):
    assert {abouts()[page].paper for page in of.pages()} == {of.paper}
    assert not of.experiment or of.experiment in abouts()
    shipped = all(abouts()[e.page].of(e.model) == SHIPPED for e in of.evidence.values())
    assert shipped == (of.deviates() == [])


def test_every_paper_and_every_verdict_is_on_the_page():
    rows = rows_behind(VALIDATION)
    assert len(conclusions()) >= 25
    assert {of.settled(rows) for of in conclusions()} == {"confirmed", "contradicted", "cannot tell"}
    assert {of.paper for of in conclusions()} == {
        "Kang 2019", "De Sensi 2019", "Zhang 2018", "Salimi Beni 2022", "Kang 2021",
    }  # fmt: skip
    assert {of.name for of in machines()} >= {"Leonardo", "LUMI", "CRESCO8"}


def test_a_line_of_a_page_that_is_to_be_made_again_says_so():
    of = next(of for of in conclusions() if of.pages() == ["kang2019-broadcast"])
    rows = rows_behind(VALIDATION)
    assert OLD in _tables([(of, "confirmed")], rows, ["kang2019-broadcast"])
    assert OLD not in _tables([(of, "confirmed")], rows, ["kang2019-4kb"])


def test_a_machine_beats_a_prediction_by_the_whole_interval_only():
    rows = {
        PAGE: [
            row(1.2, "<= 1.25", what="error", theirs=1.5),
            row(0.8, "< 1", (0.7, 0.9), what="none"),
            row(0.9, "< 1", (0.8, 1.1), what="mean"),
        ]
    }
    ours, none, mean = (Evidence(PAGE, "correct", what) for what in ("error", "none", "mean"))
    of = Measured("Leonardo", "what", ours, none, mean)
    assert of.beats(rows) == "no interference"
    assert Measured("Leonardo", "what", ours, mean, none).beats(rows) == "the mean"
    assert Measured("Leonardo", "what", ours, mean, mean).beats(rows) == "neither"
    assert Measured("Leonardo", "what", ours, theirs=True).words("nothing", rows) == "0.80 x"
    assert (
        Measured("Leonardo", "what", ours).beats(rows) == Measured("Leonardo", "what", ours).words("mean", rows) == ""
    )
