"""The measurements, and the loops that they are of."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING

import polars as pl

from odonata.errors import InputError
from odonata.reproduce.interference.fit import Alone
from odonata.reproduce.interference.loops import Loop

if TYPE_CHECKING:
    from pathlib import Path

    from odonata.reproduce.interference.loops import Aggressor, Victim

TABLES = ("runs", "allocations", "times", "slowdowns")
FIT_NODES = 32
"""Most nodes of a job whose victim alone is fitted; half of them are the victim's."""
STEADY_PAUSE_S = 1e-6
"""Bursts with no longer pauses are steady: a round of the aggressor takes a thousand times as long."""
MOST_FITTED = 2 << 20
"""Largest message of an all-to-all that is fitted: larger ones take long, and only the link limits them."""


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


@dataclass(frozen=True)
class Data:
    """The four tables, of one machine."""

    runs: pl.DataFrame
    allocations: pl.DataFrame
    times: pl.DataFrame
    slowdowns: pl.DataFrame

    def nodes(self, allocation: str, role: str) -> tuple[int, ...]:
        """The node of each rank."""
        rows = self.allocations.filter(pl.col("allocation") == allocation, pl.col("role") == role).sort("rank")
        return tuple(rows["preset_node"])

    def alone(self, *, most_nodes: int = FIT_NODES) -> list[Alone]:
        """The victims alone that are fitted."""
        found = []
        for run in self.runs.filter(pl.col("aggressor") == "none", pl.col("nodes") <= most_nodes).iter_rows(named=True):
            times = self.times.filter(pl.col("run") == run["run"], pl.col("phase") == "alone")
            for row in times.iter_rows(named=True):
                loop = self._loop(run, row["size_bytes"])
                if loop.message and not (loop.victim == "alltoall" and loop.message > MOST_FITTED):
                    found.append(Alone(loop, row["median_us"]))
        return found

    def cells(self, *, least_size: int = 512) -> list[Measured]:
        """The victims beside aggressors, from the size on at which the aggressor surely runs."""
        runs = {row["run"]: row for row in self.runs.iter_rows(named=True)}
        found = []
        for row in self.slowdowns.sort("run", "size_bytes").iter_rows(named=True):
            run, alone = runs.get(row["run"]), runs.get(row["alone_run"])
            if run is None or alone is None or run["aggressor"] == "none" or row["size_bytes"] < least_size:
                continue
            beside, baseline = self._loop(run, row["size_bytes"]), self._loop(alone, row["size_bytes"], alone=True)
            times = self.times.filter(pl.col("size_bytes") == row["size_bytes"])
            here = times.filter(pl.col("run") == row["run"], pl.col("phase") != "alone")
            there = times.filter(pl.col("run") == row["alone_run"], pl.col("phase") == "alone")
            if not beside.message or not here.height or not there.height or here["aggressor_running"][0] != "yes":
                continue
            found.append(
                Measured(
                    run["nodes"],
                    beside,
                    baseline,
                    row["mean_ratio"],
                    row["mean_lo"],
                    row["mean_hi"],
                    there["median_us"][0],
                    here["share_over_3x_p5"][0],
                )
            )
        return found

    def _loop(self, run: dict[str, object], size: int, *, alone: bool = False) -> Loop:
        allocation = str(run["allocation"])
        victim: Victim = "alltoall" if run["victim"] == "alltoall" else "allgather"
        aggressor: Aggressor = "none"
        if not alone and run["aggressor"] in ("alltoall", "incast"):
            aggressor = "alltoall" if run["aggressor"] == "alltoall" else "incast"
        beside = aggressor != "none"
        burst, pause = run["burst_length_s"], run["burst_pause_s"]
        bursts = beside and isinstance(burst, float) and isinstance(pause, float) and pause > STEADY_PAUSE_S
        return Loop(
            victim,
            size,
            self.nodes(allocation, "victim"),
            aggressor,
            self.nodes(allocation, "aggressor") if beside else (),
            burst if bursts else None,  # type: ignore[arg-type]
            pause if bursts else None,  # type: ignore[arg-type]
        )


@lru_cache(maxsize=4)
def load(machine: str, folder: Path | None = None) -> Data:
    """The tables of a machine: the packaged ones, or those of a folder. Raises InputError for a missing file."""
    tables = {name: _read(name, folder) for name in TABLES}
    runs = tables["runs"].filter(pl.col("machine") == machine)
    if "status" in runs.columns:
        runs = runs.filter(pl.col("status") == "ok")
    if not runs.height:
        raise InputError(f"no run of {machine} among the measurements")
    return Data(runs, tables["allocations"], tables["times"], tables["slowdowns"])


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
