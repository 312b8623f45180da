"""A case: a setup under one policy, with one seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.reproduce.zhang2018.comm_outcome import FORMAT, CommOutcome, comm_outcome
from odonata.reproduce.zhang2018.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.reproduce.zhang2018.setup import Setup
    from odonata.scenario import Resolved


@dataclass(frozen=True)
class CommCase:
    """One simulation."""

    setup: Setup
    model: str
    """The policy."""
    seed: int
    """Of mapping, routing and policies that draw."""

    @property
    def name(self) -> str:
        """Setup and seed."""
        return f"{self.setup.name}/seed={self.seed}"

    @property
    def messages(self) -> int:
        """Messages of a rank to each partner: iterations."""
        return max(one.iterations for one in self.setup.classes)

    @property
    def format(self) -> str:
        """Version of what is kept of its run."""
        return FORMAT

    def measure(self, result: Mapping[str, Any], resolved: Resolved) -> CommOutcome:
        """The numbers of a run."""
        return comm_outcome(result, resolved, self.setup)

    def kept(self, numbers: Mapping[str, Any]) -> CommOutcome:
        """What was kept of a run."""
        return CommOutcome(**numbers)

    def scenario(self) -> CommCase:
        """Itself: its specification is made without a scenario, thousands of times in minutes."""
        return self

    def resolve(self) -> Resolved:
        """The run."""
        return prepare(self.setup, self.model, self.seed)
