"""PAR: decides like UGAL-L, and again at the other routers of the source group."""

from typing import Any, ClassVar, Literal

from odonata.scenario.routings.ugal_base import UgalBase


class Par(UgalBase):
    """Like ugal-l, but a packet on a minimal path decides again at each other router of its source group.

    Source: Jiang 2009 (progressive adaptive routing).

    Machines: dragonfly, cascade.
    """

    core: ClassVar[str] = "par"
    name: Literal["par"]

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {"name": self.core, **self.options()}
