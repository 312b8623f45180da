"""Runs with `run.steady`: close to whole runs, marked where they are extrapolated, and readable by every reader."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

import odonata
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.machine import core
from odonata.report.run import run_document
from odonata.store import columns_of
from odonata.store.columns import COLUMNS
from odonata.study.summary import as_text, summarise

if TYPE_CHECKING:
    from pathlib import Path

NEW = [column.name for column in COLUMNS if column.steady]


def scenario(**run: Any) -> odonata.Scenario:
    """A ring beside a halo that starts later and ends earlier."""
    ring = {"collective": "allreduce", "algorithm": "ring", "message": "100 KB"}
    jobs = [
        {"name": "ring", "nodes": 8, "app": ring, "iterations": 200},
        {"name": "halo", "nodes": 8, "app": {"motif": "halo3d", "message": "16 KB"}, "iterations": 200,
         "start": "2 ms"},
    ]  # fmt: skip
    return odonata.Scenario.of({"system": "tiny", "job": jobs, "run": run})


@pytest.fixture(scope="module")
def whole() -> odonata.Run:
    return odonata.run(scenario(), alone=True)


@pytest.fixture(scope="module")
def steady() -> odonata.Run:
    return odonata.run(scenario(steady={"error": "2 %"}), alone=True)


def test_without_the_key_ids_and_contents_are_as_before(whole: odonata.Run, tmp_path: Path) -> None:
    resolved = scenario().resolve()
    content = [resolved.spec, resolved.targets, resolved.system.name, resolved.system.title]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert resolved.id == hashlib.sha256(f"{core.version()}\n{text}".encode()).hexdigest()[:16]
    assert whole.jobs.columns == [column.name for column in columns_of("jobs", collective=True)]
    assert not set(NEW) & set(whole.jobs.columns)
    written = odonata.run(scenario(), out=tmp_path / "run")
    assert "steady" not in written.manifest
    assert "steady" not in written.summary
    assert "steady" not in (tmp_path / "run" / "resolved.json").read_text()
    assert not set(NEW) & set(written.manifest["tables"]["jobs"]["columns"])


def test_the_id_depends_on_the_bound() -> None:
    given = [scenario(), *(scenario(steady={"error": bound}) for bound in ("1 %", "2 %"))]
    assert len({of.resolve().id for of in given}) == 3
    assert len({of.resolve().id_alone("ring") for of in given}) == 3


def test_times_and_means_are_those_of_the_whole_run(whole: odonata.Run, steady: odonata.Run) -> None:
    for ours, theirs in zip(steady.jobs.to_dicts(), whole.jobs.to_dicts(), strict=True):
        assert ours["iterations_skipped"] > 100
        assert ours["iterations"] == theirs["iterations"] == 200
        for name in ("time_ps", "iterations_per_s", "iteration_mean_ps", "iteration_rank_mean_ps", "alone_time_ps"):
            assert ours[name] == pytest.approx(theirs[name], rel=0.02), name
        assert ours["slowdown"] == pytest.approx(theirs["slowdown"], rel=0.04)
        assert ours["throughput"] == pytest.approx(theirs["throughput"], rel=0.04)
        assert 0 <= ours["skipped_error"] <= 0.02
        assert ours["messages_delivered"] < theirs["messages_delivered"] / 2
    assert sum(steady.manifest["steady"]["trials"]) < whole.manifest["packet_hops"] / 2
    assert steady.manifest["packet_hops"] == steady.manifest["steady"]["trials"][-1]


def test_quantiles_are_of_the_simulated_part(steady: odonata.Run) -> None:
    rows = steady.iterations.filter(job=0)
    ring = steady.jobs.row(0, named=True)
    assert rows.height == ring["iterations"] - ring["iterations_skipped"]
    assert ring["iteration_max_ps"] == rows["time_ps"].max()


def test_the_text_marks_what_is_extrapolated(whole: odonata.Run, steady: odonata.Run) -> None:
    assert "~" not in str(whole)
    text = str(steady)
    skipped = steady.jobs["iterations_skipped"].to_list()
    assert f"skipped iterations: {skipped[0]} of ring" in text
    assert text.count("~") > 8


def test_a_folder_is_read_again_and_explained_and_reported(tmp_path: Path) -> None:
    given = scenario(steady={"error": "2 %"})
    made = odonata.run(given, out=tmp_path / "run")
    opened = odonata.open(tmp_path / "run")
    assert opened.jobs.equals(made.jobs)
    assert opened.id == given.resolve().id
    assert odonata.run(given, out=tmp_path / "run").manifest["wall"] == opened.manifest["wall"]
    spec = opened.resolved["spec"]
    assert spec["jobs"][0]["program"]["iterations"] == opened.iterations.filter(job=0).height
    assert opened.resolved["scenario"]["job"][0]["iterations"] == 200
    ring = odonata.explain(opened, "ring", counterfactual=True, workers=1)
    simulated = opened.jobs["time_ps"][0] - opened.jobs["skipped_ps"][0]
    assert ring.without[0].with_ps == simulated
    assert 0.8 < ring.without[0].slowdown < 1.5
    facts = run_document(opened)["facts"]
    assert any("iterations were skipped" in text for name, text in facts if name == "note")


def test_the_same_bytes_again_and_with_more_threads(tmp_path: Path) -> None:
    given = scenario(steady={"error": "2 %"})
    for name, threads in (("one", 1), ("two", 2)):
        odonata.run(given, out=tmp_path / name, threads=threads)
    for file in (tmp_path / "one").iterdir():
        if file.name != "manifest.json":
            assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name


def test_studies_skip_too_and_mix_with_whole_runs(tmp_path: Path) -> None:
    points = [{"run.seed": 1}, {"run.seed": 2}]
    study = odonata.sweep(scenario(steady={"error": "2 %"}), points, workers=1, alone=True, out=tmp_path / "study")
    assert study.failed.is_empty()
    assert study.jobs["iterations_skipped"].min() > 100
    assert study.jobs["iterations"].to_list() == [200] * 4

    def either(key: dict[str, Any]) -> odonata.Scenario:
        return scenario(**({"steady": {"error": "2 %"}} if key["skip"] else {}))

    assert " extrapolated " in as_text(summarise(study))
    note = "iterations were skipped (`run.steady`): p99/p50 and other quantiles are of the simulated part alone"
    assert f"In 4 runs {note}" in as_text(summarise(study))

    mixed = odonata.sweep(either, {"skip": [True, False]}, workers=1)
    compared = mixed.compare("skip", job="ring")
    assert compared.extrapolated == 1
    assert f"In 1 run {note}" in str(compared)
    assert note not in str(odonata.sweep(either, {"skip": [False]}, workers=1).compare("skip", job="ring"))
    assert mixed.failed.is_empty()
    assert [count is None for count in mixed.jobs["iterations_skipped"]] == [False, False, True, True]


def test_a_run_that_cannot_be_shortened_says_why_and_has_the_whole_results() -> None:
    jobs = {"name": "ring", "nodes": 8, "app": {"collective": "allreduce", "message": "10 KB"}, "iterations": 4}
    few = odonata.Scenario.of({"system": "tiny", "job": [jobs]})
    skipping = few.set("run.steady", {"error": "1 %"})
    ours, theirs = odonata.run(skipping), odonata.run(few)
    assert "no program that it waits for has more than" in str(ours)
    assert ours.jobs.drop(NEW).equals(theirs.jobs)
    assert ours.jobs["skipped_error"].to_list() == [0.0]


RING_PS = 4_947_647_220
"""How long the ring of `late` takes on its own."""


def late(share: float, **run: Any) -> odonata.Scenario:
    """A ring, and a background halo that starts shortly before its end."""
    ring = {"collective": "allreduce", "algorithm": "ring", "message": "20 KB"}
    jobs = [
        {"name": "ring", "nodes": 8, "app": ring, "iterations": 120},
        {"name": "halo", "nodes": 8, "app": {"motif": "halo3d", "message": "16 KB"}, "background": True,
         "start": f"{int(RING_PS * share)} ps"},
    ]  # fmt: skip
    return odonata.Scenario.of({"system": "tiny", "job": jobs, "run": run})


@pytest.mark.parametrize("share", [0.86, 0.88, 0.91, 0.94, 0.96])
def test_a_job_that_starts_late_has_as_many_iterations_as_in_the_whole_run(share: float) -> None:
    """Its epoch may be a little longer in the shortened run, or end in the midst of an iteration."""
    ours, theirs = odonata.run(late(share, steady={"error": "2 %"})).jobs, odonata.run(late(share)).jobs
    assert ours["iterations_skipped"][0] > 70
    assert ours["iterations"].to_list() == theirs["iterations"].to_list()
    assert ours["time_ps"][0] == pytest.approx(theirs["time_ps"][0], rel=0.001)
    assert min(ours["skipped_ps"]) >= 0


def test_the_reason_for_a_whole_run_of_two_epochs_is_the_true_one() -> None:
    reason = odonata.run(late(0.92, steady={"error": "2 %"})).manifest["steady"]["in_full"]
    assert reason == "the time in which `ring` and `halo` run would be longer in a shortened run"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("1 %", 'steady = { error = "1 %" }'),
        ({}, "error"),
        ({"error": "0 %"}, "0.01 %"),
        ({"error": "30 %"}, "20 %"),
        ({"error": "fast"}, "fast"),
        ({"erorr": "1 %"}, "error"),
    ],
)
def test_wrong_values(given: Any, said: str) -> None:
    with pytest.raises(InputError) as raised:
        scenario(steady=given)
    assert said in str(raised.value)
    assert "steady" in str(raised.value)


def test_a_bound_can_be_an_axis_and_an_override(tmp_path: Path) -> None:
    study = odonata.sweep(scenario(steady={"error": "2 %"}), {"run.steady.error": ["2 %", "5 %"]}, workers=1)
    assert study.failed.is_empty()
    assert study.runs["id"].n_unique() == 2
    axis = odonata.sweep(scenario(), {"run.steady": [{"error": "5 %"}]}, workers=1)
    assert axis.jobs["iterations_skipped"].min() > 100


def test_seeds_and_comparisons_take_such_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(scenario(steady={"error": "2 %"}).text)
    assert main(["run", str(file), "--seeds", "2", "-q", "-j", "1", "--out", str(tmp_path / "study")]) == 0
    assert "iterations were skipped" in capsys.readouterr().out
    for name, bound in (("one", "2 %"), ("two", "5 %")):
        change = f'run.steady.error="{bound}"'
        assert main(["run", str(file), "-s", change, "-q", "--out", str(tmp_path / name)]) == 0
    assert "~" in capsys.readouterr().out
    assert main(["explain", str(tmp_path / "one"), "-q"]) == 0
    assert "note: iterations were skipped" in capsys.readouterr().out


def test_advice_takes_such_a_scenario(tmp_path: Path) -> None:
    """A ring over all groups beside another one: fewer groups are faster, also of runs with skipped iterations."""
    ring = {"collective": "allreduce", "algorithm": "ring", "message": "100 KB"}
    jobs = [
        {"name": "ring", "nodes": 4, "place": {"nodes": "0,4,8,12"}, "app": ring, "iterations": 100},
        {"name": "other", "nodes": 4, "place": {"nodes": "1,5,9,13"}, "app": ring, "background": True},
    ]
    advise = {"victim": "ring", "allow": ["placement"], "jobs": ["ring"], "move": ["ring"], "finalists": 1}
    given = odonata.Scenario.of({"system": "tiny", "job": jobs, "advise": advise})
    advice = odonata.advise(given.set("run.steady", {"error": "2 %"}), workers=1)
    assert advice.best is not None
    better, worse = (odonata.run(of.set("run", {})).jobs["time_ps"][0] for of in (advice.changed, given))
    assert better < 0.9 * worse
    assert advice.best.effects[0].ratio == pytest.approx(better / worse, rel=0.1)
