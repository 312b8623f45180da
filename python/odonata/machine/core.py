"""The interface to the Rust core: machines, checks of specifications, simulations, paths and traces."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from odonata.errors import InputError, OdonataError, RunError, shortened
from odonata.messages import Path, error_of


def _core() -> Any:
    try:
        from odonata import _core
    except ImportError as e:
        raise RunError(f"the simulator core is not installed ({e}); build it with `make`") from None
    return _core


def version() -> str:
    """Version of the core, part of the identity of every run."""
    return str(_core().__version__)


def fingerprint() -> str:
    """A hash of the sources of the core."""
    return str(_core().__fingerprint__)


def as_error(problem: Any, keys: Path = (), names: "Naming | None" = None) -> OdonataError:
    """The error that users see for a `_core.CoreError`; `keys` lead to the value in the caller's input.

    `names` are those of the machine, if it has any.
    """
    parameters = problem.parameters if names is None else names.beside(problem.parameters)
    return error_of(problem.code, problem.path, parameters, keys=keys, place=problem.place)


class Naming(NamedTuple):
    """Naming of the routers and nodes of a machine, by their numbers; empty if they have none."""

    routers: Sequence[str] = ()
    nodes: Sequence[str] = ()

    def beside(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of an error, with the names of routers and nodes beside their numbers."""
        shown = dict(parameters)
        for key, names in (("router", self.routers), ("routers", self.routers), ("node", self.nodes)):
            value = shown.get(key)
            if isinstance(value, list) and names:
                shown[key] = [_named(number, names) for number in value]
            elif type(value) is int and names and key != "routers":
                shown[key] = _named(value, names)
        return shown


def _named(number: int, names: Sequence[str]) -> str:
    return f"{number} (`{shortened(names[number], 60)}`)" if 0 <= number < len(names) else str(number)


def burst_lengths(job: Mapping[str, Any], seed: int, count: int) -> list[tuple[int, int]]:
    """Lengths of the first bursts of a job of a specification and of the pauses after them, in picoseconds."""
    return list(_core().burst_lengths(json.dumps(job["bursts"]), seed, job["nodes"][0], count))


@lru_cache(maxsize=2)
def _wired(topology_json: str, failures_json: str | None) -> Any:
    """The machine handle (`_core.Machine`), wired once for all its uses. Raises `_core.CoreError`.

    The last two are kept, because the names of failed links are looked up on the whole machine.
    """
    # The core fills NumPy arrays. Without this import it imports NumPy itself, and Ctrl-C during that is a panic.
    import numpy  # noqa: F401

    return _core().Machine(topology_json, failures_json)


def machine_of(spec: Mapping[str, Any]) -> Any:
    """The `_core.Machine` of a specification. Raises `_core.CoreError` if it cannot be built."""
    failures = spec.get("failures")
    return _wired(json.dumps(spec["topology"]), json.dumps(failures) if failures else None)


def describe(
    topology: Mapping[str, Any], failures: Mapping[str, Any] | None = None, names: Naming | None = None
) -> dict[str, Any]:
    """Describes a wired machine (see `_core.pyi`); failed ports are marked.

    Raises InputError (path in the table of the machine) if it cannot be built, or if failures disconnect it.
    """
    try:
        return dict(machine_of({"topology": dict(topology), "failures": dict(failures or {})}).describe())
    except _core().CoreError as e:
        raise as_error(e, ("failed",) if e.path[:1] == ("failures",) else e.path[1:], names) from None


def extent(spec: Mapping[str, Any]) -> dict[str, int]:
    """The sizes of a machine (see `_core.pyi`). Raises InputError if it cannot be built."""
    try:
        return dict(machine_of(spec).extent())
    except _core().CoreError as e:
        raise as_error(e) from None


def _for_core(spec: Mapping[str, Any]) -> str:
    """A specification as the core reads it; the functions of its routings are made known to the core."""
    kept = spec.get("own_routings")
    if kept is None:
        return json.dumps(spec)
    from odonata.routing.program import make_known

    make_known(kept, _core().add_routing)
    return json.dumps({key: value for key, value in spec.items() if key != "own_routings"})


