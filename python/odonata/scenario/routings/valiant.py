"""Valiant: by way of a random spine or leaf of a random other group."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from odonata.scenario.routings.routing import Routing


class Valiant(Routing):
    """Every packet between groups goes round by a random third group."""

    channels_needed: ClassVar[int] = 2

    name: Literal["valiant"]
    via: Literal["spine", "leaf"] = Field(
        "spine", description="where in the other group a packet turns to its destination"
    )
    select: Literal["random", "least-loaded"] = Field("random", description="which of several equal ports is taken")

    def spec(self, compat: str | None) -> dict[str, Any]:  # noqa: ARG002
        """The routing as the core reads it."""
        return {"name": self.name, "via": self.via, "select": self.select}
