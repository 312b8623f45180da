"""Barrier: no rank continues before all ranks have entered it."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from odonata.scenario.apps.collectives.collective import Collective, algorithm_of


class Barrier(Collective):
    """No rank continues before all ranks have entered it (MPI_Barrier). Messages have the size of control messages.

    Sources: Hensgen, Finkel and Manber 1988 (dissemination); `binary` as Zhang 2018 ran it.
    """

    reason: ClassVar[str] = "`dissemination`: as MPICH"

    collective: Literal["barrier"]
    algorithm: algorithm_of("barrier") | None = Field(  # type: ignore[valid-type]
        None, description="how (default: dissemination, as MPICH)"
    )

    def usual(self, ranks: int) -> str:  # noqa: ARG002
        """The algorithm with the fewest steps."""
        return "dissemination"

    def options(self, ranks: int) -> dict[str, Any]:  # noqa: ARG002
        """There are none."""
        return {}
