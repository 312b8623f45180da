"""The cells of the page: programs on machines of six kinds, alone and beside a neighbour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.reproduce.reproduction import Points

BOUNDS: dict[str, str | None] = {"whole": None, "bound-1": "1 %", "bound-5": "5 %"}
"""Model -> `error` of `run.steady`."""
ITERATIONS = 200
"""Of the measured program."""
LATE_ITERATIONS, LATE_START = 60, "3 ms"
"""Of the neighbour that starts late and ends by itself."""
NODES = 16
"""Of each job, one rank each."""
SEED = 11


def _links(*classes: str) -> dict[str, dict[str, str]]:
    return {name: {"bandwidth": "100 Gbit/s", "latency": "25 ns", "buffer": "32 KiB"} for name in classes}


MACHINES: dict[str, dict[str, Any]] = {
    "fat-tree": {
        "kind": "fat-tree",
        "pods": 2,
        "leaves": 4,
        "spines": 2,
        "cores": 4,
        "nodes_per_leaf": 4,
        "host": "leonardo",
        "fabric": {"links": _links("node", "leaf", "core")},
    },
    "dragonfly": {
        "kind": "dragonfly",
        "groups": 5,
        "routers": 4,
        "nodes_per_router": 4,
        "global_links_per_router": 4,
        "host": "lumi",
        "fabric": {"links": _links("node", "local", "global")},
    },
    "dragonfly-plus": {
        "kind": "dragonfly-plus",
        "groups": 4,
        "leaves": 4,
        "spines": 4,
        "nodes_per_leaf": 4,
        "global_links_per_spine": 3,
        "host": "leonardo",
        "fabric": {"links": _links("node", "local", "global")},
    },
    "cascade": {
        "kind": "cascade",
        "groups": 3,
        "rows": 2,
        "columns": 4,
        "column_links": 1,
        "nodes_per_router": 3,
        "global_links_per_router": 2,
        "host": "piz-daint",
        "fabric": {"links": _links("node", "chassis", "group", "optical")},
    },
    "hyperx": {
        "kind": "hyperx",
        "dimensions": [4, 4],
        "nodes_per_router": 4,
        "host": "leonardo",
        "fabric": {"links": _links("node", "dim1", "dim2")},
    },
    "slingshot": {
        "preset": "alps",
        "groups": 3,
        "routers": 4,
        "global_links_per_router": 3,
        "links_per_pair": 6,
    },
}
"""Small machines of all kinds, and one of a preset whose nodes have four NICs."""
PROGRAMS: dict[str, dict[str, Any]] = {
    "ring": {"collective": "allreduce", "algorithm": "ring", "message": "400 KB"},
    "all-to-all": {"collective": "alltoall", "algorithm": "pairwise", "message": "20 KB"},
    "halo": {"motif": "halo3d", "message": "50 KB", "compute": "20 us"},
    "sweep": {"motif": "sweep3d", "message": "8 KB"},
    "training": {
        "motif": "training",
        "tensor": 2,
        "pipeline": 2,
        "gradient_bytes": "1 MB",
        "activation_bytes": "50 KB",
        "tensor_bytes": "50 KB",
    },
    "milc": {"motif": "milc"},
    "reduction": {
        "collective": "allreduce",
        "algorithm": "rabenseifner",
        "message": "500 KB",
        "compute": "20 us",
        "jitter": "10 us",
    },
}
"""Programs that repeat; the last computes for a random time."""
NEIGHBOURS: dict[str, dict[str, Any] | None] = {
    "alone": None,
    "all-to-all": {"collective": "alltoall", "algorithm": "pairwise", "message": "32 KB"},
    "late halo": {"motif": "halo3d", "message": "100 KB", "compute": "10 us"},
    "incast": {"motif": "incast", "message": "64 KB", "gap": "150 us"},
}
"""Neighbours: in the background, except the one that starts late and ends, which makes further epochs. Without its gap,
the incast would fill all queues."""
LATE = "late halo"


def cells() -> list[tuple[str, str, str]]:
    """Machine, program and neighbour of each cell: every program on every machine, with the neighbours in turn."""
    listed = list(NEIGHBOURS)
    return [
        (machine, program, listed[(2 * row + column) % len(listed)])
        for row, machine in enumerate(MACHINES)
        for column, program in enumerate(PROGRAMS)
    ]


def points(reduced: bool) -> Points:
    """Each cell as a whole run and with each bound."""
    chosen = [cell for cell in cells() if cell[0] == "hyperx" and cell[1] in ("ring", "halo")] if reduced else cells()
    return [
        {"machine": machine, "program": program, "neighbour": neighbour, "model": model}
        for machine, program, neighbour in chosen
        for model in BOUNDS
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """The program, and beside it its neighbour."""
    bound, beside = BOUNDS[point["model"]], NEIGHBOURS[point["neighbour"]]
    place = {"policy": "random"}
    jobs: list[dict[str, Any]] = [
        {"name": "program", "nodes": NODES, "place": place, "app": PROGRAMS[point["program"]], "iterations": ITERATIONS}
    ]
    if beside is not None:
        late = {"iterations": LATE_ITERATIONS, "start": LATE_START}
        runs = late if point["neighbour"] == LATE else {"background": True}
        jobs.append({"name": "neighbour", "nodes": NODES, "place": place, "app": beside, **runs})
    run: dict[str, Any] = {"seed": SEED}
    return Scenario.of(
        {
            "system": MACHINES[point["machine"]],
            "job": jobs,
            "run": run if bound is None else {**run, "steady": {"error": bound}},
        }
    )
