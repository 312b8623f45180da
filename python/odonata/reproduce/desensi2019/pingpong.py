"""Ping-pongs beside a background (De Sensi 2019, sections 2.4, 3 and 4.1), and what is kept of them.

A point is a `message` size, the `distances` of the pairs and how many `pairs` there are of each, the `modes`, and what
surrounds them (`setting.py`). Every pair is two routers. Each mode has a node of its own on both, so all modes of a
pair use the same cables. The modes take turns: of two modes, each begins an iteration in every second slot of time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata import aries, units
from odonata.placement.splitmix import SplitMix64
from odonata.reproduce.desensi2019.setting import LOAD, PACKET, SEND_FROM, around, table
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.machine import Shape
    from odonata.store import Run

DEFAULT, HIGH_BIAS = "adaptive-0", "adaptive-3"
DISTANCES = {
    "inter-nodes": "two nodes of one blade",
    "inter-blades": "two blades of one chassis",
    "inter-chassis": "two chassis of one group",
    "inter-groups": "two groups",
}
"""Distance -> where the two nodes are (De Sensi 2019, section 3.1)."""
ANYWHERE, INTRA = "anywhere", "intra-group"
"""Any two routers; two routers of one group."""
CHASSIS = 16
"""Blades of a chassis (D1)."""


def point(experiment: str, message: str, seed: int, distances: list[str], pairs: int, **more: Any) -> dict[str, Any]:
    """A point on the machine `piz-daint` with the default mode."""
    return {
        "experiment": experiment,
        "message": message,
        "seed": seed,
        "distances": distances,
        "pairs": pairs,
        "modes": [DEFAULT],
        "iterations": 10,
        "slot": "0 us",
        "jitter": "0 us",
        "until": "",
        "machine": "piz-daint",
        "packet": PACKET,
        "load": LOAD,
        "background": "uniform",
        "delay": 0,
        **more,
    }


def make(point: Mapping[str, Any]) -> Scenario:
    """All pairs at once. The same seed means the same nodes, and the same background at the same times.

    The run ends with the last pair, or at `until`: the last response of a small message arrives after that.
    """
    modes, slot = point["modes"], units.time_ps(point["slot"])
    app = {"motif": "ping-pong", "message": point["message"]}
    if units.time_ps(point["jitter"]):
        app["jitter"] = point["jitter"]
    shape = around(point).machine.shape
    jobs = []
    for distance, number, routers in draw(shape, point["distances"], point["pairs"], point["seed"], chassis_of(point)):
        for turn, mode in enumerate(modes):
            first, second = (shape.nodes_on(router)[turn] for router in routers)
            if first == second:
                second = shape.nodes_on(routers[1])[turn + len(modes)]
            job = {
                "name": f"{distance}-{number}-{turn}",
                "place": {"policy": "explicit", "nodes": [first, second]},
                "app": app,
                "iterations": point["iterations"],
                "start": f"{units.time_ps(SEND_FROM) + turn * slot} ps",
                "routing": mode,
                "record": "every-message",
            }
            jobs.append(job | ({"every": f"{len(modes) * slot} ps"} if slot else {}))
    made = table(point, jobs)
    if point["until"]:
        made["run"]["until"] = point["until"]
    return Scenario.of(made)


def chassis_of(point: Mapping[str, Any]) -> int:
    """Blades of a chassis of its machine."""
    return 4 if point["machine"] == "small" else CHASSIS


def draw(
    shape: Shape, distances: list[str], pairs: int, seed: int, chassis: int = CHASSIS
) -> list[tuple[str, int, tuple[int, int]]]:
    """For each distance so many pairs of routers: distance, number and routers; no router is in two pairs."""
    stream, used, drawn = SplitMix64(seed), set[int](), []
    for distance in distances:
        for number in range(pairs):
            while True:
                # The first routers go round the groups, so that no group has most of the pairs.
                inside = shape.routers_in(number % shape.groups)
                first = inside[stream.below(len(inside))]
                second = first if distance == "inter-nodes" else stream.below(shape.routers)
                named = _distance(shape, first, second, chassis)
                if named in _NAMES.get(distance, (distance,)) and not used & {first, second}:
                    break
            used |= {first, second}
            drawn.append((distance, number, (first, second)))
    return drawn


_NAMES = {
    INTRA: ("inter-blades", "inter-chassis"),
    ANYWHERE: ("inter-blades", "inter-chassis", "inter-groups"),
}


def _distance(shape: Shape, first: int, second: int, chassis: int) -> str:
    here, other = (divmod(router, shape.routers_per_group) for router in (first, second))
    if here[0] != other[0]:
        return "inter-groups"
    if first == second:
        return "inter-nodes"
    return "inter-blades" if here[1] // chassis == other[1] // chassis else "inter-chassis"


def keep(run: Run) -> dict[str, Any]:
    """A list for each measured job, of its iterations but the first.

    - `times_ps`: an iteration as the first rank sees it, from its send to the end of its receive.
    - `network_ps`: of this, both messages from the first to the last byte at the NICs: without the host.
    - `latency_ps`, `stalls`: L and s of the NICs, over both messages (D9).
    - `estimates_ps`: equation 2 for both messages, from their L and s (D11); `unlimited_ps` by equation 1 (D10).
    - `minimal`: share of the job's packets on minimal paths (one number for each job).

    `optical` is the mean load of the cables between groups, `busiest` the largest.
    """
    spec = run.resolved["spec"]
    cycle = spec["fabric"]["nic"]["aries"]["cycle_ps"]
    key = ["job", "interval", "source", "destination"]
    rows = run.messages.join(run.nic_messages, on=key).filter(pl.col("interval") > 0).sort(key)
    iterations = run.iterations.filter(pl.col("iteration") > 0).sort("job", "iteration")
    sizes = [size for size in map(_size, spec["jobs"]) if size]
    jobs = run.jobs.head(len(sizes))
    kept: dict[str, list[Any]] = {
        name: [] for name in ("times_ps", "network_ps", "latency_ps", "stalls", "estimates_ps", "unlimited_ps")
    }
    for job, size in enumerate(sizes):
        mine = rows.filter(pl.col("job") == job)
        took = iterations.filter(pl.col("job") == job)["longest_ps"].to_numpy().astype(np.float64)
        if mine.height != 2 * len(took) or mine["complete_ps"].null_count():
            raise ValueError(f"job {job}: {mine.height} messages for {len(took)} iterations")
        latency = mine["packet_latency_mean_ps"].to_numpy()
        stalls = (mine["stalled_cycles"] / mine["flits"]).to_numpy()
        for name, limit in (("estimates_ps", 1024), ("unlimited_ps", None)):
            of_messages = [
                aries.transmission_time(size, latency=late / cycle, stalls=stalled, outstanding=limit) * cycle
                for late, stalled in zip(latency, stalls, strict=True)
            ]
            kept[name].append(_both(of_messages, sum))
        kept["times_ps"].append(took.tolist())
        kept["network_ps"].append(_both(mine["latency_ps"].to_list(), sum))
        kept["latency_ps"].append(_both(latency, np.mean))
        kept["stalls"].append(_both(stalls, np.mean))
    optical = run.links.filter(pl.col("class") == "optical")["busy"].to_numpy()
    return {
        **kept,
        "minimal": jobs["minimal_fraction"].to_list(),
        "optical": float(optical.mean()),
        "busiest": float(optical.max()),
    }


def _size(job: Mapping[str, Any]) -> int:
    """The size of its messages; 0 for a job of the background."""
    phases = (phase["what"] for phase in job.get("program", {}).get("body", {}).get("phases", []))
    return next((what["bytes"] for what in phases if what["name"] == "ping-pong"), 0)


def _both(values: Any, of: Any) -> list[float]:
    """One value for the two messages of an iteration."""
    return [float(of(pair)) for pair in np.asarray(values, np.float64).reshape(-1, 2)]
