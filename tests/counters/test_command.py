"""`odonata cluster traffic` as typed, and a book that a queue takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.counters.made import as_csv, as_sacct, table

from odonata.cli.main import main

JOBS = [("1", "solver", 2, "n[0-1]", 0, 600), ("2", "wide", 4, "n[2-5]", 0, 600)]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rates = {f"n{n}": (lambda _: 1e8, lambda _: 1e8) for n in range(2)}
    rates |= {f"n{n}": (lambda _: 4e8, lambda _: 4e8) for n in range(2, 6)}
    Path("counters.csv").write_text(as_csv(table(rates)))
    Path("sacct.txt").write_text(as_sacct(JOBS))
    return tmp_path


BASE = ["cluster", "traffic", "counters.csv", "--jobs", "sacct.txt"]


def test_the_table(here, capsys, snapshot):
    assert main(BASE) == 0
    assert capsys.readouterr().out == snapshot


def test_json(here, capsys):
    assert main([*BASE, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [(job["id"], round(job["sent"]), job["shape"]) for job in facts["jobs"]] == [
        ("1", 100_000_000, "even"),
        ("2", 400_000_000, "even"),
    ]
    assert facts["not_measured"] == []


def test_times_of_another_zone(here, capsys):
    Path("sacct.txt").write_text(as_sacct([("1", "solver", 2, "n[0-1]", 7200, 7800)]))  # 14:00 in Rome is 12:00 UTC
    assert main([*BASE, "--zone", "Europe/Rome"]) == 0
    assert "100 MB/s" in capsys.readouterr().out
    assert main(BASE) == 2


def test_times_that_have_a_zone_need_none(here, capsys):
    jobs = {"start_time": 1777636800, "end_time": 1777637400, "nodes": "n[0-1]", "job_id": 1, "job_state": "COMPLETED"}
    Path("sacct.txt").write_text(json.dumps({"jobs": [jobs]}))
    assert main(BASE) == 0, capsys.readouterr().err
    assert main([*BASE, "--zone", "Europe/Rome"]) == 2
    assert "no time of the file needs one" in capsys.readouterr().err


def test_a_queue_takes_its_book(here, capsys):
    assert main([*BASE, "--bandwidth", "2 x 10 Gbit/s", "-o", "book.toml"]) == 0
    queue = "JOBID|STATE|NODELIST|NAME\n7|R|node[00-01]|solver\n8|R|node[02-05]|wide\n"
    Path("queue.txt").write_text(queue)
    command = ["cluster", "snapshot", "--system", "tiny", "--queue", "queue.txt", "--book", "book.toml"]
    assert main([*command, "-o", "now.toml"]) == 0, capsys.readouterr().err
    text = Path("now.toml").read_text()
    assert "measured: 1 job," in text


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["-o", "book.toml"], "needs --bandwidth"),
        (["--bandwidth", "1 Gbit/s"], "--bandwidth goes with --out"),
        (["-o", "book.toml", "--bandwidth", "x 1 Gbit/s"], "--bandwidth"),
        (["-o", "book.toml", "--bandwidth", "0 x 1 Gbit/s"], "expected a number of NICs"),
        (["--from", "2026-05-01T12:00:00Z"], "--from goes with the address"),
        (["--zone", "Mars/Olympus"], "unknown time zone"),
        (["--step", "60"], "--step goes with the address"),
        (["-o", "book.toml", "--bandwidth", "² x 1 Gbit/s"], "expected a number of NICs"),
    ],
)
def test_wrong_options(here, capsys, more, message):
    assert main([*BASE, *more]) == 2
    assert message in capsys.readouterr().err


def test_an_address_needs_times(here, capsys):
    assert main(["cluster", "traffic", "http://localhost:1", "--jobs", "sacct.txt"]) == 2
    assert "needs --from and --to" in capsys.readouterr().err
