"""One round of the experiment: no background, the most background, the control, and selected nodes."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.fabric.experiment import MARK, MOST, UPLINK_MBIT, result, until
from tests.cluster.fabric.network import DATA, MANAGEMENT, private
from tests.cluster.fabric.times import chosen, ratio


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fabric")


@pytest.fixture(scope="module")
def runs(possible: None, out: Path) -> list[dict[str, Any]]:
    return result("reduced", out)


def test_b_comes_from_the_queue_of_the_background_jobs(runs: list[dict[str, Any]]) -> None:
    # Three jobs of four nodes among 32; the job of the probe itself does not count.
    b = {(run["arm"], run["level"]): run["probe"]["b_before"] for run in runs}
    assert b == {("earlier", 0): 0, **dict.fromkeys([("earlier", MOST), ("selected", MOST), ("control", MOST)], 0.375)}


def test_times_grow_with_the_load_of_the_uplinks_and_not_with_b(runs: list[dict[str, Any]]) -> None:
    [busy], [control] = chosen(runs, "earlier"), chosen(runs, "control")
    assert min(busy["uplinks_mbit"][:2]) > 0.5 * UPLINK_MBIT
    assert max(control["uplinks_mbit"]) < 0.2 * UPLINK_MBIT
    assert ratio(runs, ("earlier", MOST), ("earlier", 0)) > 3
    assert ratio(runs, ("earlier", MOST), ("control", MOST)) > 3


def test_selected_nodes_avoid_the_busy_leaves(runs: list[dict[str, Any]]) -> None:
    assert ratio(runs, ("earlier", MOST), ("selected", MOST)) > 3
    [selected] = chosen(runs, "selected")
    assert max(selected["uplinks_mbit"][2:]) < 0.2 * UPLINK_MBIT


def test_nothing_is_left(runs: list[dict[str, Any]], out: Path) -> None:
    assert processes(out) == []
    shown = {
        words: subprocess.run(["ip", *words.split()], capture_output=True, text=True, check=True).stdout
        for words in ("-oneline addr", "netns")
    }
    assert f" {DATA}." not in shown["-oneline addr"]
    assert f" {MANAGEMENT}." not in shown["-oneline addr"]
    assert "n0" not in shown["netns"].split()
    assert not Path("/run/odonata").exists()


def test_what_was_started_dies_with_its_starter(possible: None, tmp_path: Path) -> None:
    # Its sleep leaves its session and its parent, as daemons do.
    words = private("sh", "-c", "setsid sleep 600 & sleep 600")
    started = subprocess.Popen(words, env=os.environ | {MARK: str(tmp_path)})
    try:
        # The words of those that start them name the sleeps too, and may not be ready to die with their starter.
        until(lambda: sum(command.startswith("sleep ") for command in processes(tmp_path)) == 2, 20, "the sleeps run")
    finally:
        started.send_signal(signal.SIGKILL)
        started.wait()
    until(lambda: not processes(tmp_path), 20, "all processes are gone")


def processes(out: Path) -> list[str]:
    """Processes that an experiment with this folder started, whatever they are now."""
    mark = f"{MARK}={out}".encode()
    commands = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                commands.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return commands
