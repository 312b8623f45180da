"""Scenarios of Python's data: the same runs as those of files, and errors with the path of the key."""

from __future__ import annotations

import pickle
import tomllib
from copy import deepcopy
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import odonata as od
from odonata.document import edit

EXAMPLES = Path(__file__).parents[2] / "examples"
#: The examples that are scenarios; others are studies and schedules.
SCENARIOS = [
    file
    for file in sorted(EXAMPLES.glob("*.toml"))
    if {"system", "job"} <= tomllib.loads(file.read_text(encoding="utf-8")).keys()
]
ONE: dict[str, Any] = {
    "system": "tiny",
    "job": [
        {
            "name": "a",
            "nodes": 8,
            "app": {"pattern": "uniform-random", "message": "1 KB", "interval": "1 us", "messages": 3},
        }
    ],
}


def but(key: str, value: object) -> dict[str, Any]:
    """The data with another value; the key counts jobs."""
    data: Any = deepcopy(ONE)
    here, *path = [data, *(int(step) if step.isdigit() else step for step in key.split("."))]
    for step in path[:-1]:
        here = here[step] if isinstance(here, list) else here.setdefault(step, {})
    here[path[-1]] = value
    return data  # type: ignore[no-any-return]


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_data_is_the_same_scenario_as_its_file(file: Path) -> None:
    """Also as text: what data is written as means the same."""
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    of_file, of_data = od.load(file), od.load(data, folder=file.parent)
    assert of_data.resolve(check=False).id == of_file.resolve(check=False).id
    assert tomllib.loads(of_data.text) == data
    changed = of_data.set("run.seed", np.int64(7))
    assert changed.resolve(check=False).id == of_file.set("run.seed", 7).resolve(check=False).id
    assert pickle.loads(pickle.dumps(changed)).resolve(check=False).id == changed.resolve(check=False).id


@pytest.mark.parametrize(
    ("key", "value", "at", "said"),
    [
        ("jbo", 1, "jbo", "unknown key `jbo`\n  hint: did you mean `job`?"),
        ("job.0.app.intervall", "1 us", "job[0].app.intervall", "unknown key `intervall`\n  hint: did you mean `inter"),
        ("job.0.app.message", "1 KX", "job[0].app.message", "`KX` is not a unit of size\n  hint: units of size: B, kB"),
        ("job.0.app.message", [1], "job[0].app.message", "found `[1]`"),
        ("job.0.app.pattern", "uniform-randon", "job[0].app.pattern", "did you mean `uniform-random`?"),
        ("job.0.nodes", 8.5, "job[0].nodes", "expected a count (a whole number), found `8.5`"),
        ("job.0.nodes", {1, 2}, "job[0].nodes", "found `{1, 2}`"),
        ("job.0.nodes", 80, "job[0].nodes", "80 nodes do not fit: only 16 are free anywhere"),
        ("job.0.place", {"policy": "randon"}, "job[0].place", "did you mean `random`?"),
        ("job.0.place", {"nodes": [1, 99], "policy": "explicit"}, "job[0].place.nodes", "99"),
        ("job", {"name": "a"}, "job", "jobs are a list"),
        ("run", {"seed": -1}, "run.seed", "a seed must be between 0 and 2^64 - 1, found -1"),
        ("run", 3, "run", "found `3`"),
        ("routing", "minimall", "routing", "did you mean `minimal`?"),
        ("routing", {"name": "fpar", "treshold": 1}, "routing.treshold", "did you mean `threshold`?"),
        ("system", "tinny", "system", "unknown system `tinny`\n  hint: did you mean `tiny`?"),
        ("system", {"preset": "tiny", "groups": "four"}, "system.groups", "found `'four'`"),
        ("fabric", {"packett": "1 KiB"}, "fabric.packett", "did you mean `packet`?"),
    ],
)
def test_an_error_has_the_path_of_the_key(key: str, value: object, at: str, said: str) -> None:
    with pytest.raises(od.InputError) as caught:
        od.Scenario.of(but(key, value)).resolve()
    assert str(caught.value).startswith(f"{at}: ")
    assert said in str(caught.value)
    assert (caught.value.key, caught.value.file, caught.value.line) == (at, None, None)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.key) == (str(caught.value), at)


def test_a_missing_key_is_named_with_its_table() -> None:
    with pytest.raises(od.InputError, match=r"^missing key `system`\n  hint: the machine: a name, a file, or a table"):
        od.Scenario.of({"job": ONE["job"]})
    with pytest.raises(od.InputError, match=r"^job\[0\]: `job`: missing key `name`"):
        od.Scenario.of({"system": "tiny", "job": [{"nodes": 1}]})


def test_an_error_after_a_change_names_the_changed_key() -> None:
    made = od.Scenario.of(ONE)
    for key, value, said in (
        ("run.seed", -1, "run.seed: `seed`: a seed must be between"),
        ("job.a.nodes", 80, "job.a.nodes: 80 nodes do not fit"),
        # The value that becomes wrong is another one than the one that was changed.
        ("system", {"preset": "tiny", "groups": 1}, "system: "),
    ):
        with pytest.raises(od.InputError) as caught:
            made.set(key, value).resolve()
        assert str(caught.value).startswith(said)
    with pytest.raises(od.InputError, match=r"^cannot set `job\.b\.nodes`: there is no job `b`"):
        made.set("job.b.nodes", 3)
    with pytest.raises(od.InputError, match=r"^run\.seed: `\[1` is not TOML"):
        od.load(ONE, "run.seed=[1")
    assert od.load(ONE, {"run.seed": 5}, seed=6).data["run"]["seed"] == 6


