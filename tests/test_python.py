"""The Python interface as a user calls it: NumPy's numbers, wrong names, folders, pictures."""

from __future__ import annotations

import pickle
import pkgutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import odonata as od

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
system = "tiny"
[[job]]
name = "a"
nodes = 8
app = { pattern = "uniform-random", message = "1 KB", interval = "1 us", messages = 3 }
[run]
seed = 1
[measure]
links = { every = "1 us" }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.toml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def run(file: Path) -> od.Run:
    return od.run(file)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32])
def test_integers_of_numpy_are_integers(file: Path, kind: type[np.integer]) -> None:
    """Catches an `isinstance(value, int)` before the value was made plain."""
    plain, given = od.load(file), od.load(file, seed=kind(3))
    assert given.resolve().id == plain.set("run.seed", 3).resolve().id
    assert plain.set("run.seed", kind(3)).text == plain.set("run.seed", 3).text
    assert od.load(file, {"run.seed": kind(3)}).text == given.text
    nodes = np.array([5, 0, 7])
    assert plain.set("job.a.place", {"nodes": nodes}).set("job.a.nodes", 3).resolve().spec["jobs"][0]["nodes"] == [
        5,
        0,
        7,
    ]

    expected = od.place("random", system="tiny", nodes=3, busy=[0, 1], seed=5, groups=[0, 2])
    busy, groups = np.array([0, 1], dtype=kind), np.array([0, 2], dtype=kind)
    assert od.place("random", system="tiny", nodes=kind(3), busy=busy, seed=kind(5), groups=groups) == expected
    assert all(type(node) is int for node in od.place("explicit", system="tiny", nodes=nodes).nodes)
    assert od.place("simple", system={"preset": "tiny", "groups": kind(3)}, nodes=kind(12)).nodes == list(range(12))

    study = od.sweep(plain, {"run.seed": np.array([1, 2], dtype=kind)}, workers=kind(1))
    assert study.runs["run.seed"].to_list() == [1, 2]
    assert study.rows_of("a", {"run.seed": kind(2)}).height == 1
    assert study.compare("run.seed", value="latency_mean_ps", baseline=kind(2)).baseline == 2


def test_floats_of_numpy_are_numbers(file: Path) -> None:
    scenario = od.load(file).set("routing", {"name": "fpar", "threshold": np.float32(0.25)})
    assert scenario.text == od.load(file).set("routing", {"name": "fpar", "threshold": 0.25}).text
    assert od.load(file).set("job.a.background", np.bool_(True)).data["job"][0]["background"] is True


def test_overrides_are_a_text_a_table_or_a_list(file: Path) -> None:
    by_text = od.load(file, "run.seed=3")
    assert by_text.data["run"]["seed"] == 3
    assert by_text.text == od.load(file, ["run.seed=3"]).text == od.load(file, {"run.seed": 3}).text
    assert by_text.text == od.load(file, [("run.seed", 3)]).text
    with pytest.raises(od.InputError, match=r"has no value(.|\n)*key=value"):
        od.load(file, "run.seed")
    with pytest.raises(od.InputError, match="expected overrides of a scenario, found `3`"):
        od.load(file, [3])  # type: ignore[list-item]


def test_a_wrong_name_is_an_error_of_ours_with_the_nearest_name(run: od.Run, file: Path) -> None:
    for ask, name, near in (
        (lambda: run.tabel("jobs"), "`Run` has no `tabel`", "`table`"),
        (lambda: run.job, "`Run` has no `job`", "`jobs`"),
        (lambda: od.load(file).sytem, "`Scenario` has no `sytem`", "`system`"),
        (lambda: od.load(file).system.shap, "`System` has no `shap`", "`shape`"),
        (lambda: od.place("simple", system="tiny", nodes=2).node, "`Placement` has no `node`", "`nodes`"),
        (lambda: od.swep, "`odonata` has no `swep`", "`sweep`"),
        (lambda: run.table("job"), "unknown table `job`", "`jobs`"),
        (lambda: run.scan("mesages"), "unknown table `mesages`", "`messages`"),
        (lambda: run.plot("boxes"), "unknown kind of picture `boxes`", "`box`"),
    ):
        with pytest.raises(od.InputError) as caught:
            ask()
        assert caught.value.message == name
        assert near in str(caught.value.hint)
    assert not hasattr(run, "foo"), "what libraries ask for must not fail otherwise"
    with pytest.raises(AttributeError, match="_repr_png_"):
        _ = run._repr_png_


