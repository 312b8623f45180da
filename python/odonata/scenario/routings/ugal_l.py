"""UGAL-L: one decision at the first router, by its own queues."""

from typing import Any, ClassVar, Literal

from odonata.scenario.routings.ugal_base import UgalBase


class UgalL(UgalBase):
    """Minimal or non-minimal path, decided at the first router by its own queues.

    Source: Kim 2008, section 4 (UGAL-L).

    Machines: dragonfly, cascade.
    """

    core: ClassVar[str] = "ugal"
    name: Literal["ugal-l"]

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {"name": self.core, "knowledge": "local", **self.options()}
