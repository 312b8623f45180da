"""What a study writes, and that what is committed in `validation/` is about the rows there are."""

import csv
import dataclasses
from pathlib import Path

import pytest

from odonata.reproduce import REPRODUCTIONS
from odonata.reproduce.kang2019.published import expected
from odonata.reproduce.markdown import reasons, side_by_side
from odonata.reproduce.reproduction import as_csv
from odonata.reproduce.rows import Row

VALIDATION = Path(__file__).parents[2] / "validation"

ROW = Row(
    id="K30",
    what="uniform-random, contiguous, every 3 us: mean latency",
    model="correct",
    kind="S",
    unit="us",
    ours=2.556,
    theirs=2.79,
    tolerance="10 %",
    verdict="match",
    why="",
    messages=200,
    by_messages={100: 2.556, 200: 2.556},
    growth="steady",
    meets_at=None,
    where="section 4.1",
)


def test_models_stand_side_by_side():
    other = dataclasses.replace(ROW, model="as-published", ours=4.0, verdict="no match")
    lines = side_by_side([ROW, other], ["as-published", "correct"]).splitlines()
    assert len(lines) == 3
    assert lines[2].endswith("| 2.79 us | 10 % | S | 4.00 | **no match** | 2.56 | match |")


def test_reasons_leave_out_matches_and_join_equal_ones():
    no = dataclasses.replace(ROW, verdict="no match", why="too fast")
    also = dataclasses.replace(no, id="K31")
    text = reasons([ROW, no, also])
    assert text.count("**no match**") == 1
    assert "K30" in text
    assert "K31" in text
    assert text.endswith("Too fast.")
    assert reasons([dataclasses.replace(no, why="too fast.")]) == reasons([no])
    assert reasons([ROW]) == ""


def test_rows_as_a_table():
    grows = dataclasses.replace(ROW, ours=1 / 3, meets_at=299.6, growth=None, why='said "so", twice')
    (line,) = csv.DictReader(as_csv([grows]).splitlines())
    assert (line["id"], line["ours"], line["meets_at"], line["growth"]) == ("K30", "0.333333", "300", "")
    assert line["why"] == 'said "so", twice'


@pytest.mark.parametrize("name", sorted(REPRODUCTIONS))
def test_committed_pages_say_by_which_command_they_are_made(name):
    assert f"Made by `odonata reproduce {name}`; do not edit." in (VALIDATION / f"{name}.md").read_text(
        encoding="utf-8"
    )


def committed(name):
    """(id, what, model) -> row of a committed table."""
    with (VALIDATION / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    by_key = {(row["id"], row["what"], row["model"]): row for row in rows}
    assert len(by_key) == len(rows)
    return by_key


def test_committed_rows_are_all_the_expected_ones_for_both_models():
    published = committed("kang2019-4kb")
    wanted = {(row.id, row.what, model): row for row in expected() for model in ("correct", "as-published")}
    assert set(published) == set(wanted)
    for key, row in wanted.items():
        assert_is_judged(published[key], row)


def test_committed_rows_for_larger_messages_are_judged():
    published = committed("kang2019-512kb-4mb")
    judged = [
        assert_is_judged(published[row.id, row.what, model], row)
        for row in expected("expected_large.csv")
        for model in ("correct", "as-published")
        if (row.id, row.what, model) in published
    ]
    assert len(judged) >= 40


def assert_is_judged(line, row):
    assert float(line["theirs"]) == row.theirs
    assert line["tolerance"] == row.tolerance
    assert line["verdict"] == "match" or line["why"], f"{row.id} {row.what}: no reason"
