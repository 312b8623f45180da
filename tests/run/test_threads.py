"""A run on several threads: the same bytes, from Python and from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import odonata
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.processors import idle_processors, processors
from odonata.store.manifest import VOLATILE

if TYPE_CHECKING:
    from pathlib import Path

    from odonata.scenario import Scenario

BUSY = """\
system = "kang2019"
routing = "fpar"

[[job]]
name = "target"
nodes = 2304
place = { policy = "contiguous", groups = "3-8" }
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 8 }

[[job]]
name = "noise"
nodes = 800
place = "random"
app = { pattern = "uniform-random", message = "16 KB", interval = "2 us" }
background = true

[run]
until = "target"
seed = 1
"""


PROGRAMS = """\
routing = "aries"

[system]
preset = "piz-daint"

[system.fabric]
nic = "aries"
packet = "1 KiB"

[[job]]
name = "stencil"
nodes = 64
place = "random"
app = { motif = "halo3d", grid = [4, 4, 4], cells = [40, 40, 40] }
iterations = 2
routing = { name = "application-aware", policy = "app-aware" }

[[job]]
name = "noise"
nodes = 1024
place = "random"
app = { pattern = "uniform-random", message = "8 KiB", interval = "4 us" }
background = true

[measure]
series = true
operations = true
links = { every = "10 us" }

[run]
until = "stencil"
seed = 1
"""


HALO = """\
system = "kang2019"

[[job]]
name = "stencil"
nodes = 125
place = "random"
app = { motif = "halo3d", grid = [5, 5, 5], cells = [60, 60, 60] }

[[job]]
name = "noise"
nodes = 3000
place = "random"
app = { pattern = "uniform-random", message = "16 KiB", interval = "2 us" }
background = true

[measure]
latency = "histogram"

[run]
until = "stencil"
seed = 1
"""


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    """A scenario with enough events for several threads, and with full buffers."""
    path = tmp_path / "busy.toml"
    path.write_text(BUSY)
    return path


def _contents(folder: Path) -> dict[str, bytes]:
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    facts: dict[str, Any] = json.loads(files.pop("manifest.json"))
    lasting = {key: value for key, value in facts.items() if key not in VOLATILE}
    return {**files, "manifest.json": json.dumps(lasting).encode()}


def test_the_bytes_do_not_depend_on_the_number_of_threads(busy: Path, tmp_path: Path) -> None:
    """Catches anything that the number of threads changes in any file of a run, also beside its tables."""
    used = []
    for threads in (1, 2, 5):
        run = odonata.run(busy, tmp_path / str(threads), threads=threads, alone=True)
        used.append(run.manifest["wall"]["threads"])
    assert used == [1, 2, 5]
    alone = _contents(tmp_path / "1")
    assert len(alone) > 3
    assert _contents(tmp_path / "2") == alone
    assert _contents(tmp_path / "5") == alone


def test_programs_and_answered_packets_give_the_same_bytes(tmp_path: Path) -> None:
    """Catches ranks, responses, decisions or counts over time that depend on the number of threads."""
    path = tmp_path / "programs.toml"
    path.write_text(PROGRAMS)
    used = [
        odonata.run(path, tmp_path / str(threads), threads=threads).manifest["wall"]["threads"] for threads in (1, 3)
    ]
    assert used == [1, 3]
    alone = _contents(tmp_path / "1")
    assert {"iterations.parquet", "ranks.parquet", "nics.parquet", "series.parquet"} <= set(alone)
    assert _contents(tmp_path / "3") == alone


def test_small_runs_get_one_thread_and_blame_is_shared(tiny: Scenario, busy: Path) -> None:
    """Catches blame that depends on the number of threads, or that is left to one of them."""
    assert odonata.run(tiny, threads=8).manifest["wall"]["threads"] == 1
    blamed = odonata.load(busy, ["measure.blame=true", "measure.roots=true"])
    single, two = (odonata.run(blamed, threads=threads) for threads in (1, 2))
    assert two.manifest["wall"]["threads"] == 2
    assert single.blame.equals(two.blame)
    assert len(single.blame)


QUIET_JOB = """
[[job]]
name = "quiet"
nodes = 4
place = "random"
app = { pattern = "uniform-random", message = "4 KB", interval = "10 us", messages = 20000 }
"""


def test_a_short_busy_job_beside_a_long_quiet_one_gets_one_thread(busy: Path) -> None:
    """Catches an estimate that adds the rates of jobs that do not run at the same time: two threads took 12 times as
    long as one."""
    text = busy.read_text().replace('"2 us" }\nbackground = true', '"2 us", messages = 8 }')
    assert odonata.run(busy, threads=2).manifest["wall"]["threads"] == 2
    busy.write_text(text.replace("[run]", QUIET_JOB + "[run]").replace('until = "target"\n', ""))
    assert odonata.run(busy, threads=2).manifest["wall"]["threads"] == 1


def test_what_ends_a_run_ends_all_threads(busy: Path) -> None:
    class StopError(Exception):
        pass

    def stop(state: Any) -> None:
        raise StopError

    endless = odonata.load(busy, ["job.target.app.messages=100000", "measure.latency=histogram"])
    with pytest.raises(StopError):
        odonata.run(endless, threads=3, progress=stop)


def _costs(scenario: Path, threads: int) -> tuple[float, int]:
    """Seconds of processor time of a run in a process of its own, and how often it lost a processor."""
    out = scenario.with_suffix(f".{threads}")
    call = f"import odonata; odonata.run({str(scenario)!r}, {str(out)!r}, threads={threads})"
    with subprocess.Popen(
        [sys.executable, "-c", call], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime, used.ru_nivcsw


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts of processes are those of Linux")
def test_threads_do_not_work_while_they_wait_beside_busy_processes(tmp_path: Path) -> None:
    """Catches threads that look for each other, or ask for their processor again and again, while other processes have
    it: 1.6 times the processor time, and 4,400 instead of 1,000 to 1,700 lost processors in a second of it."""
    path = tmp_path / "halo.toml"
    path.write_text(HALO)
    neighbours = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(max(2, processors()))]
    try:
        (one, _), (two, lost) = (_costs(path, threads) for threads in (1, 2))
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()
    assert two < 1.4 * one + 0.2, f"{two:.1f} s of processor time with two threads, {one:.1f} s with one"
    assert lost < 3000 * two, f"{lost} lost processors in {two:.1f} s"
    assert _contents(path.with_suffix(".1")) == _contents(path.with_suffix(".2"))


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", 1025])
def test_wrong_numbers_of_threads_are_refused(tiny: Scenario, threads: Any) -> None:
    with pytest.raises(InputError, match="`threads` is a number from 1 to 1,024, found"):
        odonata.run(tiny, threads=threads)


def test_the_command_says_how_many_threads_shared_the_run(
    busy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(busy), "--threads", "2", "--out", str(tmp_path / "out")]) == 0
    assert " s on 2 threads (" in capsys.readouterr().err
    assert main(["run", str(busy), "--threads", "0"]) == 2
    assert "--threads" in capsys.readouterr().err


def test_processors_that_others_use_are_not_idle(tmp_path: Path) -> None:
    load = tmp_path / "loadavg"
    load.write_text("0.50 0.40 0.30 1/1234 5678\n")
    assert idle_processors(load) == processors()
    load.write_text("0.50 0.40 0.30 5000/9999 5678\n")
    assert idle_processors(load) == 1
    load.write_text("nothing\n")
    assert idle_processors(load) == processors()
    assert idle_processors(tmp_path / "missing") == processors()
