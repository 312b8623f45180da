"""What is kept of a run: communication times of each class of jobs, and how packets and stalls spread over links."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from odonata.reproduce.zhang2018.setup import Setup
    from odonata.scenario import Resolved

FORMAT = "zhang2018 1"
"""Version of what is kept; another one is simulated anew."""

KINDS = ("local", "global")
COUNTS = ("packets", "stalled_ps")


@dataclass(frozen=True)
class CommOutcome:
    """Communication times in picoseconds, per iteration, mean over the jobs of a class (L18).

    All jobs start at 0, so a time is the moment at which a rank finished.
    """

    times: dict[str, float]
    """Class -> until the last rank of a job has finished."""
    coded: dict[str, float]
    """Class -> until the rank of the highest number has, as the authors' code takes it."""
    links: dict[str, list[float]]
    """`local packets` and so on -> least, quartiles and largest over the output ports to such links (L19)."""
    minimal: float
    """Fraction of the packets that went a shortest way."""

    def as_json(self) -> dict[str, Any]:
        """As kept on disk."""
        return asdict(self)


def comm_outcome(result: Mapping[str, Any], resolved: Resolved, setup: Setup) -> CommOutcome:
    """The numbers of a run."""
    ranks = result["ranks"]
    finish, job = np.asarray(ranks["finish_ps"], dtype=np.float64), np.asarray(ranks["job"])
    # Rows are in the order of job and rank.
    firsts = np.flatnonzero(np.diff(job, prepend=-1))
    last = np.maximum.reduceat(finish, firsts)
    highest = finish[np.append(firsts[1:], len(finish)) - 1]
    times, coded, at = {}, {}, 0
    for one in setup.classes:
        mine = slice(at, at + one.count)
        times[one.name] = float(last[mine].mean()) / one.iterations
        coded[one.name] = float(highest[mine].mean()) / one.iterations
        at += one.count
    minimal, packets = (sum(told[key] for told in result["jobs"]) for key in ("minimal", "packets"))
    return CommOutcome(times, coded, _links(result, resolved), minimal / packets if packets else 1.0)


def _links(result: Mapping[str, Any], resolved: Resolved) -> dict[str, list[float]]:
    wired = resolved.system.describe()
    names = wired["classes"]
    channels = resolved.spec["fabric"]["channels"]
    router_ports = wired["slot_peer_router"] >= 0
    slots = len(router_ports)
    found = {}
    for count in COUNTS:
        by_slot = np.asarray(result["links"][count])[: slots * channels].reshape(slots, channels).sum(axis=1)
        for kind in KINDS:
            ports: NDArray[np.uint64] = by_slot[router_ports & (wired["slot_class"] == names.index(kind))]
            found[f"{kind} {count}"] = [float(value) for value in np.percentile(ports, (0, 25, 50, 75, 100))]
    return found