def test_files_are_relative_to_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    preset = resources.files("odonata.machine") / "presets" / "tiny.toml"
    (inside / "mine.toml").write_text(preset.read_text().replace('name = "tiny"', 'name = "mine"'))
    for name in ("mine.toml", Path("mine.toml"), inside / "mine.toml"):
        data = but("system", name)
        assert od.load(data, folder=inside).system.name == "mine"
        assert od.Scenario.of(data, folder=str(inside)).system.name == "mine"
    with pytest.raises(od.InputError, match=r"mine\.toml: cannot read it"):
        od.load(but("system", Path("mine.toml"))).resolve()
    monkeypatch.chdir(inside)
    assert od.run(but("system", Path("mine.toml"))).resolved["scenario"]["system"]["name"] == "mine"
    with pytest.raises(od.InputError, match="`folder` is for data"):
        od.load("mine.toml", folder=inside)


def test_every_function_that_takes_a_scenario_takes_data(tmp_path: Path) -> None:
    expected = od.run(od.load(ONE))
    run = od.run(ONE, tmp_path / "run")
    assert (run.id, run.jobs.rows()) == (expected.id, expected.jobs.rows())
    assert tomllib.loads((tmp_path / "run" / "scenario.toml").read_text()) == ONE
    assert od.load(tmp_path / "run" / "scenario.toml").resolve().id == run.id
    assert tomllib.loads(expected.scenario) == ONE
    assert od.explain(ONE).as_dict() == od.explain(run).as_dict()
    assert od.advise(ONE, allow=["start"]).victim == "a"
    axes = {"run.seed": [1, 2]}
    study = od.sweep(ONE, axes, workers=1, out=tmp_path / "study")
    assert study.runs["id"][0] == run.id
    data = {"base": ONE, "sweep": axes, "alone": True}
    again = od.sweep(data, workers=1, out=tmp_path / "again")
    assert again.runs["id"].to_list() == study.runs["id"].to_list()
    assert "slowdown" in again.jobs.columns
    # The folders hold what `odonata sweep` takes.
    for name in ("study", "again"):
        assert od.sweep(tmp_path / name / "study.toml", workers=1).runs["id"].to_list() == study.runs["id"].to_list()
    for wrong in (3, [ONE], None):
        with pytest.raises(od.InputError, match="expected a scenario, found"):
            od.run(wrong)  # type: ignore[arg-type]


def test_errors_in_the_data_of_a_study_have_the_path_of_the_key() -> None:
    for data, said in (
        ({"base": ONE, "sweeep": {}}, "sweeep: unknown table `sweeep`\n  hint: did you mean `sweep`?"),
        ({"base": ONE, "sweep": {"run.seed": [1, -2]}}, 'sweep."run.seed"[1]: `seed`: a seed must be'),
        ({"base": but("routing", "minimall"), "sweep": {"run.seed": [1]}}, "base.routing: unknown routing"),
        ({"base": "no.toml", "sweep": {"run.seed": [1]}}, "base: there is no scenario `no.toml`"),
    ):
        with pytest.raises(od.InputError) as caught:
            od.sweep(data, workers=1)
        assert str(caught.value).startswith(said)
    with pytest.raises(od.InputError, match=r"^sweep of run\.seed, value -2: `seed`: a seed must be"):
        od.sweep(ONE, {"run.seed": [1, -2]}, workers=1)
    with pytest.raises(od.InputError, match=r"^`run\.seed`: an axis has an invalid value: .*found `None`"):
        od.sweep(ONE, {"run.seed": [1, None]}, workers=1)


def test_a_finished_study_of_data_is_not_simulated_again(tmp_path: Path) -> None:
    first = od.sweep(ONE, {"run.seed": [1, 2]}, workers=1, out=tmp_path / "study")
    ended = {file: file.stat().st_mtime_ns for file in (tmp_path / "study").rglob("*.parquet")}
    again = od.sweep(deepcopy(ONE), {"run.seed": [1, 2]}, workers=1, out=tmp_path / "study")
    assert again.jobs.equals(first.jobs)
    assert ended == {file: file.stat().st_mtime_ns for file in (tmp_path / "study").rglob("*.parquet")}


def test_no_text_is_written_for_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data goes straight to the checks: catches a way through TOML."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("text was written or read")

    from odonata.document import document, writing

    for module, name in ((writing, "text"), (writing, "inline"), (document, "parse"), (edit, "text")):
        monkeypatch.setattr(module, name, refuse)
    assert od.run(od.Scenario.of(ONE).set("run.seed", 3)).seed == 3
    assert od.sweep(ONE, {"run.seed": [1, 2]}, workers=1).runs.height == 2
    assert od.slowdowns("tiny", {"a": od.Sending(range(8), 1e9)}) == {"a": 1.0}
