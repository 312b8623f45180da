"""A queue beside the measured job: other users' jobs on Marconi100 as Slurm's default leaves them after a while.

Jobs come and go on the nodes that the three measured allocations leave: whenever a job ends, others start until the
load is reached again, each on the nodes that the rule of Salimi Beni 2022, section 4.1, gives it (V18). So the nodes of
a job lie apart, as on a machine in production. Sizes and applications are assumed: the paper does not know them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from odonata import machine
from odonata.errors import InputError
from odonata.placement import Placer
from odonata.placement.splitmix import SplitMix64, stream_seed

SYSTEM = "marconi100"
NODES = 16
"""Nodes of the measured job (V3)."""
LOCALITIES: dict[str, dict[str, Any]] = {"same-group": {}, "same-island": {"groups": "1"}, "different-islands": {}}
"""The three allocations (V4) and their options. The three stay apart, and free in every queue."""
RULE = "slurm-zhang-text"
ENDS = 150
"""Jobs that end before the queue counts. Assumed: several times as many as run at once."""
SINGLE = 0.3
"""Share of jobs with one node. Assumed: the paper sees "many jobs that only allocate one node"."""
LARGEST = 128
"""Most nodes of another job; sizes are log-uniform from 2 on. Assumed."""

_COMPUTE = {"compute": "50 us", "jitter": "50 us"}
APPS: dict[str, list[dict[str, Any]]] = {
    "halo": [_COMPUTE, {"motif": "halo3d", "message": "1 MiB", "order": "all-at-once", "periodic": True}],
    "transpose": [_COMPUTE, {"collective": "alltoall", "message": "256 KiB"}],
    "ring": [_COMPUTE, {"collective": "allgather", "algorithm": "ring", "message": "1 MiB"}],
    "doubling": [_COMPUTE, {"collective": "allgather", "algorithm": "recursive-doubling", "message": "256 KiB"}],
}
"""What the other jobs do, each drawn as often. Assumed: codes that compute and then communicate, without end."""
SHIPPED = "shipped"
MIXES = {
    SHIPPED: "each application as often; `halo` sends to all neighbours at once",
    "in-order": "the same jobs; `halo` sends to one neighbour after the other",
    "no-halo": "jobs of `halo` are drawn again among the other three",
    "half-halo": "half of the jobs are `halo`, drawn again; it sends to all neighbours at once",
    "redrawn": "each as often, drawn again: only which job is which application differs",
}
"""Mix of the other jobs -> what it is. The first is that of every page; all are assumed. Nodes, sizes and starts of the
jobs of a queue are the same in every mix, so b is too."""
_SHARES = {"half-halo": ("halo", "halo", "halo", "transpose", "ring", "doubling"), "redrawn": tuple(APPS)}
LATEST_US = 600
"""Latest start of another job, so that jobs do not compute in step."""


@dataclass(frozen=True)
class Other:
    """A job of another user."""

    name: str
    nodes: tuple[int, ...]
    app: str
    start_us: int


@lru_cache
def allocations() -> dict[str, tuple[int, ...]]:
    """Locality -> the nodes of the measured job, in the order of its ranks."""
    placer = Placer(SYSTEM)
    return {name: tuple(placer.place(name, NODES, options).nodes) for name, options in LOCALITIES.items()}


@lru_cache
def others(draw: int, load: float) -> tuple[Other, ...]:
    """The other jobs, for the number of a draw and the share of the free nodes that are allocated."""
    random = SplitMix64(stream_seed(draw, "queue"))
    system = machine.load(SYSTEM)
    busy = {node for nodes in allocations().values() for node in nodes}
    reserved = len(busy)
    most = load * (system.shape.nodes - reserved)
    jobs: list[Other] = []
    count = 0
    for ended in range(ENDS + 1):
        if ended and jobs:
            busy.difference_update(jobs.pop(random.below(len(jobs))).nodes)
        placer = Placer(system, busy)
        while len(busy) - reserved < most:
            size = _size(random)
            try:
                nodes = placer.place(RULE, size).nodes
            except InputError:
                break  # the next job waits for more nodes than are free
            app = list(APPS)[random.below(len(APPS))]
            jobs.append(Other(f"job-{count}", tuple(nodes), app, random.below(LATEST_US)))
            busy.update(nodes)
            count += 1
    return tuple(jobs)


def mixed(draw: int, load: float, mix: str = SHIPPED) -> dict[str, str]:
    """Name of a job -> its application in a mix."""
    jobs = others(draw, load)
    if mix in (SHIPPED, "in-order"):
        return {job.name: job.app for job in jobs}
    random = SplitMix64(stream_seed(draw, f"mix {mix}"))
    rest = [app for app in APPS if app != "halo"]
    apps = {}
    for job in jobs:
        drawn = _SHARES.get(mix, rest)
        app = drawn[random.below(len(drawn))]
        apps[job.name] = job.app if mix == "no-halo" and job.app != "halo" else app
    return apps


def phases(app: str, mix: str = SHIPPED) -> list[dict[str, Any]]:
    """What an application does in a mix."""
    if mix == "in-order":
        return [{key: value for key, value in phase.items() if key != "order"} for phase in APPS[app]]
    return APPS[app]


def _size(random: SplitMix64) -> int:
    """Nodes of a job."""
    if random.below(1000) < 1000 * SINGLE:
        return 1
    # 2^(1 + 6 u): from 2 to 128.
    return min(LARGEST, round(2 ** (1 + 6 * random.below(1 << 20) / (1 << 20))))
