"""What a study writes, and that what is committed in `validation/` is about the rows there are."""

import csv
import dataclasses
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from odonata.cli.main import main
from odonata.errors import InputError
from odonata.reproduce import REPRODUCTIONS, find
from odonata.reproduce.compose import chosen
from odonata.reproduce.kang2019.claims import QUOTIENTS
from odonata.reproduce.kang2019.published import expected
from odonata.reproduce.links import pages
from odonata.reproduce.markdown import reasons, side_by_side
from odonata.reproduce.page import Page, quoted
from odonata.reproduce.page_files import OUTDATED, as_csv, as_json, provenance_of, read, read_rows, reduced_of, same
from odonata.reproduce.provenance import About, Provenance, abouts, provenance_now
from odonata.reproduce.rows import Row, is_relation
from odonata.reproduce.summary import index, summarise

VALIDATION = Path(__file__).parents[2] / "validation"

MADE = Provenance("9.9", "abc", "2026-01-02")
ABOUT = About("some", "page", "Heading", "Kang 2019", "", "", {"correct": "FPAR reads backlogs"})

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
    assert lines[2].endswith("| 2.79 us | 10 % | **4.00** | 2.56 |")


def test_reasons_leave_out_matches_and_join_equal_ones():
    no = dataclasses.replace(ROW, verdict="no match", why="too fast", experiment="a slower one")
    also = dataclasses.replace(no, id="K31")
    text = reasons([ROW, no, also])
    assert text.count("**no match**") == 1
    assert "K30" in text
    assert "K31" in text
    assert text.endswith("Too fast. Experiment: a slower one.")
    assert reasons([dataclasses.replace(no, why="too fast.")]) == reasons([no])
    assert reasons([ROW, dataclasses.replace(ROW, verdict="direction")]) == ""
    assert reasons([dataclasses.replace(no, why="", experiment="")]).endswith("Not explained.")


def test_rows_as_a_table():
    grows = dataclasses.replace(ROW, ours=1 / 3, meets_at=299.6, growth=None, why='said "so", twice')
    (line,) = csv.DictReader(as_csv([grows], MADE, ABOUT).splitlines())
    assert (line["id"], line["ours"], line["meets_at"], line["growth"]) == ("K30", "0.333333", "300", "")
    assert line["why"] == 'said "so", twice'
    assert (line["version"], line["engine"], line["date"]) == ("9.9", "abc", "2026-01-02")
    assert line["settings"] == "FPAR reads backlogs"


