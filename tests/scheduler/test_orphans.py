"""Processes that simulate windows or coalitions do not outlive the command that started them."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from tests.study.conftest import COMMAND, children, eventually

STREAM = """\
system = "tiny"
place = ["contiguous", "random"]
window = { error = "0.001 %", longest = "100 s" }

[stream.synthetic]
jobs = 8
load = "300 %"
largest = 6
"""
JOBS = 'system = "tiny"\n' + "".join(
    f'[[job]]\nname = "{name}"\nnodes = 4\n'
    'app = { pattern = "uniform-random", message = "16 KiB", interval = "4 us", messages = MANY }\n'
    for name in "abc"
)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
@pytest.mark.parametrize("what", ["schedule", "explain"])
def test_workers_end_with_a_killed_command(tmp_path: Path, what: str, number: signal.Signals) -> None:
    """Catches workers that wait for ever for work from a process that is gone."""
    (tmp_path / "stream.toml").write_text(STREAM)
    (tmp_path / "jobs.toml").write_text(JOBS.replace("MANY", "20000"))
    arguments = {
        "schedule": ["schedule", "stream.toml", "-j", "2"],
        "explain": ["explain", "run", "--counterfactual", "-j", "2"],
    }
    if what == "explain":
        subprocess.run([*COMMAND, "run", "jobs.toml", "--out", "run", "-q"], cwd=tmp_path, check=True)
    process = subprocess.Popen(
        [*COMMAND, *arguments[what]], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        eventually(lambda: len(children(process.pid)) >= 3, within_s=60)  # two workers and the tracker of resources
        workers = children(process.pid)
    finally:
        process.send_signal(number)
        process.wait()
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), within_s=30)
