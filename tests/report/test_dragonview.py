"""`odonata export RUN --format dragonview`: links and jobs as DragonView reads them."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from tests.report.conftest import PROGRAM, TRAFFIC

from odonata.cli.main import main
from odonata.report.dragonview import dragonview_of


def tables(run):
    return {name.removesuffix(".csv"): pl.read_csv(io.BytesIO(data)) for name, data in dragonview_of(run)[0].items()}


@pytest.mark.parametrize(
    ("system", "shape", "colours"),
    [("theta", (9, 6, 16), "bgk"), ("zhang2018-272", (17, 1, 4), "bg"), ("tiny", (4, 2, 4), "bk")],
)
def test_links_are_those_of_the_table_at_the_place_of_their_routers(made, system, shape, colours):
    text = TRAFFIC.format(system=system)
    run = made(text.replace("20\n", "6\n") if system == "tiny" else text)
    table = tables(run)["counters"]
    links = run.links.filter(from_kind="router", to_kind="router")
    assert table.columns[:7] == ["sg", "sr", "sc", "dg", "dr", "dc", "color"]
    for name in ("packets", "bytes", "busy", "stalled_ps"):
        assert table[name].to_list() == links[name].to_list()
    assert (table["sg"] == links["from_group"]).all()
    assert (table["dg"] == links["to_group"]).all()
    assert tuple(table[name].max() + 1 for name in ("sg", "sr", "sc")) <= shape
    # Each router has one place, and no other router has it.
    ends = table.select("sg", "sr", "sc").with_columns(id=links["from_id"]).unique()
    assert ends.height == links["from_id"].n_unique() == ends.n_unique(["sg", "sr", "sc"])
    assert set(table["color"]) == set(colours)
    assert ((table["sg"] != table["dg"]) == (table["color"] == "b")).all()
    same_row = (table["sg"] == table["dg"]) & (table["sr"] == table["dr"])
    assert (same_row == (table["color"] == "g")).all()


def test_every_process_has_its_router_node_and_job(made):
    run = made(PROGRAM.replace("nodes = 16", "nodes = 16\nranks_per_node = 2", 1))
    jobs, links = tables(run)["jobs"], run.links.filter(from_kind="node")
    assert jobs.columns == ["g", "r", "c", "n", "core", "jobid"]
    assert jobs["jobid"].to_list() == [0] * 32 + [1] * 16
    assert jobs.filter(jobid=0)["core"].value_counts()["count"].to_list() == [16, 16]
    group = dict(links.select("from_id", "to_group").iter_rows())
    nodes = [node for job in run.resolved["spec"]["jobs"] for node in job["nodes"]]
    assert jobs["g"].to_list() == [group[node] for node in nodes]
    assert jobs.filter(core=0).is_unique().all()


def test_the_command_writes_three_files(plus, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(plus.path), "-o", "out", "--format", "dragonview"]) == 0
    assert capsys.readouterr().out == "out: runs.csv, counters.csv, jobs.csv\njobs: 0 is target, 1 is noise\n"
    assert Path("out/runs.csv").read_text() == f"name,counters,jobs\n{plus.id},counters.csv,jobs.csv\n"
    Path("out/jobs.csv").write_text("mine")
    assert main(["export", str(plus.path), "-o", "out", "--format", "dragonview"]) == 2
    assert "`out/jobs.csv` exists with different contents" in capsys.readouterr().err
    Path("file").write_text("")
    for output, said in (("file", "is a file, expected a folder"), ("no/out", "there is no folder `no`")):
        assert main(["export", str(plus.path), "-o", output, "--format", "dragonview"]) == 2
        assert said in capsys.readouterr().err


def test_a_machine_of_another_shape_than_dragonview_draws_is_told(made):
    run = made(TRAFFIC.format(system="zhang2018-272"))
    assert dragonview_of(run)[1][1] == (
        "The machine has 17 groups of 1 x 4 routers. DragonView draws 16 groups of 6 x 16: change `N_GROUPS`, `N_ROWS` "
        "and `N_COLS` in its app/src/model.js."
    )
