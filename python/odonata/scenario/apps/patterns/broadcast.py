"""Broadcast: the root repeatedly sends one message to every other rank (K17)."""

from typing import Any, Literal

from pydantic import Field

from odonata.errors import InputError
from odonata.scenario.apps.app import Ranks
from odonata.scenario.apps.patterns.pattern import SizedPattern


class Broadcast(SizedPattern):
    """At every interval the root sends one message to each other rank, after all its previous ones have arrived.

    Source: K17; a flat broadcast without a tree, as in its authors' code.
    """

    pattern: Literal["broadcast"]
    root: int = Field(0, description="rank that sends")

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:
        """The root, which is one of the ranks."""
        if not 0 <= self.root < ranks.count:
            message = f"root {self.root} is not one of the ranks 0 to {ranks.count - 1}"
            raise InputError(message, path=("root",))
        return {"root": self.root}
