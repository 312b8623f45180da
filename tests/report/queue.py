"""A queue of 56 jobs on Polaris, whose nodes have two NICs on two routers, as a run with who waits for whom."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import odonata as od

if TYPE_CHECKING:
    from pathlib import Path

SIZES = (32, 24, *[16] * 4, *[12] * 4, *[8] * 8, *[6] * 8, *[4] * 14, *[2] * 16)
USERS = ("ann", "bob", "eve", "kim")
APPS = ("alltoall", "halo3d", "allreduce", "other")
VICTIM = "4001"
NODES = 560

BOOK = """\
iterations = 1
messages = 20

[[rule]]
name = "alltoall"
comment = "app=alltoall"
app = { collective = "alltoall", message = "16 KiB" }
gap = "20 us"

[[rule]]
name = "halo"
comment = "app=halo3d"
app = { motif = "halo3d", message = "16 KiB" }
gap = "20 us"

[[rule]]
name = "sum"
comment = "app=allreduce"
app = { collective = "allreduce", message = "16 KiB" }
gap = "20 us"

[[rule]]
name = "other"
app = { pattern = "uniform-random", message = "16 KiB" }
load = "8 %"
"""


def queue_text() -> str:
    """What `squeue` prints: jobs in pieces of four nodes, all over the machine."""
    draw = random.Random(7)
    pieces = [list(range(at, at + 4)) for at in range(0, NODES, 4)]
    draw.shuffle(pieces)
    free = [node for piece in pieces for node in piece]
    rows = ["JOBID|PARTITION|NAME|USER|STATE|NODES|NODELIST|START_TIME|TIME|COMMENT|CLUSTER"]
    for number, size in enumerate(SIZES):
        taken, free = sorted(free[:size]), free[size:]
        app, user = APPS[number % 4], USERS[number % 3]
        when = f"2026-11-20T{8 + number % 4:02d}:00:00|{6 - number % 4}:31:30"
        hosts = ",".join(map(str, taken))
        rows.append(f"{4000 + number}|gpu|{app}-{number}|{user}|RUNNING|{size}|n[{hosts}]|{when}|app={app}|polaris")
    return "\n".join(rows) + "\n"


def queue_scenario(folder: Path) -> od.Scenario:
    """The scenario that `odonata cluster snapshot` makes of it."""
    (folder / "squeue.txt").write_text(queue_text())
    (folder / "book.toml").write_text(BOOK)
    names = "".join(f"node,{node},n{node}\n" for node in range(NODES))
    (folder / "names.csv").write_text("what,number,name\n" + names)
    workload = od.cluster.from_queue(
        "polaris",
        queue=folder / "squeue.txt",
        names=folder / "names.csv",
        book=folder / "book.toml",
        victim=VICTIM,
        folder=folder,
    )
    (folder / "now.toml").write_text(workload.toml())
    return od.load(folder / "now.toml")


def queue_run(folder: Path) -> od.Run:
    """Its run on slow links between groups, beside the victim alone."""
    slow = ("fabric.links.global.bandwidth", "1 GB/s")
    scenario = queue_scenario(folder)
    for key, value in (("measure.blame", True), ("measure.links.every", "5 us"), slow):
        scenario = scenario.set(key, value)
    return od.run(scenario, alone=True)
