"""A case: one routing under one traffic at one offered load."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import tomlkit

from odonata import scenario, units
from odonata.reproduce.latency_load.load_outcome import FORMAT, LoadOutcome, load_outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.scenario import Resolved, Scenario


@dataclass(frozen=True)
class LoadCase:
    """One simulation: every node sends messages at exponential intervals, without end."""

    model: str
    """The routing."""
    traffic: str
    percent: float
    """Offered load, of what a node can inject."""
    nodes: int
    machine: str
    """`system` of the scenario (JSON)."""
    routing: str
    """`routing` of the scenario (JSON)."""
    app: str
    """Pattern and size of the messages (JSON)."""
    warm_up: str
    horizon: str
    """When the run ends; what happens from the warm-up on counts."""
    seed: int
    buffer: str = ""
    """Input buffers of all links in place of the machine's, for each channel."""

    @property
    def name(self) -> str:
        """Traffic and load, and buffers that are not the machine's."""
        return f"{self.traffic}/{self.percent:g}%" + (f"/{self.buffer}" if self.buffer else "")

    @property
    def interval_ps(self) -> int:
        """Mean time between two messages of a node at this load."""
        bandwidth = units.bandwidth_micro(json.loads(self.machine)["fabric"]["links"]["node"]["bandwidth"])
        size = units.size_bytes(json.loads(self.app)["message"])
        return round(Fraction(size * 10**18 * 100, bandwidth) / Fraction(str(self.percent)))

    @property
    def messages(self) -> int:
        """Messages that a node issues on average."""
        return units.time_ps(self.horizon) // self.interval_ps

    @property
    def format(self) -> str:
        """Version of what is kept of its run."""
        return FORMAT

    def measure(self, result: Mapping[str, Any], resolved: Resolved) -> LoadOutcome:
        """The numbers of a run. Raises ValueError if nothing was delivered after the warm-up."""
        return load_outcome(result, resolved)

    def kept(self, numbers: Mapping[str, Any]) -> LoadOutcome:
        """What was kept of a run."""
        return LoadOutcome(**numbers)

    def scenario(self) -> Scenario:
        """The scenario."""
        app = {**json.loads(self.app), "interval": f"{self.interval_ps} ps", "arrival": "poisson"}
        table: dict[str, Any] = {
            "system": json.loads(self.machine),
            "routing": json.loads(self.routing),
            "job": [{"name": "all", "nodes": self.nodes, "app": app, "record": "every-message"}],
            "run": {"until": self.horizon, "seed": self.seed},
            "measure": {"warm_up": self.warm_up},
        }
        if self.buffer:
            links = table["system"]["fabric"]["links"]
            table["fabric"] = {"links": {name: {"buffer": self.buffer} for name in links}}
        return scenario.parse(tomlkit.dumps(table), f"{self.name}.toml")
