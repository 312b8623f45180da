"""The jobs of a production machine as a background: halos, all-to-alls, writers, and bursts (De Sensi 2019, section 5).

The paper measured beside the other jobs of its machines and says nothing of them. Kinds, sizes, shares of the bytes and
lengths of bursts are assumed. All jobs together send as many bytes as a steady background of the same load, as far
as their iterations keep up with their intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odonata import units
from odonata.placement.splitmix import SplitMix64
from odonata.scenario.apps.grid import dims_create

if TYPE_CHECKING:
    from collections.abc import Callable

COPIES = 4
"""Jobs of each kind."""
ON, OFF = "100 us", "300 us"
"""Mean lengths of a burst (exponential) and of a pause (Pareto)."""
SHAPE = 1.5
"""Exponent of the tail of the pauses: their variance is infinite."""


@dataclass(frozen=True)
class Kind:
    """Jobs of one kind. `sent` is what an iteration of a job of so many ranks sends, in messages."""

    name: str
    words: str
    share: float
    app: dict[str, Any]
    sent: Callable[[int], int]
    bursts: dict[str, Any] = field(default_factory=dict)

    @property
    def pausing(self) -> float:
        """How often as much it sends within a burst as on average."""
        return 1.0 if not self.bursts else (units.time_ps(ON) + units.time_ps(OFF)) / units.time_ps(ON)


def halo_messages(ranks: int) -> int:
    """Messages of an iteration of halo3d on the grid of MPI_Dims_create: two for each pair of neighbours."""
    return sum(2 * ranks // extent * (extent - 1) for extent in dims_create(ranks, 3))


_BURSTS = {
    "on": {"mean": ON, "distribution": "exponential"},
    "off": {"mean": OFF, "distribution": "pareto", "shape": SHAPE},
}
KINDS = (
    Kind("halo", "halo3d of 64 KiB", 0.4, {"motif": "halo3d", "message": "64 KiB"}, halo_messages),
    Kind(
        "transpose",
        "all-to-alls of 4 KiB",
        0.3,
        {"collective": "alltoall", "message": "4 KiB"},
        lambda ranks: ranks * (ranks - 1),
    ),
    Kind(
        "bursts",
        f"256 KiB to random ranks in bursts of {ON} with pauses of {OFF} on average",
        0.28,
        {"pattern": "uniform-random", "message": "256 KiB", "arrival": "poisson"},
        lambda ranks: ranks,
        _BURSTS,
    ),
    Kind(
        "writers",
        "incasts of 16 KiB to one node in such bursts",
        0.02,
        {"motif": "incast", "message": "16 KiB"},
        lambda ranks: ranks - 1,
        _BURSTS,
    ),
)


def production(nodes: int, bytes_per_second: float, seed: int) -> list[dict[str, Any]]:
    """The jobs, which take the nodes that are left in their order. Each begins at a time drawn from its interval."""
    ranks = nodes // (COPIES * len(KINDS))
    stream, jobs = SplitMix64(seed), []
    for number in range(COPIES):
        for kind in KINDS:
            bytes_each = kind.sent(ranks) * units.size_bytes(kind.app["message"])
            rate = bytes_per_second * kind.share / COPIES * kind.pausing
            interval = round(bytes_each * 1e12 / rate)
            job = {
                "name": f"{kind.name}-{number}",
                "nodes": ranks,
                "place": "slurm-dragonfly",
                "background": True,
                **kind.bursts,
            }
            if "pattern" in kind.app:
                job["app"] = {**kind.app, "interval": f"{interval} ps"}
            else:
                job |= {"app": kind.app, "every": f"{interval} ps", "start": f"{stream.below(interval)} ps"}
            jobs.append(job)
    return jobs
