"""The node of each rank of a job: mappings, and the files that give one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny

from odonata import reading
from odonata.document import Seed, Table, input_error_as_problem, validate
from odonata.errors import InputError, unknown
from odonata.machine import core
from odonata.machine.shape import Shape
from odonata.placement.splitmix import SplitMix64, stream_seed


def read_mapping(path: Path, placed: list[int], ranks: int, per_node: int, *, ids: bool) -> list[int]:
    """Node of each rank from a text file: one number a rank, separated by blanks or line ends; `#` begins a comment.

    The numbers are positions in `placed`, from 0, or (`ids`) nodes of it; none may have more than `per_node` ranks.
    Raises InputError with file and line.
    """
    nodes: list[int] = []
    count: dict[int, int] = {}
    known = set(placed)
    for line, text in enumerate(reading.lines(_text(path)), 1):
        for word in text.partition("#")[0].replace(",", " ").split():
            node = _node(word, placed, known, ids, path, line)
            count[node] = count.get(node, 0) + 1
            if count[node] > per_node:
                message = f"rank {len(nodes)} would be the {_nth(count[node])} on node {node}, with {per_node} a node"
                raise InputError(message, file=path, line=line, hint="`ranks_per_node` is the limit")
            nodes.append(node)
    if len(nodes) != ranks:
        raise InputError(f"the file places {len(nodes):,} ranks, the job has {ranks:,}", file=path)
    return nodes


def _node(word: str, placed: list[int], known: set[int], ids: bool, path: Path, line: int) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 12):
        what = "the id of a node" if ids else "a position in the list of nodes"
        raise InputError(f"expected {what}, found `{word}`", file=path, line=line)
    number = int(word)
    if ids:
        if number not in known:
            raise InputError(f"node {number} is not one of the job's nodes", file=path, line=line)
        return number
    if number >= len(placed):
        hint = f"positions run from 0 to {len(placed) - 1}"
        hint += '; if these are ids of nodes: mapping = { file = "...", holds = "node-ids" }'
        raise InputError(f"the job has no node number {number}", file=path, line=line, hint=hint)
    return placed[number]


def _text(path: Path) -> str:
    try:
        return reading.read_text(path)
    except (OSError, ValueError) as e:
        why = reading.why(e)
        raise InputError(f"cannot read the mapping `{path}`: {why}", path=("mapping",)) from None


def _nth(number: int) -> str:
    return {2: "2nd", 3: "3rd"}.get(number, f"{number}th")


#: Mapping -> what it does.
MAPPINGS: dict[str, str] = {
    "linear": "rank r is on node r // ranks_per_node of the placement",
    "round-robin": "rank r is on node r mod nodes of the placement",
    "random-nodes": "linear on the nodes in random order, so ranks 2i and 2i+1 stay together (Zhang 2018)",
    "random-ranks": "a linear mapping in random order",
    "communication": "ranks that exchange much are on nodes that are close to each other (METIS)",
    "file": "a file lists the node of each rank",
}
#: Other names of mappings: what Zhang 2018 calls random.
ALIASES = {"random": "random-nodes"}


@dataclass(frozen=True)
class Known:
    """What a mapping may depend on besides the places."""

    body: Mapping[str, Any]
    """An iteration of the program, as the core reads it."""
    shape: Shape
    """Where nodes sit."""


class MappingTable(Table):
    """A mapping and its options."""

    name: Literal["linear", "round-robin", "random-nodes", "random-ranks", "communication", "file"] = Field(
        description="which one"
    )
    seed: Seed | None = Field(None, description="seed of a random mapping (default: from the run's seed and the job)")
    file: str | None = Field(None, description="file with a node for each rank")
    holds: Literal["positions", "node-ids"] | None = Field(
        None, description="what the file lists: positions in the job's list of nodes (default) or ids of nodes"
    )

    def decided(self, run_seed: int, job: int) -> "MappingTable":
        """With its seed filled in; `job` is the job's number."""
        if self.name.startswith("random") and self.seed is None:
            return self.model_copy(update={"seed": stream_seed(run_seed, "mapping", job)})
        return self

    def nodes(self, placed: list[int], ranks: int, per_node: int, folder: Path, known: "Known") -> list[int]:
        """Node of each rank, of what `decided` gave. `placed` are the job's nodes in the order of the placement.

        Raises InputError (with file and line) for a file that does not fit, or if a library is not installed.
        """
        if self.name == "file":
            return read_mapping(folder / str(self.file), placed, ranks, per_node, ids=self.holds == "node-ids")
        if self.name == "round-robin":
            return [placed[rank % len(placed)] for rank in range(ranks)]
        if self.name == "random-nodes":
            placed = SplitMix64(self.seed or 0).shuffled(placed)
        places = [placed[rank // per_node] for rank in range(ranks)]
        if self.name == "communication":
            from odonata.scenario.apps.communication import map_by_communication

            return map_by_communication(core.traffic(known.body, ranks), places, known.shape)
        return SplitMix64(self.seed or 0).shuffled(places) if self.name == "random-ranks" else places


def _read(value: Any) -> MappingTable:
    if isinstance(value, MappingTable):
        return value
    if isinstance(value, str):
        is_file = value not in MAPPINGS and any(mark in value for mark in "./")
        value = {"name": "file", "file": value} if is_file else {"name": value}
    elif not isinstance(value, Mapping):
        raise InputError(f"expected a mapping, a file or a table, found `{value!r}`")
    elif "name" not in value and "file" in value:
        value = {"name": "file", **value}
    name = value.get("name")
    if isinstance(name, str):
        name = ALIASES.get(name, name)
        if name not in MAPPINGS:
            raise unknown("mapping", name, [*MAPPINGS, *ALIASES])
        value = {**value, "name": name}
    table = validate(MappingTable, value)
    for key, belongs in (
        ("seed", table.name.startswith("random")),
        ("file", table.name == "file"),
        ("holds", table.name == "file"),
    ):
        if getattr(table, key) is not None and not belongs:
            raise InputError(f"the mapping `{table.name}` does not use `{key}`", path=(key,))
    if table.name == "file" and table.file is None:
        raise InputError("missing key `file`", hint="the file with a node for each rank")
    return table


#: A mapping as a scenario gives it: its name, a file, or a table.
Mapped = Annotated[SerializeAsAny[MappingTable], BeforeValidator(input_error_as_problem(_read))]
