"""The experiment of Salimi Beni 2022 in small: times of collectives beside jobs that load the uplinks of two leaves.

A Slurm of 32 nodes in network namespaces: four leaves in two islands. A background job has four nodes, two on each leaf
of island 0, and sends UDP between them: `across` through the uplinks, or `inside` (the control) between the nodes of a
leaf. The jobs, their nodes, their rates, and so b, are the same. The probe runs as a Slurm job of four nodes. Arms:

- `earlier`, `later`: two nodes on each of the busy leaves; the earlier runs train the predictor
- `control`: the same nodes, but the flows stay inside the leaves
- `elsewhere`: two nodes on each leaf of island 1, through `odonata cluster select`
- `selected`: the nodes that `odonata cluster select` chooses by Level-Spread

    python -m tests.cluster.fabric.experiment whole|reduced OUT

must run within `network.private`; `result` starts it there. It writes the folders of the probe, by arm, and
`runs.json`: what was run, in which order.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tests.cluster.fabric import network
from tests.cluster.slurm import server
from tests.cluster.slurm.server import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Mode = Literal["across", "inside"]

ISLANDS, LEAVES, PER_LEAF = 2, 2, 8
UPLINK_MBIT = 40
FLOW_MBIT = 6
"""Of each of the two flows of a background job, in each direction."""
MOST = 3
"""Background jobs at most: their six flows load the uplinks to 90 %."""
BUSY = "n[0-1,8-9]"
MARK = "ODONATA_FABRIC"
"""Environment variable of all that an experiment starts: its folder."""
SELECT = {"selected": ("--place", "level-spread"), "elsewhere": ("--place", "same-island", "-s", "groups=1")}


@dataclass(frozen=True)
class Plan:
    """What is run: rounds, each with all numbers of background jobs in a new order."""

    levels: tuple[int, ...]
    earlier: int
    """Rounds from which the predictor learns."""
    later: int
    """Rounds after them, whose runs are predicted."""
    compared: int
    """Rounds, the first, in which the other arms run as well."""
    arms: tuple[str, ...]
    operations: tuple[str, ...]
    sizes: tuple[str, ...]
    iterations: int
    most_s: float
    """Longest time of the experiment."""


# The predictor needs 67 rows with 19 of each operation and size before the last quarter: 7 rounds give 168, with 28.
WHOLE = Plan(
    levels=(0, 1, 2, 3),
    earlier=7,
    later=2,
    compared=3,
    arms=("selected", "elsewhere"),
    operations=("alltoall", "allreduce", "bcast"),
    sizes=("1 KiB", "4 KiB"),
    iterations=40,
    most_s=3600,
)
REDUCED = Plan(
    levels=(0, 3),
    earlier=1,
    later=0,
    compared=1,
    arms=("selected",),
    operations=("alltoall",),
    sizes=("4 KiB",),
    iterations=20,
    most_s=240,
)
PLANS = {"whole": WHOLE, "reduced": REDUCED}

# The ranks of a job are in the order of its nodes: two on the first leaf, two on the second.
PARTNERS = {"across": {0: 2, 1: 3}, "inside": {0: 1, 2: 3}}
FLOWS = """#!/bin/sh
exec srun --mpi=none sh -c '
shift $SLURM_PROCID
[ $1 != server ] || exec chrt --rr 2 iperf3 --server
while :; do
  sleep 0.3
  chrt --rr 2 iperf3 --client $1 --udp --bitrate {mbit}M --length 1400 --time 3600 --bidir
done' flow {partners}
"""
# Ranks that wait keep a processor busy, and there are fewer processors than ranks. With a real-time priority they share
# them with one another alone, so that the times are those of the network. The flows go first, or they would starve.
LAUNCHER = (
    "mpirun --allow-run-as-root --oversubscribe --map-by node --mca btl self,tcp --mca pml ob1 "
    f"--mca btl_tcp_if_include {network.DATA}.0/24 --mca oob_tcp_if_include {network.MANAGEMENT}.0/24 "
    "--mca mpi_yield_when_idle 1 -n 4 chrt --rr 1"
)
PROBE = """#!/bin/sh
{python} -m odonata cluster probe --out "$OUT" --json --quiet --iterations {iterations} --warmup 3 --gap "200 us" \\
  {configurations} --launcher "{launcher}" > "$SAID" 2>&1
