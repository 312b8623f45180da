"""One scenario, one run: what is simulated, what is kept, what is not done twice."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import odonata
from odonata import _core, runner
from odonata.errors import InputError, RunError
from odonata.machine import core
from odonata.runner import finished, run, simulate
from odonata.store import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from odonata.scenario import Scenario


def test_a_run_in_memory_has_tables_and_a_summary(tiny: Scenario) -> None:
    done = run(tiny)
    assert done.path is None
    assert done.id == tiny.resolve().id
    assert done.jobs["name"].to_list() == ["target", "noise"]
    assert done.jobs["background"].to_list() == [False, True]
    target = done.summary["jobs"][0]
    assert (target["messages_sent"], target["messages_delivered"]) == (160, 160)
    assert target["bytes"] == 160 * 4000
    assert done.messages.filter(job=0).height == 160
    assert target["latency_ps"]["max"] == done.messages.filter(job=0)["latency_ps"].max()
    assert target["latency_ps"]["mean"] == pytest.approx(done.messages.filter(job=0)["latency_ps"].mean())
    assert 0 < target["minimal_fraction"] <= 1
    assert 1 < target["hops_mean"] < 6


def test_every_byte_delivered_came_over_its_ejection_link(tiny: Scenario) -> None:
    done = run(tiny)
    to_nodes = done.links.filter(to_kind="node")
    assert to_nodes.height == 16
    assert to_nodes["bytes"].sum() == done.jobs["bytes"].sum()
    between = done.links.filter(pl.col("from_group") != pl.col("to_group"))
    assert between["bytes"].sum() >= done.counters["bytes_in"].sum() > 0


def test_rows_and_histogram_agree(tiny: Scenario) -> None:
    rows, histogram = run(tiny), run(tiny.set("measure.latency", "histogram"))
    assert histogram.messages.is_empty()
    exact, binned = (done.summary["jobs"][0]["latency_ps"] for done in (rows, histogram))
    for name in ("min", "max", "mean"):
        assert exact[name] == binned[name]
    assert binned == pytest.approx(exact, rel=0.001)


def test_alone_gives_the_slowdown_of_targets_only(tiny: Scenario) -> None:
    done = run(tiny, alone=True)
    target, noise = done.jobs.iter_rows(named=True)
    assert done.manifest["alone"] == ["target"]
    assert target["slowdown"] == pytest.approx(target["latency_mean_ps"] / target["alone_mean_ps"])
    assert target["slowdown"] > 1
    assert noise["slowdown"] is None
    assert "x that of target alone" in str(done)
    assert run(tiny).jobs["slowdown"].to_list() == [None, None]


def test_a_measurement_that_begins_too_late_is_said(tiny: Scenario) -> None:
    said = str(run(tiny.set("measure.warm_up", "1 s")))
    assert "messages delivered, but none was sent in the measured time (`measure.warm_up`, `measure.window`)" in said


def test_a_job_that_is_alone_anyway_is_not_run_twice(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    first, rest = tiny.text.split('[[job]]\nname = "noise"')
    path = tiny.path.with_name("one.toml")
    path.write_text(first + rest[rest.index("[run]") :])
    only = odonata.load(path)
    calls: list[Any] = []
    real = core.run

    def counting(spec: Any, *more: Any) -> Any:
        calls.append(spec)
        return real(spec, *more)

    monkeypatch.setattr(core, "run", counting)
    done = run(only, alone=True)
    assert len(calls) == 1
    assert done.jobs["slowdown"].to_list() == [1.0]


def test_a_job_that_cannot_run_alone_is_refused_before_the_simulation(
    tiny: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches an error that comes when all the time is spent."""
    path = tiny.path.with_name("endless.toml")
    path.write_text(tiny.text.replace(", messages = 20", "").replace("background = true\n", ""))
    endless = odonata.load(path).set("job.noise.app.messages", 5).set("run.until", ["noise"])
    run(endless)
    monkeypatch.setattr(core, "run", lambda *_: pytest.fail("it was simulated"))
    with pytest.raises(InputError, match="job `target` never ends, so it cannot run alone"):
        run(endless, alone=True)


@pytest.mark.parametrize(("failed", "wired"), [(None, 1), ({"routers": [2]}, 2)])
def test_a_machine_is_wired_once(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failed: object, wired: int
) -> None:
    """One machine serves checks, tables and both simulations; failures need the whole machine too, for their names."""
    core._wired.cache_clear()
    built: list[object] = []
    real = _core.Machine

    def counting(*arguments: Any) -> Any:
        built.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(_core, "Machine", counting)
    done = run(tiny if failed is None else tiny.set("system.failed", failed), tmp_path / "out", alone=True)
    assert done.links.height > 0
    assert len(built) == wired


def test_the_same_scenario_gives_the_same_bytes(tiny: Scenario, tmp_path: Path) -> None:
    for name in ("first", "second"):
        run(tiny, tmp_path / name, alone=True)
    for path in sorted((tmp_path / "first").iterdir()):
        if path.name != "manifest.json":
            assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes(), path.name
    first, second = (json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("first", "second"))
    assert first["files"] == second["files"]
    assert {name for name in first if first[name] != second[name]} <= {"wall", "checksum"}


def test_what_is_measured_does_not_change_what_happens(tiny: Scenario) -> None:
    measured = run(tiny)
    bare = run(tiny.set("measure", {"latency": "histogram"}))
    assert bare.counters.is_empty()
    for column in ("messages_delivered", "bytes", "first_issue_ps", "last_delivery_ps", "latency_mean_ps"):
        assert bare.jobs[column].to_list() == measured.jobs[column].to_list(), column
    assert bare.links.equals(measured.links)


