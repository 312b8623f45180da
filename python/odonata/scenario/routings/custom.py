"""A routing of one's own: a Python file, or a library with the same interface (`docs/own-routing.md`)."""

from abc import abstractmethod
from base64 import b64encode
from importlib.resources import files
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr

from odonata import reading
from odonata.document import input_error_as_problem
from odonata.errors import InputError, unknown
from odonata.machine import System, core
from odonata.routing.decorator import MOST_HOPS, MOST_STATE, checked_hops
from odonata.routing.program import Program, the_routing
from odonata.scenario.routings.routing import Routing

if TYPE_CHECKING:
    from collections.abc import Mapping


def _whole(value: Any, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise InputError(f"expected a whole number from {least} to {most:,}, found `{value!r}`")
    return value


def _hops(value: Any) -> int:
    return _whole(value, 1, MOST_HOPS)


def _state(value: Any) -> int:
    return _whole(value, 0, MOST_STATE)


def _numbers(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise InputError(f"expected a table of numbers, found `{value!r}`")
    for name, number in value.items():
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise InputError(f"expected a number, found `{number!r}`", path=(name,))
    return {name: float(number) for name, number in value.items()}


class OwnRouting(Routing):
    """A routing whose functions come from a file."""

    core: ClassVar[str] = "custom"
    _text: str | None = PrivateAttr(None)
    _file: str = PrivateAttr("")
    _program: Program | None = PrivateAttr(None)

    def holding(self, text: str, file: str) -> Self:
        """The same with the contents of its file."""
        copy = self.model_copy()
        copy._text, copy._file = text, file
        return copy

    def decided(self, system: System, compat: str | None) -> Self:
        """With the links of its paths on this machine."""
        if compat is not None:
            raise InputError(f"`{compat}` has no routing of one's own", path=("name",))
        extent = core.extent({"topology": system.topology, "failures": system.failures})
        return self.with_program(self.program_on(system, extent))

    def with_program(self, program: Program) -> Self:
        """The same with what it does on its machine."""
        decided = self.model_copy()
        decided._program = program
        return decided

    def channels_needed(self, system: System) -> int:  # noqa: ARG002
        """A channel for each link of a path. Only of the result of `decided`."""
        return self.program.hops

    @property
    def called(self) -> str:
        """Its file, or the name of one of the package."""
        return self._file if self.name == "custom" else self.name

    @abstractmethod
    def program_on(self, system: System, extent: "Mapping[str, int]") -> Program:
        """What it does on a machine. Raises InputError, whose path leads into the table."""

    def of_python(
        self,
        extent: "Mapping[str, int]",
        hops: int | None = None,
        function: str | None = None,
        parameters: "Mapping[str, float] | None" = None,
    ) -> Program:
        """The program of a Python file."""
        assert self._text is not None
        own = the_routing(self._text, self._file, function)
        given = parameters or {}
        for name in given:
            if name not in own.parameters:
                error = unknown("parameter", name, own.parameters)
                hint = error.hint if own.parameters else "the file has no parameters"
                raise InputError(error.message, hint=hint, path=("parameters", name))
        state = sum(prod(shape) for shape in own.shapes_on(extent).values())
        if state > MOST_STATE:
            raise InputError(f"each router would keep {state:,} numbers, at most {MOST_STATE:,} are possible")
        hops = hops or own.hops_on(extent)
        numbers = {**own.parameters, **given}
        return Program(self._file, self._text, False, hops, state, function, numbers, dict(extent), own.keys)

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return self.program.spec()

    @property
    def program(self) -> Program:
        """What it does on its machine. Only of the result of `decided`."""
        assert self._program is not None, "`decided` was called before"
        return self._program


class Custom(OwnRouting):
    """A function of one's own picks among the ports from which the destination can still be reached.

    The channel of a packet is the number of links that it has taken, so packets never wait for each other in a cycle,
    whatever the function picks. Source of the channels: Gunther 1981.

    Machines: dragonfly-plus, dragonfly, cascade, fat-tree, hyperx, graph.
    """

    name: Literal["custom"]
    python: str | None = Field(None, description="the Python file with the function, relative to the scenario")
    library: str | None = Field(
        None, description="instead of `python`: a library with the interface of `odonata_routing.h`"
    )
    function: str | None = Field(None, description="the routing of the Python file, if it has several")
    hops: Annotated[int, BeforeValidator(input_error_as_problem(_hops))] | None = Field(
        None,
        description="most links between routers of a path, which is the number of channels (default: what the file "
        "says; of a library, twice the longest shortest path)",
    )
    state: Annotated[int, BeforeValidator(input_error_as_problem(_state))] | None = Field(
        None, description="numbers that each router keeps for a `library` (default: 0); a Python file says its own"
    )
    parameters: Annotated[dict[str, Any], BeforeValidator(input_error_as_problem(_numbers))] | None = Field(
        None, description="numbers for the function, in the place of the defaults that the Python file gives"
    )

    def located(self, folder: Path) -> Self:
        """The same with the contents of its file. Raises InputError, whose path leads into the table."""
        if (self.python is None) == (self.library is None):
            which = "both" if self.python else "neither"
            raise InputError(f"a routing of one's own has a file, `python` or `library`: it has {which}")
        key, name = ("python", self.python) if self.python is not None else ("library", self.library)
        of_other = ("state",) if key == "python" else ("function", "parameters")
        for other in of_other:
            if getattr(self, other) is not None:
                raise InputError(f"`{other}` does not go with `{key}`", path=(other,))
        path = folder / str(name)
        if key == "python":
            text = reading.read_output(path)
        else:
            try:
                text = b64encode(reading.read_bytes(path, reading.OUTPUT_BYTES)).decode()
            except (OSError, ValueError) as e:
                raise InputError(f"cannot read it: {e}", file=path) from None
        return self.holding(text, path.name)

    def program_on(self, system: System, extent: "Mapping[str, int]") -> Program:  # noqa: ARG002
        """What it does on a machine."""
        if self.library is None:
            return self.of_python(extent, self.hops, self.function, self.parameters)
        assert self._text is not None
        hops = self.hops or checked_hops(max(2 * extent["diameter"], 1))
        return Program(self._file, self._text, True, hops, self.state or 0, None, {}, dict(extent))

    def with_program(self, program: Program) -> Self:
        """The same with what it does on its machine, and its number of links."""
        return super().with_program(program).model_copy(update={"hops": program.hops})


class QAdaptive(OwnRouting):
    """Each router learns the time to each group by each of its ports, and diverts packets where it is shorter.

    A packet takes at most five links, with a channel for each. For dragonflies with one link between two groups.
    Source: Kang 2021 (HPDC), and the authors' public simulator. The file is `odonata/routing/files/q_adaptive.py`.

    Machines: dragonfly.
    """

    kinds: ClassVar[tuple[str, ...]] = ("dragonfly",)
    name: Literal["q-adaptive"]
    parameters: Annotated[dict[str, Any], BeforeValidator(input_error_as_problem(_numbers))] | None = Field(
        None,
        description="learning rates `rate_down` (0.2) and `rate_up` (0.04), share of packets that `explore` (0.001), "
        "`threshold_source` (0.2) and `threshold_middle` (0.35): those of the authors for 1,056 nodes; first times "
        "from `latency_local` and `latency_global`, in picoseconds (those of the machine)",
    )

    def located(self, folder: Path) -> Self:  # noqa: ARG002
        """With the file of the package."""
        file = files("odonata.routing") / "files" / "q_adaptive.py"
        return self.holding(file.read_text(encoding="utf-8"), file.name)

    def program_on(self, system: System, extent: "Mapping[str, int]") -> Program:
        """With the latencies of the machine's links."""
        if system.failures:
            raise InputError("`q-adaptive` is for machines without failures", path=("name",))
        if system.links_per_pair != 1:
            message = f"`q-adaptive` is for one link between two groups; this machine has {system.links_per_pair}"
            raise InputError(message, path=("name",))
        links = system.fabric["links"]
        latencies = {f"latency_{name}": float(links[name]["latency_ps"]) for name in ("local", "global")}
        return self.of_python(extent, None, None, {**latencies, **(self.parameters or {})})
