"""The measurements, and the loops that they are of."""

from __future__ import annotations

import gzip
import math
import re
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from odonata import machine
from odonata.errors import InputError
from odonata.reproduce.interference.fit import Alone
from odonata.reproduce.interference.loops import Loop

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from odonata.reproduce.interference.loops import Aggressor

TABLES = ("runs", "allocations", "times", "slowdowns")
FIT_NODES = 32
"""Most nodes of a job whose victim alone is fitted; half of them are the victim's."""
MOST_FITTED = 2 << 20
"""Largest message of an all-to-all that is fitted: larger ones take long, and only the link limits them."""
HOST_BOUND = {"lumi": 64 << 20}
"""Machines whose hosts limit larger messages too -> most bytes that a rank of a fitted all-to-all sends."""
LEAST_SIZE = 512
"""Smallest size that is compared: beside smaller ones the aggressor is still starting."""
NODE_NAMES = {"cresco8": r"cresco8x(\d+)"}
"""Machine -> names of its nodes, where the numbers in them tell their order: the first is node 0 of the preset."""
VICTIMS = ("alltoall", "allgather")
AGGRESSORS = ("none", "alltoall", "incast")
COLUMNS = {
    "runs": ("run", "machine", "nodes", "victim", "aggressor", "burst_pause_s", "burst_length_s", "allocation"),
    "allocations": ("allocation", "role", "rank", "preset_node"),
    "times": ("run", "phase", "size_bytes", "aggressor_running", "median_us", "share_over_3x_p5"),
    "slowdowns": ("run", "alone_run", "size_bytes", "mean_ratio", "mean_lo", "mean_hi"),
}
"""Table -> the columns that are read."""


class NotComparedError(ValueError):
    """A row of the measurements that is not compared, and why."""


@dataclass(frozen=True)
class Left:
    """A row that is not compared."""

    run: str
    size: str
    """In bytes, as the table has it."""
    why: str
    understood: bool = True
    """False for what no measurement should have: an unknown victim, a node that the preset lacks."""


@dataclass(frozen=True)
class Measured:
    """One cell: a victim beside an aggressor, over the same victim alone."""

    nodes: int
    """Nodes of the job, victim and aggressor together."""
    beside: Loop
    alone: Loop
    slowdown: float
    """Ratio of the means."""
    low: float
    high: float
    """95 % interval of the ratio, by a block bootstrap inside the run."""
    alone_us: float
    """Median alone."""
    share_long: float
    """Share of iterations beside the aggressor that take more than three times the 5 % quantile."""
    run: str = ""
    """The run beside the aggressor."""