def test_objects_go_between_processes(file: Path) -> None:
    """Catches a look-up of missing attributes that recurses in an object which is being made."""
    scenario = pickle.loads(pickle.dumps(od.load(file)))
    assert scenario.resolve().id == od.load(file).resolve().id
    assert pickle.loads(pickle.dumps(od.place("simple", system="tiny", nodes=2))).nodes == [0, 1]


def test_tables_by_name(run: od.Run) -> None:
    assert run.table("jobs").equals(run.jobs)
    assert run.scan("messages").select(pl.len()).collect().item() == run.messages.height


@pytest.mark.parametrize("kind", ["overview", "machine", "box", "links", "arrivals"])
def test_a_run_draws_itself(run: od.Run, kind: str) -> None:
    assert run.plot(kind).get_axes()  # type: ignore[arg-type]


def test_open_tells_runs_and_studies_apart(file: Path, tmp_path: Path) -> None:
    run = od.run(file, out=tmp_path / "run")
    study = od.sweep(file, {"run.seed": [1, 2]}, workers=1, out=tmp_path / "study")
    assert isinstance(od.open(tmp_path / "run"), od.Run)
    assert od.open(tmp_path / "run").id == run.id  # type: ignore[union-attr]
    opened = od.open(str(tmp_path / "study"))
    assert isinstance(opened, od.Study)
    assert opened.jobs.equals(study.jobs)
    with pytest.raises(od.InputError, match="there is no run folder"):
        od.open(tmp_path / "nothing")


def test_what_there_is_can_be_listed_and_used(file: Path) -> None:
    assert {"tiny", "theta"} <= set(od.systems())
    assert {"minimal", "fpar", "ugal-l"} <= set(od.routings())
    assert od.routings("theta") == od.routings(od.load(file).set("system", "theta").system)
    assert "fpar" not in od.routings("theta")
    assert "level-spread" in od.placements()
    with pytest.raises(od.InputError, match="unknown system `thta`"):
        od.routings("thta")
    study = od.sweep(file, {"routing": lambda: od.routings("tiny")}, workers=1)
    assert study.runs["status"].to_list() == ["done"] * len(od.routings("tiny"))


def test_place_has_one_name_for_the_nodes() -> None:
    """`nodes` is their number, or for `explicit` the nodes themselves."""
    assert od.place("level-spread", system="zhang2018-272", nodes=64, busy=[0, 1]).nodes.__len__() == 64
    assert od.place("explicit", system="tiny", nodes="3,0-1").nodes == [3, 0, 1]
    assert od.place("per-leaf", system="tiny", per_leaf=1).nodes == list(range(0, 16, 2))
    with pytest.raises(od.InputError, match="expected a number of nodes from 1 on, found `'3'`"):
        od.place("simple", system="tiny", nodes="3")


def test_the_package_is_a_command(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "odonata", "show", "tiny"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "16 nodes" in done.stdout
    wrong = subprocess.run([sys.executable, "-m", "odonata", "shw"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "did you mean `odonata show`?" in wrong.stderr


def test_no_public_name_is_that_of_a_module() -> None:
    """Catches a function that its own module hides: Python binds a module in its package when it is imported."""
    from odonata import cluster

    for package in (od, cluster):
        modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
        assert {name for name in package._LAZY if name in modules} == set()
    modules = {module.removeprefix("odonata.") for module, _ in od._LAZY.values()}
    assert set(od._LAZY) & modules == set()
