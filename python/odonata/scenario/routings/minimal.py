"""Minimal: shortest paths only."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from odonata.scenario.routings.routing import Routing


class Minimal(Routing):
    """Shortest paths only; which of several equal ports is `select`ed."""

    channels_needed: ClassVar[int] = 1

    name: Literal["minimal"]
    select: Literal["random", "least-loaded"] = Field("random", description="which of several equal ports is taken")

    def spec(self, compat: str | None) -> dict[str, Any]:  # noqa: ARG002
        """The routing as the core reads it."""
        return {"name": self.name, "select": self.select}
