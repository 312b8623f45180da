"""Slowdowns of runs whose results are not known, or not shown.

`python -m odonata.reproduce.placement.predict FOLDER FILE`: FOLDER has `questions.csv.gz` and `allocations.csv.gz`, or
the tables of measured runs; FILE becomes a CSV with a row for each repetition that has nodes of its own. What is
simulated is that of the page `placement-measured`.
"""

from __future__ import annotations

import csv
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata import runner
from odonata.reproduce.interference.loops import times_us
from odonata.reproduce.placement.jobs import (
    BY_SIZE,
    HOST,
    MESSAGE,
    POSTED_EAGER,
    PRESET,
    RANKS,
    START,
    aggressor,
    by_size,
    victim,
)
from odonata.reproduce.ucx import connections
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHORTER: dict[tuple[str, str], tuple[int, int]] = {
    ("ccl", "alltoall"): (256 << 10, 2),
    ("gpu-mpi", "alltoall"): (128 << 10, 6),
    ("ccl", "pairs-pingpong"): (32 << 20, 2),
}
"""Library and operation -> bytes of a message that are simulated at most, since larger ones take the same paths for
longer, and iterations: more where ranks ask for few messages at a time, since the times of these vary."""
SMALL, MANY = 1 << 10, 60
"""Messages below this size are repeated so often: with two rounds of an incast in between."""
LEFT_OUT = 1
"""First iterations that do not count, of more than two."""
HORIZON = "500 ms"
NOTHING = "not simulated: 29 measured cells of up to 32 nodes of Slingshot show nothing"
"""How a row of another machine is answered."""


@dataclass(frozen=True)
class Question:
    """A victim beside an aggressor."""

    run: str
    repetition: int
    machine: str
    library: str
    operation: str
    size: int
    aggressor: str
    aggressor_library: str
    ports: str
    victims: tuple[int, ...]
    aggressors: tuple[int, ...]

    def victim(self) -> dict[str, Any]:
        """The victim as a job."""
        if self.operation == "allreduce" and self.size >= 1 << 20:
            return victim(self.victims)
        most, few = SHORTER.get((self.library, self.operation), (self.size, 2))
        size = f"{min(self.size, most)} B"
        apps = {
            "allreduce": {"collective": "allreduce", "algorithm": "ring-channels", "message": size},
            "alltoall": {"collective": "alltoall", "algorithm": "scattered", "message": size},
            "pairs-pingpong": {"motif": "ping-pong", "stride": RANKS, "message": size},
        }
        job = victim(self.victims) | {"app": apps[self.operation], "iterations": MANY if self.size < SMALL else few}
        if self.library == "ccl":
            return job
        # As frozen: the other costs are those that `overhead` takes from the preset.
        overhead = {key: HOST[key] for key in ("send", "receive", "call")}
        costs = {**overhead, "eager": POSTED_EAGER, "by_size": by_size(*BY_SIZE)}
        return job | {"overhead": costs | connections(len(self.victims) * RANKS)}

    def beside(self) -> dict[str, Any]:
        """The aggressor as a job."""
        job = aggressor(self.aggressor, self.ports, self.aggressors)
        if self.aggressor_library == "mpi":
            return job
        apps = {
            "incast": {"motif": "incast", "message": MESSAGE},
            "alltoall": {"collective": "alltoall", "algorithm": "scattered", "message": MESSAGE},
        }
        del job["overhead"]
        return job | {"app": apps[self.aggressor]}


def questions(folder: Path) -> Iterator[Question]:
    """The runs beside an aggressor, a row for each repetition with nodes of its own; nodes are numbers of the preset.

    Nodes that the preset lacks are left out with their run.
    """
    if (folder / "questions.csv.gz").exists():
        rows = pl.read_csv(folder / "questions.csv.gz")
    else:
        runs = pl.read_csv(folder / "runs.csv.gz").filter(pl.col("aggressor") != "none", campaign="congestion")
        rows = runs.drop("repetitions").join(pl.read_csv(folder / "run_allocations.csv.gz"), on="run")
    nodes: dict[tuple[str, str], list[int | None]] = {}
    table = pl.read_csv(folder / "allocations.csv.gz", infer_schema_length=None).sort("allocation", "role", "position")
    for allocation, role, node in table.select("allocation", "role", "preset_node").iter_rows():
        nodes.setdefault((allocation, role), []).append(node)
    for row in rows.sort("run", "repetition").iter_rows(named=True):
        victims, aggressors = (nodes.get((row["allocation"], role), []) for role in ("victim", "aggressor"))
        known = [tuple(node for node in some if node is not None) for some in (victims, aggressors)]
        if all(known) and known == [tuple(victims), tuple(aggressors)]:
            yield Question(
                row["run"], row["repetition"], row["machine"], row["library"], row["operation"], row["size_bytes"],
                row["aggressor"], row["aggressor_library"], "four" if "rank" in str(row["mpi_ports"]) else "two",
                *known,
            )  # fmt: skip


_KNOWN: dict[str, float] = {}
"""Id of a run -> its mean time; several questions may ask for the same run."""


def _mean_us(jobs: list[dict[str, Any]]) -> float:
    """The mean time of an iteration of the victim among these jobs."""
    asked = Scenario.of(
        {
            "system": PRESET,
            "job": jobs,
            "run": {"until": "victim", "seed": 1, "horizon": HORIZON},
            "measure": {"latency": "histogram"},
        }
    )
    run = asked.resolve().id
    if run not in _KNOWN:
        done = times_us(runner.run(asked, threads=1))
        _KNOWN[run] = fmean(done[LEFT_OUT:] if len(done) > 2 else done)
    return _KNOWN[run]


def answer(question: Question) -> dict[str, Any]:
    """The row of the file: slowdown, time alone in microseconds, and how it was found."""
    row: dict[str, Any] = {"run": question.run, "repetition": question.repetition}
    if question.machine != "leonardo":
        return row | {"ratio": "1.0000", "alone_us": "", "how": NOTHING}
    job = question.victim()
    alone = _mean_us([job])
    beside = _mean_us([job | {"start": START}, question.beside()])
    return row | {"ratio": f"{beside / alone:.4f}", "alone_us": f"{alone:.1f}", "how": "simulated"}


def predict(asked: Iterable[Question], file: Path, workers: int) -> None:
    """Writes the answers in the order of the questions."""
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, ["run", "repetition", "ratio", "alone_us", "how"], lineterminator="\n")
        writer.writeheader()
        with ThreadPoolExecutor(workers) as pool:
            for row in pool.map(answer, asked):
                writer.writerow(row)
                out.flush()


if __name__ == "__main__":
    predict(questions(Path(sys.argv[1])), Path(sys.argv[2]), workers=2)
