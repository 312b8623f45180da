"""Microbenchmarks and proxies of applications under three policies (De Sensi 2019, section 5), and what is kept.

A point is a `benchmark` with its `size`, a `policy`, and its machine and background (`setting.py`). Every policy has a
run of its own with the same nodes and the same messages of the background at the same times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from odonata import units
from odonata.machine.host import HostTable
from odonata.placement.splitmix import SplitMix64
from odonata.reproduce.desensi2019.setting import LOAD, PACKET, SEND_FROM, UNIFORM, around, table
from odonata.reproduce.desensi2019.surroundings import SENSINGS
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.machine import Shape
    from odonata.store import Run

DEFAULT, HIGH_BIAS, APP_AWARE = "default", "high-bias", "app-aware"
POLICIES = [DEFAULT, HIGH_BIAS, APP_AWARE]
"""Those of the paper."""
OURS = ["app-aware-h"]
"""Our variant, with hysteresis."""
GRIDS = {32: (4, 4, 2), 64: (4, 4, 4), 1024: (16, 8, 8)}
"""Nodes -> ranks along x, y and z of halo3d."""
VALUES = 8
"""Values of 8 B that halo3d sends of each cell, `-vars` of ember. The paper states 64 MiB for each send of 1024^3
(section 6); ember's default of 1 would give 8 MiB."""
LIBRARY = "cray"
"""Whose algorithms the collectives have: a broadcast goes down a tree of radix 4 whatever its size (docs/host.md)."""
THRESHOLD = 4096
"""Bytes after which the application-aware policy reads counters (docs/application-aware.md)."""
SWEEPS, BLOCKS = 1, 8
"""Sweeps of an iteration of sweep3d, of eight in ember; blocks along z."""


def point(
    figure: str, machine: str, nodes: tuple[int, int], benchmark: str, size: str, policy: str, **more: Any
) -> dict[str, Any]:
    """A point on so many nodes of so many routers; `every` and `iterations` must be among `more`."""
    return {
        "figure": figure,
        "machine": machine,
        "nodes": nodes[0],
        "routers": nodes[1],
        "benchmark": benchmark,
        "size": size,
        "policy": policy,
        "seed": 1,
        "packet": PACKET,
        "load": LOAD,
        "background": UNIFORM,
        "delay": 0,
        "costs": 100,
        "read": "0 ns",
        "sensing": "simulated",
        **more,
    }


