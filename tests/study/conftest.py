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
from typing import TYPE_CHECKING, Any

import polars as pl
import psutil
import pytest

from odonata.cli.main import main
from odonata.study import read, task
from odonata.study.plan import Plan

if TYPE_CHECKING:
    from odonata.study.ledger import Ledger

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


def eventually(true: Callable[[], object], within_s: float = 120.0) -> None:
    """Waits until something holds."""
    until = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)


def command(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """A whole command in a process of its own."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, **more)


class Here:
    """Simulates in this process, in batches like a worker: a process takes half a second to start."""

    workers = 1

    def __init__(self, workers: int = 1) -> None:
        pass

    def run(self, ledger: Ledger) -> None:
        while numbers := ledger.take(64, 1e9):
            for number in numbers:
                resolution, resolved = task.resolve(ledger.plan, number)
                for granted in ledger.grant([resolution]):
                    assert resolved is not None
                    ledger.hand_in(*task.handed_in(task.run(ledger.plan, granted, resolved)))
        ledger.flush()


def swept(*arguments: str) -> dict[str, Any]:
    """What `odonata sweep --json` says of a sweep that went well: the command and its runs in this process.

    Where workers matter, `-j` or `--on` says so; where the process of the command matters, `command` has one of its
    own.
    """
    words = ["sweep", *arguments, "--json", "-q"]
    with (
        pytest.MonkeyPatch.context() as patched,
        redirect_stdout(io.StringIO()) as out,
        redirect_stderr(io.StringIO()) as err,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        if not {"-j", "--on"} & set(arguments):
            patched.setattr("odonata.study.local.LocalPool", Here)
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
