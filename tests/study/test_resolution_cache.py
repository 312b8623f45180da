"""A point whose inputs are unchanged is not resolved again, and one with a changed input is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import odonata as od
from odonata import placement, reading
from odonata.cli.main import main
from odonata.placement import POLICIES
from odonata.scenario.apps.chakra_files import rank_files
from odonata.store import inputs
from odonata.study import check, resolution_cache, task
from odonata.study.study import open_study

from .conftest import STUDY, final

if TYPE_CHECKING:
    from .conftest import Write

OUT = Path("out")


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The points that are resolved, in this process."""
    numbers: list[int] = []

    def noted(plan, number, resolve=task.resolve):
        numbers.append(number)
        return resolve(plan, number)

    monkeypatch.setattr(task, "resolve", noted)
    return numbers


class Here:
    """Simulates in this process."""

    workers = 1

    def __init__(self, workers: int = 1) -> None:
        pass

    def run(self, ledger) -> None:
        while not ledger.complete:
            for number in ledger.take(64, 1e9):
                resolution, point = task.resolve(ledger.plan, number)
                for granted in ledger.grant([resolution]):
                    ledger.hand_in(*task.handed_in(task.run(ledger.plan, granted, point)))
            ledger.flush()


@pytest.fixture
def again(here: Path, monkeypatch: pytest.MonkeyPatch, resolved: list[int]):
    """Sweeps `study.toml` into `out`; returns the points that had to be resolved."""
    monkeypatch.setattr("odonata.study.local.LocalPool", Here)

    def sweep(*words: str) -> list[int]:
        resolved.clear()
        assert main(["sweep", "study.toml", "--out", "out", "-q", *words]) == 0
        return list(resolved)

    return sweep


ALL = list(range(8))


def test_a_finished_sweep_resolves_and_checks_nothing(study: Write, again, monkeypatch, capsys):
    study()
    assert again() == ALL
    first, printed = final(OUT), capsys.readouterr().out

    def never(*_):
        raise AssertionError("it was there before")

    monkeypatch.setattr(Here, "run", never)
    monkeypatch.setattr(check, "_check", never)
    assert again() == []
    assert (final(OUT), capsys.readouterr().out) == (first, printed)


def test_a_finished_sweep_reads_its_tables_only(study: Write, again, monkeypatch):
    """Catches a sweep that reads all results and writes the same tables once more."""
    study()
    again()
    with monkeypatch.context() as changed:
        changed.setattr("odonata.study.sweep.Results", None)
        assert again() == []
        assert again("--retry-failed") == []
    written = (OUT / "jobs.parquet").read_bytes()
    (OUT / "jobs.parquet").write_bytes(written[:-1])
    assert again() == []
    assert (OUT / "jobs.parquet").read_bytes() == written


def test_another_text_of_the_study_makes_its_tables_again(study: Write, again):
    study()
    again()
    study(STUDY + '[keep]\nlongest = { table = "jobs", column = "latency_max_ps", statistic = "max" }\n')
    again()
    assert "longest" in open_study(OUT).runs.columns
    study(STUDY + '[show]\ncolumns = "latency_p99_ps"\n')
    again()
    assert open_study(OUT).show.columns == ("latency_p99_ps",)


def test_only_new_points_are_resolved(study: Write, again):
    study()
    again()
    study(STUDY.replace("to = 4", "to = 5"))
    assert again() == [4, 9]
    assert open_study(OUT).runs["run.seed"].to_list() == [1, 2, 3, 4, 5] * 2
    assert again() == []


@pytest.mark.parametrize(
    "change",
    [
        lambda: Path("base.toml").write_text(Path("base.toml").read_text().replace("20", "21")),
        lambda: (OUT / resolution_cache.FILE).unlink(),
        lambda: (OUT / resolution_cache.FILE).write_text(
            (OUT / resolution_cache.FILE).read_text().replace('"read"', '"raed"')
        ),
        lambda: (OUT / resolution_cache.FILE).write_text("[]"),
        lambda: (OUT / resolution_cache.FILE).write_text("{"),
    ],
    ids=["base", "lost", "damaged", "other", "cut off"],
)
def test_what_may_have_changed_is_resolved_again(study: Write, again, change):
    study()
    again()
    change()
    assert again() == ALL
    assert again() == []


