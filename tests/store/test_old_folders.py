"""Folders of other formats: those of older versions open, with null for missing columns; those of newer ones are
refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import odonata as od
from odonata.errors import InputError
from odonata.store import TABLES, columns, open_run
from odonata.store import read as reading
from odonata.store.columns import Column
from odonata.store.manifest import FORMAT
from odonata.study.results import Results
from odonata.study.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Callable

OLD = Path(__file__).parent / "format-1"
"""A run and a study as the version before format 2 wrote them. They must open with every later version."""

LATER = (
    Column("jobs", "luck", "Float64", "1", "what was unknown before", "more", FORMAT + 1),
    Column("messages", "luck", "List(UInt64)", "ps", "what was unknown before", "neither", FORMAT + 1),
    Column("weather", "rain", "Boolean", "", "a table that came later", "neither", FORMAT + 1),
)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    shutil.copytree(OLD, tmp_path / "old")
    return tmp_path / "old"


def test_a_run_of_format_1_opens(old: Path) -> None:
    run = open_run(old / "run")
    assert run.id == "6b97018ab61c1846"
    assert run.jobs["name"].to_list() == ["target", "ring"]
    assert run.jobs["latency_mean_ps"][0] == 1_009_600
    assert [getattr(run, table).height for table in TABLES] == [2, 6, 16, 2, 2, *[0] * 8]
    for table in TABLES:
        assert {c.name for c in columns.columns_of(table)} <= set(getattr(run, table).columns)
    assert "ring: 16.45 us for 2 iterations" in str(run)


def test_a_study_of_format_1_opens_and_its_results_are_known(old: Path) -> None:
    study = od.open_study(old / "study")
    assert study.runs["status"].to_list() == ["done", "done"]
    assert study.jobs.height == 4
    assert study.compare("run.seed", "time_ps", job="ring").rows[1].ratio == 1.0
    assert "2 of 2 points done" in repr(study)


def test_a_renamed_column_of_an_old_folder_has_its_present_name(old: Path) -> None:
    """Catches a rename after which older folders no longer open, or open with two names for one column."""
    run, study = open_run(old / "run"), od.open_study(old / "study")
    assert "messages_near" in pl.read_parquet_schema(old / "run" / "jobs.parquet")
    for jobs in (run.jobs, study.jobs):
        assert "messages_near" not in jobs.columns
        assert jobs["messages_intra_node"].null_count() == 0
    assert run.summary["jobs"][1]["messages_intra_node"] == 0
    assert study.compare("run.seed", "messages_intra_node", job="ring").rows[0].n == 1


def test_a_study_that_shows_a_renamed_column_shows_it_by_its_present_name(old: Path) -> None:
    file = old / "study" / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["show"]["columns"] = ["time_ps", "messages_near"]
    file.write_text(json.dumps(manifest))
    study = od.open_study(old / "study")
    assert study.show.columns == ("time_ps", "messages_intra_node")
    assert "messages_intra_node" in summarise(study).header


def test_results_of_an_old_study_have_present_names(old: Path) -> None:
    """Catches a sweep that goes on in an old folder and writes one column under two names."""
    results = Results(old / "study", keep_stale=True)
    rows = results.rows(results.statuses())
    assert "messages_near" not in rows.columns
    assert rows["messages_intra_node"].null_count() == 0


def test_columns_and_tables_that_came_later_are_null_in_old_folders(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a release that adds a column and can open no folder written before it."""
    for module in (columns, reading):
        monkeypatch.setattr(module, "COLUMNS", (*columns.COLUMNS, *LATER))
    monkeypatch.setitem(TABLES, "weather", "one row per shower")
    run = open_run(old / "run")
    assert run.jobs["luck"].to_list() == [None, None]
    assert run.scan("messages").collect()["luck"].dtype == od.open(old / "run").messages["luck"].dtype
    weather = run.scan("weather").collect()
    assert (weather.columns, weather.height) == (["rain"], 0)
    jobs = od.open_study(old / "study").jobs
    assert jobs["luck"].null_count() == jobs.height == 4


def _in_future(folder: Path) -> None:
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    file.write_text(json.dumps({**manifest, "format": FORMAT + 1, "shape": "nobody knows"}))


@pytest.mark.parametrize(("name", "open_it"), [("run", open_run), ("study", od.open_study)])
def test_a_folder_of_a_future_format_is_refused(old: Path, name: str, open_it: Callable[[Path], object]) -> None:
    _in_future(old / name)
    with pytest.raises(InputError, match=f"has format {FORMAT + 1}, this version reads up to {FORMAT}") as caught:
        open_it(old / name)
    assert caught.value.file == str(old / name / "manifest.json")
    assert "the version of odonata that wrote it" in str(caught.value.hint)