def test_rows_are_read_as_they_were_written(tmp_path):
    rows = [
        dataclasses.replace(ROW, interval=(2.5, 2.6), repetitions=9, by_messages={}),
        dataclasses.replace(ROW, id="K31", verdict="no match", ours=4.0, why="it", experiment="this", by_messages={}),
    ]
    file = tmp_path / "some.csv"
    file.write_text(as_csv(rows, MADE, ABOUT), encoding="utf-8")
    assert read_rows(file) == rows
    assert provenance_of(tmp_path, "some") == MADE
    file.write_text(as_csv(rows, MADE, ABOUT).replace(",no match,", ",nearly,"), encoding="utf-8")
    with pytest.raises(InputError, match=r"some.csv:3: found verdict `nearly`"):
        read_rows(file)
    file.write_text("id,what\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"some.csv:1: found no column `model`"):
        read_rows(file)
    with pytest.raises(InputError, match="not found"):
        read_rows(tmp_path / "other.csv")


def test_the_date_is_that_of_the_runs_or_as_stated(tmp_path, monkeypatch):
    results = tmp_path / "results"
    results.mkdir()
    (results / "a").touch()
    os.utime(results / "a", (86_400 * 3, 86_400 * 3))
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert provenance_now(tmp_path).date == "1970-01-04"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert provenance_now(tmp_path).date == "1970-01-02"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    with pytest.raises(InputError, match="found `soon`, expected a number of seconds"):
        provenance_now()


def test_text_quotes_rows():
    other = dataclasses.replace(ROW, what="another", ours=3.0, interval=(2.0, 4.0))
    said = quoted("it is {correct: uniform-random, contiguous}, not {correct: another | low}", [ROW, other])
    assert said == "it is 2.56 us, not 2.00 us"
    assert quoted("{correct: another | theirs}, {correct: another | verdict}", [other]) == "2.79 us, match"
    with pytest.raises(ValueError, match="0 rows of `correct` begin with `nothing`"):
        quoted("{correct: nothing}", [ROW])


@pytest.mark.parametrize(
    "text",
    [
        "it is {correct:\nuniform-random} so",
        "a {correct: uniform-random | their} b",
        "a {Correct: uniform-random} b",
        "it costs $new",
    ],
)
def test_a_template_that_is_not_filled_stops_the_page(text):
    """A field over two lines is filled; a field that is none of the forms, and a placeholder in a value, are told."""
    page = Page(lambda: text.replace("$new", "$value"), lambda *_: {"value": "$new"}, lambda *_: {})
    if "\n" in text:
        assert "it is 2.56 us so" in page.render([ROW], {})
        return
    with pytest.raises(ValueError, match="in the page, expected the value it stands for"):
        page.render([ROW], {})


def test_code_in_a_page_is_no_field():
    page = Page(lambda: "`{ a: b }` and { kind = 1 }\n", lambda *_: {}, lambda *_: {})
    assert "{ a: b }" in page.render([ROW], {})


def test_new_rows_of_one_model_leave_the_others_as_they_are(tmp_path, monkeypatch):
    """`--model`: rows, texts and what made them stay for the other models, also when it is done twice."""
    page = Page(
        lambda: "$old $new $count\n",
        lambda rows, _: {"count": str(len(rows))},
        lambda rows, runs: {"new": f"{rows[0].ours:.1f} of {len(runs)} run"},
    )
    some = dataclasses.replace(find("kang2019-4kb"), text=page, picture=None)
    monkeypatch.setattr("odonata.reproduce.find", lambda _: some)
    other = dataclasses.replace(ROW, model="as-published", ours=3.0)
    before = Provenance("9.8", "old", "2025-01-02")
    texts = {"old": "kept", "new": "0.0 of 9 runs"}
    about = abouts()["kang2019-4kb"]
    (tmp_path / "kang2019-4kb.csv").write_text(as_csv([ROW, other], before, about), encoding="utf-8")
    (tmp_path / "kang2019-4kb.json").write_text(as_json(texts, before), encoding="utf-8")
    for ours, made in ((2.6, MADE), (2.7, dataclasses.replace(MADE, engine="def"))):
        rows, _ = some.publish_one("correct", [dataclasses.replace(ROW, ours=ours)], [{}], tmp_path, made)
        assert [(row.model, row.ours) for row in rows] == [("correct", ours), ("as-published", 3.0)]
        with (tmp_path / "kang2019-4kb.csv").open(encoding="utf-8") as file:
            assert [line["engine"] for line in csv.DictReader(file)] == [made.engine, "old"]
        text = (tmp_path / "kang2019-results.md").read_text(encoding="utf-8")
        assert "a finding is left out: kang2019-512kb-4mb, kang2019-broadcast." in text
        assert f"kept {ours} of 1 run 2" in text
        assert f"engine `{made.engine}`" in text
        said = " ".join(text.split())
        assert "The rows of `as-published` are older: Odonata 9.8, engine `old`, 2025-01-02." in said
    again = some.publish_again(tmp_path)[1]
    assert [file.read_text(encoding="utf-8") for file in again if file.suffix == ".md"] == [text]


@pytest.mark.parametrize("name", sorted(REPRODUCTIONS))
def test_committed_pages_are_what_their_rows_and_texts_give(name, tmp_path):
    """`--from-rows` changes nothing, and keeps what made the numbers."""
    for study in pages()[abouts()[name].page]:
        for suffix in ("csv", "json"):
            shutil.copy(VALIDATION / f"{study}.{suffix}", tmp_path)
    rows, files = find(name).publish_again(tmp_path)
    for file in files:
        assert file.read_text(encoding="utf-8") == (VALIDATION / file.name).read_text(encoding="utf-8")
    page = (VALIDATION / f"{abouts()[name].page}.md").read_text(encoding="utf-8")
    made = provenance_of(VALIDATION, name)
    assert f"`{name}`: Odonata {made.version}, engine " in " ".join(page.split())
    assert made.date in page
    assert all(bool(row.why) == bool(row.experiment) for row in rows if row.verdict == "no match")
    assert "presumably" not in page.lower()


def test_the_summary_is_committed_and_counts_directions_apart():
    summary = summarise(VALIDATION)
    text = (VALIDATION / "pages.md").read_text(encoding="utf-8")
    engine = re.search(r"Engine `([^`]+)` made", text)
    assert engine is not None
    assert text == index(summary, engine.group(1))
    assert "| **older**: another |" in index(summary, "0") or "not recorded" in index(summary, "0")
    assert summary.missing == ()
    rows = [row for name in REPRODUCTIONS for row in read_rows(VALIDATION / f"{name}.csv")]
    for verdict in ("match", "direction", "no match"):
        assert sum(of[verdict] for of in summary.counts.values()) == sum(row.verdict == verdict for row in rows) > 0
    assert not any(row.verdict == "match" and is_relation(row.tolerance) for row in rows)


def test_a_page_of_another_engine_holds_while_its_reduced_form_gives_the_same_numbers(tmp_path):
    about, texts = abouts()["kang2019-4kb"], {"a": "b"}
    kept = reduced_of([ROW, dataclasses.replace(ROW, model="as-published", ours=float("nan"))])
    (tmp_path / "kang2019-4kb.csv").write_text(as_csv([ROW], MADE, about), encoding="utf-8")

    def state(reduced):
        (tmp_path / "kang2019-4kb.json").write_text(as_json(texts, MADE, reduced=reduced), encoding="utf-8")
        text = index(summarise(tmp_path), "another engine")
        return next(line.split("|")[-2].strip() for line in text.splitlines() if "| [kang2019-4kb]" in line)

    assert state(None) == "**older**: another"
    assert state(kept) == "another, the same numbers"
    read_again = read(tmp_path, "kang2019-4kb").reduced
    assert same(read_again, kept)
    nearly, else_ = ([(*kept[0][:3], kept[0][3] * factor), kept[1]] for factor in (1.0005, 1.002))
    assert same(nearly, kept)
    assert not same(else_, kept)
    assert not same(kept[:1], kept)
    assert not same([kept[0], (*kept[1][:3], 1.0)], kept)
    (tmp_path / OUTDATED).write_text("# pages\nkang2019-4kb  # the router delay\n")
    assert state(kept) == "**older**: another"
    (tmp_path / OUTDATED).write_text("kang2019-4k\n")
    with pytest.raises(InputError, match=r"outdated\.txt: unknown reproduction `kang2019-4k`"):
        summarise(tmp_path)


def test_every_page_is_described():
    assert list(abouts()) == sorted(abouts(), key=list(abouts()).index)
    assert set(abouts()) == set(REPRODUCTIONS)


@pytest.mark.parametrize("name", sorted(REPRODUCTIONS))
def test_committed_pages_say_by_which_command_they_are_made(name):
    page = abouts()[name].page
    text = " ".join((VALIDATION / f"{page}.md").read_text(encoding="utf-8").split())
    assert f"`odonata reproduce {name}`" in text.partition("Made by ")[2].partition("; do not edit.")[0]
    assert f"`odonata reproduce --rows {page} " in text
    assert f"`odonata reproduce --tables {page}`" in text


def committed(name):
    """(id, what, model) -> row of a committed table."""
    with (VALIDATION / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    by_key = {(row["id"], row["what"], row["model"]): row for row in rows}
    assert len(by_key) == len(rows)
    return by_key


def test_committed_rows_are_all_the_expected_ones_for_every_model():
    published = committed("kang2019-4kb")
    wanted = {(row.id, row.what, model): row for row in expected() for model in ("correct", "as-published", "backlog")}
    assert set(wanted) <= set(published)
    assert {what for _, what, _ in set(published) - set(wanted)} <= {quotient.what for quotient in QUOTIENTS}
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
    assert bool(line["why"]) == bool(line["experiment"]) or line["verdict"] == "not comparable"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rows", "kang2019-4kb", "--reduced"], "leave out `--reduced`"),
        (["--rows", "kang2019-4kb", "--summary"], "leave out `--rows`"),
        (["--summary", "--model", "correct"], "leave out `--model`"),
        (["--list", "--force"], "leave out `--force`"),
        (["--list", "--verdict", "match"], "add `--rows PAPER`"),
        (["--tables", "kang2019-4kb", "--rows", "kang2019"], "leave out `--tables`"),
        (["--tables", "kang2019-4kb", "--reduced"], "leave out `--reduced`"),
    ],
)
def test_options_that_would_be_ignored_are_refused(words, said, capsys):
    assert main(["reproduce", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("of", "studies"),
    [
        ("kang2019", 10),
        ("Kang 2019", 10),
        ("kang2019-results", 3),
        ("kang2019-4kb", 1),
    ],
)
def test_rows_are_printed_by_study_page_or_paper_and_verdict(of, studies, capsys):
    assert main(["reproduce", "--rows", of, "--verdict", "match", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    there = {row["study"] for row in rows}
    assert {row["verdict"] for row in rows} == {"match"}
    assert "kang2019-4kb" in there <= {*chosen(of)}
    assert len(chosen(of)) == studies


def test_unknown_names_of_rows_and_tables_are_told(capsys):
    for option in ("--rows", "--tables"):
        assert main(["reproduce", option, "kang2018"]) == 2
        assert "unknown study, page or paper `kang2018`\n  hint: did you mean `Kang 20" in capsys.readouterr().err


def test_tables_that_no_page_shows_are_printed(capsys):
    assert main(["reproduce", "--tables", "interference-leonardo", "--json"]) == 0
    tables = {table["table"]: table["text"] for table in json.loads(capsys.readouterr().out)["tables"]}
    assert {"cells", "host", "goals"} <= {*tables}
    assert len(tables["cells"].splitlines()) == 194
    assert tables["cells"] not in (VALIDATION / "interference.md").read_text(encoding="utf-8")
