"""The node of each rank of a job (L5)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny

from odonata.document import Seed, Table, input_error_as_problem, validate
from odonata.errors import InputError, unknown
from odonata.placement.splitmix import SplitMix64, stream_seed
from odonata.scenario.apps.mapping_file import read_mapping

#: Mapping -> what it does.
MAPPINGS: dict[str, str] = {
    "linear": "rank r is on node r // ranks_per_node of the placement",
    "round-robin": "rank r is on node r mod nodes of the placement",
    "random-nodes": "linear on the nodes in random order, so ranks 2i and 2i+1 stay together (Zhang 2018; L5)",
    "random-ranks": "a linear mapping in random order",
    "file": "a file lists the node of each rank",
}
#: Other names of mappings: what Zhang 2018 calls random.
ALIASES = {"random": "random-nodes"}


class MappingTable(Table):
    """A mapping and its options."""

    name: Literal["linear", "round-robin", "random-nodes", "random-ranks", "file"] = Field(description="which one")
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

    def nodes(self, placed: list[int], ranks: int, per_node: int, folder: Path) -> list[int]:
        """Node of each rank, of what `decided` gave. `placed` are the job's nodes in the order of the placement.

        Raises InputError (with file and line) for a file that does not fit.
        """
        if self.name == "file":
            return read_mapping(folder / str(self.file), placed, ranks, per_node, ids=self.holds == "node-ids")
        if self.name == "round-robin":
            return [placed[rank % len(placed)] for rank in range(ranks)]
        if self.name == "random-nodes":
            placed = SplitMix64(self.seed or 0).shuffled(placed)
        places = [placed[rank // per_node] for rank in range(ranks)]
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