def test_another_seed_is_another_run(tiny: Scenario) -> None:
    first, second = run(tiny), run(tiny.set("run.seed", 2))
    assert first.id != second.id
    assert not first.messages.equals(second.messages)


def test_a_folder_alone_is_enough(tiny: Scenario, tmp_path: Path) -> None:
    written = run(tiny, tmp_path / "out", alone=True)
    tiny.path.unlink()
    opened = odonata.open(tmp_path / "out")
    assert opened.summary == written.summary
    for table in TABLES:
        assert getattr(opened, table).equals(getattr(written, table))
    assert opened.resolved["spec"]["seed"] == 1
    assert opened.scenario == tiny.text


def test_finished_work_is_not_repeated(tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(tiny, tmp_path / "out")
    monkeypatch.setattr(core, "run", lambda *_: pytest.fail("simulated again"))
    again = run(tiny, tmp_path / "out")
    assert again.manifest == first.manifest
    with pytest.raises(pytest.fail.Exception, match="simulated again"):
        run(tiny, tmp_path / "out", force=True)


def test_alone_completes_a_run_that_lacks_it(tiny: Scenario, tmp_path: Path) -> None:
    run(tiny, tmp_path / "out")
    done = run(tiny, tmp_path / "out", alone=True)
    assert done.jobs["slowdown"][0] > 1
    # And it stays after a call without `alone`.
    assert run(tiny, tmp_path / "out").jobs["slowdown"][0] > 1


def test_another_run_in_the_folder_is_kept(tiny: Scenario, tmp_path: Path) -> None:
    first = run(tiny, tmp_path / "out")
    other = tiny.set("run.seed", 2)
    with pytest.raises(InputError, match=f"contains another run \\({first.id}") as caught:
        run(other, tmp_path / "out")
    assert "--force" in str(caught.value.hint)
    assert odonata.open(tmp_path / "out").id == first.id
    assert run(other, tmp_path / "out", force=True).id == other.resolve().id


def test_a_folder_of_something_else_is_never_touched(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "run", lambda *_: pytest.fail("simulated for nothing"))
    for place, message in ((tmp_path, "exists and is not a run folder"), (tiny.path, "is a file, expected a folder")):
        for force in (False, True):
            with pytest.raises(InputError, match=message):
                run(tiny, place, force=force)
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.toml"]


def test_an_empty_folder_is_a_fine_place(tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    assert run(tiny, tmp_path / "out").path == tmp_path / "out"
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(InputError, match="is the current directory"):
        run(tiny, ".")


def test_a_damaged_run_is_an_error_and_can_be_replaced(tiny: Scenario, tmp_path: Path) -> None:
    run(tiny, tmp_path / "out")
    (tmp_path / "out" / "links.parquet").unlink()
    with pytest.raises(InputError, match="missing") as caught:
        finished(tmp_path / "out", tiny.resolve(), alone=False)
    assert caught.value.hint == "--force simulates again and overwrites the folder"
    assert run(tiny, tmp_path / "out", force=True).links.height > 0
    (tmp_path / "out" / "manifest.json").unlink()
    assert run(tiny, tmp_path / "out", force=True).links.height > 0
    shutil.rmtree(tmp_path / "out")


def test_progress_says_where_it_is(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    state = {"now_ps": 5, "events": 1, "packet_hops": 1, "delivered": 3, "expected": 160}
    real = core.run

    def reporting(spec: Any, progress: Any, threads: int) -> Any:
        progress(state)
        return real(spec)

    monkeypatch.setattr(core, "run", reporting)
    seen: list[Any] = []
    run(tiny, alone=True, progress=seen.append)
    assert seen == [{"stage": "", **state}, {"stage": "target alone", **state}]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_what_ends_a_run_leaves_no_folder(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    def stopping(*_: object) -> None:
        raise stop

    monkeypatch.setattr(core, "run", stopping)
    with pytest.raises(stop):
        run(tiny, tmp_path / "runs" / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.toml"]


def _raising(problem: Exception) -> Any:
    def core(*_: object) -> None:
        raise problem

    return core


def test_errors_of_the_core_are_ours(tiny: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = _core.CoreError()
    problem.code, problem.path, problem.parameters = "deadlock", (), {"at_ps": 5, "waiting": 7}
    problem.place = {}
    monkeypatch.setattr(core, "run", _raising(problem))
    with pytest.raises(RunError) as caught:
        run(tiny)
    assert caught.value.code == "deadlock"


def test_an_invalid_specification_names_the_value(tiny: Scenario) -> None:
    spec = json.loads(json.dumps(tiny.resolve().spec))
    spec["jobs"][0]["nodes"][0] = 999
    with pytest.raises(InputError) as caught:
        simulate(spec)
    assert (caught.value.code, caught.value.path) == ("no-such-node", ("job", 0, "place"))


def test_a_run_that_came_into_being_meanwhile_is_not_overwritten(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a slower run that silently replaces a faster one of another seed."""
    simulate, out = runner._simulate, tmp_path / "out"

    def overtaken(*arguments: Any, **more: Any) -> Any:
        monkeypatch.setattr(runner, "_simulate", simulate)
        run(tiny.set("run.seed", 77), out)
        return simulate(*arguments, **more)

    monkeypatch.setattr(runner, "_simulate", overtaken)
    with pytest.raises(RunError, match="appeared while the run was under way"):
        run(tiny, out)
    assert odonata.open(out).summary["seed"] == 77
