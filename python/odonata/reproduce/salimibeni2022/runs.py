"""The simulations for Salimi Beni 2022 (V11 to V18): a measured job of 16 nodes beside a queue of other users' jobs.

A point is what the measured job does (`app`, and `size` of a collective), its `locality`, the `routing`, the number of
its `iterations`, and the queue: `draw` and `load`. Iterations begin at fixed intervals (`every`), so all ranks begin
together, as in the paper's benchmarks. The seed of a run is its draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from odonata import machine
from odonata.background.simulated import of_jobs_on_nodes
from odonata.reproduce.salimibeni2022.queue import (
    LATEST_US,
    SHIPPED,
    SYSTEM,
    allocations,
    mixed,
    others,
    phases,
)
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from odonata.reproduce.reproduction import Points
    from odonata.store import Run

COLLECTIVES = ("broadcast", "reduce", "alltoall")
SIZES = {"4 B": 4, "1 KiB": 2**10, "32 KiB": 2**15, "1 MiB": 2**20}
"""The paper's sizes (V2)."""
LONG = "1 MiB"
POINT_TO_POINT = "point-to-point"
"""A message there and back between the first and the last node of an allocation (`salimi-beni2022-mix`)."""
DRAWN = "32 KiB"
"""Size of the distributions. The paper does not state that of figure 3; figure 5 has 2^20 B, which would take ten times
as long to simulate."""
FAR = "different-islands"
ROUTING = "fpar"
MINIMAL = "minimal"

EVERY_US: dict[str, dict[str, int]] = {
    "broadcast": {"4 B": 60, "1 KiB": 60, "32 KiB": 200, "1 MiB": 1200},
    "reduce": {"4 B": 60, "1 KiB": 60, "32 KiB": 200, "1 MiB": 1400},
    "alltoall": {"4 B": 80, "1 KiB": 150, "32 KiB": 800, "1 MiB": 5000},
    "point-to-point": {"4 B": 60, "1 MiB": 400},
}
"""Between the begins of two iterations: about a third more than they take on an idle machine. The paper waits 1 ms;
simulating that costs as much as the iterations themselves, and the other jobs go on meanwhile as they do here."""
DRAWS = tuple((draw, round(0.15 + 0.6 * (draw * 0.618 % 1), 3)) for draw in range(1, 101))
"""The queues of figure 4: draw and load. The paper has 22; with so few, the correlation of one panel varies by 0.3
between sets of queues. Assumed: loads spread evenly and in no order, so that b is as low and as high as that of figure
5 (0.17 to 0.74)."""
OFTEN = {"4 B": 20, "1 KiB": 20, "32 KiB": 20, "1 MiB": 6}
"""Iterations of a point of figure 4; of all-to-all half of them."""
QUEUES = {"low": (101, 0.2), "middle": (103, 0.55), "high": (108, 0.78), "hacc-low": (104, 0.33)}
"""Single queues: draw and load. `low` and `high` are those of figure 5 (b of 0.17 to 0.21 and 0.70 to 0.74), `middle`
that of figure 3, which the paper does not state (0.40 to 0.70 most of the time, V16)."""
MANY = {"broadcast": 100, "reduce": 100, "alltoall": 50}
"""Iterations of a distribution; the paper has 1,000."""
APPLICATIONS: dict[str, list[dict[str, Any]]] = {
    "hacc": [
        {"compute": "241 us"},
        {"motif": "halo3d26", "message": "64 KiB", "order": "all-at-once"},
        {"motif": "fft3d", "cells": [64, 64, 64]},
    ],
    "miniamr": 4
    * [
        {"compute": "154 us"},
        {"motif": "halo3d", "message": "32 KiB"},
        {"collective": "allreduce", "message": "8 B"},
        {"collective": "allreduce", "message": "8 B"},
    ],
}
"""Proxies of the applications (V15). HACC: particles to 26 neighbours and a Fourier transform, no blocking collective.
miniAMR: stencils and small all-reduces. The computing is what makes the share of MPI on an idle machine that of the
paper, 67 % and 27 %."""
APP_QUEUES = {"hacc": ("hacc-low", "hacc-high"), "miniamr": ("amr-low", "amr-high")}
QUEUES |= {"hacc-high": (105, 0.6), "amr-low": (106, 0.53), "amr-high": (107, 0.69)}
APP_ITERATIONS = 30
APP_EVERY_US = {"hacc": 1800, "miniamr": 2600}
"""As `EVERY_US`, but more than they take at a high b, so that iterations do not wait for earlier ones."""


def points(reduced: bool) -> Points:
    """Those of figure 4, of the distributions (figures 1, 3 and 5), with minimal routing, and of applications."""
    return list(_reduced() if reduced else _full())


def scattered(reduced: bool) -> Points:
    """Those of figure 4 alone."""
    return list(_reduced() if reduced else _scatter(DRAWS, tuple(SIZES)))


def point_of(
    app: str, size: str, locality: str, queue: tuple[int, float], iterations: int, routing: str = ROUTING
) -> dict[str, Any]:
    draw, load = queue
    return {
        "app": app,
        "size": size,
        "locality": locality,
        "routing": routing,
        "draw": draw,
        "load": load,
        "iterations": iterations,
    }


