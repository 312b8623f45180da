"""What both experiments stand in: the machine, its sensor, and the background."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata import machine, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.machine import System

UNIFORM = "uniform-random"


def drawn(seed: int, number: int) -> dict[str, Any]:
    """`place` of job `number` of a run: at random, with the seed that the validation page was made with."""
    return {"policy": "random", "seed": seed + number}


@dataclass(frozen=True)
class Around:
    """A machine with a sensor, and a background that loads the cables between its groups."""

    system: str
    """`system` of the scenario (JSON)."""
    sensing: str
    """What routings sense."""
    round_trips: str
    """Class of link -> its round trip (JSON): one unit of the delay of what credits tell (assumed)."""
    delay: int
    """Delay of what credits tell, in round trips of each link; 0 switches phantom congestion off (D8)."""
    load: float
    """Background, in percent of what the cables between groups would carry if all of it went the shortest way."""
    pattern: str
    message: str
    """Size of the background's messages."""
    nodes: int
    """Nodes of the background, drawn at random."""
    packet: str = ""
    """Largest packet, if not the machine's."""

    @property
    def machine(self) -> System:
        """The machine."""
        return machine.load(json.loads(self.system))

    @property
    def interval_ps(self) -> int:
        """Mean time between two messages of a background node; one that has none would need the load 0."""
        known = self.machine
        shape, links = known.shape, known.links_per_pair
        bandwidth = known.fabric["links"]["optical"]["bandwidth"] / 1e6
        leaving = (shape.groups - 1) / shape.groups if self.pattern == UNIFORM else 1
        carried = shape.groups * (shape.groups - 1) * links * bandwidth * self.load / 100
        interval: float = units.size_bytes(self.message) * 1e12 * self.nodes * leaving / carried
        return round(interval)

    def scenario(self, jobs: Sequence[dict[str, Any]], seed: int) -> dict[str, Any]:
        """These jobs before the background, which has the machine's default, `adaptive-0`; times are left out."""
        sensing: dict[str, Any] = {"kind": self.sensing}
        if self.delay and self.sensing in ("credits", "both"):
            trips = {name: units.time_ps(trip) for name, trip in json.loads(self.round_trips).items()}
            sensing["delay"] = {name: f"{self.delay * trip} ps" for name, trip in trips.items()}
        table: dict[str, Any] = {
            "system": json.loads(self.system),
            "sensing": sensing,
            "job": [*jobs, *self._background(drawn(seed, len(jobs)))],
            "run": {"seed": seed},
        }
        if self.packet:
            table["fabric"] = {"packet": self.packet}
        return table

    def _background(self, place: dict[str, Any]) -> list[dict[str, Any]]:
        if not self.load:
            return []
        app = {"pattern": self.pattern, "message": self.message, "interval": f"{self.interval_ps} ps"}
        return [
            {
                "name": "background",
                "nodes": self.nodes,
                "place": place,
                "app": {**app, "arrival": "poisson"},
                "background": True,
            }
        ]
