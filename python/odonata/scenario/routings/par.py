"""PAR: decides like UGAL-L, and again at the further routers of the source group."""

from typing import Any, Literal

from odonata.scenario.routings.two_ways import TwoWays


class Par(TwoWays):
    """As ugal-l, and a packet on a shortest way decides again at each further router of its group.

    Source: Jiang 2009 (progressive adaptive routing).

    Machines: dragonfly, cascade.
    """

    name: Literal["par"]

    def stages(self) -> int:
        """One more than a way round, for it may begin at the second router."""
        return 5 if self.via == "router" else 4

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {"name": "par", **self.options()}