def run(
    spec: Mapping[str, Any], progress: Callable[[Mapping[str, Any]], object] | None = None, threads: int = 1
) -> dict[str, Any]:
    """Simulates a specification on up to `threads` threads (see `_core.pyi`). Raises `_core.CoreError`."""
    return dict(machine_of(spec).run(_for_core(spec), progress, threads))


def routes(spec: Mapping[str, Any], source: int, destination: int, limit: int) -> dict[str, Any]:
    """The paths that a packet may take from node to node, hop by hop (see `_core.pyi`), at most `limit` of them.

    Raises InputError if the core refuses the specification.
    """
    try:
        return dict(machine_of(spec).routes(_for_core(spec), source, destination, limit))
    except _core().CoreError as e:
        raise as_error(e) from None


def refused(spec: Mapping[str, Any]) -> Any | None:
    """The `_core.CoreError` with which the core refuses a specification; None if it would simulate it."""
    try:
        machine_of(spec).check(_for_core(spec))
    except _core().CoreError as e:
        return e
    return None


def wire_and_check(spec_json: str) -> None:
    """Checks a specification on a new machine. Raises `_core.CoreError`."""
    _core().check(spec_json)


def read_trace(data: bytes, form: str, *, keep_nics: bool = True) -> dict[str, Any]:
    """A trace in one of the `trace_formats`: `ranks`, `operations` and `goal`, its text in the core's own form.

    Raises InputError with the line; of a binary trace, with the rank and the operation, or the byte.
    """
    core = _core()
    try:
        return dict(core.read_trace(data, form, keep_nics))
    except core.CoreError as e:
        raise as_error(e) from None


class TraceFileError(Exception):
    """An error in one of the files of a Chakra trace: the InputError, and the number of the file; None for no file."""

    def __init__(self, error: InputError, file: int | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.file = file


def read_chakra(
    files: Sequence[bytes],
    ranks: int,
    options: str,
    phases: Callable[[str, int, int, int], str],
    combine: int | None = None,
    combine_by_size: Sequence[tuple[int, int]] = (),
) -> dict[str, Any]:
    """Chakra execution traces (see `_core.pyi`): `ranks`, `operations` and `goal`, as `read_trace`.

    Raises TraceFileError with the number of the file, and the node or the byte.
    """
    core = _core()
    try:
        return dict(core.read_chakra(list(files), ranks, options, phases, combine, list(combine_by_size)))
    except core.CoreError as e:
        error = as_error(e)
        assert isinstance(error, InputError)
        raise TraceFileError(error, e.path[1] if e.path[:1] == ("files",) else None) from None


def write_chakra(body: Mapping[str, Any], ranks: int, program: Mapping[str, Any] | None = None) -> list[bytes]:
    """As `write_trace`, as Chakra execution traces: one file for each rank."""
    core = _core()
    try:
        return list(core.write_chakra(json.dumps(dict(body)), ranks, *_combining(program)))
    except core.CoreError as e:
        raise as_error(e) from None


def _combining(program: Mapping[str, Any] | None) -> tuple[int | None, list[tuple[int, int]]]:
    """The costs of reductions of a program, as the core takes them."""
    combine = (program or {}).get("costs", {}).get("combine")
    return combine, [(of["bytes"], of["combine"]) for of in (program or {}).get("combine_by_size", ())]


def traffic(body: Mapping[str, Any], ranks: int) -> Any:
    """What ranks send to each other in an iteration of a program: an array of four rows, a column for each pair.

    The rows are sources, targets, bytes and messages; the pairs of different ranks ascend. Raises InputError for a
    program that is wrong.
    """
    import numpy as np

    core = _core()
    try:
        return np.array(core.traffic(json.dumps(dict(body)), ranks))
    except core.CoreError as e:
        raise as_error(e) from None


def write_trace(body: Mapping[str, Any], ranks: int, form: str, program: Mapping[str, Any] | None = None) -> bytes:
    """One iteration of a program (the body of a specification) as a trace in one of the `trace_formats`.

    `program` has the costs of reductions, as the specification has them; without it they take no time.

    Raises InputError for a program that a trace cannot express.
    """
    core = _core()
    try:
        return bytes(core.write_trace(json.dumps(dict(body)), ranks, form, *_combining(program)))
    except core.CoreError as e:
        raise as_error(e) from None
