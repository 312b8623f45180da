"""What users wait for: wall and processor time of whole commands, from their start to their end.

    scripts/bench_waits.py                 all commands: some minutes on a quiet machine
    scripts/bench_waits.py -n 3 show plot  three runs of two of them

Numbers are medians. The processor time is user and system time of the command and of the processes that it starts. The
commands run in turn, so that load on the machine meets all of them; the load average is printed with the table. Only
numbers of one table can be compared.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import resource

ROOT = Path(__file__).resolve().parents[1]
ODONATA = [sys.executable, "-m", "odonata"]
#: What commands read, and the command that makes each.
PREPARED = {
    "quick": "run {root}/examples/quick.toml -q -o quick",
    "queue.toml": "new queue.toml --template schedule",
    "demo": "run {root}/examples/kang2019-interference.toml --alone --set measure.blame=true -q -o demo",
}
RINGS = """
system = "alps-gpu"

[[job]]
name           = "sum"
nodes          = 64
ranks_per_node = 4
app            = {{ collective = "allreduce", algorithm = "ring-channels", message = "{message}" }}

[measure]
latency = "histogram"
"""


@dataclass(frozen=True)
class Wait:
    """A command that users wait for. `{new}` is a folder of each repetition's own, `{root}` the project."""

    label: str
    command: str
    repetitions: int = 5
    prepared: str = ""
    limit_s: float | None = None


WAITS = {
    "run-new": Wait("`run` of `quick.toml`, new", "run {root}/examples/quick.toml -o {new}"),
    "run-done": Wait("`run` of `quick.toml`, finished", "run {root}/examples/quick.toml -o quick", prepared="quick"),
    "report": Wait("`report` of that run", "report quick -o {new}/report.html", prepared="quick"),
    "show": Wait("`show`", "show"),
    "explain": Wait("`explain` of the demo", "explain demo -q", prepared="demo"),
    "plot": Wait("`plot` of the demo", "plot demo --kind machine -o {new}/machine.png", prepared="demo"),
    "sweep": Wait("`sweep` of the first study (24 runs)", "sweep placements.toml -o {new}/study", 3),
    "advise": Wait("`advise` of `quick.toml`", "advise {root}/examples/quick.toml -o {new}/advice", 3),
    "schedule": Wait(
        "`schedule` of 200 jobs (`new --template schedule`)",
        "schedule queue.toml -o {new}/schedule",
        3,
        "queue.toml",
    ),
    "rings-64": Wait("`ring-channels`, 64 nodes with 4 GPUs, 64 MiB", "run rings-64.toml -o {new}", 3),
    "steps-64": Wait("the same, with `run.steady` at 1 %", "run rings-64.toml --set run.steady.error=1% -o {new}", 3),
    "rings-512": Wait("`ring-channels`, 512 nodes with 4 GPUs, 1 GiB", "run rings-512.toml -o {new}", 1, limit_s=65),
    "steps-512": Wait("the same, with `run.steady` at 5 %", "run rings-512.toml --set run.steady.error=5% -o {new}", 1),
}


@dataclass(frozen=True)
class Time:
    """One run of a command. `until` is the last progress that it printed if it was ended at its limit."""

    wall_s: float
    cpu_s: float
    until: str = ""


def inputs(folder: Path) -> None:
    """Writes the files that commands name: the first study of the tutorial, and the all-reduces."""
    tutorial = (ROOT / "docs" / "tutorial" / "first-study.md").read_text(encoding="utf-8")
    for name, text in re.findall(r"^```toml\n# file: (\S+)\n(.*?)^```$", tutorial, re.DOTALL | re.MULTILINE):
        (folder / name).write_text(text, encoding="utf-8")
    for nodes, message in ((64, "64 MiB"), (512, "1 GiB")):
        text = RINGS.format(message=message).replace("= 64\n", f"= {nodes}\n")
        (folder / f"rings-{nodes}.toml").write_text(text, encoding="utf-8")


