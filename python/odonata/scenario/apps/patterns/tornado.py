"""Tornado: one message to the rank a fixed distance away (K16)."""

from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from odonata.document import Count
from odonata.errors import InputError
from odonata.scenario.apps.app import Ranks
from odonata.scenario.apps.patterns.pattern import LoadedPattern


class Tornado(LoadedPattern):
    """At every interval each rank sends one message to rank + offset, modulo the number of ranks.

    Source: K16; the offset is the number of nodes of a group.
    """

    pattern: Literal["tornado"]
    offset: Count | None = Field(None, description="distance in ranks (default: the number of nodes of a group)")

    def leaving(self, ranks: Ranks) -> Fraction:
        """The share of the ranks whose partner is in another group."""
        offset = self.offset or ranks.system.shape.nodes_per_group
        groups = [ranks.system.shape.group_of(node) for node in ranks.nodes]
        away = sum(group != groups[(rank + offset) % ranks.count] for rank, group in enumerate(groups))
        return Fraction(away, ranks.count)

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:
        """The offset."""
        offset = self.offset or ranks.system.shape.nodes_per_group
        if offset % ranks.count == 0:
            default = "" if self.offset else " (the nodes of a group)"
            raise InputError(
                f"an offset of {offset}{default} makes each of {ranks.count} ranks its own partner",
                hint=f"give an `offset` from 1 to {ranks.count - 1}",
                path=("offset",),
            )
        return {"offset": offset}
