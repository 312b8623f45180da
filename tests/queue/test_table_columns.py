"""Past jobs from any table, by what its columns are."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import polars as pl
import pytest

from odonata.errors import InputError
from odonata.queue.accounting import read_runs

COLUMNS = {"start": "begin", "run": "seconds", "count": "n", "submit": "queued", "id": "number", "name": "what"}
TEXT = "number;what;queued;begin;seconds;n\n1;a, b;1000;1060;3600;8\n2;c;2000;2000;00:10:00;1\n3;d;2000;;;4\n"


def facts(path, columns=COLUMNS):
    return [
        (run.id, run.name, run.submit, run.start, run.end, run.count) for run in read_runs(path, columns=columns).runs
    ]


WANTED = [("1", "a, b", 1000.0, 1060.0, 4660.0, 8), ("2", "c", 2000.0, 2000.0, 2600.0, 1)]


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_any_delimiter(tmp_path, sign):
    path = tmp_path / "jobs.csv"
    path.write_text(TEXT.replace("a, b", '"a, b"').replace(";", sign))
    assert facts(path) == WANTED


def test_gzip(tmp_path):
    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    assert facts(path) == WANTED


def test_parquet(tmp_path):
    path = tmp_path / "jobs.parquet"
    begin = datetime(2026, 5, 1, tzinfo=UTC)
    table = {"number": [1], "what": ["a"], "queued": [begin], "begin": [begin], "seconds": [90.5], "n": [8], "x": [1]}
    pl.DataFrame(table).write_parquet(path)
    [(_, _, submit, start, end, count)] = facts(path)
    assert (submit, end - start, count) == (begin.timestamp(), 90.5, 8)


def test_names_of_nodes_limits_and_iso_times(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text('t0,t1,hosts,most\n2026-05-01T00:00:00Z,2026-05-01T01:00:00Z,"n[1-3]",7200\n')
    columns = {"start": "t0", "end": "t1", "nodes": "hosts", "limit_s": "most"}
    [run] = read_runs(path, columns=columns).runs
    assert (run.nodes, run.count, run.work_s, run.limit_s) == (("n1", "n2", "n3"), 3, 3600.0, 7200.0)
    [run] = read_runs(path, columns={"start": "t0", "run": "most", "nodes": "hosts"}).runs
    assert run.work_s == 7200.0


def test_a_mapping_beside_the_names_of_pm100(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("start_time,end_time,n\n1000,2000,4\n")
    [run] = read_runs(path, columns={"count": "n"}).runs
    assert (run.count, run.work_s) == (4, 1000.0)


@pytest.mark.parametrize(
    ("columns", "message", "hint"),
    [
        ({"start": "begn", "run": "seconds", "count": "n"}, "begn", "begin"),
        ({"begin": "begin"}, "what a column of jobs is", ""),
        ({"start": "begin", "count": "n"}, "no column is `end` or `run`", "--column end=COLUMN"),
        ({"start": "begin", "run": "seconds"}, "no column is `nodes` or `count`", "columns: number, what"),
        ({**COLUMNS, "end": "queued"}, "`end` and `run` are both given", ""),
        ({**COLUMNS, "run": "what"}, "line 2: ", ""),
        ({**COLUMNS, "count": "what"}, "line 2: expected a number of nodes", ""),
        ({**COLUMNS, "start": "what"}, "line 2: expected a time", ""),
    ],
)
def test_wrong_mappings(tmp_path, columns, message, hint):
    path = tmp_path / "jobs.csv"
    path.write_text(TEXT)
    with pytest.raises(InputError) as problem:
        read_runs(path, columns=columns)
    assert message in str(problem.value)
    assert hint in (problem.value.hint or "") + str(problem.value)
    assert "jobs.csv" in str(problem.value)


def test_a_file_that_is_no_table(tmp_path):
    path = tmp_path / "jobs"
    for text in ('{"jobs": []}', "; MaxNodes: 4\n" + " ".join(["1"] * 18) + "\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="names of columns are for tables"):
            read_runs(path, columns=COLUMNS)


def test_negative_run_times(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(TEXT.replace("3600", "-5"))
    with pytest.raises(InputError, match="line 2: expected a run time in seconds"):
        read_runs(path, columns=COLUMNS)
