"""Traces: the operations of each rank, from a file."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from odonata import compressed, foreign, reading
from odonata.core_options import TRACE_FORMATS, choice
from odonata.errors import InputError, nearest
from odonata.machine import core
from odonata.scenario.apps.app import Program

#: Ending of a file -> form of the trace in it.
FORMS = {f".{name}": name for name in TRACE_FORMATS}

_FORMS = choice({name: of["about"] for name, of in TRACE_FORMATS.items()})

if TYPE_CHECKING:
    Form = str
else:
    Form = Literal[tuple(TRACE_FORMATS)]

#: Most bytes of a trace; the core can read no more (docs/traces.md).
MOST_BYTES = (1 << 32) - 1


#: How Chakra execution traces are named (MLCommons Chakra, ASTRA-sim).
_CHAKRA = (".et", ".eg", ".chakra")
_CHAKRA_HINT = 'write app = {{ chakra = "{file}" }}, or a folder or a template such as "name.*.et"'


class Trace(Program):
    """The operations of each rank, from a file: a schedule in the GOAL format, as text or binary, or a table (CSV).

    `docs/traces.md` has the formats. The trace is one iteration. It brings its number of ranks; without `nodes` the job
    gets as many nodes as they fill. The contents of the file go into the run folder. Source of GOAL: Hoefler, Siebert
    and Lumsdaine 2009; Hoefler, Schneider and Lumsdaine 2010 (LogGOPSim).
    """

    trace: str = Field(description="the file, relative to the scenario")
    format: Form | None = Field(
        None,
        description=f"its format: {_FORMS} (default: the ending of the file)",
    )
    nic: Literal["keep", "ignore"] = Field(
        "keep", description="whether the NICs that the file names are kept, modulo those of a node (default: keep)"
    )

    def own_ranks(self, folder: Path) -> int:
        """The number of ranks of the trace."""
        return int(self._read(folder)["ranks"])

    def body(self, ranks: int, folder: Path) -> dict[str, Any]:  # noqa: ARG002
        """The trace in the core's own form."""
        return {"name": "trace", "goal": self._read(folder)["goal"]}

    def _read(self, folder: Path) -> dict[str, Any]:
        """Raises InputError with the file and the line."""
        path = folder / self.trace
        bare = compressed.bare(path)
        form = self.format or FORMS.get(bare.suffix.lower())
        if form is None and bare.suffix.lower() in _CHAKRA:
            message = f"`{self.trace}` is named as a Chakra trace, which has a key of its own"
            raise InputError(message, hint=_CHAKRA_HINT.format(file=self.trace), path=("trace",))
        if form is None:
            near = nearest(bare.suffix, FORMS)
            meant = f"{bare.with_suffix(near).name}{path.name[len(bare.name) :]}" if near else None
            hint = f"did you mean `{meant}`? Or" if near else "rename the file, or"
            message = f"`{self.trace}`: expected a file name that ends in {' or '.join(FORMS)}"
            error = InputError(message, hint=f'{hint} set format = "goal"', path=("trace",))
            raise foreign.explained(error, path, "trace")
        try:
            data = reading.read_bytes(path, MOST_BYTES, pipes=False)
        except (OSError, ValueError) as e:
            raise InputError(f"cannot read the trace `{path}`: {reading.why(e)}", path=("trace",)) from None
        if TRACE_FORMATS[form]["text"] or compressed.is_named(path):  # the first bytes of a binary trace are a number
            data = compressed.unpacked(path, data, MOST_BYTES)
        try:
            return _parsed(data, form, self.nic == "keep")
        except InputError as e:
            raise foreign.explained(e.at(path, e.line), path, "trace") from None


@lru_cache(maxsize=8)
def _parsed(data: bytes, form: str, keep_nics: bool) -> dict[str, Any]:
    return core.read_trace(data, form, keep_nics=keep_nics)
