"""A finished run is recognised by what decides it, without resolving its scenario; and only if that is unchanged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from odonata import placement, reading
from odonata.cli.main import main
from odonata.placement import POLICIES
from odonata.store import engine, inputs

from .conftest import TEXT

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def resolves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Runs `tiny.toml` with further words; returns whether its scenario was resolved."""
    from odonata.scenario import resolve

    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(TEXT)
    done: list[Path] = []

    def noted(table, path, original=resolve.resolve):
        done.append(path)
        return original(table, path)

    monkeypatch.setattr(resolve, "resolve", noted)

    def run(*words: str) -> bool:
        done.clear()
        assert main(["run", "tiny.toml", "-q", *words]) == 0
        return bool(done)

    return run


def manifest() -> Path:
    (folder,) = Path("runs").iterdir()
    return folder / "manifest.json"


@pytest.mark.parametrize("words", [(), ("--out", "there"), ("-s", "run.seed=3"), ("--alone",)], ids=str)
def test_a_finished_run_is_not_resolved(resolves: Callable[..., bool], words: tuple[str, ...], capsys) -> None:
    assert resolves(*words)
    first = capsys.readouterr().out
    assert not resolves(*words)
    assert capsys.readouterr().out == first != ""


def test_a_copied_folder_is_recalled_unless_its_scenario_names_a_file_absolutely(tmp_path: Path) -> None:
    """Catches a run whose file is looked for beside the copy, where the scenario does not read it."""
    from odonata import scenario

    def decided(matrix: str, folder: str) -> str:
        app = f'[[job]]\nname = "a"\nnodes = 2\napp = {{ matrix = "{matrix}" }}\n'
        parsed = scenario.parse(f'system = "tiny"\n{app}', tmp_path / folder / "s.toml")
        return inputs.decided_by(parsed, tmp_path / folder / "runs")

    assert decided("m.csv", "here") == decided("m.csv", "there")
    assert decided(str(tmp_path / "m.csv"), "here") != decided(str(tmp_path / "m.csv"), "there")


def test_another_scenario_is_resolved_and_simulated(resolves: Callable[..., bool]) -> None:
    resolves()
    assert resolves("-s", "run.seed=2")
    Path("tiny.toml").write_text(TEXT.replace("seed = 1", "seed = 3"))
    assert resolves()
    assert len(list(Path("runs").iterdir())) == 3


def test_a_run_without_the_runs_alone_is_not_the_one_with_them(resolves: Callable[..., bool]) -> None:
    assert resolves("--out", "there")
    assert resolves("--out", "there", "--alone")
    assert not resolves("--out", "there", "--alone")
    assert not resolves("--out", "there")


def test_force_simulates(resolves: Callable[..., bool]) -> None:
    assert resolves()
    assert resolves("--force")


def test_a_changed_file_counts(resolves: Callable[..., bool]) -> None:
    """Catches a run that is taken for finished although a file that its scenario names says something else."""
    Path("ranks.txt").write_text("0\n1\n2\n3\n")
    pattern = 'pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 20'
    text = TEXT.replace(pattern, 'collective = "barrier", mapping = "./ranks.txt"')
    Path("tiny.toml").write_text(text.replace('place = { policy = "per-leaf", per_leaf = 1 }', "nodes = 4"))
    resolves()
    assert set(json.loads(manifest().read_text())[inputs.KEY]["read"]) == {"../../ranks.txt"}
    assert not resolves()
    Path("ranks.txt").write_text("3\n1\n2\n0\n")
    assert resolves()
    assert len(list(Path("runs").iterdir())) == 2


def test_another_engine_or_other_data_files_resolve_again(
    resolves: Callable[..., bool], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    resolves()
    with monkeypatch.context() as changed:
        changed.setattr(inputs, "_data", lambda: "other")
        assert resolves()
    monkeypatch.setattr(inputs, "fingerprint", lambda: "other")
    monkeypatch.setattr(engine, "fingerprint", lambda: "other")
    assert resolves()
    assert "stale: " in capsys.readouterr().err


def test_a_damaged_table_is_not_passed_over(resolves: Callable[..., bool]) -> None:
    resolves("--out", "there")
    table = Path("there/jobs.parquet")
    table.write_bytes(table.read_bytes()[:-1] + b"?")
    assert main(["run", "tiny.toml", "-q", "--out", "there"]) == 2


def test_a_policy_of_another_distribution_is_asked_again(
    resolves: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its code is in no fingerprint."""
    foreign = replace(placement.get("contiguous"), provider="other 1")
    monkeypatch.setattr(placement, "get", lambda name: foreign if name == "contiguous" else POLICIES.find(name))
    assert resolves()
    assert json.loads(manifest().read_text())[inputs.KEY] is None
    assert resolves()


def test_what_is_read_inside_another_record_is_in_both(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(name)
    with reading.recorded() as outer:
        reading.read_text(tmp_path / "a")
        with reading.recorded() as inner:
            reading.read_text(tmp_path / "b")
    assert {Path(name).name for name in outer} == {"a", "b"}
    assert {Path(name).name for name in inner} == {"b"}