def _scatter(draws: tuple[tuple[int, float], ...], sizes: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for app in COLLECTIVES:
        for size in sizes:
            often = OFTEN[size] // (2 if app == "alltoall" else 1)
            for queue in draws:
                yield point_of(app, size, FAR, queue, often)


def _full() -> Iterator[dict[str, Any]]:
    for app in COLLECTIVES:
        for locality in allocations():
            yield point_of(app, DRAWN, locality, QUEUES["middle"], MANY[app])
        for name in ("low", "high"):
            yield point_of(app, DRAWN, FAR, QUEUES[name], MANY[app])
        yield point_of(app, DRAWN, FAR, QUEUES["high"], MANY[app], MINIMAL)
    for app, names in APP_QUEUES.items():
        for name in names:
            yield point_of(app, "", FAR, QUEUES[name], APP_ITERATIONS)
        yield point_of(app, "", FAR, (0, 0.0), 5)
    yield from _scatter(DRAWS, tuple(SIZES))


def _reduced() -> Iterator[dict[str, Any]]:
    yield from _scatter(DRAWS[:4], ("4 B",))


def every_us(point: Mapping[str, Any]) -> int:
    """Microseconds between the begins of two iterations."""
    app = point["app"]
    return EVERY_US[app][point["size"]] if app in EVERY_US else APP_EVERY_US[app]


def make(point: Mapping[str, Any]) -> Scenario:
    """The measured job beside the jobs of two nodes or more of a queue; jobs of one node send nothing."""
    app, size, mix = point["app"], point["size"], point.get("mix", SHIPPED)
    nodes = list(allocations()[point["locality"]])
    program = {"collective": app, "message": size} if app in EVERY_US else {"motif": "phases"}
    if app in APPLICATIONS:
        program["phases"] = APPLICATIONS[app]  # type: ignore[assignment]
    if app == POINT_TO_POINT:
        program, nodes = {"motif": "ping-pong", "message": size}, [nodes[0], nodes[-1]]
    apps = mixed(point["draw"], point["load"], mix) if point["load"] else {}
    jobs: list[dict[str, Any]] = [
        {
            "name": "measured",
            "place": {"policy": "explicit", "nodes": nodes},
            "app": program,
            "iterations": point["iterations"],
            "every": f"{every_us(point)} us",
            "start": f"{LATEST_US + 200} us",
            "record": "nothing",
        }
    ]
    jobs += [
        {
            "name": other.name,
            "place": {"policy": "explicit", "nodes": list(other.nodes)},
            "app": {"motif": "phases", "phases": phases(apps[other.name], mix)},
            "start": f"{other.start_us} us",
            "background": True,
            "record": "nothing",
        }
        for other in _queue(point)
        if len(other.nodes) > 1
    ]
    table = {
        "system": SYSTEM,
        "routing": point["routing"],
        "job": jobs,
        "run": {"until": "measured", "seed": point["draw"]},
    }
    return Scenario.of(table)


def utilisation(draw: int, load: float) -> float:
    """b of a queue (V9), by the function of `odonata cluster background`; the measured job does not count."""
    jobs = {other.name: other.nodes for other in (others(draw, load) if load else ())}
    return of_jobs_on_nodes(jobs, machine.load(SYSTEM).shape.nodes).b


def keep(run: Run) -> dict[str, Any]:
    """What is kept of a run.

    - `times_ps`: of each iteration, the time of the slowest rank.
    - `communicating`: b of the jobs of the run beside the measured one, all of two nodes or more, by equation 1.
    - `injected`: bytes that all nodes sent, as a fraction of what the nodes of these jobs could send.
    - `local`, `global`: mean load of these links.
    - `minimal`, `minimal_all`: fraction of the measured job's packets, and of all packets, on minimal paths.
    """
    spec = run.resolved["spec"]
    mine = run.iterations.filter(run.iterations["job"] == 0).drop_nulls("time_ps")
    jobs = {job["name"]: job["nodes"] for job in spec["jobs"][1:]}
    nodes = run.links.filter(run.links["class"] == "node", run.links["from_kind"] == "node")
    senders = sum(map(len, jobs.values()))
    went = run.jobs.drop_nulls("minimal_fraction")
    return {
        "times_ps": mine["longest_ps"].to_numpy().astype(np.float64),
        "communicating": of_jobs_on_nodes(jobs, machine.load(SYSTEM).shape.nodes).b1,
        "injected": float(nodes["busy"].sum()) / senders if senders else 0.0,
        **{
            kind: float(run.links.filter(run.links["class"] == kind)["busy"].to_numpy().mean())
            for kind in ("local", "global")
        },
        "minimal": float(run.jobs["minimal_fraction"][0]),
        "minimal_all": float((went["minimal_fraction"] * went["packets"]).sum()) / float(went["packets"].sum()),
    }


def _queue(point: Mapping[str, Any]) -> Any:
    return others(point["draw"], point["load"]) if point["load"] else ()
