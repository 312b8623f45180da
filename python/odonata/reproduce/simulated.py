"""What a case of any study must have so that the pool can run it and keep what it gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.scenario import Resolved


class Measured(Protocol):
    """What is kept of a case's run: a few numbers, small enough to keep them all."""

    def as_json(self) -> dict[str, Any]:
        """As kept on disk."""
        ...


class Resolvable(Protocol):
    """A scenario, or what makes a run without one."""

    def resolve(self) -> Resolved:
        """Everything decided. Raises InputError."""
        ...


M_co = TypeVar("M_co", bound=Measured, covariant=True)


class Simulated(Protocol[M_co]):
    """One simulation of a study. Hashable: it is looked up by itself."""

    @property
    def model(self) -> str:
        """What it is a case of: a column of the study's tables."""
        ...

    @property
    def name(self) -> str:
        """What it is called within its model."""
        ...

    @property
    def messages(self) -> int:
        """Messages per process."""
        ...

    @property
    def format(self) -> int | str:
        """Version of what is kept; another one is simulated anew."""
        ...

    def scenario(self) -> Resolvable:
        """What is simulated, with the job that is measured first."""
        ...

    def measure(self, result: Mapping[str, Any], resolved: Resolved) -> M_co:
        """The numbers of a run. Raises ValueError if it has none."""
        ...

    def kept(self, numbers: Mapping[str, Any]) -> M_co:
        """What `as_json` wrote. Raises TypeError or KeyError for anything else."""
        ...
