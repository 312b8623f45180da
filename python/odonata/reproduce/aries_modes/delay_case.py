"""A case of the first experiment (D8): a job beside a background, with one delay of what credits tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tomlkit

from odonata import scenario, units
from odonata.reproduce.aries_modes.around import drawn
from odonata.reproduce.aries_modes.delay_outcome import FORMAT, DelayOutcome, delay_outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.reproduce.aries_modes.around import Around
    from odonata.scenario import Resolved, Scenario


@dataclass(frozen=True)
class DelayCase:
    """One simulation. The same seed means the same nodes, and the same messages at the same times."""

    around: Around
    seed: int
    ranks: int
    """Nodes of the job that is measured, drawn at random."""
    message: str
    """Size of its messages."""
    interval: str
    """Mean time between two messages of a node; exponential."""
    warm_up: str
    window: str
    """The messages issued in this time after the warm-up count."""
    rest: str
    """How long the run goes on after them, so that they arrive."""
    variant: str = ""
    """What is not as in the main runs."""

    @property
    def model(self) -> str:
        """The mode."""
        return "adaptive-0"

    @property
    def name(self) -> str:
        """Load, delay, seed, variant."""
        parts = ("delay", f"{self.around.load:g}%", f"x{self.around.delay}", f"seed{self.seed}", self.variant)
        return "/".join(part for part in parts if part)

    @property
    def messages(self) -> int:
        """Messages that count of each node, on average."""
        return units.time_ps(self.window) // units.time_ps(self.interval)

    @property
    def format(self) -> str:
        """Version of what is kept of its run."""
        return FORMAT

    def measure(self, result: Mapping[str, Any], resolved: Resolved) -> DelayOutcome:
        """The numbers of a run. Raises ValueError if a message that counts did not arrive."""
        return delay_outcome(result, resolved)

    def kept(self, numbers: Mapping[str, Any]) -> DelayOutcome:
        """What was kept of a run."""
        return DelayOutcome(**numbers)

    def scenario(self) -> Scenario:
        """The scenario."""
        app = {"pattern": "uniform-random", "message": self.message, "interval": self.interval, "arrival": "poisson"}
        place = drawn(self.seed, 0)
        job = {"name": "target", "nodes": self.ranks, "place": place, "app": app, "record": "every-message"}
        table = {**self.around.scenario([job], self.seed), "routing": self.model}
        table["run"]["until"] = f"{sum(map(units.time_ps, (self.warm_up, self.window, self.rest)))} ps"
        table["measure"] = {"warm_up": self.warm_up, "window": self.window}
        return scenario.parse(tomlkit.dumps(table), f"{self.name}.toml")
