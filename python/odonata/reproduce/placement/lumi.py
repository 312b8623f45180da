"""`placement-lumi`: what an aggressor costs an all-reduce on LUMI, where the machine shows nothing in any halving.

What ran is that of `placement-measured`, with RCCL and Cray MPICH. The incast shows nothing because its root receives
one message after the other: the NIC of Slingshot fetches the data of a message above a threshold once a receive
matches it, so one sender at a time is in the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata import machine
from odonata.reproduce.interference.nulls import EFFECT
from odonata.reproduce.markdown import bold, table
from odonata.reproduce.page import Page
from odonata.reproduce.placement.jobs import ITERATIONS, MESSAGE, START, VICTIM_MIB
from odonata.reproduce.placement.page import NAMES, WHERE, keep
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

RANKS = 8
"""Ranks of a node, of victim and aggressor, one for each GCD."""
GPUS = "frontier-gpu"
"""The preset whose nodes have the same GPUs and NICs, and whose costs of RCCL are taken."""
THRESHOLD = "16 KiB"
"""Size above which a message is fetched (libfabric, fi_cxi, `FI_CXI_RDZV_THRESHOLD`). Assumed: anything below the
128 KiB that are sent gives the same."""
ONE_BY_ONE, AT_ONCE = "fetched", "at-once"
"""Models: a root fetches a message when a receive matches it (fi_cxi, "offloaded rendezvous", the default); and, to
show that it matters, all messages of a round are sent at once."""
SIMULATED = (
    (8, "incast", ONE_BY_ONE),
    (16, "incast", ONE_BY_ONE),
    (32, "incast", ONE_BY_ONE),
    (8, "alltoall-posted", ONE_BY_ONE),
    (16, "alltoall-posted", ONE_BY_ONE),
    (32, "incast", AT_ONCE),
)
"""Nodes, aggressor and model: the first halving of each. More takes minutes for a cell."""


@dataclass(frozen=True)
class Halving:
    """A victim beside an aggressor on its nodes, over the same victim alone on the same nodes."""

    repetition: int
    nodes: int
    aggressor: str
    slowdown: float
    low: float
    high: float
    victims: tuple[int, ...]
    aggressors: tuple[int, ...]


@lru_cache(maxsize=1)
def halvings() -> tuple[Halving, ...]:
    """The measured all-reduces beside an aggressor that ran, on 8 to 32 nodes."""
    rows = pl.read_csv(BytesIO((files(__package__) / "lumi.csv").read_bytes())).iter_rows(named=True)
    return tuple(
        Halving(
            row["repetition"], row["nodes"], row["aggressor"], row["slowdown"], row["low"], row["high"],
            tuple(map(int, row["victims"].split())), tuple(map(int, row["aggressors"].split())),
        )
        for row in rows
    )  # fmt: skip


def points(reduced: bool) -> Points:
    """The first halving of each kind with its aggressor and alone."""
    return [
        {"model": model, "nodes": nodes, "aggressor": aggressor, "beside": beside}
        for nodes, aggressor, model in SIMULATED[: 1 if reduced else None]
        for beside in (False, True)
    ]


def _first(point: Mapping[str, Any]) -> Halving:
    return next(
        of for of in halvings() if (of.nodes, of.aggressor, of.repetition) == (point["nodes"], point["aggressor"], 1)
    )


def aggressor(kind: str, model: str, nodes: tuple[int, ...]) -> dict[str, Any]:
    """Host MPI on these nodes, without end, with a barrier between rounds."""
    host = machine.load("lumi").table.host
    gpus = machine.load(GPUS).table.host
    assert host is not None
    assert gpus is not None
    overhead = {**host.document(), "gpu": gpus.document()["gpu"]}
    overhead.pop("memory", None)
    if model == ONE_BY_ONE:
        overhead |= {"eager": THRESHOLD} | ({"fetches": 1} if kind == "incast" else {})
    return {
        "name": "aggressor",
        "place": {"policy": "explicit", "nodes": list(nodes)},
        "ranks_per_node": RANKS,
        "app": {"motif": "incast" if kind == "incast" else "all-to-all-linear", "message": MESSAGE},
        "barrier": True,
        "background": True,
        "overhead": overhead,
    }


def made(point: Mapping[str, Any]) -> Scenario:
    """The scenario of a point."""
    of = _first(point)
    victim: dict[str, Any] = {
        "name": "victim",
        "place": {"policy": "explicit", "nodes": list(of.victims)},
        "ranks_per_node": RANKS,
        "app": {"collective": "allreduce", "algorithm": "ring-channels", "message": f"{VICTIM_MIB} MiB"},
        "iterations": ITERATIONS,
    }
    jobs = [victim]
    if point["beside"]:
        jobs = [victim | {"start": START}, aggressor(of.aggressor, point["model"], of.aggressors)]
    document = {
        "system": {"preset": "lumi", "host": GPUS},
        "job": jobs,
        "run": {"until": "victim", "seed": 1, "horizon": "400 ms"},
        "measure": {"latency": "histogram"},
    }
    return Scenario.of(document)


def _rows(runs: Runs) -> list[Row]:
    rows = []
    times = {(run["model"], run["nodes"], run["aggressor"], bool(run["beside"])): float(run["mean_us"]) for run in runs}
    for model, nodes, kind, beside in times:
        alone = (model, nodes, kind, False)
        if not beside or alone not in times:
            continue
        of = _first({"nodes": nodes, "aggressor": kind})
        what = f"{nodes} nodes beside {NAMES[kind]}: slowdown"
        ours = times[model, nodes, kind, True] / times[alone]
        rows.append(statement("placement", what, ours, of.slowdown, "x", f"<= {EFFECT:g}", WHERE, model=model))
    return rows


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    shipped = [row for row in rows if row.model == ONE_BY_ONE]
    none = all(row.verdict == "direction" for row in shipped)
    measured = [of.slowdown for of in halvings()]
    return {
        "verdict": "correctly none" if none else "wrongly some",
        "least": f"{min(measured):.2f}",
        "most": f"{max(measured):.2f}",
        "halvings": str(len(measured)),
        "effects": str(sum(of.low > EFFECT for of in halvings())),
        "effect": f"{EFFECT:g}",
        "rows": table(
            ["messages", "what", "measured", "simulated", "goal", "verdict"],
            [
                [row.model, row.what.removesuffix(": slowdown"), f"{row.theirs:.3f}", f"{row.ours:.3f}",
                 row.tolerance, bold(row.verdict)]
                for row in rows
            ],
            "llrrll",
        ),
    }  # fmt: skip


REPRODUCTION = Reproduction(
    name="placement-lumi",
    title="An all-reduce beside another job on LUMI, where the machine shows nothing",
    points=points,
    make=made,
    keep=keep,
    rows=_rows,
    text=Page(lambda: (files("odonata.reproduce.placement") / "lumi.md").read_text("utf-8"), _of_rows, lambda *_: {}),
)