def words(command: str, new: str) -> list[str]:
    """The arguments of odonata."""
    return [word.format(root=ROOT, new=new) for word in command.split()]


def timed(command: list[str], folder: Path, limit_s: float | None = None) -> Time:
    """Runs a command in a folder, until its end or the limit. Raises RuntimeError if it fails."""
    said = folder / "stderr.txt"
    with said.open("w", encoding="utf-8") as err:
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=err)
        status, usage, ended = _ended(child.pid, start, limit_s)
        wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    lines = [line for line in said.read_text(encoding="utf-8").splitlines() if line]
    if not ended and child.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {(lines or ['no message'])[-1]}")
    shares = [line for line in lines if "%" in line]
    return Time(wall, usage.ru_utime + usage.ru_stime, (shares or ["no progress"])[-1] if ended else "")


def _ended(pid: int, start: float, limit_s: float | None) -> tuple[int, resource.struct_rusage, bool]:
    """Status and usage of a child, and whether it was ended at the limit."""
    if limit_s is None:
        return *os.wait4(pid, 0)[1:], False
    while time.perf_counter() - start < limit_s:
        found, status, usage = os.wait4(pid, os.WNOHANG)
        if found:
            return status, usage, False
        time.sleep(0.05)
    os.kill(pid, signal.SIGINT)
    return *os.wait4(pid, 0)[1:], True


def measure(chosen: list[str], repetitions: int | None, folder: Path) -> tuple[dict[str, list[Time]], list[float]]:
    """All repetitions of the commands, in turn, and the load averages before and after each."""
    inputs(folder)
    loads = [os.getloadavg()[0]]
    for name in {WAITS[name].prepared for name in chosen} - {""}:
        timed([*ODONATA, *words(PREPARED[name], "")], folder)
    times: dict[str, list[Time]] = {name: [] for name in chosen}
    wanted = {name: min(repetitions or WAITS[name].repetitions, WAITS[name].repetitions) for name in chosen}
    for number in range(max(wanted.values())):
        for name in chosen:
            if number < wanted[name]:
                print(f"{name}: repetition {number + 1} of {wanted[name]}", file=sys.stderr, flush=True)
                new = folder / f"{name}-{number}"
                new.mkdir()
                wait = WAITS[name]
                times[name].append(timed([*ODONATA, *words(wait.command, str(new))], folder, wait.limit_s))
                loads.append(os.getloadavg()[0])
    return times, loads


def as_text(times: dict[str, list[Time]], loads: list[float]) -> str:
    """The table, in Markdown."""
    rows = ["| | runs | wall time | shortest, longest | processor time |", "|---|---:|---:|---:|---:|"]
    ended = []
    for name, runs in times.items():
        walls = [run.wall_s for run in runs]
        wall, cpu = statistics.median(walls), statistics.median(run.cpu_s for run in runs)
        span = f"{min(walls):.2f}, {max(walls):.2f} s"
        rows.append(f"| {WAITS[name].label} | {len(runs)} | {wall:.2f} s | {span} | {cpu:.2f} s |")
        ended += [f"\nEnded at the limit: {WAITS[name].label}: {run.until}" for run in runs if run.until]
    low, high = min(loads), max(loads)
    return "\n".join([*rows, *ended, f"\n{os.cpu_count()} processors, load average from {low:.1f} to {high:.1f}"])


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, help="most runs of each command (default: five of short ones, three of others)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"commands: {', '.join(WAITS)} (default: all)")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in WAITS]
    if unknown:
        parser.error(f"unknown command `{unknown[0]}`; there are {', '.join(WAITS)}")
    if given.n is not None and given.n < 1:
        parser.error(f"expected a number of runs from 1 on, found `{given.n}`")
    with tempfile.TemporaryDirectory() as scratch:
        times, loads = measure(given.names or list(WAITS), given.n, Path(scratch))
    print(as_text(times, loads))


if __name__ == "__main__":
    main()
