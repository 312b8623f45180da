"""Phases: what the user puts together of collectives, motifs and computing."""

from collections.abc import Iterator, Mapping
from math import prod
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, SerializeAsAny, model_serializer

from odonata.document import Table, input_error_as_problem, validate
from odonata.errors import InputError, nearest
from odonata.scenario.apps.app import JOB_KEYS, Motif, PhasedProgram, Program, computing
from odonata.scenario.apps.grid import by
from odonata.scenario.apps.listed import named
from odonata.scenario.apps.values import Duration

#: Most phases that a scenario may list.
MAX_PHASES = 10_000
#: What a phase may be.
PHASE_KEYS = ("collective", "motif", "compute")


class Compute(Table):
    """Every rank computes."""

    compute: Duration = Field(description="for so long")
    jitter: Duration = Field(0, description="mean of an additional exponential time")


def _grid(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not value or not all(type(n) is int and 1 <= n < 2**31 for n in value):
        raise InputError(f"expected numbers of ranks along each axis, such as [8, 4], found `{value!r}`")
    return tuple(value)


class Along(Table):
    """The ranks that differ in one coordinate only of a grid, x fastest, do a phase together."""

    grid: Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_grid))] = Field(
        description="extents, whose product is the number of ranks"
    )
    axis: int = Field(description="the coordinate that differs, from 0")

    def communicator(self, ranks: int) -> int:
        """Ranks of each communicator. Raises InputError (path into this table)."""
        if prod(self.grid) != ranks:
            message = f"a grid of {by(self.grid)} has {prod(self.grid):,} points for {ranks:,} ranks"
            raise InputError(message, path=("grid",))
        if not 0 <= self.axis < len(self.grid):
            message = f"{self.axis} is not an axis of {by(self.grid)}"
            raise InputError(message, hint=f"axes are 0 to {len(self.grid) - 1}", path=("axis",))
        return self.grid[self.axis]


class Phase(Table):
    """One phase, and who does it together."""

    what: SerializeAsAny[Table]
    along: Along | None

    @model_serializer
    def _as_given(self) -> dict[str, Any]:
        """In the form of a scenario."""
        leave_out = set(JOB_KEYS) if isinstance(self.what, Program) else None
        table = self.what.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=leave_out)
        return table if self.along is None else {**table, "along": self.along.model_dump(mode="json")}

    def decided(self, ranks: int) -> "Phase":
        """With what depends on the number of ranks. Raises InputError (path into the phase's table)."""
        count = self._count(ranks)
        if isinstance(self.what, Program):
            return self.model_copy(update={"what": self.what.decided(count)})
        return self

    def notes(self, ranks: int) -> Iterator[str]:
        """Sentences about what its names do not say."""
        if isinstance(self.what, Program):
            yield from self.what.notes(self._count(ranks))

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """The same as the core reads it. Raises InputError (path into the phase's table)."""
        if isinstance(self.what, Compute):
            return [computing(self.what.compute, self.what.jitter)]
        assert isinstance(self.what, PhasedProgram)
        inner = self.what.phases(self._count(ranks))
        if self.along is None:
            return inner
        if any("along" in phase for phase in inner):
            message = "its phases use axes of their own grid, so it cannot be along an axis of another grid"
            raise InputError(message, path=("along",))
        return [{"along": {"grid": list(self.along.grid), "axis": self.along.axis}, **phase} for phase in inner]

    def _count(self, ranks: int) -> int:
        if self.along is None:
            return ranks
        try:
            return self.along.communicator(ranks)
        except InputError as e:
            raise e.under("along") from None


def _phase(value: Any) -> Phase:
    if isinstance(value, Phase):
        return value
    if not isinstance(value, Mapping):
        raise InputError(f"expected a phase: a table with `collective`, `motif` or `compute`, found `{value!r}`")
    inner = {key: v for key, v in value.items() if key != "along"}
    given = [key for key in PHASE_KEYS if key in inner]
    if "collective" in inner or "motif" in inner:
        for key in JOB_KEYS:
            if key in inner:
                raise InputError(f"`{key}` belongs to the job, not to a phase", path=(key,))
    if not given:
        near = next((f"did you mean `{n}`?" for key in inner if (n := nearest(str(key), PHASE_KEYS))), None)
        raise InputError("missing key: `collective`, `motif` or `compute`", hint=near)
    if len(given) > 1 and given[1:] != ["compute"]:
        raise InputError(f"`{given[0]}` and `{given[1]}` exclude each other in a phase", path=(given[1],))
    along = None
    if "along" in value:
        try:
            along = validate(Along, value["along"])
        except InputError as e:
            raise e.under("along") from None
        if given[0] == "compute":
            raise InputError("each rank computes alone, so `along` does not apply", path=("along",))
    return Phase.model_construct(what=_what(inner, given[0]), along=along)


def _what(inner: Mapping[str, Any], key: str) -> Table:
    if key == "compute":
        return validate(Compute, inner)
    return validate(named(key, inner[key], ("collective", "motif")), inner)


def _phases(value: Any) -> tuple[Phase, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise InputError(f"expected a list of phases, found `{value!r}`")
    if len(value) > MAX_PHASES:
        raise InputError(f"{len(value):,} phases are more than {MAX_PHASES:,}")
    phases = []
    for number, phase in enumerate(value):
        try:
            phases.append(_phase(phase))
        except InputError as e:
            raise e.under(number) from None
    return tuple(phases)


class Phases(Motif):
    """Phases one after the other, as the scenario lists them.

    A phase is a collective, a motif or computing: `{ collective = "allreduce", message = "1 MB" }`, `{ compute = "10
    us" }`, `{ motif = "halo3d", message = "1 KB" }`. With `along = { grid = [8, 4], axis = 0 }` it is done by the ranks
    along an axis of a grid (x fastest) together. No rank waits for the others between phases.
    """

    motif: Literal["phases"]
    phases_: Annotated[tuple[Phase, ...], BeforeValidator(input_error_as_problem(_phases))] = Field(
        alias="phases", description="the phases"
    )

    def decided(self, ranks: int) -> Self:
        """With every phase decided."""
        return self.model_copy(update={"phases_": tuple(self._each(lambda phase: phase.decided(ranks)))})

    def phases(self, ranks: int) -> list[dict[str, Any]]:
        """All phases."""
        return [phase_table for phases in self._each(lambda phase: phase.phases(ranks)) for phase_table in phases]

    def notes(self, ranks: int) -> Iterator[str]:
        """Those of its phases, each once."""
        programs = [phase for phase in self.phases_ if isinstance(phase.what, Program)]
        yield from dict.fromkeys(note for phase in programs for note in phase.notes(ranks))

    def _each(self, ask: Any) -> list[Any]:
        phases = []
        for number, phase in enumerate(self.phases_):
            try:
                phases.append(ask(phase))
            except InputError as e:
                raise e.under("phases", number) from None
        return phases