echo $? > "$SAID.status"
"""


def result(plan: str, out: Path) -> list[dict[str, Any]]:
    """Runs the experiment in private namespaces; what it writes to `runs.json`. Raises RuntimeError if it fails."""
    command = network.private(sys.executable, "-m", __name__, plan, str(out))
    marked = os.environ | {MARK: str(out)}
    most = PLANS[plan].most_s
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=most, env=marked)
    if done.returncode:
        raise RuntimeError(f"the experiment ended with exit status {done.returncode}:\n{done.stderr[-4000:]}")
    printed: list[dict[str, Any]] = json.loads((out / "runs.json").read_text(encoding="utf-8"))
    return printed


def main(plan: Plan, out: Path) -> None:
    """Runs the experiment in the namespaces of this process."""
    folder = Path("/run/odonata")
    (folder / "scratch").mkdir(parents=True)
    os.environ |= {
        "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
        "SLURM_CONF": str(folder / "slurm.conf"),
        "TMPDIR": str(folder / "scratch"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    hosts = network.make(ISLANDS * LEAVES, PER_LEAF, UPLINK_MBIT)
    server.start(folder, hosts, server.tree(ISLANDS, LEAVES, PER_LEAF), address=network.HEAD, port=17001)
    chosen = [f"--op {name}" for name in plan.operations] + [f"--size '{size}'" for size in plan.sizes]
    (folder / "probe.sh").write_text(
        PROBE.format(
            python=sys.executable, iterations=plan.iterations, configurations=" ".join(chosen), launcher=LAUNCHER
        )
    )
    Experiment(plan, out, folder).run()


class Experiment:
    """The runs, one after the other."""

    def __init__(self, plan: Plan, out: Path, folder: Path) -> None:
        self.plan, self.out, self.folder = plan, out, folder
        self.runs: list[dict[str, Any]] = []

    def run(self) -> None:
        """Runs all rounds, and writes what was run after each."""
        draw = random.Random(1)
        plan = self.plan
        for number in range(plan.earlier + plan.later):
            later = number >= plan.earlier
            if number == plan.earlier:
                model = (str(self.out / "earlier"), "--out", str(self.out / "model.json"))
                odonata("cluster", "train", *model)
            for level in draw.sample(plan.levels, len(plan.levels)):
                compared = level == MOST and number < plan.compared
                with self.background(level, "across"):
                    self.probe(number, level, "later" if later else "earlier")
                    for arm in plan.arms if compared else ():
                        self.probe(number, level, arm)
                if compared:
                    with self.background(level, "inside"):
                        self.probe(number, level, "control")
            (self.out / "runs.json").write_text(json.dumps(self.runs, indent=1), encoding="utf-8")

    def predict(self) -> float:
        """Probability that the first operation with the largest size falls into the tail on the busy leaves, now."""
        of_job = ("--nodes", "4", "--groups", "1", "--leaves", "2")
        what = ("--pattern", self.plan.operations[0], "--bytes", self.plan.sizes[-1])
        told = odonata("cluster", "predict", str(self.out / "model.json"), *of_job, *what, "--json")
        return float(json.loads(told)["probability"])

    @contextmanager
    def background(self, level: int, mode: Mode) -> Iterator[None]:
        """So many background jobs, whose flows run."""
        jobs, nodes = [], []
        for job in range(level):
            first, second = 2 + 2 * job, PER_LEAF + 2 + 2 * job
            mine = [first, first + 1, second, second + 1]
            of_rank = PARTNERS[mode]
            partners = [f"{network.DATA}.{mine[of_rank[r]] + 10}" if r in of_rank else "server" for r in range(4)]
            script = self.folder / f"flows-{mode}-{job}.sh"
            script.write_text(FLOWS.format(mbit=FLOW_MBIT, partners=" ".join(partners)))
            words = [
                "--nodes=4",
                "--ntasks-per-node=1",
                "--output=/dev/null",
                f"--nodelist=n[{','.join(map(str, mine))}]",
            ]
            jobs.append(run("sbatch", "--parsable", *words, str(script)).strip())
            nodes += mine
        try:
            until(lambda: flowing(nodes), 60, "the flows of the background jobs run")
            yield
        finally:
            if jobs:
                run("scancel", *jobs)
            until(lambda: not run("squeue", "--noheader").strip(), 60, "the background jobs are gone")

    def probe(self, number: int, level: int, arm: str) -> None:
        """One run of the probe as a job."""
        said = self.out / f"said-{len(self.runs):03}"
        os.environ |= {"OUT": str(self.out / arm), "SAID": str(said)}
        predicted = self.predict() if arm == "later" else None
        begin, before = time.monotonic(), uplinks()
        words = ["--ntasks-per-node=1", f"--output={said}.slurm", str(self.folder / "probe.sh")]
        if arm in SELECT:
            odonata("cluster", "select", "--nodes", "4", *SELECT[arm], "--submit", "--", *words)
        else:
            run("sbatch", "--nodes=4", f"--nodelist={BUSY}", *words)
        status = said.with_name(f"{said.name}.status")
        until(lambda: status.exists() and status.read_text().endswith("\n"), 600, "the probe has ended")
        after, seconds = uplinks(), time.monotonic() - begin
        if status.read_text().strip() != "0":
            raise RuntimeError(f"the probe failed: {said.read_text()}")
        self.runs.append(
            {
                "round": number,
                "level": level,
                "arm": arm,
                "probe": json.loads(said.read_text()),
                "predicted": predicted,
                "seconds": seconds,
                "uplinks_mbit": [(b - a) * 8e-6 / seconds for a, b in zip(before, after, strict=True)],
            }
        )


def flowing(nodes: list[int]) -> bool:
    """Whether every node gets more than half of what the flow of its partner sends."""
    before = [network.sent(f"p{node}") for node in nodes]
    time.sleep(0.3)
    least = FLOW_MBIT * 1e6 / 8 * 0.3 / 2
    return all(network.sent(f"p{node}") - sent > least for node, sent in zip(nodes, before, strict=True))


def uplinks() -> list[int]:
    """Bytes that left each leaf through its uplink so far."""
    return [network.sent(f"up{leaf}") for leaf in range(ISLANDS * LEAVES)]


def odonata(*words: str) -> str:
    """Standard output of a command of Odonata. Raises RuntimeError if it fails."""
    done = subprocess.run([sys.executable, "-m", "odonata", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"odonata {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def until(done: Callable[[], bool], seconds: float, what: str) -> None:
    """Waits. Raises RuntimeError if it takes longer."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise RuntimeError(f"after {seconds:g} s it is not so that {what}:\n{run('squeue')}{run('sinfo')}")
        time.sleep(0.1)


if __name__ == "__main__":
    main(PLANS[sys.argv[1]], Path(sys.argv[2]))
