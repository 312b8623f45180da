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


def _size(random: SplitMix64) -> int:
    """Nodes of a job."""
    if random.below(1000) < 1000 * SINGLE:
        return 1
    # 2^(1 + 6 u): from 2 to 128.
    return min(LARGEST, round(2 ** (1 + 6 * random.below(1 << 20) / (1 << 20))))
