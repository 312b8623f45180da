"""A case of the second experiment (D22): pairs of nodes that send large messages one after another, in one mode."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tomlkit

from odonata import scenario, units
from odonata.reproduce.aries_modes.pair_outcome import FORMAT, PairOutcome, pair_outcome
from odonata.reproduce.aries_modes.pairs import draw_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.reproduce.aries_modes.around import Around
    from odonata.reproduce.aries_modes.pairs import Where
    from odonata.scenario import Resolved, Scenario


@dataclass(frozen=True)
class PairCase:
    """One simulation: a pair from each group at a time, all in the same mode.

    Beside each pair a probe on the same two routers sends single packets both ways: what the NIC counters of Aries
    measure as latency. The same seed means the same pairs, and the same background.
    """

    around: Around
    model: str
    """The mode of the pairs and their probes."""
    where: Where
    seed: int
    message: str
    repeats: int
    """Messages of each pair; the first one is not measured."""
    probe_interval: str
    """Mean time between two packets of a probe in each direction; exponential."""
    routing: str = "{}"
    """Options of the mode (JSON)."""
    gateways: str = ""
    """Cables that count as shortest ways, if not the default; all jobs must agree."""
    pieces: int = 1
    """Parts of a message, each sent when the one before has arrived."""
    variant: str = ""
    """What is not as in the main runs."""

    @property
    def name(self) -> str:
        """Where, load, seed, variant."""
        parts = (self.where, f"{self.around.load:g}%", f"seed{self.seed}", self.variant)
        return "/".join(part for part in parts if part)

    @property
    def messages(self) -> int:
        """Messages of each pair that count."""
        return self.repeats - 1

    @property
    def format(self) -> str:
        """Version of what is kept of its run."""
        return FORMAT

    def measure(self, result: Mapping[str, Any], resolved: Resolved) -> PairOutcome:
        """The numbers of a run. Raises ValueError if a pair or a probe delivered nothing."""
        return pair_outcome(result, resolved, self.around.machine.shape.groups, self.pieces)

    def kept(self, numbers: Mapping[str, Any]) -> PairOutcome:
        """What was kept of a run."""
        return PairOutcome(**numbers)

    def scenario(self) -> Scenario:
        """The scenario: all pairs, then all probes, then the background."""
        shape = self.around.machine.shape
        gateways = {"gateways": self.gateways} if self.gateways else {}
        routing = {"name": self.model, **json.loads(self.routing), **gateways}
        pairs = draw_pairs(shape, self.where, self.seed)
        each = units.size_bytes(self.message) // self.pieces
        ping: dict[str, Any] = {"pattern": "broadcast", "message": f"{each} B", "interval": "1 ps", "jitter": "0 ps"}
        ping |= {"first": "at-zero", "messages": self.repeats * self.pieces}
        packet = self.around.machine.fabric["packet_bytes"]
        size = self.around.packet or f"{packet} B"
        probe: dict[str, Any] = {"pattern": "tornado", "offset": 1, "message": size, "interval": self.probe_interval}
        probe |= {"arrival": "poisson"}
        jobs = [
            {
                "name": f"{kind}{number}",
                "place": {"policy": "explicit", "nodes": [shape.nodes_on(router)[index] for router in pair]},
                "app": app,
                "routing": routing,
                "record": "every-message",
                "background": kind == "probe",
            }
            for index, (kind, app) in enumerate((("pair", ping), ("probe", probe)))
            for number, pair in enumerate(pairs)
        ]
        table = {**self.around.scenario(jobs, self.seed), "routing": {"name": "adaptive-0", **gateways}}
        table["run"]["until"] = [f"pair{number}" for number in range(len(pairs))]
        return scenario.parse(tomlkit.dumps(table), f"{self.name}.toml")
