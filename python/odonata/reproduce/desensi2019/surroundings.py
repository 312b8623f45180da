"""The machine around the measured jobs, and a steady background that loads the cables between its groups."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from odonata import machine, units

if TYPE_CHECKING:
    from odonata.machine import System

UNIFORM = "uniform-random"
ROUND_TRIPS = {"chassis": "60 ns", "group": "60 ns", "optical": "300 ns"}
"""Class of link -> its round trip, twice its latency: one unit of the delay of credits (assumed)."""


SENSINGS: dict[str, dict[str, Any]] = {
    "backlog": {"kind": "backlog"},
    "occupancy-late": {"kind": "occupancy", "delay": ROUND_TRIPS},
    "both-late": {"kind": "both", "delay": ROUND_TRIPS},
}
"""Model -> another congestion metric beside the default of Aries, `occupancy`: the own router alone, late credits, and
late credits of packets that count in both routers."""
WHOLE = "both-late"
"""The metric with which all sizes of figure 8 are simulated on as many nodes as in the paper."""


@dataclass(frozen=True)
class Around:
    """A machine, how late its routers learn of credits, and a background."""

    system: Any
    """`system` of the scenario."""
    nodes: int
    """Nodes of the background, drawn at random."""
    load: float
    """Background, in percent of what the cables between groups would carry if all of it took minimal paths."""
    message: str
    """Size of the background's messages."""
    pattern: str = UNIFORM
    delay: int = 0
    """Delay of credits beyond the latency of the link, in round trips of each link (D8)."""

    @property
    def machine(self) -> System:
        """The machine."""
        return _machine(json.dumps(self.system))

    @property
    def bytes_per_second(self) -> float:
        """What all nodes of the background send together, on average."""
        known = self.machine
        shape, links = known.shape, known.links_per_pair
        bandwidth = known.fabric["links"]["optical"]["bandwidth"] / 1e6
        leaving = (shape.groups - 1) / shape.groups if self.pattern == UNIFORM else 1
        carried: float = shape.groups * (shape.groups - 1) * links * bandwidth * self.load / 100
        return carried / leaving

    @property
    def interval_ps(self) -> int:
        """Mean time between two messages of a background node. The load must not be 0."""
        return round(units.size_bytes(self.message) * 1e12 * self.nodes / self.bytes_per_second)

    def steady(self, number: int, seed: int) -> list[dict[str, Any]]:
        """The background as one job, number `number` of the run, whose nodes send as a Poisson process; none without
        load."""
        if not self.load:
            return []
        app = {"pattern": self.pattern, "message": self.message, "arrival": "poisson"}
        app["interval"] = f"{self.interval_ps} ps"
        place = {"policy": "random", "seed": seed + number}
        return [{"name": "background", "nodes": self.nodes, "place": place, "background": True, "app": app}]

    def scenario(self, jobs: list[dict[str, Any]], seed: int) -> dict[str, Any]:
        """These jobs on the machine, with its default mode, `adaptive-0`, and the metric of it."""
        made: dict[str, Any] = {"system": self.system, "job": jobs, "run": {"seed": seed}}
        if self.delay:
            trips = {name: units.time_ps(trip) for name, trip in ROUND_TRIPS.items()}
            late = {name: f"{self.delay * trip} ps" for name, trip in trips.items()}
            made["sensing"] = {"kind": "occupancy", "delay": late}
        return made


@lru_cache(maxsize=16)
def _machine(system: str) -> System:
    return machine.load(json.loads(system))
