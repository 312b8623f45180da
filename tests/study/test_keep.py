"""The values that a study keeps of its runs in addition to their jobs, and studies whose scenarios a function makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import odonata as od
from odonata.cli.main import main
from odonata.errors import InputError, RunError
from odonata.scenario import Scenario, parse
from odonata.study.keep import mark
from odonata.study.python import plan_of

from .conftest import BASE, STUDY, Write, final, swept

if TYPE_CHECKING:
    from odonata.store import Run

KEEP = """
[keep]
stalled = { table = "links", column = "stalled_ps", statistic = "max", where = { class = "global" } }
sent = { table = "links", column = "bytes", statistic = "sum", where = { from_kind = "node" } }
"""


def busiest(run: Run) -> dict[str, Any]:
    """A number of NumPy, a list and a text."""
    links = run.links.filter(pl.col("class") == "global")
    return {"busy": links["busy"].to_numpy().max(), "ports": links["bytes"].to_list(), "first": run.jobs["name"][0]}


def made(point: dict[str, Any]) -> Scenario:
    """Another number of nodes with every load."""
    return parse(BASE).set("job.noise.nodes", 2 * point["load"]).set("run.seed", point["seed"])


def test_statistics_of_a_file_are_columns_of_the_runs(study: Write) -> None:
    study(STUDY + KEEP)
    swept("study.toml", "--out", "s")
    runs = od.open("s").runs
    for point, row in enumerate(runs.iter_rows(named=True)):
        links = od.run(study(STUDY + KEEP).scenario(point)).links
        assert row["stalled"] == links.filter(pl.col("class") == "global")["stalled_ps"].max()
        assert row["sent"] == links.filter(pl.col("from_kind") == "node")["bytes"].sum()
    assert runs["sent"].n_unique() > 1


def test_kept_values_can_be_compared_and_drawn(study: Write) -> None:
    study(STUDY + KEEP)
    swept("study.toml", "--out", "s")
    opened = od.open("s")
    reopened = opened.compare("routing", "sent", job="target")
    medians = opened.runs.group_by("routing", maintain_order=True).agg(pl.col("sent").median())["sent"].to_list()
    assert [row.median for row in reopened.rows] == medians
    assert opened.plot("routing", "stalled", job="target").axes
    with pytest.raises(InputError, match="did you mean `sent`"):
        opened.compare("routing", "snt", job="target")
    with pytest.raises(InputError, match="expected a seed from 0 on, found -1"):
        opened.compare("routing", "sent", job="target", seed=-1)


def test_a_study_is_no_run(study: Write) -> None:
    study(STUDY)
    swept("study.toml", "--out", "s")
    with pytest.raises(
        InputError, match="`s` is the folder of a study, expected that of a run\n  hint: `odonata plot`"
    ):
        od.explain("s")


def test_a_value_of_where_that_no_row_has_is_said(study: Write, capsys: pytest.CaptureFixture[str]) -> None:
    counted = 'many = { table = "links", column = "bytes", statistic = "count", where = { from_kind = "ndoe" } }\n'
    study(STUDY + KEEP.replace('"global"', '"golbal"') + counted)
    assert main(["sweep", "study.toml", "--quiet", "-j", "1"]) == 0
    assert capsys.readouterr().err == (
        'warning: `stalled` of [keep] is empty in all runs: no row of `links` has class = "golbal"\n'
        'warning: `many` of [keep] is empty in all runs: no row of `links` has from_kind = "ndoe"\n'
    )


def test_what_is_kept_changes_no_other_byte_and_no_run(study: Write) -> None:
    study()
    swept("study.toml", "--out", "a")
    before = final("a")
    study(STUDY + KEEP)
    swept("study.toml", "--out", "b", "-j", "1")
    swept("study.toml", "--out", "c", "-j", "3")
    assert final("b") == final("c")
    assert final("b")["jobs.parquet"] == before["jobs.parquet"]
    plain, other = (od.open(folder).runs for folder in "ab")
    assert plain.equals(other.select(plain.columns))
    assert other.columns == [*plain.columns, "stalled", "sent"]


def test_what_was_kept_otherwise_is_simulated_again(study: Write) -> None:
    """Catches a column that silently holds what an older form of `[keep]` gave."""
    study(STUDY + KEEP)
    assert swept("study.toml", "--out", "s")["simulated"] == 8
    assert swept("study.toml", "--out", "s")["simulated"] == 0
    most = od.open("s").runs["stalled"]
    study(STUDY + KEEP.replace('statistic = "max"', 'statistic = "mean"'))
    assert swept("study.toml", "--out", "s")["simulated"] == 8
    assert (od.open("s").runs["stalled"] < most).any()
    study(STUDY + KEEP)
    swept("study.toml", "--out", "s")
    assert od.open("s").runs["stalled"].equals(most)
    study()
    assert swept("study.toml", "--out", "s")["simulated"] == 0
    assert "stalled" not in od.open("s").runs.columns


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('x = "links"', "`x`: expected a table"),
        ('x = { table = "links", column = "busy" }', "`statistic` is missing"),
        ('x = { table = "link", column = "busy", statistic = "max" }', "unknown table `link`"),
        ('x = { table = "links", column = "buzy", statistic = "max" }', "did you mean `busy`?"),
        ('x = { table = "links", column = "class", statistic = "max" }', "unknown column of numbers in `links`"),
        ('x = { table = "links", column = "busy", statistic = "p98" }', "unknown statistic `p98`"),
        ('x = { table = "links", column = "busy", statistic = "max", where = { class = 3 } }', "expected a String"),
        ('x = { table = "links", column = "busy", statistic = "max", were = {} }', "unknown key `were`"),
        ('routing = { table = "links", column = "busy", statistic = "max" }', "`routing` is an axis of the study"),
        ('seed = { table = "links", column = "busy", statistic = "max" }', "`seed` is a column of `runs` already"),
    ],
)
def test_mistakes_in_a_file_are_named_with_their_line(
    here: Path, line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("study.toml").write_text(f"{STUDY}\n[keep]\n{line}\n")
    assert main(["sweep", "study.toml"]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "study.toml:8" in err


def test_a_function_keeps_numbers_texts_and_lists(here: Path) -> None:
    study = od.sweep("base.toml", {"run.seed": [1, 2]}, keep=busiest, workers=2)
    for seed, busy, ports, first in study.runs.select("run.seed", "busy", "ports", "first").iter_rows():
        links = od.run(od.load("base.toml").set("run.seed", seed)).links.filter(pl.col("class") == "global")
        assert (busy, ports, first) == (links["busy"].max(), links["bytes"].to_list(), "target")


def test_a_function_that_fails_fails_its_run(here: Path) -> None:
    def wrong(run: Run) -> dict[str, Any]:
        return {"x": 1 / (run.seed - 2)}

    study = od.sweep("base.toml", {"run.seed": [1, 2]}, keep=wrong, workers=1)
    assert study.runs["x"].to_list() == [-1.0, None]
    assert study.failed["error"].to_list() == ["`keep` failed: ZeroDivisionError: division by zero"]
    taken = od.sweep("base.toml", {"run.seed": [1]}, keep=lambda _: {"events": 1}, workers=1)
    assert "name of another column" in taken.failed["error"][0]


def test_scenarios_made_by_a_function_along_a_list_of_points(here: Path) -> None:
    points = [{"load": 1, "seed": 1}, {"load": 3, "seed": 2}, {"seed": 5, "load": 1}]
    study = od.sweep(made, points, out="s", workers=2, keep=busiest)
    assert study.runs.select("load", "seed").rows() == [(1, 1), (3, 2), (1, 5)]
    assert study.runs["id"].to_list() == [made(point).resolve().id for point in points]
    assert study.jobs.filter(pl.col("name") == "noise")["nodes"].to_list() == [2, 6, 2]
    again = plan_of(made, [*points, {"load": 4, "seed": 1}], busiest)
    assert again.name == study.name == "made"
    assert "od_study" not in study.path.joinpath("study.toml").read_text()
    assert od.open("s").runs.equals(study.runs)


def test_points_need_the_same_keys(here: Path) -> None:
    with pytest.raises(InputError, match="point 1: expected the keys load, seed, found load"):
        od.sweep(made, [{"load": 1, "seed": 1}, {"load": 2}])
    with pytest.raises(InputError, match="no point"):
        od.sweep(made, [])


def test_the_mark_follows_the_source_and_what_a_function_encloses() -> None:
    def keeping(limit: int) -> Any:
        return lambda run: {"n": run.jobs.height > limit}

    assert mark(keeping(1)) == mark(keeping(1)) != mark(keeping(2))
    assert mark(busiest) != mark(keeping(1))
    assert mark(None) is None
    with pytest.raises(InputError, match="expected a function"):
        mark(3)  # type: ignore[arg-type]


def test_workers_that_cannot_read_the_plan_are_given_up(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They say what is wrong before they end, and were started again and again."""
    monkeypatch.setattr("odonata.study.plan.Plan.packed", lambda plan: b"nonsense")
    with pytest.raises(RunError, match=r"do not start.*UnpicklingError"):
        od.sweep("base.toml", {"run.seed": [1]}, workers=1)


def test_functions_of_a_script_reach_the_workers(here: Path) -> None:
    """A worker has another `__main__`."""
    Path("script.py").write_text(
        "import odonata as od\n"
        "def make(point):\n    return od.load('base.toml').set('run.seed', point['seed'])\n"
        "def keep(run):\n    return {'sevenfold': 7 * run.seed}\n"
        "print(od.sweep(make, {'seed': [1, 2]}, keep=keep, workers=2, out='s').runs['sevenfold'].to_list())\n"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, check=False)
        assert done.stdout == "[7, 14]\n", done.stderr
