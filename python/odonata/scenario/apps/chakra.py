"""Chakra execution traces as applications: what each rank computes and communicates, as MLCommons Chakra has it."""

import json
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from odonata import compressed, foreign, reading
from odonata.document import Bandwidth, input_error_as_problem, validate
from odonata.errors import InputError
from odonata.machine import core
from odonata.machine.host import NO_COSTS, HostTable
from odonata.scenario.apps.app import Program, computing
from odonata.scenario.apps.chakra_files import rank_files
from odonata.scenario.apps.grid import by
from odonata.scenario.apps.learning_options import AlgorithmTable, FlopRate
from odonata.scenario.apps.listed import COLLECTIVES
from odonata.scenario.apps.trace import MOST_BYTES


def _dimensions(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not value or not all(type(n) is int and 1 <= n < 2**31 for n in value):
        raise InputError(f"expected the number of ranks along each dimension, such as [8, 4], found `{value!r}`")
    return tuple(value)


class Chakra(Program):
    """The operations of each rank, from Chakra execution traces: one file for each rank, or one that all follow.

    `docs/chakra.md` says what becomes of each kind of node. Nodes of collectives are run by the algorithms of
    collectives, over the ranks of their process group. Files for each rank bring the number of ranks; without `nodes`
    the job gets as many nodes as they fill. Source: Sridharan et al. 2023 (Chakra); the schema of MLCommons Chakra.
    """

    chakra: str = Field(
        description="a folder, a template such as `trace.*.et` whose `*` is the rank, or one file for all ranks; "
        "relative to the scenario"
    )
    peak: FlopRate | None = Field(
        None,
        description='floating-point operations per second of a GPU, such as "312 Tflop/s", for nodes with `num_ops` '
        "and no time (default: such nodes are refused)",
    )
    memory: Bandwidth | None = Field(
        None,
        description="bandwidth of the memory of a GPU, for nodes with `tensor_size` and no time (default: such nodes "
        "are refused)",
    )
    algorithm: AlgorithmTable | None = Field(
        None,
        description='how each collective is done, such as { allreduce = "ring" } (default: as the collectives '
        "themselves)",
    )
    groups: str | None = Field(
        None,
        description="a file (JSON) with the ranks of each process group, as ASTRA-sim has it; relative to the scenario "
        "(default: those that the traces describe)",
    )
    dimensions: Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_dimensions))] | None = Field(
        None,
        description="number of ranks along each dimension of `involved_dim`, the fastest first (default: collectives "
        "that do not involve all dimensions are refused)",
    )

    def files(self, folder: Path) -> tuple[list[Path], bool]:
        """The files in the order of their ranks, and whether there is one for each rank.

        Raises InputError (path into the app's table).
        """
        return rank_files(folder / self.chakra)

    def own_ranks(self, folder: Path) -> int | None:
        """The number of files; None if one file is for all ranks."""
        files, each = self.files(folder)
        return len(files) if each else None

    def body(self, ranks: int, folder: Path) -> dict[str, Any]:
        """The trace in the core's own form; calls and reductions take no time."""
        return self.body_with(ranks, folder, validate(HostTable, NO_COSTS))

    def body_with(self, ranks: int, folder: Path, overhead: HostTable) -> dict[str, Any]:
        """The same with the costs of calls of collectives and of reductions."""
        if self.dimensions is not None and prod(self.dimensions) != ranks:
            message = (
                f"dimensions of {by(self.dimensions)} are {prod(self.dimensions):,} ranks, but the job has {ranks:,}"
            )
            raise InputError(message, path=("dimensions",))
        paths, _ = self.files(folder)
        options: dict[str, Any] = {"groups": self._groups(folder, ranks), "dimensions": list(self.dimensions or ())}
        options |= {key: value for key in ("peak", "memory") if (value := getattr(self, key)) is not None}
        costs = overhead.costs()
        data = tuple(_content(path) for path in paths)
        try:
            goal, collectives = _read(
                data,
                ranks,
                json.dumps(options),
                tuple(sorted((self.algorithm or {}).items())),
                costs["costs"].get("combine"),
                tuple((of["bytes"], of["combine"]) for of in costs.get("combine_by_size", ())),
                overhead.call,
            )
        except core.TraceFileError as e:
            if e.file is None:
                raise e.error from None
            raise foreign.explained(e.error.at(paths[e.file]), paths[e.file], "chakra") from None
        for name in self.algorithm or ():
            if name not in collectives:
                hint = "they run " + ", ".join(f"`{name}`" for name in sorted(collectives)) if collectives else None
                raise InputError(f"the traces never run `{name}`", hint=hint, path=("algorithm", name))
        return {"name": "trace", "goal": goal}

    def _groups(self, folder: Path, ranks: int) -> dict[str, list[int]]:
        if self.groups is None:
            return {}
        path = folder / self.groups
        try:
            text = reading.read_text(path)
        except (OSError, ValueError) as e:
            raise InputError(f"cannot read the process groups `{path}`: {reading.why(e)}", path=("groups",)) from None
        try:
            groups = reading.parse_json(text)
        except ValueError as e:
            raise InputError(f"no JSON: {e}", file=path) from None
        if not isinstance(groups, dict):
            raise InputError('expected groups with lists of ranks, such as {"0": [0, 1]}', file=path)
        for name, members in groups.items():
            if not isinstance(members, list) or not members or not all(type(m) is int and m >= 0 for m in members):
                raise InputError(f"group `{name}`: expected a list of ranks, found `{members!r:.60}`", file=path)
            if max(members) >= ranks:
                message = f"group `{name}`: there is no rank {max(members)}; there are {ranks:,} ranks, from 0"
                raise InputError(message, file=path)
        return groups


def _content(path: Path) -> bytes:
    try:
        data = reading.read_bytes(path, MOST_BYTES, pipes=False)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read the trace `{path}`: {reading.why(e)}", path=("chakra",)) from None
    return compressed.unpacked(path, data, MOST_BYTES)


@lru_cache(maxsize=4)
def _read(
    data: tuple[bytes, ...],
    ranks: int,
    options: str,
    algorithms: tuple[tuple[str, str], ...],
    combine: int | None,
    by_size: tuple[tuple[int, int], ...],
    call: int,
) -> tuple[str, frozenset[str]]:
    """The trace in the core's own form, and its collectives. It is read once however often the scenario needs it."""
    chosen = dict(algorithms)
    collectives = set()

    def phases(name: str, count: int, size: int, root: int) -> str:
        collectives.add(name)
        values: dict[str, Any] = {"collective": name, "algorithm": chosen.get(name), "message": size, "root": root}
        kind = COLLECTIVES[name]
        known = {key: value for key, value in values.items() if key in kind.model_fields}
        calls = [computing(call, 0)] if call else []
        return json.dumps(calls + kind.model_construct(**known).decided(count).phases(count))

    goal = str(core.read_chakra(data, ranks, options, phases, combine, by_size)["goal"])
    return goal, frozenset(collectives)
