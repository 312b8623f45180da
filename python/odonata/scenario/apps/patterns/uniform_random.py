"""Uniform random: one message to a rank drawn uniformly (K14)."""

from typing import Any, Literal

from odonata.scenario.apps.app import Ranks
from odonata.scenario.apps.patterns.pattern import SizedPattern


class UniformRandom(SizedPattern):
    """At every interval each rank sends one message to a rank drawn uniformly.

    Source: K14; the own rank is replaced by the next, as in its authors' code.
    """

    pattern: Literal["uniform-random"]

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:  # noqa: ARG002
        """Nothing beyond the name."""
        return {}
