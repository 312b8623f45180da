"""`scripts/bench_waits.py`: its commands are those of the CLI, and its numbers are medians of whole processes."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from odonata import scenario
from odonata.cli.main import application

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def waits() -> ModuleType:
    place = importlib.util.spec_from_file_location("bench_waits", ROOT / "scripts" / "bench_waits.py")
    assert place is not None
    assert place.loader is not None
    script = importlib.util.module_from_spec(place)
    # A dataclass looks its module up.
    sys.modules["bench_waits"] = script
    place.loader.exec_module(script)
    return script


def test_the_cli_accepts_every_command(waits: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits.inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    commands = [wait.command for wait in waits.WAITS.values()] + list(waits.PREPARED.values())
    for command in commands:
        words = waits.words(command, str(tmp_path))
        application().parse_args(words, exit_on_error=False, print_error=False)
        assert all(Path(word).is_file() for word in words if word.endswith(".toml") and word not in waits.PREPARED)
    assert {wait.prepared for wait in waits.WAITS.values()} - {""} == set(waits.PREPARED)


def test_the_all_reduces_are_those_that_are_named(waits: ModuleType, tmp_path: Path) -> None:
    waits.inputs(tmp_path)
    for nodes, message in ((64, "64 MiB"), (512, "1 GiB")):
        file = tmp_path / f"rings-{nodes}.toml"
        (job,) = tomllib.loads(file.read_text(encoding="utf-8"))["job"]
        assert (job["nodes"], job["ranks_per_node"]) == (nodes, 4)
        assert (job["app"]["algorithm"], job["app"]["message"]) == ("ring-channels", message)
        assert len(scenario.load(file).resolve().spec["jobs"][0]["nodes"]) == nodes * 4


def test_a_time_is_that_of_the_process_and_of_its_children(waits: ModuleType, tmp_path: Path) -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    parent = f"import subprocess, sys, time; subprocess.run([sys.executable, '-c', {busy!r}]); time.sleep(0.2)"
    one = waits.timed([sys.executable, "-c", parent], tmp_path)
    assert 0.3 <= one.cpu_s <= one.wall_s - 0.1
    assert one.until == ""


def test_a_command_that_fails_is_no_measurement(waits: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no such thing"):
        waits.timed([sys.executable, "-c", "raise SystemExit('no such thing')"], tmp_path)


def test_a_command_is_ended_at_its_limit_and_says_how_far_it_came(waits: ModuleType, tmp_path: Path) -> None:
    long = "import sys, time; print('3 % done', file=sys.stderr, flush=True); time.sleep(60)"
    one = waits.timed([sys.executable, "-c", long], tmp_path, 3.0)
    assert one.until == "3 % done"
    assert 3.0 <= one.wall_s < 30.0


def test_the_table_has_medians_and_the_load(waits: ModuleType) -> None:
    times = {
        "show": [waits.Time(3.0, 0.5), waits.Time(1.0, 0.25), waits.Time(2.0, 0.375)],
        "rings-512": [waits.Time(65.0, 60.0, "0.5 % done")],
    }
    lines = waits.as_text(times, [2.0, 7.25, 1.0]).splitlines()
    assert lines[2] == "| `show` | 3 | 2.00 s | 1.00, 3.00 s | 0.38 s |"
    assert lines[3].startswith("| `ring-channels`, 512 nodes with 4 GPUs, 1 GiB | 1 | 65.00 s |")
    assert lines[5].endswith("1 GiB: 0.5 % done")
    assert lines[-1].endswith("load average from 1.0 to 7.2")


def test_every_command_has_its_row_in_the_measurements(waits: ModuleType) -> None:
    text = (ROOT / "benches" / "README.md").read_text(encoding="utf-8")
    assert not [wait.label for wait in waits.WAITS.values() if f"| {wait.label} |" not in text]


def test_repetitions_are_in_turn(waits: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of a command that has five, and two commands one after the other; what they read is made first."""
    calls: list[str] = []

    def timed(command: list[str], folder: Path, limit_s: float | None = None) -> object:
        calls.append(command[3])
        return waits.Time(float(len(calls)), 1.0)

    monkeypatch.setattr(waits, "timed", timed)
    times, loads = waits.measure(["report", "rings-512"], 3, tmp_path)
    assert calls == ["run", "report", "run", "report", "report"]
    assert [run.wall_s for run in times["report"]] == [2.0, 4.0, 5.0]
    assert len(loads) == 5