@dataclass(frozen=True)
class Data:
    """The four tables, of one machine."""

    machine: str
    runs: pl.DataFrame
    allocations: pl.DataFrame
    times: pl.DataFrame
    slowdowns: pl.DataFrame
    _nodes: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict, repr=False, compare=False)

    def nodes(self, allocation: str, role: str) -> tuple[int, ...]:
        """The node of each rank. Raises NotComparedError if one is not known, or used twice."""
        if (allocation, role) not in self._nodes:
            self._nodes[allocation, role] = self._placed(allocation, role)
        return self._nodes[allocation, role]

    def _placed(self, allocation: str, role: str) -> tuple[int, ...]:
        rows = self.allocations.filter(pl.col("allocation") == allocation, pl.col("role") == role).sort("rank")
        if not rows.height:
            raise NotComparedError(f"no {role} in the allocation `{allocation}`")
        named = NODE_NAMES.get(self.machine)
        names = rows["node"] if named and "node" in rows.columns else [None] * rows.height
        numbers = []
        for number, name in zip(rows["preset_node"], names, strict=True):
            if number is None and named and isinstance(name, str) and (match := re.fullmatch(named, name)):
                number = int(match[1]) - 1
            if not isinstance(number, int) or not 0 <= number < machine.load(self.machine).shape.nodes:
                raise NotComparedError(f"a node of `{allocation}` is not in the preset `{self.machine}`")
            numbers.append(number)
        if len(set(numbers)) < len(numbers):
            raise NotComparedError(f"`{allocation}` has a node twice")
        return tuple(numbers)

    def alone(self, *, most_nodes: int = FIT_NODES) -> list[Alone]:
        """The victims alone that are fitted: also those of jobs that ran beside an aggressor later."""
        victims = []
        runs = {row["run"]: row for row in self.runs.filter(pl.col("nodes") <= most_nodes).iter_rows(named=True)}
        for row in self.times.filter(pl.col("phase") == "alone").iter_rows(named=True):
            if row["run"] not in runs:
                continue
            loop = self._loop(runs[row["run"]], row["size_bytes"], alone=True)
            most = HOST_BOUND.get(self.machine, 0) // len(loop.nodes) or MOST_FITTED
            if loop.message and not (loop.victim == "alltoall" and loop.message > most):
                victims.append(Alone(loop, row["median_us"]))
        return victims

    def cells(self) -> tuple[list[Measured], list[Left]]:
        """The victims beside aggressors, and the rows that are not compared."""
        runs = {row["run"]: row for row in self.runs.iter_rows(named=True)}
        of_machine = self.times.filter(pl.col("run").is_in(list(runs)))
        times = {
            (row["run"], row["phase"] == "alone", row["size_bytes"]): row for row in of_machine.iter_rows(named=True)
        }
        cells, left = [], []
        for row in self.slowdowns.sort("run", "size_bytes", maintain_order=True).iter_rows(named=True):
            if row["run"] not in runs:
                continue
            try:
                cells.append(self._cell(row, runs, times))
            except NotComparedError as why:
                understood = str(why) in EXPECTED
                left.append(Left(str(row["run"]), str(row["size_bytes"]), str(why), understood))
        return cells, left

    def _cell(
        self,
        row: Mapping[str, Any],
        runs: Mapping[str, Mapping[str, Any]],
        times: Mapping[tuple[str, bool, int], Mapping[str, Any]],
    ) -> Measured:
        size = row["size_bytes"]
        if not isinstance(size, int) or size < 0:
            raise NotComparedError("the size is no number of bytes")
        if size < LEAST_SIZE:
            raise NotComparedError(STARTING)
        run, alone = runs[row["run"]], runs.get(row["alone_run"])
        here, there = times.get((row["run"], False, size)), times.get((row["alone_run"], True, size))
        if alone is None or there is None:
            raise NotComparedError("no time alone")
        if here is None:
            raise NotComparedError("no time beside the aggressor")
        beside, baseline = self._loop(run, size), self._loop(alone, size, alone=True)
        if beside.aggressor == "none":
            raise NotComparedError("no aggressor")
        if beside.victim != baseline.victim or len(beside.nodes) != len(baseline.nodes):
            raise NotComparedError("the time alone is of another victim")
        if set(beside.nodes) & set(beside.aggressor_nodes):
            raise NotComparedError("victim and aggressor share a node")
        if not beside.message:
            raise NotComparedError(EMPTY)
        if here["aggressor_running"] != "yes":
            raise NotComparedError(STARTING)
        numbers = (row["mean_ratio"], row["mean_lo"], row["mean_hi"], there["median_us"], here["share_over_3x_p5"])
        values = [float(value) if isinstance(value, int | float) else math.nan for value in numbers]
        if not all(math.isfinite(value) for value in values) or min(values[:4]) <= 0:
            raise NotComparedError("a measured number is missing, not positive or not finite")
        ratio, low, high, alone_us, share = values
        return Measured(
            len(beside.nodes) + len(beside.aggressor_nodes),
            beside,
            baseline,
            ratio,
            low,
            high,
            alone_us,
            share,
            str(row["run"]),
        )

    def _loop(self, run: Mapping[str, Any], size: int, *, alone: bool = False) -> Loop:
        """Raises NotComparedError for an unknown victim or aggressor, and for a burst that cannot be."""
        allocation = str(run["allocation"])
        victim, beside = run["victim"], "none" if alone else run["aggressor"]
        if victim not in VICTIMS:
            raise NotComparedError(f"unknown victim `{victim}`")
        if beside not in AGGRESSORS:
            raise NotComparedError(f"unknown aggressor `{beside}`")
        aggressor = cast("Aggressor", beside)
        nodes = self.nodes(allocation, "victim")
        if aggressor == "none":
            return Loop(victim, size, nodes)
        others = self.nodes(allocation, "aggressor")
        length, pause = run["burst_length_s"], run["burst_pause_s"]
        if length is None and pause is None:
            return Loop(victim, size, nodes, aggressor, others)
        for value in (length, pause):
            if not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
                raise NotComparedError(f"a burst of `{length}` s with pauses of `{pause}` s")
        return Loop(victim, size, nodes, aggressor, others, float(length), float(pause))


STARTING, EMPTY = "the aggressor was still starting", "the loop sends nothing"
EXPECTED = (STARTING, EMPTY)
"""Why rows of the known measurements are not compared."""


@lru_cache(maxsize=4)
def load(machine: str, folder: Path | None = None) -> Data:
    """The tables of a machine: the packaged ones, or those of a folder. Raises InputError for a missing file."""
    tables = {name: _read(name, folder) for name in TABLES}
    for name, columns in COLUMNS.items():
        for column in columns:
            if column not in tables[name].columns:
                message = f"the column `{column}` of the table `{name}` is missing"
                raise InputError(message, file=folder, hint="the README of the data names the columns")
    runs = tables["runs"].filter(pl.col("machine") == machine)
    if "status" in runs.columns:
        runs = runs.filter(pl.col("status") == "ok")
    if not runs.height:
        raise InputError(f"no run of {machine} among the measurements", file=folder)
    return Data(machine, runs, tables["allocations"], tables["times"], tables["slowdowns"])


def _read(name: str, folder: Path | None) -> pl.DataFrame:
    """One table; in a folder it may have the prefix `interference_` and be gzipped."""
    if folder is None:
        return pl.read_csv(BytesIO((files(__package__) / f"{name}.csv").read_bytes()), infer_schema_length=None)
    for file in (folder / f"{prefix}{name}.csv{end}" for prefix in ("", "interference_") for end in ("", ".gz")):
        if file.is_file():
            contents = file.read_bytes()
            text = gzip.decompress(contents) if file.suffix == ".gz" else contents
            try:
                return pl.read_csv(BytesIO(text), infer_schema_length=None)
            except pl.exceptions.PolarsError as problem:
                raise InputError(f"no table: {str(problem).splitlines()[0]}", file=file) from None
    raise InputError(f"`{name}.csv` is missing", file=folder, hint="the README of the data names the four files")
