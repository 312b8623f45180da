"""What a study writes, and that what is committed in `validation/` is about the rows there are."""

import csv
import dataclasses
from pathlib import Path

import pytest

from odonata.reproduce import STUDIES, find
from odonata.reproduce.kang2019.published import expected
from odonata.reproduce.markdown import reasons, side_by_side
from odonata.reproduce.pool import run_cases
from odonata.reproduce.publish import publish
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
    assert reasons([ROW]) == ""


def test_the_reduced_form_writes_rows_only_and_the_same_bytes_each_time(tmp_path):
    chosen = find("kang2019-4kb")
    cases = [c for c in chosen.cases(reduced=True) if c.model == "correct" and c.name == "uniform-random/random/3us"]
    texts = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        outcomes = run_cases(cases, folder / "cache")
        (file,) = publish(chosen, chosen.rows(outcomes), outcomes, folder, reduced=True)
        texts.append(file.read_bytes())
    assert file.name == "kang2019-4kb-reduced.csv"
    assert texts[0] == texts[1]
    (row,) = csv.DictReader(texts[0].decode().splitlines())
    assert (row["id"], row["model"], row["theirs"], row["growth"]) == ("K31", "correct", "2.32", "steady")
    assert float(row["ours"]) == pytest.approx(2.27, abs=0.02)


@pytest.mark.parametrize("name", STUDIES)
def test_committed_pages_say_by_which_command_they_are_made(name):
    assert f"Made by `odonata reproduce {name}`; do not edit." in (VALIDATION / f"{name}.md").read_text(
        encoding="utf-8"
    )


def test_committed_rows_are_all_the_expected_ones_for_both_models():
    with (VALIDATION / "kang2019-4kb.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {(row["id"], row["what"], row["model"]): row for row in rows}
    assert len(found) == len(rows)
    wanted = {(row.id, row.what, model): row for row in expected() for model in ("correct", "as-published")}
    assert set(found) == set(wanted)
    for key, row in wanted.items():
        assert float(found[key]["theirs"]) == row.theirs
        assert found[key]["tolerance"] == row.tolerance
        assert found[key]["verdict"] == "match" or found[key]["why"], f"{key} has no reason"
