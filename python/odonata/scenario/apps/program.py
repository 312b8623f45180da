"""The base class of programs: iterations, and the node of each rank."""

from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from odonata.document import Count
from odonata.scenario.apps.app import App
from odonata.scenario.apps.mapping import Mapped
from odonata.scenario.apps.values import Duration, Iterations

#: Keys of a program that may stand in `[[job]]` as well as in `app`.
JOB_KEYS = ("iterations", "ranks_per_node", "mapping", "gap", "every", "barrier", "on", "off")


class Program(App):
    """A program: operations that wait for each other, repeated (docs/model.md, section 10)."""

    iterations: Iterations | None = Field(
        None, description="number of iterations (default: 1; without end in the background)"
    )
    ranks_per_node: Count | None = Field(None, description="ranks on each node (default: 1)")
    mapping: Mapped | None = Field(None, description="the node of each rank (default: linear)")
    gap: Duration | None = Field(None, description="computing before each iteration except the first (default: 0 s)")
    every: Duration | None = Field(
        None, description="no rank begins iteration k before start + k x this; keeps ranks in step (default: 0 s)"
    )
    barrier: bool | None = Field(
        None,
        description="a barrier before each iteration, which its time leaves out, as in benchmarks (default: false)",
    )
    on: Duration | None = Field(
        None, description="with `off`: a rank pauses when its iterations have run for so long (default: no pauses)"
    )
    off: Duration | None = Field(None, description="with `on`: how long each pause is")

    def own_ranks(self, folder: Path) -> int | None:  # noqa: ARG002
        """The number of ranks that it was made for; None for any number. Its files are relative to `folder`.

        Raises InputError, whose path leads into the app's table, or which names the file.
        """
        return None

    def decided(self, ranks: int) -> Self:  # noqa: ARG002
        """The same with every default filled in that depends on the number of ranks.

        Raises InputError, whose path leads into the app's table.
        """
        return self

    @abstractmethod
    def body(self, ranks: int, folder: Path) -> dict[str, Any]:
        """One iteration as the core reads it, of what `decided` gave.

        Raises InputError, whose path leads into the app's table, or which names the file.
        """


class PhasedProgram(Program):
    """A program of phases that all ranks run one after the other."""

    @abstractmethod
    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """The phases of one iteration as the core reads them, of what `decided` gave.

        Raises InputError, whose path leads into the app's table.
        """

    def body(self, ranks: int, folder: Path) -> dict[str, Any]:  # noqa: ARG002
        """The phases."""
        return {"name": "phases", "phases": self.phases(ranks)}
