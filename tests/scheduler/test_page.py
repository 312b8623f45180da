"""The page of schedules, what cases save, traces of any table, and the template."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import polars as pl
import pytest

import odonata as od
from odonata.cli.main import main
from odonata.queue.accounting import read_runs
from odonata.scheduler.page import _thinned, runs, steps
from odonata.scheduler.savings import savings

JOBS = {"nodes": [2, 4], "start_s": [0.0, 100.0], "end_s": [100.0, 300.0]}


def test_runs_of_nodes():
    assert list(runs([5, 1, 2, 3, 7, 8])) == [(1, 3), (5, 5), (7, 8)]
    assert list(runs([])) == []
    assert list(runs([4])) == [(4, 4)]


def test_steps():
    assert steps(pl.DataFrame(JOBS)) == [(0.0, 2), (100.0, 4), (300.0, 0)]


def table(case: str, run_s: list[float], killed: int | None = None) -> pl.DataFrame:
    count = len(run_s)
    return pl.DataFrame(
        {
            "case": [case] * count,
            "stream": ["s"] * count,
            "job": [f"{n}" for n in range(count)],
            "nodes": [10] * count,
            "run_s": run_s,
            "killed": [n == killed for n in range(count)],
        }
    )


def test_savings_by_hand():
    """Forty jobs of ten nodes and an hour, of which the other case saves six minutes each."""
    both = pl.concat([table("a", [3600.0] * 40), table("b", [3240.0] * 40)])
    [saved] = savings(both, 500.0)
    assert (saved.case, saved.jobs, saved.first) == ("b", 40, 400.0)
    assert saved.node_hours == pytest.approx(40)
    assert saved.interval == pytest.approx((40, 40))
    assert saved.kwh == pytest.approx(20)
    assert saved.kwh_interval == pytest.approx((20, 20))
    assert savings(both)[0].kwh is None


def test_savings_have_intervals():
    changed = [3600.0 - (60.0 if n % 3 else -30.0) * (1 + n % 5) for n in range(60)]
    [saved] = savings(pl.concat([table("a", [3600.0] * 60), table("b", changed)]))
    assert saved.interval is not None
    assert saved.interval[0] < saved.node_hours < saved.interval[1]
    [few] = savings(pl.concat([table("a", [3600.0] * 3), table("b", changed[:3])]))
    assert few.interval is None


def test_killed_jobs_save_nothing():
    [saved] = savings(pl.concat([table("a", [3600.0] * 2), table("b", [3600.0, 1.0], killed=1)]))
    assert (saved.jobs, saved.node_hours) == (1, 0)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(
        'system = "tiny"\nplace = ["contiguous", "random"]\nwindow.contention = false\n'
        '[stream.synthetic]\njobs = 40\nload = "90 %"\n'
    )
    return tmp_path


def test_the_page(here, capsys):
    words = ["schedule", "s.toml", "--html", "s.html", "--watts", "500", "--json", "--quiet"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["saved"][0]["node_hours"] == 0  # without contention
    page = Path("s.html").read_text()
    assert "<script" not in page
    assert page.count('aria-label="node over hours"') == 2
    jobs = pl.read_parquet("schedules/s/jobs.parquet")
    boxes = sum(len(list(runs(nodes))) for nodes in jobs["node_list"].to_list())
    assert len(re.findall(r'<rect class="(?:job|slow)"', page)) == boxes
    assert "500 W for a node with a job" in page
    assert main([*words[:-2], "--quiet"]) == 0  # again, over the same files
    assert "saved against contiguous" in capsys.readouterr().out


def test_how_full_the_machine_is_while_jobs_arrive(here):
    found = od.schedule("s.toml")
    jobs = found.jobs.filter(pl.col("case") == "contiguous")
    begin, end = jobs["submit_s"].min(), jobs["submit_s"].max()
    used = sum(
        nodes * max(0.0, min(stop, end) - max(start, begin))
        for nodes, start, stop in jobs.select("nodes", "start_s", "end_s").iter_rows()
    )
    assert found.cases[0].arriving == pytest.approx(used / 16 / (end - begin))


def test_the_template_runs_at_its_load(here):
    assert main(["new", "t.toml", "--template", "schedule"]) == 0
    found = od.schedule("t.toml", ["window.contention=false"])
    assert found.warnings == ()
    for case in found.cases:
        assert case.arriving == pytest.approx(0.8, rel=0.05)
        assert case.utilisation == pytest.approx(0.8, rel=0.05)


TABLE = "begin;seconds;n\n1000;600;2\n1100;600;4\n"
TRACE = 'system = "tiny"\nplace = "contiguous"\nwindow.contention = false\nstream = { trace = "jobs.csv.gz" }\n'


def test_a_trace_of_any_table(here, capsys):
    Path("jobs.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    Path("s.toml").write_text(TRACE)
    columns = ["--column", "start=begin", "--column", "run=seconds", "--column", "count=n"]
    assert main(["schedule", "s.toml", *columns, "--quiet"]) == 0
    jobs = pl.read_parquet("schedules/s/jobs.parquet")
    assert jobs.select("nodes", "submit_s", "work_s").rows() == [(2, 0.0, 600.0), (4, 100.0, 600.0)]
    Path("s.toml").write_text(TRACE.replace(" }", ', columns = { start = "begin", run = "seconds", count = "n" } }'))
    assert main(["schedule", "s.toml", "--quiet", "--out", "again"]) == 0
    assert pl.read_parquet("again/jobs.parquet").equals(jobs)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--column", "start"], "--column start=begin"),
        (["--column", "strt=begin"], "start"),
        (["--column", "start=begin"], 'columns = { end = "COLUMN" }'),
        (["--html", "s.pdf"], "ends in `.html`"),
        (["--watts", "0"], "watts"),
    ],
)
def test_wrong_options(here, capsys, words, message):
    Path("jobs.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    Path("s.toml").write_text(TRACE)
    assert main(["schedule", "s.toml", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_page_overwrites_nothing_without_force(here, capsys):
    Path("notes.html").write_text("mine")
    words = ["schedule", "s.toml", "--quiet", "--html"]
    for _ in range(2):  # before the simulation, and with its results
        assert main([*words, "notes.html"]) == 2
        assert "--force" in capsys.readouterr().err
        assert Path("notes.html").read_text() == "mine"
        assert main(["schedule", "s.toml", "--quiet"]) == 0
        capsys.readouterr()
    assert main([*words, "notes.html", "--force"]) == 0
    assert Path("notes.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(("page", "message"), [("none/s.html", "no folder `none`"), ("s.html", "is a folder")])
def test_a_wrong_place_of_the_page_is_found_before_simulating(here, capsys, page, message):
    if page == "s.html":
        Path(page).mkdir()
    assert main(["schedule", "s.toml", "--quiet", "--html", page]) == 2
    assert message in capsys.readouterr().err
    assert not Path("schedules").exists()


@pytest.mark.parametrize("text", ["UNLIMITED", "Partition_Limit", "INFINITE", "inf", "-5", "abc"])
def test_a_run_time_that_is_none(here, capsys, text):
    table = f"begin;seconds;n\n1000;600;2\n1100;{text};4\n"
    Path("jobs.csv.gz").write_bytes(gzip.compress(table.encode()))
    Path("s.toml").write_text(TRACE)
    columns = ["--column", "start=begin", "--column", "run=seconds", "--column", "count=n"]
    assert main(["schedule", "s.toml", *columns, "--quiet"]) == 2
    err = capsys.readouterr().err
    assert "line 3: expected a run time" in err
    assert f"found `{text}`" in err
    assert "time limit" not in err


def test_requested_times_without_a_bound(here):
    columns = {"start": "b", "run": "r", "limit_s": "l", "count": "n"}
    rows = ["b,r,l,n", "1000,600,UNLIMITED,2", "1000,600,,2", "1000,600,0:20:00,2", "1000,N/A,7,2"]
    Path("jobs.csv").write_text("\n".join(rows) + "\n")
    runs = read_runs("jobs.csv", columns=columns).runs
    assert [(run.end, run.limit_s) for run in runs] == [(1600, None), (1600, None), (1600, 1200), (None, 7)]


def test_long_schedules_keep_their_extremes():
    points = [(float(at), 100 * (at % 2)) for at in range(9999)]
    points[777], points[7001], points[9998] = (777.0, 300), (7001.0, -1), (9998.0, 0)
    thin = _thinned(points)
    assert {points[777], points[7001], points[9998]} < set(thin)
    assert len(thin) <= 4001
    assert thin == sorted(thin)
    assert {value for _, value in thin} == {-1, 0, 100, 300}
    assert _thinned(points[:4000]) == points[:4000]
    assert _thinned([]) == []


def test_columns_beside_a_model(here, capsys):
    assert main(["schedule", "s.toml", "--column", "start=begin"]) == 2
    assert "`columns` changes a trace" in capsys.readouterr().err
