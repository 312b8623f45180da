"""The measured runs, and what ran in them as scenarios: the real node of every rank, the victim and the aggressor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.reproduce.ucx import BLOCKING_EAGER, connections
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping


PRESET = "leonardo-gpu"
RANKS = 4
"""Ranks of a node, of victim and aggressor, one for each GPU."""
MESSAGE = "128 KiB"
"""Size of each message of the aggressors (README of the data)."""
VICTIM_MIB = 64
"""Size of the simulated all-reduce. Measured: 1 GiB, which repeats the same steps longer."""
ITERATIONS = 2
START = "3 ms"
"""The victim begins after about two rounds of an incast. Assumed: the real one began with the aggressor, and lasted for
seconds."""
POSTED_EAGER = "8 KiB"
"""The same of MPI_Isend, chosen by UCX by estimated times. Assumed: anything below the 128 KiB that are sent."""
BY_SIZE = (
    ("8 B", "97 ns", "146 ns", "1033 ns"),
    ("512 B", "157 ns", "235 ns", "1539 ns"),
    ("4 KiB", "235 ns", "352 ns", "2804 ns"),
    ("16 KiB", "341 ns", "511 ns", "4717 ns"),
    ("64 KiB", "661 ns", "991 ns", "6332 ns"),
)
"""Costs of messages of MPI on Leonardo, fitted to times alone (interference-leonardo) with the cables that the preset
had before. Kept, because predictions were frozen with them; the delays of the preset are lower by 1 to 37 %."""
HOST = {"send": "236 ns", "receive": "1.07 us", "rendezvous": "0 ns", "reduce": "none", "call": "813 ns"}
"""The other costs of host MPI: those of the preset `leonardo`, without combining."""
COPIED = ("128 KiB", "9 us", "9 us", "6332 ns")
"""An eager message is copied by both ends (openucx/ucx, pull request 2157): at 14 GB/s, what a ring of blocking
exchanges alone tells (arXiv 2604.11432, data: 19.3 us a step of 128 KiB, 10.4 us of 64 KiB, for both copies)."""


@dataclass(frozen=True)
class Cell:
    """A victim beside an aggressor on its nodes, over the same victim alone on the same nodes."""

    run: str
    repetition: int
    nodes: int
    """Nodes of the job, half of them the victim's."""
    placement: str
    aggressor: str
    """`incast`, `alltoall` (MPI_Alltoall) or `alltoall-posted`."""
    ports: str
    """How many ports the ranks of host MPI on a node use: `two` until 29 March 2024, then `four`."""
    slowdown: float
    low: float
    high: float
    victims: tuple[int, ...]
    aggressors: tuple[int, ...]

    @property
    def kind(self) -> tuple[int, str, str]:
        """What is averaged over repetitions."""
        return self.nodes, self.placement, self.aggressor


@lru_cache(maxsize=1)
def cells() -> tuple[Cell, ...]:
    """The measured runs on service level 1."""
    table = pl.read_csv(BytesIO((files(__package__) / "measured.csv").read_bytes()))

    def numbers(text: str) -> tuple[int, ...]:
        return tuple(map(int, text.split()))

    return tuple(
        Cell(
            row["run"], row["repetition"], row["nodes"], row["placement"], row["aggressor"], row["ports"],
            row["slowdown"], row["low"], row["high"], numbers(row["victims"]), numbers(row["aggressors"]),
        )
        for row in table.iter_rows(named=True)
    )  # fmt: skip


def victim(nodes: tuple[int, ...]) -> dict[str, Any]:
    """NCCL's all-reduce on all GPUs of these nodes."""
    return {
        "name": "victim",
        "place": {"policy": "explicit", "nodes": list(nodes)},
        "ranks_per_node": RANKS,
        "app": {"collective": "allreduce", "algorithm": "ring-channels", "message": f"{VICTIM_MIB} MiB"},
        "iterations": ITERATIONS,
    }


def by_size(*rows: tuple[str, str, str, str]) -> list[dict[str, str]]:
    """Costs by size as `overhead` takes them."""
    return [dict(zip(("size", "send", "receive", "delay"), row, strict=True)) for row in rows]


def aggressor(kind: str, ports: str, nodes: tuple[int, ...]) -> dict[str, Any]:
    """Host MPI on these nodes, without end, with a barrier between rounds.

    An incast of MPI_Send is eager and takes one port of a rank (`UCX_MAX_EAGER_RAILS` is 1): the first for all of them
    while nothing chose, and then the port of each rank. Larger messages take both ports of the first card, so that two
    ranks have one each.
    """
    incast = kind == "incast"
    nics = [0, 1, 2, 3] if ports == "four" else [0, 0, 0, 0] if incast else [0, 0, 1, 1]
    overhead: dict[str, Any] = {
        "gpu": {"count": RANKS, "network": "mesh", "bandwidth": "80 GB/s", "latency": "600 ns", "nics": nics},
        **HOST,
        "eager": BLOCKING_EAGER if incast else POSTED_EAGER,
        "by_size": by_size(*BY_SIZE, *([COPIED] if incast else [])),
        **connections(len(nodes) * RANKS),
    }
    apps: dict[str, dict[str, Any]] = {
        "incast": {"motif": "incast", "message": MESSAGE},
        "alltoall-posted": {"motif": "all-to-all-linear", "message": MESSAGE},
        "alltoall": {"collective": "alltoall", "algorithm": "open-mpi", "message": MESSAGE},
    }
    return {
        "name": "aggressor",
        "place": {"policy": "explicit", "nodes": list(nodes)},
        "ranks_per_node": RANKS,
        "app": apps[kind],
        "barrier": True,
        "background": True,
        "overhead": overhead,
    }


def made(point: Mapping[str, Any]) -> Scenario:
    """The scenario of a point: of a cell, with its aggressor or alone."""
    cell = next(c for c in cells() if (c.run, c.repetition) == (point["run"], point["repetition"]))
    jobs = [victim(cell.victims)]
    if point["beside"]:
        jobs[0]["start"] = START
        jobs.append(aggressor(cell.aggressor, cell.ports, cell.aggressors))
    fabric, routing = MODELS[point["model"]]
    document = {
        "system": {"preset": PRESET, **({"fabric": fabric} if fabric else {})},
        **({"routing": routing} if routing else {}),
        "job": jobs,
        "run": {"until": "victim", "seed": 1, "horizon": "400 ms"},
        "measure": {"latency": "histogram"},
    }
    return Scenario.of(document)


def _buffers(size: str) -> dict[str, Any]:
    return {"links": {name: {"buffer": size} for name in ("local", "global")}}


MODELS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "leonardo": ({}, {}),
    "fpar": ({}, {"name": "fpar"}),
    "buffers-64": (_buffers("64 KiB"), {}),
    "buffers-256": (_buffers("256 KiB"), {}),
}
"""Model -> what of the fabric and the routing of the preset is changed."""
