"""Applications of jobs: the ranks that they depend on, and the base classes of patterns, programs and motifs."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import Field

from odonata.document import Count, Table
from odonata.errors import InputError
from odonata.machine import System
from odonata.machine.host import HostTable
from odonata.scenario.apps.bursts import BurstLength
from odonata.scenario.apps.mapping import Mapped
from odonata.scenario.apps.values import Duration, Iterations


@dataclass(frozen=True)
class Ranks:
    """The nodes of the ranks of a job: the facts that an application may depend on."""

    system: System
    nodes: list[int]
    """Node of each rank."""

    @property
    def count(self) -> int:
        """Number of ranks."""
        return len(self.nodes)

    def by_group(self) -> dict[int, int]:
        """Number of ranks in each group that has any, by ascending group."""
        counts: dict[int, int] = {}
        for node in self.nodes:
            group = self.system.shape.group_of(node)
            counts[group] = counts.get(group, 0) + 1
        return dict(sorted(counts.items()))


@dataclass(frozen=True)
class JobNodes:
    """What a program may depend on of its nodes before its ranks are mapped."""

    count: int
    nic: int
    """Bandwidth of a NIC, in millionths of a byte per second."""
    gpus_in_order: bool
    """Whether each GPU has one rank, and the ranks of a node are side by side."""


ON = "with `off`: a rank pauses when it has worked for so long, a time or a distribution (default: no pauses)"
OFF = "with `on`: how long each pause is, a time or a distribution"


class App(Table):
    """The application of a job: a traffic pattern (open loop) or a program (closed loop)."""


#: Keys of a program that may stand in `[[job]]` as well as in `app`.
JOB_KEYS = ("iterations", "ranks_per_node", "mapping", "gap", "every", "barrier", "on", "off")


class Program(App):
    """A program: operations that wait for each other, repeated (docs/model.md, section 10)."""

    iterations: Iterations | None = Field(
        None, description="number of iterations (default: 1; without end in the background)"
    )
    idle_ranks: ClassVar[bool] = False
    """Whether there may be more ranks than its file needs, which then have nothing to do."""

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
    on: BurstLength | None = Field(None, description=ON)
    off: BurstLength | None = Field(None, description=OFF)

    def own_ranks(self, folder: Path) -> int | None:  # noqa: ARG002
        """The number of ranks that it was made for; None for any number. Its files are relative to `folder`.

        Raises InputError, whose path leads into the app's table, or which names the file.
        """
        return None

    def beyond(self, ranks: int, folder: Path) -> InputError | None:  # noqa: ARG002
        """The error, with file and line, for what its file has beyond this number of ranks; None if it cannot say."""
        return None

    @property
    def for_each_gpu(self) -> str | None:
        """The algorithm because of which it needs a rank for each GPU, node by node; None without one."""
        return None

    def on_nodes(self, nodes: JobNodes, overhead: HostTable) -> Self:  # noqa: ARG002
        """The same with what depends on the nodes and the costs of the job filled in; before `decided`.

        Raises InputError, whose path leads into the app's table.
        """
        return self

    def decided(self, ranks: int) -> Self:  # noqa: ARG002
        """The same with every default filled in that depends on the number of ranks.

        Raises InputError, whose path leads into the app's table.
        """
        return self

    def notes(self, ranks: int) -> Iterator[str]:  # noqa: ARG002
        """Sentences about what its names do not say."""
        yield from ()

    @abstractmethod
    def body(self, ranks: int, folder: Path) -> dict[str, Any]:
        """One iteration as the core reads it, of what `decided` gave.

        Raises InputError, whose path leads into the app's table, or which names the file.
        """

    def body_with(self, ranks: int, folder: Path, overhead: HostTable) -> dict[str, Any]:  # noqa: ARG002
        """As `body`, for a program whose operations depend on the costs of the job as well."""
        return self.body(ranks, folder)

    def paid(self, overhead: HostTable) -> HostTable:
        """What its ranks pay, of what `decided` gave: the costs of the job, unless the program changes them."""
        return overhead


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


class ComputingProgram(PhasedProgram):
    """A program in which every rank computes first, then communicates."""

    compute: Duration = Field(
        0,
        description="computing at the start of each iteration (default: none, as in Zhang 2018 and the OSU benchmarks)",
    )
    jitter: Duration = Field(0, description="mean of an additional exponential computing time (default: none)")

    def computing(self) -> list[dict[str, Any]]:
        """The phase of computing; none if it takes no time."""
        if not self.compute and not self.jitter:
            return []
        return [computing(self.compute, self.jitter)]


class Motif(PhasedProgram):
    """What an application does in an iteration."""

    motif: str


class ComputingMotif(ComputingProgram, Motif):
    """A motif in which every rank computes first, then communicates."""


def computing(ps: int, jitter_ps: int) -> dict[str, Any]:
    """A phase in which every rank computes."""
    return {"what": {"name": "compute", "ps": ps, "jitter_ps": jitter_ps}}
