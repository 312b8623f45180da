"""The base class of collectives."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, get_args

from pydantic import Field

from odonata import _core
from odonata.errors import InputError
from odonata.scenario.apps.program import PhasedProgram
from odonata.scenario.apps.values import MessageSize


def _as_phrase(sentence: str) -> str:
    return sentence[:1].lower() + (sentence[1:] if sentence.endswith("...") else sentence[1:].removesuffix("."))


#: Collective -> algorithm -> what it does.
ALGORITHMS: dict[str, dict[str, str]] = {
    collective: {name: _as_phrase(about) for name, about in algorithms.items()}
    for collective, algorithms in _core.collectives().items()
}


def algorithm_of(collective: str) -> Any:
    """The type of an algorithm of a collective: one of the names that the core knows."""
    return Literal[tuple(ALGORITHMS[collective])]


class Collective(PhasedProgram):
    """A collective operation of MPI, by one of its algorithms."""

    #: Algorithm -> its description, as declared by the core.
    algorithms: ClassVar[Mapping[str, str]]
    #: The reason for the default algorithms.
    reason: ClassVar[str]

    collective: str
    algorithm: str | None

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """The core lists the algorithms."""
        super().__pydantic_init_subclass__(**kwargs)
        for name in get_args(cls.model_fields["collective"].annotation):
            cls.algorithms = ALGORITHMS[name]

    @abstractmethod
    def usual(self, ranks: int) -> str:
        """The default algorithm."""

    @abstractmethod
    def options(self, ranks: int) -> dict[str, Any]:
        """The core's options other than the algorithm. Raises InputError with a path into the app's table."""

    def decided(self, ranks: int) -> Self:
        """With its algorithm filled in."""
        return self.model_copy(update={"algorithm": self.algorithm or self.usual(ranks)})

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """A single phase."""
        return [{"what": {"name": self.collective, "algorithm": self.algorithm, **self.options(ranks)}}]


class SizedCollective(Collective):
    """A collective that moves data."""

    message: MessageSize

    def options(self, ranks: int) -> dict[str, Any]:  # noqa: ARG002
        """The size."""
        return {"bytes": self.message}


class RootedCollective(SizedCollective):
    """A collective in which one rank, the root, has a special role."""

    root: int = Field(0, description="the rank that has the data, or gets the result (default: 0)")

    def options(self, ranks: int) -> dict[str, Any]:
        """The size, and the root, which is one of the ranks."""
        return {"root": checked_root(self.root, ranks), **super().options(ranks)}


def checked_root(root: int, ranks: int) -> int:
    """The root, if it is one of the ranks; else InputError (path `root`)."""
    if not 0 <= root < ranks:
        raise InputError(f"root {root} is not one of the ranks 0 to {ranks - 1}", path=("root",))
    return root


def is_power_of_two(number: int) -> bool:
    """Whether it is 1, 2, 4, 8, ..."""
    return number & (number - 1) == 0
