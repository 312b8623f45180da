"""Slowdowns in a study: each job alone as well, and every such run once."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import odonata as od
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.study import task
from odonata.study.ledger import Ledger
from odonata.study.local import LocalPool
from odonata.study.results import Results
from odonata.study.sweep import sweep

from .conftest import BASE, STUDY, Here, Write, final, kept, swept

NEIGHBOURS = 'alone = true\nbase = "base.toml"\n[sweep]\n"job.noise.nodes" = [4, 5, 6]\n"run.seed" = [1, 2]\n'

PROGRAMS = """\
system = "tiny"
[[job]]
name = "a"
nodes = 4
place = "random"
app = { collective = "allreduce", message = "40 KB" }
iterations = 3
[[job]]
name = "b"
nodes = 4
app = { collective = "alltoall", message = "40 KB" }
iterations = 3
every = "40 us"
[[job]]
name = "noise"
nodes = 4
app = { pattern = "uniform-random", message = "40 KB", interval = "5 us" }
background = true
"""


@pytest.mark.parametrize("base", [BASE, PROGRAMS])
def test_the_rows_are_those_of_a_run_with_alone(study: Write, base: str) -> None:
    study()
    Path("base.toml").write_text(base)
    swept = sweep(study('alone = true\nbase = "base.toml"\n[sweep]\n"run.seed" = [1, 2]\n'), Path("out"), Here())
    for number in (0, 1):
        expected = od.run(study().base.set("run.seed", number + 1), alone=True).jobs
        assert expected["slowdown"].drop_nulls().len() == expected.filter(~pl.col("background")).height > 0
        rows = swept.jobs.filter(pl.col("point") == number).drop("point", "run.seed")
        assert rows.equals(expected, null_equal=True)


def test_what_is_cut_off_has_no_slowdown(study: Write) -> None:
    """As in a run with `alone`: a ratio of the means of what had arrived would be close to 1."""
    study()
    plan = study('alone = true\nbase = "base.toml"\n[sweep]\n"run.horizon" = ["3 us", "1 ms"]\n')
    swept = sweep(plan, Path("out"), Here()).jobs.filter(~pl.col("background")).sort("point")
    assert swept["complete"].to_list() == [False, True]
    assert swept["alone_complete"].to_list() == [False, True]
    assert swept["slowdown"].is_null().to_list() == [True, False]


def test_points_share_the_runs_of_a_job_alone(study: Write) -> None:
    """The target has the same nodes with each neighbour: one run alone for each seed, not one for each point."""
    study(NEIGHBOURS)
    first = swept("study.toml", "--out", "out")
    assert (first["points"], first["simulated"], first["kept"]) == (6, 6 + 2, 0)
    assert len(kept("out")) == 8
    slowdowns = od.open("out").jobs.filter(~pl.col("background")).sort("point")
    assert slowdowns["alone_mean_ps"].n_unique() == 2
    assert slowdowns["slowdown"].n_unique() == 6
    again = swept("study.toml", "--out", "out")
    assert (again["simulated"], again["kept"]) == (0, 6)
    study(NEIGHBOURS.replace("[4, 5, 6]", "[4, 5, 6, 7]"))
    assert swept("study.toml", "--out", "out")["simulated"] == 2


def test_any_number_of_workers_writes_the_same_bytes(study: Write) -> None:
    plan = study(NEIGHBOURS)
    for workers in (1, 3):
        sweep(plan, Path(f"with-{workers}"), LocalPool(workers))
    assert final("with-1") == final("with-3")


def test_a_study_that_was_done_without_needs_the_runs_alone_only(study: Write) -> None:
    study()
    swept("study.toml", "--out", "out")
    more = swept("study.toml", "--out", "out", "--alone")
    assert more["simulated"] == 8
    assert "slowdown" in od.open("out").columns(od.open("out").rows_of(None))
    # Without it again, nothing is simulated and no slowdown is shown.
    assert swept("study.toml", "--out", "out")["simulated"] == 0
    assert od.open("out").jobs["slowdown"].null_count() == 16


def test_compare_and_plot_use_the_slowdown(study: Write, capsys: pytest.CaptureFixture[str]) -> None:
    study("alone = true\n" + STUDY)
    swept("study.toml", "--out", "out")
    assert main(["compare", "out", "--by", "routing", "--value", "slowdown", "--json"]) == 0
    assert [row["n"] for row in json.loads(capsys.readouterr().out)["rows"]] == [4, 4]
    assert od.open("out").plot("routing", "slowdown").axes


def test_from_python(here: Path) -> None:
    swept = od.sweep("base.toml", {"run.seed": [1, 2]}, workers=1, alone=True, out="out")
    assert swept.jobs.filter(~pl.col("background"))["slowdown"].null_count() == 0
    assert Path("out/study.toml").read_text().startswith("alone = true\n")


def test_a_job_that_never_ends_alone_fails_its_point(study: Write) -> None:
    text = 'alone = true\nbase = "base.toml"\n[sweep]\n"run.seed" = [1]\n'
    endless = BASE.replace(", messages = 20", "")
    study()
    Path("base.toml").write_text(endless + '[run]\nuntil = "10 us"\n')
    assert sweep(study(text), None, Here()).failed.height == 0  # a time ends it
    both = endless.replace("background = true", "").replace('interval = "5 us"', 'interval = "5 us", messages = 5')
    Path("base.toml").write_text(both + '[run]\nuntil = "noise"\n')
    swept = sweep(study(text), None, Here())
    assert "job `target` never ends, so it cannot run alone" in swept.failed["error"][0]


def test_a_run_alone_that_fails_fails_the_points_that_need_it(study: Write) -> None:
    """A worker that dies of it twice: the points have no slowdown, and say why."""
    plan = study(NEIGHBOURS)
    ledger = Ledger(plan, Results(None))
    resolutions = [task.resolve(plan, number)[0] for number in range(2)]
    first, second = ledger.grant(resolutions)
    assert first == (0, (None, "target"))
    assert second == (1, (None, "target"))
    shared = ledger.grant([task.resolve(plan, 2)[0]])
    assert shared == [(2, (None,))]  # its run alone is under way with point 0
    ledger.put_back([0])
    assert ledger.grant([resolutions[0]]) == [(0, (None, "target"))]
    ledger.lose(0, "it is gone")
    ledger.flush()
    assert (ledger.settled, ledger.failed) == (1, 1)
    assert not ledger.is_settled(2)


def test_what_alone_may_be(study: Write) -> None:
    with pytest.raises(InputError, match=r"study\.toml:1: `alone`: expected true or false, found `'yes'`"):
        study('alone = "yes"\n' + STUDY)
