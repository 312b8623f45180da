"""Reads measured medians of collectives."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from odonata import units
from odonata.errors import InputError, shortened, unknown
from odonata.iterations.table import TIME, read_iterations
from odonata.scenario.apps.listed import COLLECTIVES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

Bytes = Literal["per-rank", "whole"]
"""What the bytes of an allgather or an all-to-all count: what a rank has for another, or the vector of all ranks."""

#: Collectives whose `message` is a part of a vector of all ranks.
_PARTS = frozenset({"allgather", "alltoall"})

#: Other names of collectives and algorithms.
_COLLECTIVES = {"bcast": "broadcast", "all-reduce": "allreduce", "all-gather": "allgather", "all-to-all": "alltoall"}
_ALGORITHMS = {"bruck": "bruck", "brucks": "bruck", "rabenseifner": "rabenseifner"}

#: Endings of the names of algorithms that say whose implementation it is.
_WHOSE = re.compile(r"[-_](over|ompi|mpich)$")

#: Column -> other names that it may have.
_NAMES = {
    "collective": ("collective",),
    "bytes": ("bytes", "size"),
    "nodes": ("nodes",),
    "algorithm": ("algorithm",),
    "ranks_per_node": ("ranks_per_node",),
    "ranks": ("ranks",),
}


@dataclass(frozen=True, order=True)
class Configuration:
    """What was measured."""

    collective: str
    """As `collective` of a scenario, or `ping-pong`."""
    algorithm: str
    """As `algorithm` of a scenario; empty for the default."""
    nodes: int
    ranks_per_node: int
    bytes: int
    """As `message` of a scenario."""

    @property
    def label(self) -> str:
        """Collective and algorithm."""
        return f"{self.collective} {self.algorithm}".strip()


@dataclass(frozen=True)
class Measurement:
    """A configuration and its measured median."""

    configuration: Configuration
    time_ps: float


@dataclass(frozen=True)
class Measured:
    """The measurements of a file."""

    rows: list[Measurement]
    left_out: dict[str, int]
    """Why rows are left out -> how many."""


def read(
    file: str | Path | pl.DataFrame,
    *,
    value: str | None = None,
    where: Mapping[str, str] | None = None,
    bytes_are: Bytes = "per-rank",
    largest: int | None = None,
) -> Measured:
    """The measurements of a table: CSV or Parquet with a row for each median or iteration, or a folder of the probe.

    Columns are `collective`, `bytes`, `nodes`, the time with its unit (`median_us`, `time_us`), and if there are
    several, `algorithm`, `ranks_per_node` or `ranks`. Several rows of one configuration and run are iterations, and
    their median counts. Raises InputError with the line.
    """
    if bytes_are not in get_args(Bytes):
        raise unknown("meaning of bytes", str(bytes_are), get_args(Bytes))
    table = read_iterations(file, value=value, where=where, by=(), prefers=_MEDIAN)
    names = table.names()
    column = {key: next((name for name in known if name in names), None) for key, known in _NAMES.items()}
    for key in ("collective", "bytes", "nodes"):
        if column[key] is None:
            raise InputError(
                f"no column `{key}`; found {shortened(', '.join(f'`{name}`' for name in names))}", file=table.file
            )
    words = ("collective", "algorithm")
    whole = {key: _whole(table, name) for key, name in column.items() if name and key not in words}
    texts = {key: table.table[name].to_list() for key, name in column.items() if name and key in words}
    runs = table.table["run"].to_list() if "run" in names else [None] * table.table.height
    samples: dict[tuple[Any, Configuration], list[float]] = {}
    left_out: Counter[str] = Counter()
    for row, (time, run) in enumerate(zip(table.table[TIME].to_list(), runs, strict=True)):
        cells = {key: values[row] for key, values in whole.items()}
        nodes = cells["nodes"]
        per_node = cells.get("ranks_per_node") or max(1, cells.get("ranks", nodes) // max(nodes, 1))
        made = _configuration(
            str(texts["collective"][row]),
            str(texts["algorithm"][row] or "") if "algorithm" in texts else "",
            nodes,
            per_node,
            cells["bytes"],
            bytes_are,
        )
        if isinstance(made, Configuration) and largest is not None and cells["bytes"] > largest:
            made = f"more than {units.format_bytes(largest)}"
        if isinstance(made, Configuration) and time <= 0:
            made = "no time"
        if isinstance(made, str):
            left_out[made] += 1
        else:
            samples.setdefault((run, made), []).append(time)
    rows = [Measurement(of, _middle(times)) for (_, of), times in samples.items()]
    if not rows:
        why = "; ".join(f"{reason} ({count:,})" for reason, count in left_out.most_common(5))
        raise InputError(f"no row can be simulated: {shortened(why)}", file=table.file)
    return Measured(
        sorted(rows, key=lambda row: (row.configuration, row.time_ps)),
        dict(left_out.most_common()),
    )


#: The column of medians, which a table may have beside other quantiles.
_MEDIAN = r"median[_ (]*(ps|ns|us|µs|ms|s)\)?"

#: More than any number of bytes or nodes.
_MOST = 1e15


def _whole(table: Any, name: str) -> list[int]:
    values = table.numbers(name).to_list()
    for row, value in enumerate(values):
        if value is None or not 0 <= value < _MOST or value != int(value):
            at = table.line(int(table.table["_row"][row]))
            raise InputError(f"{at}expected a whole number in `{name}`, found `{value}`")
    return [int(value) for value in values]


def _configuration(
    collective: str, algorithm: str, nodes: int, per_node: int, size: int, bytes_are: Bytes
) -> Configuration | str:
    """The configuration, or why it cannot be simulated."""
    name = collective.lower().replace("_", "-")
    name = _COLLECTIVES.get(name, name)
    if name == "ping-pong":
        return Configuration(name, "", 2, 1, size)
    if name not in COLLECTIVES:
        return f"unknown collective `{collective}`"
    how = _WHOSE.sub("", algorithm.lower()).replace("_", "-")
    how = _ALGORITHMS.get(how, how)
    if how == "default":
        return "the MPI chose the algorithm"
    if how and how not in COLLECTIVES[name].algorithms:
        return f"no algorithm `{algorithm}` of `{name}`"
    ranks = nodes * per_node
    if ranks < 2:
        return "one rank"
    if name in _PARTS and bytes_are == "whole":
        if size < ranks:
            return "less than a byte for each rank"
        size //= ranks
    return Configuration(name, how, nodes, per_node, size)


def _middle(times: list[float]) -> float:
    ordered = sorted(times)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
