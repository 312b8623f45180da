"""Whole sweeps: each run once, the same bytes with all workers, and the tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import odonata as od
from odonata.errors import InputError
from odonata.store import columns_of
from odonata.study import local, task
from odonata.study.local import LocalPool
from odonata.study.python import plan_of
from odonata.study.sweep import sweep

from .conftest import STUDY, Here, Write, command, eventually, final, kept, sweeping, swept

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_tables_hold_the_axes_and_what_the_runs_gave(study: Write) -> None:
    swept = sweep(study(), Path("out"), LocalPool(2))
    assert swept.runs.columns == [
        "point", "routing", "run.seed", "id", "status", "error", "seed", "sim_time_ps", "events", "packet_hops",
        "engine",
    ]  # fmt: skip
    assert swept.runs["point"].to_list() == list(range(8))
    assert swept.runs["run.seed"].to_list() == [1, 2, 3, 4] * 2
    assert swept.runs["seed"].to_list() == swept.runs["run.seed"].to_list()
    for number in (0, 7):
        alone = od.run(found_scenario(study, number))
        rows = swept.jobs.filter(pl.col("point") == number).drop("point", "routing", "run.seed")
        assert rows.equals(alone.jobs, null_equal=True)
        assert swept.runs["id"][number] == alone.id
    walls = pl.read_parquet("out/walls.parquet")
    assert walls["id"].to_list() == swept.runs["id"].to_list()
    assert (walls["wall_s"] > 0).all()
    assert od.open("out").jobs.equals(swept.jobs)
    assert Path("out/study.toml").read_text() == STUDY
    assert od.load("out/scenario.toml").resolve().targets == ("target",)


def found_scenario(study: Write, number: int) -> Any:
    return study().scenario(number)


def test_units_and_meanings_are_in_the_file(study: Write) -> None:
    sweep(study(), Path("out"), Here())
    told = json.loads(pl.read_parquet_metadata("out/jobs.parquet")["odonata.columns"])
    assert told["time_ps"]["unit"] == "ps"
    (column,) = (column for column in columns_of("jobs") if column.name == "time_ps")
    assert told["time_ps"]["meaning"] == column.meaning


def test_jobs_whose_lists_have_one_length_by_chance(study: Write) -> None:
    """Catches tables that cannot be put together: polars makes arrays of the lists of a single job."""
    plan = study(
        '[base]\nsystem = "tiny"\nmeasure.latency = "histogram"\n[[base.job]]\nname = "a"\nnodes = 8\n'
        'app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 9 }\n'
        '[sweep]\n"run.seed" = { from = 1, to = 20 }\n'
    )
    resolved = [task.resolve(plan, number)[1] for number in range(20)]
    outcomes = [task.run(plan, (number, (None,)), job)[0] for number, job in enumerate(resolved) if job is not None]
    rows, spent = task.handed_in(outcomes)
    assert len(spent) == 20
    assert rows.schema["bin_count"] == pl.List(pl.UInt64)
    assert rows["bin_count"].list.sum().to_list() == [72] * 20
    assert rows["bin_count"].list.len().n_unique() > 1


def test_an_error_in_a_worker_is_reported(study: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a worker whose error is lost, so that its cause is unknown."""
    environment = "import odonata.study.task as t; t.handed_in = lambda outcomes: 1 / 0; "
    monkeypatch.setattr("odonata.study.local._MAIN", environment + local._MAIN)
    swept = sweep(study('base = "base.toml"\n[sweep]\nrouting = ["fpar"]\n'), Path("out"), LocalPool(1))
    assert set(swept.failed["error"]) == {
        "its worker died 2 times (ZeroDivisionError: division by zero; a bug in odonata)"
    }


def test_any_number_of_workers_writes_the_same_bytes(study: Write) -> None:
    plan = study()
    for workers in (1, 2, 3):
        sweep(plan, Path(f"with-{workers}"), LocalPool(workers))
    assert final("with-1") == final("with-2") == final("with-3")


