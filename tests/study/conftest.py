"""A small study in an empty folder, and what sweeps it."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest

from odonata.cli.main import main
from odonata.study import read
from odonata.study.plan import Plan

BASE = """\
system = "tiny"
routing = "fpar"

[[job]]
name = "target"
place = { policy = "per-leaf", per_leaf = 1 }
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 20 }

[[job]]
name = "noise"
nodes = 6
app = { pattern = "uniform-random", message = "40 KB", interval = "5 us" }
background = true

[measure]
latency = "histogram"
"""

STUDY = """\
base = "base.toml"

[sweep]
routing = ["fpar", "minimal"]
"run.seed" = { from = 1, to = 4 }
"""

COMMAND = [sys.executable, "-m", "odonata.cli.main"]

Write = Callable[..., Plan]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory with a scenario in it."""
    monkeypatch.chdir(tmp_path)
    Path("base.toml").write_text(BASE)
    return tmp_path


@pytest.fixture
def study(here: Path) -> Write:
    """Writes a study and reads it."""

    def write(text: str = STUDY, name: str = "study.toml", overrides: tuple[str, ...] = ()) -> Plan:
        Path(name).write_text(text)
        return read.load(name, overrides)

    return write


def final(folder: str | Path) -> dict[str, bytes]:
    """The bytes of what must not depend on who simulated, or when."""
    names = ("study.toml", "scenario.toml", "runs.parquet", "jobs.parquet", "manifest.json")
    return {name: (Path(folder) / name).read_bytes() for name in names}


def kept(folder: str | Path) -> set[str]:
    """Ids of the runs that are safe in a folder."""
    ids: set[str] = set()
    for file in (Path(folder) / "results").glob("part-*.parquet"):
        with suppress(FileNotFoundError):  # joined with others meanwhile
            ids |= set(pl.read_parquet(file)["run.id"].to_list())
    return ids


def children(pid: int | None = None) -> list[int]:
    """Processes that a process has started and that are alive; none when it has ended itself."""
    with suppress(psutil.NoSuchProcess):
        return [child.pid for child in psutil.Process(pid).children()]
    return []


def eventually(true: Callable[[], object], within_s: float = 30.0) -> None:
    """Waits until something holds."""
    until = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)


def command(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """A whole command in a process of its own."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, **more)


def swept(*arguments: str) -> dict[str, Any]:
    """What `odonata sweep --json` says of a sweep that went well: the command in this process, and one worker.

    Where the process of the command matters, `command` has one of its own, which takes half a second.
    """
    workers = [] if {"-j", "--on"} & set(arguments) else ["-j", "1"]
    words = ["sweep", *arguments, *workers, "--json", "-q"]
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err, warnings.catch_warnings():
        warnings.simplefilter("default")
        status = main(words)
    assert status == 0, err.getvalue()
    printed: dict[str, Any] = json.loads(out.getvalue())
    return printed


def killed(process: subprocess.Popen[str]) -> None:
    """Kills a process as nothing can be caught, and waits for it."""
    process.send_signal(signal.SIGKILL)
    process.wait()


@contextmanager
def sweeping(*arguments: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
    """A sweep in a process of its own, which does not outlive the block, also if the test fails there."""
    started = [*COMMAND, "sweep", "study.toml", "--out", "out", *arguments]
    process = subprocess.Popen(started, text=True, **{"stderr": subprocess.DEVNULL, **more})
    try:
        yield process
    finally:
        killed(process)