def program(benchmark: str, size: str, nodes: int) -> dict[str, Any]:
    """The `app` of a benchmark.

    The size of halo3d is the number of cells along an edge of what a rank holds, as ember's `-nx`, so it does not
    depend on the number of ranks. That of sweep3d is the number of cells along an edge of the whole domain (assumed).
    """
    if benchmark in APPLICATIONS:
        return APPLICATIONS[benchmark]
    if benchmark == "barrier":
        return {"collective": "barrier", "algorithm": LIBRARY}
    if benchmark == "ping-pong":
        return {"motif": "ping-pong", "message": size, "stride": nodes // 2}
    if benchmark not in ("halo3d", "sweep3d"):
        return {"collective": benchmark, "message": size, "algorithm": LIBRARY}
    grid = GRIDS[nodes]
    if benchmark == "halo3d":
        return {"motif": "halo3d", "grid": list(grid), "cells": [int(size)] * 3, "fields": VALUES}
    across = (grid[0], grid[1] * grid[2])
    edge = int(size)
    cells = [max(1, edge // across[0]), max(1, edge // across[1]), edge]
    return {"motif": "sweep3d", "grid": list(across), "cells": cells, "planes": edge // BLOCKS, "sweeps": SWEEPS}


MILC_SITES = 6
"""Along each of the four axes of a rank: the smaller of the two volumes that Fermilab compares in "MILC Scaling on
Clusters", one process a node. The default of the skeleton would take three times as long to simulate."""
MILC_COMPUTING = "15.4 us"
"""Computing of MILC before each exchange: half of the 1,187 floating-point operations of a site and a step of the
solver (d_congrad5_fn_milc.c), for all sites of a rank, at 50 Gflop/s a node (assumed)."""
WITH_COMPUTING, WITHOUT_COMPUTING = "MILC", "MILC without computing"
_MILC = {"motif": "milc", "sites": [MILC_SITES] * 4}
APPLICATIONS: dict[str, dict[str, Any]] = {
    WITH_COMPUTING: {**_MILC, "compute": MILC_COMPUTING},
    WITHOUT_COMPUTING: _MILC,
    "Nekbone": {"motif": "nekbone", "elements": [5, 5, 5]},
    "LAMMPS": {"motif": "lammps", "cells": [10, 10, 10]},
    "HPCG": {"motif": "hpcg", "cells": [16, 16, 16]},
    "FFT": {"motif": "phases", "phases": [{"compute": "50 us"}, {"motif": "fft3d", "cells": [128, 128, 128]}]},
}
"""Skeletons (docs/skeletons.md), smaller than their defaults, and a proxy: the cube of FFT and its computing are
assumed."""


def make(point: Mapping[str, Any]) -> Scenario:
    """The benchmark beside the background."""
    shape = around(point).machine.shape
    job = {
        "name": "measured",
        "place": {"policy": "explicit", "nodes": allocation(shape, point["nodes"], point["routers"], point["seed"])},
        "app": program(point["benchmark"], point["size"], point["nodes"]),
        "iterations": point["iterations"],
        "every": point["every"],
        "start": SEND_FROM,
        "routing": {"name": "application-aware", "policy": point["policy"]},
        "record": "nothing",
    }
    if point["costs"] != 100 or units.time_ps(point["read"]):
        job["overhead"] = costs(point)
    made = table(point, [job])
    if point["sensing"] in SENSINGS:
        made["sensing"] = SENSINGS[point["sensing"]]
    return Scenario.of(made)


def costs(point: Mapping[str, Any]) -> dict[str, Any]:
    """Costs of the host that are not those of the machine: a percentage `costs` of them, and the time to `read` the
    counters, which the application-aware policy spends once in so many messages as exceed its threshold. Each message
    costs the mean (assumed).
    """
    host, share = around(point).machine.table.host or HostTable(), point["costs"] / 100
    read = units.time_ps(point["read"]) if point["policy"] == APP_AWARE else 0
    size = units.size_bytes(point["size"]) if read else 1
    made: dict[str, Any] = {
        key: f"{round(getattr(host, key) * share)} ps" for key in ("send", "receive", "rendezvous", "call")
    }
    made["send"] = f"{round(host.send * share + read / (THRESHOLD // size + 1))} ps"
    for key, rate in (("copy", host.copy_), ("reduce", host.reduce)):
        made[key] = "none" if not share or not rate else units.format_bandwidth(round(rate / share))
    return made


def allocation(shape: Shape, nodes: int, routers: int, seed: int) -> list[int]:
    """Nodes on so many routers, which are drawn and spread evenly over all groups, as are the nodes over them."""
    stream = SplitMix64(seed)
    chosen: list[int] = []
    for group in range(shape.groups):
        inside = list(shape.routers_in(group))
        share = routers * (group + 1) // shape.groups - routers * group // shape.groups
        chosen += [inside.pop(stream.below(len(inside))) for _ in range(share)]
    most = -(-nodes // routers)
    counts = [most] * routers
    for at in range(most * routers - nodes):
        counts[-1 - at % routers] -= 1
    return sorted(
        node for router, count in zip(sorted(chosen), counts, strict=True) for node in _first(shape, router, count)
    )


def _first(shape: Shape, router: int, count: int) -> Sequence[int]:
    return shape.nodes_on(router)[:count]


def keep(run: Run) -> dict[str, Any]:
    """What is kept of a run.

    - `times_ps`: of each iteration but the first, from its first begin to its last end.
    - `default_share`: share of the bytes that were sent with the default mode (D24).
    - `latency_ps`, `stalls`: L and s over the job's own NICs (D9).
    - `minimal`: share of the job's packets on minimal paths.
    - `optical`, `busiest`: mean and largest load of the cables between groups.
    """
    iterations = run.iterations.filter(pl.col("job") == 0, pl.col("iteration") > 0).sort("iteration")
    job = run.jobs.row(0, named=True)
    optical = run.links.filter(pl.col("class") == "optical")["busy"].to_numpy()
    return {
        "times_ps": [float(time) for time in iterations["time_ps"]],
        "default_share": job["default_fraction"],
        "latency_ps": job["packet_latency_mean_ps"],
        "stalls": job["stalled_cycles"] / job["request_flits"],
        "minimal": job["minimal_fraction"],
        "optical": float(optical.mean()),
        "busiest": float(optical.max()),
    }


def edge(size: str) -> int:
    """A size as a number: bytes, or cells along an edge; 0 for none."""
    return 0 if not size else int(size) if size.isdigit() else units.size_bytes(size)