def test_an_edited_study_runs_only_what_is_new(study: Write) -> None:
    study()
    assert swept("study.toml", "--out", "out")["simulated"] == 8
    study(STUDY.replace('"minimal"', '"minimal", "valiant"').replace("from = 1", "from = 0"))
    more = swept("study.toml", "--out", "out")
    assert (more["points"], more["simulated"], more["kept"]) == (15, 7, 8)
    study(STUDY)
    fewer = swept("study.toml", "--out", "out")
    assert (fewer["points"], fewer["simulated"], fewer["kept"]) == (8, 0, 8)
    swept("study.toml", "--out", "whole")
    assert final("out") == final("whole")
    assert len(kept("out")) == 15  # what is not part of the study any more is kept all the same


def test_a_changed_scenario_is_another_run(study: Write) -> None:
    study()
    swept("study.toml", "--out", "out")
    base = Path("base.toml")
    base.write_text(base.read_text().replace("messages = 20", "messages = 21"))
    assert swept("study.toml", "--out", "out")["simulated"] == 8
    assert swept("study.toml", "--out", "out", "--force")["simulated"] == 8


def test_points_that_are_the_same_run_are_simulated_once(study: Write) -> None:
    plan = study('base = "base.toml"\n[sweep]\nrouting = ["fpar", { name = "fpar" }]\n"run.seed" = [1, 2, 1]\n')
    swept = sweep(plan, Path("out"), Here())
    assert swept.runs["id"].n_unique() == len(kept("out")) == 2
    parts = pl.concat([pl.read_parquet(file) for file in Path("out/results").iterdir()])
    assert parts.height == 4  # two runs with two jobs each
    assert swept.jobs["point"].to_list() == [n for n in range(6) for _ in range(2)]


def test_a_point_that_cannot_be_simulated_fails_alone(study: Write) -> None:
    plan = study('base = "base.toml"\n[sweep]\n"job.noise.nodes" = [6, 99, 7]\n')
    swept = sweep(plan, Path("out"), Here())
    assert swept.runs["status"].to_list() == ["done", "failed", "done"]
    assert str(swept.plot().get_suptitle()).endswith("; 1 point failed")
    assert swept.failed["error"][0].startswith(
        "base.toml with -s job.noise.nodes: 99 nodes do not fit: only 8 are free"
    )
    assert swept.jobs["point"].unique().to_list() == [0, 2]
    again = sweep(plan, Path("out"), Here(), retry_failed=True)
    assert again.runs.equals(swept.runs)


def test_all_points_may_fail(study: Write) -> None:
    swept = sweep(study('base = "base.toml"\n[sweep]\n"job.noise.nodes" = [98, 99]\n'), Path("out"), Here())
    assert (swept.failed.height, swept.jobs.height) == (2, 0)
    with pytest.raises(InputError, match="no run of the study is done"):
        swept.compare("job.noise.nodes")


def test_two_sweeps_do_not_work_in_one_folder(study: Write) -> None:
    study('base = "base.toml"\n[sweep]\n"job.target.app.messages" = [50000000]\n')
    with sweeping():
        eventually(lambda: Path("out/results").is_dir())
        time.sleep(0.2)
        second = command("sweep", "study.toml", "--out", "out", "-q")
    assert second.returncode == 2
    assert "error: another sweep is using `out`" in second.stderr


def test_from_python_in_memory(here: Path) -> None:
    calls: list[tuple[int, int]] = []
    quiet = od.load("base.toml").set("job.noise.nodes", 4)
    swept = od.sweep(
        quiet,
        {"job.noise.place": od.placements, "run.seed": np.arange(1, 3)},
        workers=2,
        progress=lambda done, points: calls.append((done, points)),
    )
    assert swept.path is None
    assert swept.runs["job.noise.place"].unique(maintain_order=True).to_list() == od.placements()
    assert calls[-1] == (2 * len(od.placements()),) * 2
    assert "needs `nodes`" in swept.failed.filter(pl.col("job.noise.place") == "explicit")["error"][0]
    compared = swept.compare("job.noise.place", value="time_ps", baseline="contiguous")
    assert {row.value: row.n for row in compared.rows}["explicit"] == 0
    assert list(here.iterdir()) == [here / "base.toml"]


