"""The loops that were measured, as scenarios: the real node of every rank, the victim's loop and the aggressor's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from odonata.reproduce.ucx import connections
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.store import Run

    Victim = Literal["alltoall", "allgather"]
    Aggressor = Literal["none", "alltoall", "incast"]

AGGRESSOR_MESSAGE = "2 MiB"
"""Size of each message of the aggressors (README of the data)."""
WARM_UP_US = 6_000
"""The victim begins after about two rounds of an incast on 32 nodes, so that the aggressor is in its steady state.
Assumed: the measurements began together, and their first sizes are left out for that."""
STEADY_PAUSE_S = 1e-6
"""Bursts with no longer pauses are steady: a round of the aggressor takes a thousand times as long."""
LONG = 3.0
"""An iteration is long if it takes more than so many times the 5 % quantile (as in the data)."""


@dataclass(frozen=True)
class Loop:
    """One victim, alone or beside an aggressor."""

    victim: Victim
    size: int
    """Bytes: to each peer of an all-to-all, of the whole result of an all-gather."""
    nodes: tuple[int, ...]
    """Node of each rank of the victim."""
    aggressor: Aggressor = "none"
    aggressor_nodes: tuple[int, ...] = ()
    burst_s: float | None = None
    """A burst ends with the first message of the aggressor that ends so long after its begin, or later."""
    pause_s: float | None = None

    @property
    def message(self) -> int:
        """Bytes of a message; 0 where the loop sends nothing."""
        ranks = len(self.nodes)
        return self.size if self.victim == "alltoall" else self.size // ranks // 4 * 4

    @property
    def bursts(self) -> bool:
        """Whether the aggressor pauses."""
        return self.burst_s is not None and self.pause_s is not None and self.pause_s > STEADY_PAUSE_S

    def app(self) -> dict[str, Any]:
        """The victim's application."""
        message = f"{max(self.message, 1)} B"
        if self.victim == "alltoall":
            return {"motif": "all-to-all-linear", "message": message}
        return {"collective": "allgather", "algorithm": "ring", "message": message}


@dataclass(frozen=True)
class Model:
    """What is simulated: a preset, the costs of its hosts, what of its fabric is changed, and another routing."""

    system: str
    host: Mapping[str, Any]
    fabric: Mapping[str, Any] = field(default_factory=dict)
    routing: Mapping[str, Any] | None = None
    ucx: bool = False
    """Whether MPI uses UCX, which bounds what the ranks of larger jobs ask for at a time."""

    def overhead(self, ranks: int) -> dict[str, Any]:
        """The costs of a job of so many ranks."""
        return {**self.host, "call": "0 s", **(connections(ranks) if self.ucx else {})}


def document(
    loop: Loop, model: Model, *, iterations: int, us: float, shorter: float = 1.0, seed: int = 1
) -> dict[str, Any]:
    """The scenario of a loop: up to so many iterations, and up to `us` microseconds of them.

    Bursts and their pauses are multiplied by `shorter`.
    """
    beside = loop.aggressor != "none"
    start = WARM_UP_US if beside else 0
    jobs: list[dict[str, Any]] = [
        {
            "name": "victim",
            "place": {"policy": "explicit", "nodes": list(loop.nodes)},
            "app": loop.app(),
            "iterations": iterations,
            "barrier": True,
            "start": f"{start} us",
            "overhead": model.overhead(len(loop.nodes)),
        }
    ]
    if beside:
        motif = "all-to-all-linear" if loop.aggressor == "alltoall" else "incast"
        job: dict[str, Any] = {
            "name": "aggressor",
            "place": {"policy": "explicit", "nodes": list(loop.aggressor_nodes)},
            "app": {"motif": motif, "message": AGGRESSOR_MESSAGE},
            "background": True,
            "overhead": model.overhead(len(loop.aggressor_nodes)),
        }
        if loop.bursts:
            assert loop.burst_s is not None
            assert loop.pause_s is not None
            on, off = (max(1, round(1e9 * shorter * seconds)) for seconds in (loop.burst_s, loop.pause_s))
            job |= {"on": f"{on} ns", "off": f"{off} ns"}
        jobs.append(job)
    return {
        "system": {"preset": model.system, "fabric": dict(model.fabric)} if model.fabric else model.system,
        **({"routing": dict(model.routing)} if model.routing else {}),
        "job": jobs,
        "run": {"until": "victim", "horizon": f"{start + us:.0f} us", "seed": seed},
        "measure": {"latency": "histogram"},
    }


def made(loop: Loop, model: Model, *, iterations: int, us: float, shorter: float = 1.0, seed: int = 1) -> Scenario:
    """The same as a scenario."""
    return Scenario.of(document(loop, model, iterations=iterations, us=us, shorter=shorter, seed=seed))


def times_us(run: Run) -> list[float]:
    """The time of the slowest rank of each iteration that all ranks have ended, in microseconds."""
    import polars as pl

    ranks = run.jobs["ranks"][0]
    rows = run.iterations.filter(pl.col("job") == 0, pl.col("ranks") == ranks).sort("iteration")
    return [ps / 1e6 for ps in rows["longest_ps"]]
