"""The base class of applications, and the facts that they may depend on."""

from dataclasses import dataclass

from odonata.document import Table
from odonata.machine import System


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


class App(Table):
    """The application of a job: a traffic pattern (open loop) or a program (closed loop)."""