def test_from_python_with_keys_walked_together_and_a_folder(here: Path) -> None:
    axes = {("job.target.app.messages", "run.seed"): [(5, 1), (6, 2)], "routing": ["fpar", "minimal"]}
    study_made = od.sweep("base.toml", axes, workers=1, out="out")
    assert study_made.runs["job.target.app.messages"].to_list() == [5, 5, 6, 6]
    again = swept("out/study.toml", "--out", "out")
    assert (again["kept"], again["simulated"]) == (4, 0)
    assert set(od.open("out").runs["id"]) == set(study_made.runs["id"])


def _made(point: dict[str, Any]) -> od.Scenario:
    return od.load("base.toml").set("run.seed", point["n"])


def test_points_of_a_function_are_written_as_a_file() -> None:
    points = [{"n": n, "a b": f'"{n}"', "table": {"x": [n, {"y": 1.5}]}, "none": {}} for n in (1, 2)]
    (table,) = tomllib.loads(plan_of(_made, points).as_text())["zip"]
    assert table == {key: [point[key] for point in points] for key in points[0]}
    assert tomllib.loads(plan_of(_made, {"n": [1, 2], "t": [{"x": 1}, {}]}).as_text())["sweep"]["t"] == [{"x": 1}, {}]


def test_the_file_of_many_points_takes_linear_time(lines_of: Callable[[Callable[[], object]], int]) -> None:
    def lines(count: int) -> int:
        return lines_of(lambda: plan_of(_made, [{"n": n, "m": 0} for n in range(count)]).as_text())

    lines(10)
    assert lines(800) < 5 * lines(200)


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ({}, "the study has no axis"),
        ({"run.seed": []}, "`run.seed`: the axis has no values"),
        ({"run.seed": "12"}, "`run.seed`: expected a list of values, found `'12'`"),
        ({"routing": ["fpar", "minmal"]}, "sweep of routing, value minmal: unknown routing `minmal`"),
        ({"job.x.nodes": [1]}, "sweep of job.x.nodes, value 1: cannot set `job.x.nodes`: there is no job `x`"),
        ({("run.seed", "routing"): [(1, 2, 3)]}, "`run.seed, routing`: expected 2 values"),
        ({"run.seed": [1, object]}, "`run.seed`: an axis has an invalid value: expected a text, a number, a boolean"),
    ],
)
def test_wrong_axes_from_python(here: Path, axes: Any, expected: str) -> None:
    with pytest.raises(InputError) as raised:
        od.sweep("base.toml", axes)
    assert str(raised.value).startswith(expected)


def test_a_script_needs_no_guard_and_a_sweep_brings_its_path(here: Path) -> None:
    """Catches processes that import the script again, and workers that do not find what their parent did."""
    Path("script.py").write_text(
        "import odonata as od\nprint(od.sweep('base.toml', {'run.seed': range(3)}, workers=2).runs.height)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(od.__file__).parents[1])}
    process = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    assert (process.stdout, process.stderr) == ("3\n", "")


def test_values_of_a_set_are_refused(here: Path) -> None:
    """Catches points whose order differs from one process to the next."""
    with pytest.raises(InputError, match="the values of a set have no order"):
        od.sweep("base.toml", {"routing": {"fpar", "minimal"}})


def test_points_that_are_the_same_run_count_once(here: Path) -> None:
    """Or an interval of a median would rest on more runs than there are."""
    swept = od.sweep("base.toml", {"routing": ["fpar", "minimal"], "run.seed": [1, 2, 2]}, out="s")
    rows = swept.compare("routing", value="latency_mean_ps").rows
    assert [(row.n, row.pairs) for row in rows] == [(2, 0), (2, 2)]
