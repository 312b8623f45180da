"""Slurm with the scripts of `packaging/submission`, and the time that a submission takes.

`python -m tests.cluster.slurm.plugins 1000` measures submissions in turn: without the scripts, with each of them, and
with a file of garbage.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cluster.slurm.server import Host, free_ports, missing, run, start, stop, tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SUBMISSION = Path(__file__).parents[3] / "packaging" / "submission"
SLEEP = "#!/bin/sh\nexec sleep 600\n"
NODES = 64
_CHANGES = count(1)
PLUGINS = {"neither": "", "job_submit": "JobSubmitPlugins=lua\n", "cli_filter": "CliFilterPlugins=lua\n"}


def advice(*, now: float | None = None) -> str:
    """An advice file for 64 idle nodes on 16 leaf switches."""
    lines = ["odonata-advice 1", f"time {time.time() if now is None else now:.0f}", "valid 600", "background 0.2500"]
    lines += ["idle 64", "flag 0.3000", "size 4 wait 0 leaves 1 groups 1 risk 0.1000 nodes n[0-3]"]
    return "\n".join([*lines, "size 16 wait 0 leaves 4 groups 1 risk 0.6000 quiet 1800", "end", ""])


def use(folder: Path, plugin: str, *, sets: str = "nothing") -> None:
    """Makes a Slurm that runs use one of the scripts, which read `folder / "advice"`."""
    for name in ("job_submit.lua", "cli_filter.lua"):
        text = (SUBMISSION / name).read_text()
        text = text.replace("/var/lib/odonata/advice", str(folder / "advice")).replace('"nothing"\n', f'"{sets}"\n')
        (folder / name).write_text(text)
        loaded_anew(folder / name)
    shutil.copy(SUBMISSION / "odonata_advice.lua", folder)
    conf = folder / "slurm.conf"
    lines = [line for line in conf.read_text().splitlines(keepends=True) if not line.startswith(("JobSub", "CliF"))]
    conf.write_text("".join([*lines, PLUGINS[plugin]]))
    run("scontrol", "reconfigure")


def loaded_anew(script: Path) -> None:
    """Makes the controller read a script again: it does so if the file is newer, in whole seconds."""
    moment = time.time() + 2 * next(_CHANGES)
    os.utime(script, (moment, moment))


def submit(*options: str) -> tuple[str, str, float]:
    """The id of a job, what the user is told, and the seconds that `sbatch` took."""
    begin = time.perf_counter()
    done = subprocess.run(
        ["sbatch", "--parsable", "--output=/dev/null", *options],
        capture_output=True,
        text=True,
        input=SLEEP,
        check=False,
        timeout=60,
    )
    took = time.perf_counter() - begin
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.strip(), done.stderr, took


@contextlib.contextmanager
def slurm() -> Iterator[Path]:
    """A Slurm of 64 virtual nodes, in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="odslurm"))
    folder.chmod(0o755)
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    port = free_ports(NODES + 2)
    hosts = [Host(f"n{node}", "127.0.0.1", port + 2 + node) for node in range(NODES)]
    try:
        start(folder, hosts, tree(4, 4, 4), address="127.0.0.1", port=port)
        yield folder
    finally:
        stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def measure(folder: Path, number: int, cases: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[float]]:
    """Seconds of each submission, in blocks of 50 in turn, so that all cases see the same machine."""
    times: dict[tuple[str, str], list[float]] = {case: [] for case in cases}
    while any(len(of) < number for of in times.values()):
        for plugin, text in cases:
            (folder / "advice").write_text(text)
            use(folder, plugin)
            mine = times[plugin, text]
            for _ in range(min(50, number - len(mine))):
                _, told, took = submit("-N16", "--hold", "--time=10")
                assert ("background utilisation" in told) == (plugin != "neither" and text != GARBAGE), told
                mine.append(took)
            run("scancel", "--user=root")
    return times


GARBAGE = "\x00\xff" * 100_000


def main() -> None:
    """Prints the median and the 99 % quantile for each case."""
    if why := missing():
        sys.exit(why)
    number = int(sys.argv[1])
    text = advice(now=time.time() + 30).replace("valid 600", "valid 36000")
    cases = [("neither", ""), ("job_submit", text), ("job_submit", GARBAGE), ("cli_filter", text)]
    with slurm() as folder:
        for (plugin, of), times in measure(folder, number, cases).items():
            cuts = statistics.quantiles(times, n=100)
            what = "garbage" if of == GARBAGE else "advice" if of else ""
            print(f"{plugin:12}{what:10}{len(times):6} median {1e3 * cuts[49]:.1f} ms, p99 {1e3 * cuts[98]:.1f} ms")
        log = (folder / "log" / "slurmctld.log").read_text()
        print(
            sum("error" in line and "lua" in line for line in log.splitlines()), "errors of Lua in the controller's log"
        )


if __name__ == "__main__":
    main()
