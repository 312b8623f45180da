"""What collectives share: the names of their algorithms as the core lists them, and the base classes."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

from odonata import _core
from odonata.errors import InputError
from odonata.machine.host import HostTable
from odonata.scenario.apps.app import ComputingProgram
from odonata.scenario.apps.libraries import LIBRARIES, chosen
from odonata.scenario.apps.values import MessageSize


def _as_phrase(sentence: str) -> str:
    return sentence[:1].lower() + (sentence[1:] if sentence.endswith("...") else sentence[1:].removesuffix("."))


#: Collective -> algorithm -> what it does.
ALGORITHMS: dict[str, dict[str, str]] = {
    collective: {name: _as_phrase(about) for name, about in algorithms.items()}
    for collective, algorithms in _core.collectives().items()
}


def algorithm_of(collective: str, *others: str) -> Any:
    """The type of an algorithm of a collective: one of the names that the core knows, one of `others`, or a library
    that chooses one.
    """
    return Literal[(*ALGORITHMS[collective], *others, *LIBRARIES)]


class Collective(ComputingProgram):
    """A collective operation of MPI, by one of its algorithms, after computing."""

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
        if self.algorithm in LIBRARIES:
            return self.model_copy(update={"algorithm": chosen(self.algorithm, self.collective, ranks, self.size)})
        return self.model_copy(update={"algorithm": self.algorithm or self.usual(ranks)})

    @property
    def size(self) -> int:
        """`message` in bytes; 0 if there is none."""
        return 0

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """Computing, and the operation."""
        return [*self.computing(), *self.operation(ranks)]

    def operation(self, ranks: int) -> list[dict[str, Any]]:
        """The operation alone: a single phase."""
        return [{"what": {"name": self.collective, "algorithm": self.algorithm, **self.options(ranks)}}]

    def body_with(self, ranks: int, folder: Path, overhead: HostTable) -> dict[str, Any]:  # noqa: ARG002
        """Computing, and the operation, which may depend on the GPUs of a node."""
        body = self.operation_with(ranks, overhead)
        if body["name"] == "phases":
            return {**body, "phases": [*self.computing(), *body["phases"]]}
        if self.jitter:
            message = f"`{self.algorithm}` has no random times"
            raise InputError(message, hint="`compute` is the same in each iteration", path=("jitter",))
        for first, *_ in body["stages"]:
            first["what"]["ps"] += self.compute
        return body

    def operation_with(self, ranks: int, overhead: HostTable) -> dict[str, Any]:  # noqa: ARG002
        """The operation alone as a body, which may depend on the GPUs of a node.

        A body that is not of phases is of stages, whose first node is the call of the collective.
        """
        return {"name": "phases", "phases": self.operation(ranks)}


class SizedCollective(Collective):
    """A collective that moves data."""

    message: MessageSize

    @property
    def size(self) -> int:
        """`message` in bytes."""
        return self.message

    def options(self, ranks: int) -> dict[str, Any]:  # noqa: ARG002
        """The size."""
        return {"bytes": self.message}


def single_phase_problem(key: str, value: str) -> InputError:
    """The error for a phase whose algorithm or protocol is made of more than phases (path `key`)."""
    message = f"`{value}` depends on the nodes of a job, and is no single phase"
    return InputError(message, hint="name it in the app of a job", path=(key,))