def test_another_engine_or_another_data_file_resolves_again(study: Write, again, monkeypatch):
    study()
    again()
    with monkeypatch.context() as changed:
        changed.setattr(inputs, "_data", lambda: "other")
        assert again() == ALL
    assert again() == ALL
    monkeypatch.setattr(inputs, "fingerprint", lambda: "other")
    assert again() == ALL


def test_data_files_are_those_that_decide_results(tmp_path, monkeypatch):
    package = tmp_path / "store" / "inputs.py"
    (tmp_path / "machine" / "presets").mkdir(parents=True)
    monkeypatch.setattr(inputs, "__file__", str(package))
    data = inputs._data.__wrapped__  # each time anew
    preset, seen = tmp_path / "machine" / "presets" / "tiny.toml", {data()}
    for text in ("a", "b"):
        preset.write_text(text)
        seen.add(data())
    (tmp_path / "machine" / "loading.pyc").write_text("compiled")
    assert len(seen | {data()}) == 3


def test_values_set_on_the_command_line_count(study: Write, again):
    study()
    again()
    assert again("-s", "job.target.app.messages=21", "--force") == ALL
    assert again("-s", "job.target.app.messages=21") == []
    assert again() == ALL


def test_a_changed_file_resolves_again(study: Write, again):
    pattern = 'pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 20'
    base = Path("base.toml").read_text().replace(pattern, 'collective = "barrier", mapping = "./ranks.txt"')
    Path("base.toml").write_text(base.replace('place = { policy = "per-leaf", per_leaf = 1 }', "nodes = 4"))
    ranks = Path("ranks.txt")
    ranks.write_text("0\n1\n2\n3\n")
    study()
    assert again() == ALL
    before = open_study(OUT).runs["id"].to_list()
    assert set(json.loads((OUT / resolution_cache.FILE).read_text())["read"]) == {"../ranks.txt"}
    assert again() == []
    ranks.write_text("3\n1\n2\n0\n")
    assert again() == ALL
    assert set(open_study(OUT).runs["id"].to_list()).isdisjoint(before)
    ranks.unlink()
    with pytest.raises(AssertionError):
        again()


def test_runs_alone_are_known_too(study: Write, again):
    study("alone = true\n" + STUDY)
    assert again() == ALL
    slowdowns = open_study(OUT).jobs["slowdown"].to_list()
    assert again() == []
    assert open_study(OUT).jobs["slowdown"].to_list() == slowdowns
    study()
    assert again() == ALL


def test_a_lost_run_is_simulated_again(study: Write, again):
    study()
    again()
    first = final(OUT)
    for part in (OUT / "results").iterdir():
        part.unlink()
    assert again() == ALL
    assert final(OUT) == first


def test_force_and_failed_points_are_resolved(study: Write, again, resolved):
    study(STUDY.replace('["fpar", "minimal"]', '["fpar"]') + '"job.noise.nodes" = [6, 60]\n')
    assert main(["sweep", "study.toml", "--out", "out", "-q"]) == 1
    assert open_study(OUT).failed.height == 4
    resolved.clear()
    assert main(["sweep", "study.toml", "--out", "out", "-q"]) == 1
    assert resolved == [1, 3, 5, 7]
    study()
    again("--force")
    assert again("--force") == ALL


def test_a_policy_of_another_distribution_is_asked_again(study: Write, again, monkeypatch):
    foreign = replace(placement.get("contiguous"), provider="other 1")
    monkeypatch.setattr(placement, "get", lambda name: foreign if name == "contiguous" else POLICIES.find(name))
    study()
    assert again() == ALL
    assert again() == ALL
    assert not (OUT / resolution_cache.FILE).exists()


def test_a_function_is_called_again(here: Path, resolved: list[int], monkeypatch):
    monkeypatch.setattr("odonata.study.python.LocalPool", Here)
    base = od.load("base.toml")
    for _ in range(2):
        resolved.clear()
        od.sweep(lambda point: base.set("run.seed", point["seed"]), {"seed": [1, 2]}, name="f", out=OUT, workers=1)
        assert resolved == [0, 1]


def test_a_folder_has_changed_if_its_names_have(tmp_path: Path):
    (tmp_path / "trace.0.et").write_bytes(b"0")
    with reading.recorded() as read:
        files, _ = rank_files(tmp_path)
        assert [reading.read_bytes(file) for file in files] == [b"0"]
    assert set(read) == {str(tmp_path), str(tmp_path / "trace.0.et")}
    assert reading.unchanged(read)
    (tmp_path / "trace.1.et").write_bytes(b"1")
    assert not reading.unchanged(read)
