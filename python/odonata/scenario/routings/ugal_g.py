"""UGAL-G: one decision at the first router, by the global links themselves."""

from typing import Any, ClassVar, Literal

from odonata.scenario.routings.two_ways import TwoWays


class UgalG(TwoWays):
    """Shortest way or way round, decided at the first router, which knows the queues at all global links of its group.

    No machine can do this; it is what UGAL-L is measured against. Source: Kim 2008, section 4 (UGAL-G).

    Machines: dragonfly, cascade.
    """

    core: ClassVar[str] = "ugal"
    name: Literal["ugal-g"]

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {"name": self.core, "knowledge": "global", **self.options()}
