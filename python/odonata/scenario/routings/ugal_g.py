"""UGAL-G: one decision at the first router, by the queues at the global links."""

from typing import Any, ClassVar, Literal

from odonata.scenario.routings.ugal_base import UgalBase


class UgalG(UgalBase):
    """Minimal or non-minimal path, decided at the first router by the queues at all global links of its group.

    No real machine can do this. It is the ideal that UGAL-L is compared with. Source: Kim 2008, section 4 (UGAL-G).

    Machines: dragonfly, cascade.
    """

    core: ClassVar[str] = "ugal"
    name: Literal["ugal-g"]

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {"name": self.core, "knowledge": "global", **self.options()}
