"""A case: one simulation of a study, and the scenario it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tomlkit

from odonata import scenario
from odonata.reproduce.outcome import FORMAT, Outcome, outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.scenario import Resolved, Scenario

FULLEST_PAIR = 130
"""Percentage of the load that 2 background nodes per leaf offer at most; more comes from more nodes (K13)."""


@dataclass(frozen=True)
class Background:
    """The job beside the target: load of the links between its groups in percent (K10), and its interval."""

    percent: int = 0
    interval: str = ""

    def __str__(self) -> str:
        return f"{self.percent}%@{_short(self.interval)}" if self.percent else ""

    @property
    def per_leaf(self) -> int:
        """Background nodes per leaf: 2, and in proportion beyond 130 % (8 at 520 %; catalogue, decision 4)."""
        return 2 if self.percent <= FULLEST_PAIR else 2 * self.percent // FULLEST_PAIR

    def job(self) -> dict[str, Any]:
        """The job as in a scenario."""
        return {
            "name": "background",
            "place": {"policy": "per-leaf", "groups": "0-2", "per_leaf": self.per_leaf},
            "app": {"pattern": "group-peers", "tgll": f"{self.percent} %", "interval": self.interval},
            "background": True,
        }


@dataclass(frozen=True)
class Case:
    """One simulation: a target job under a model, perhaps beside a background, and what is changed for it."""

    model: str
    pattern: str
    place: str
    interval: str
    background: Background
    messages: int
    seed: int
    settings: tuple[tuple[str, str], ...]
    """What the model, then the case itself, changes in the scenario: key and value (JSON), in order."""
    label: str
    """What the case itself changes, for its name; "" if nothing."""
    app: str
    """The target's app but for interval and messages (JSON)."""
    nodes: str
    """The target's placement (JSON)."""
    ranks: int
    """Processes of the target, one a node."""
    system: str
    windows: str = ""
    """Width of the windows in which traffic between groups is counted; "" for none."""

    @property
    def name(self) -> str:
        """What `expected.csv` calls it: pattern/place/interval, background and label where there are any."""
        parts = (self.pattern, self.place, _short(self.interval), str(self.background), self.label)
        return "/".join(part for part in parts if part)

    @property
    def format(self) -> int:
        """Version of what is kept of its run."""
        return FORMAT

    def measure(self, result: Mapping[str, Any], resolved: Resolved) -> Outcome:
        """The numbers of a run. Raises ValueError if the target delivered nothing."""
        return outcome(result, resolved)

    def kept(self, numbers: Mapping[str, Any]) -> Outcome:
        """What was kept of a run."""
        return Outcome(**numbers)

    def scenario(self) -> Scenario:
        """The scenario, with the target first."""
        target = {
            "name": "target",
            "nodes": self.ranks,
            "place": json.loads(self.nodes),
            "app": {**json.loads(self.app), "interval": self.interval, "messages": self.messages},
        }
        jobs = [target, self.background.job()] if self.background.percent else [target]
        table: dict[str, Any] = {
            "system": self.system,
            "job": jobs,
            "run": {"seed": self.seed},
            "measure": {"latency": "histogram"},
        }
        if self.windows:
            table["measure"]["links"] = {"every": self.windows}
        made = scenario.parse(tomlkit.dumps(table), f"{self.name}.toml")
        for key, value in self.settings:
            made = made.set(key, json.loads(value))
        return made


def _short(quantity: str) -> str:
    return quantity.replace(" ", "")
