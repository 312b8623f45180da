"""Uniform random: one message to a rank drawn uniformly (K14)."""

from fractions import Fraction
from typing import Any, Literal

from odonata.scenario.apps.app import Ranks
from odonata.scenario.apps.patterns.pattern import LoadedPattern


class UniformRandom(LoadedPattern):
    """At every interval each rank sends one message to a rank drawn uniformly.

    Source: K14; the own rank is replaced by the next, as in its authors' code.
    """

    pattern: Literal["uniform-random"]

    def leaving(self, ranks: Ranks) -> Fraction:
        """The share of the other ranks that are in another group."""
        inside = sum(count * (count - 1) for count in ranks.by_group().values())
        pairs = ranks.count * (ranks.count - 1)
        return Fraction(pairs - inside, pairs) if pairs else Fraction(0)

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:  # noqa: ARG002
        """Nothing beyond the name."""
        return {}
