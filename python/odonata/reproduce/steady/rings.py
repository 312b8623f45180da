"""`steady-rings`: times of long collectives around rings of which steps are skipped, against whole runs.

A point is a `machine`, a `program`, a `neighbour` and a `model`, as of `steady`.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.steady.cells import BOUNDS, MACHINES, NEIGHBOURS, SEED
from odonata.reproduce.steady.page import compare, keep, of_rows, of_runs
from odonata.scenario import Scenario
from odonata.steady.shorten import FIRST_STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

NODES, RANKS = 16, 20
"""Nodes of each job, and the ranks of the measured one on each: 319 steps of a gather, 638 of an all-reduce."""
GPU_NODES = 40
GPUS = "gpus"
"""The machine whose nodes have four GPUs, which has a program of its own."""
OF_GPUS = {"preset": "alps-gpu", "groups": 4, "routers": 4, "global_links_per_router": 3, "links_per_pair": 4}
PROGRAMS: dict[str, dict[str, Any]] = {
    "all-reduce": {"collective": "allreduce", "algorithm": "ring", "message": "5 MB"},
    "all-gather": {"collective": "allgather", "algorithm": "ring", "message": "32 KB"},
    "combining": {"collective": "allreduce", "algorithm": "ring", "message": "2 MB"},
}
"""The last one takes time to combine vectors."""
CHANNELS = {"collective": "allreduce", "algorithm": "ring-channels", "message": "32 MiB"}
PLACES = ("random", "contiguous")


def cells() -> list[tuple[str, str, str]]:
    """Machine, program and neighbour of each cell: each program alone and beside one neighbour on each machine."""
    beside = [name for name in NEIGHBOURS if name != "alone"]
    listed = [
        (machine, program, neighbour)
        for row, machine in enumerate(MACHINES)
        for column, program in enumerate(PROGRAMS)
        for neighbour in ("alone", beside[(row + column) % len(beside)])
    ]
    return listed + [(GPUS, f"channels, {place}", neighbour) for place in PLACES for neighbour in NEIGHBOURS]


def points(reduced: bool) -> Points:
    """Each cell as a whole run and with each bound."""
    chosen = [("hyperx", "all-reduce", "alone"), ("hyperx", "all-gather", "alone")] if reduced else cells()
    return [
        {"machine": machine, "program": program, "neighbour": neighbour, "model": model}
        for machine, program, neighbour in chosen
        for model in BOUNDS
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """One iteration of the program, and beside it its neighbour."""
    bound, beside = BOUNDS[point["model"]], NEIGHBOURS[point["neighbour"]]
    gpus = point["machine"] == GPUS
    if gpus:
        job = {"nodes": GPU_NODES, "ranks_per_node": 4, "app": CHANNELS}
        place = {"policy": point["program"].removeprefix("channels, ")}
    else:
        job = {"nodes": NODES, "ranks_per_node": RANKS, "app": PROGRAMS[point["program"]]}
        place = {"policy": "random"}
    job |= {"overhead": {"reduce": "2 GB/s"}} if point["program"] == "combining" else {}
    jobs: list[dict[str, Any]] = [{"name": "program", "place": place, **job}]
    if beside is not None:
        jobs.append({"name": "neighbour", "nodes": NODES, "place": place, "app": beside, "background": True})
    run: dict[str, Any] = {"seed": SEED} if bound is None else {"seed": SEED, "steady": {"error": bound}}
    return Scenario.of({"system": OF_GPUS if gpus else MACHINES[point["machine"]], "job": jobs, "run": run})


def _of_rows(rows: Sequence[Row], texts: Texts) -> Texts:
    return {**of_rows(rows, texts), "ranks": str(NODES * RANKS), "gpus": str(4 * GPU_NODES), "fewest": str(FIRST_STEPS)}


def _of_runs(rows: Sequence[Row], runs: Runs) -> Texts:
    return of_runs(rows, runs, keys=("neighbour",))


REPRODUCTION = Reproduction(
    name="steady-rings",
    title="Times of collectives around rings of which steps are skipped, against whole runs",
    points=points,
    make=make,
    rows=compare,
    text=Page(lambda: (files("odonata.reproduce.steady") / "rings.md").read_text("utf-8"), _of_rows, _of_runs),
    keep=keep,
)
