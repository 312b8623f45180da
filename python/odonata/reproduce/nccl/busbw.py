"""`nccl`: the bus bandwidth of an all-reduce by size, as nccl-tests measures it, on two published clusters.

- `nd-a100`: eight A100 of one virtual machine of Azure, joined by NVSwitch.
- `dgx-a100`: 32 A100 of four DGX A100 with eight NICs of HDR each.

The models: one ring in the order of the ranks, and between nodes eight rings side by side (`ring-channels`) and
`hierarchical`: a reduce-scatter inside each node, all-reduces between the GPUs of one number, an all-gather inside; all
with the protocol Simple. The model `nccl` is rings side by side or trees, with the protocol, whichever NCCL's tuning
model chooses for the size (`algorithm = "nccl"`).

The bus bandwidth is `2 (n - 1) / n` times the bytes of a rank over the time, for n ranks.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import tomlkit

from odonata import machine, scenario, units
from odonata.reproduce.markdown import bold, counts, reasons_by_model, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement, within
from odonata.scenario.apps import nccl as tuning
from odonata.scenario.apps.nccl import NCCL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row
    from odonata.scenario import Scenario

TOLERANCE = "15 %"
"""Stated before the first run."""
PRESET = "superpod-h100-gpu"
A100 = "240 GB/s"
"""A port of a GPU: twelve links of NVLink 3 at the 20 GB/s that NCCL reckons with (NCCL, src/graph/topo.h)."""
HDR = "200 Gbit/s"


@dataclass(frozen=True)
class Cluster:
    """A published cluster."""

    nodes: int
    gpus: int
    """GPUs of a node."""
    models: tuple[str, ...]
    where: str
    """Where the figures are published."""

    @property
    def ranks(self) -> int:
        """All GPUs."""
        return self.nodes * self.gpus


CLUSTERS = {
    "nd-a100": Cluster(
        1,
        8,
        ("ring", NCCL),
        "microsoft/superbenchmark, tests of `nccl-bw`: all_reduce_perf, out of place",
    ),
    "dgx-a100": Cluster(
        4,
        8,
        ("ring", "ring-channels", "hierarchical", NCCL),
        "NVIDIA/deepops, guide of a performance cluster: all_reduce_perf, out of place",
    ),
}


def published() -> dict[tuple[str, int], float]:
    """Cluster and bytes -> published bus bandwidth in GB/s."""
    text = (files("odonata.reproduce.nccl") / "published.csv").read_text("utf-8")
    return {(row["cluster"], int(row["bytes"])): float(row["busbw"]) for row in csv.DictReader(text.splitlines())}


def points(reduced: bool) -> Points:
    """Each published value with each model of its cluster."""
    small = 2**22 if reduced else 2**40
    return [
        {"cluster": cluster, "model": model, "bytes": size}
        for cluster, size in published()
        for model in CLUSTERS[cluster].models
        if size <= small
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """The scenario of a point."""
    of = CLUSTERS[point["cluster"]]
    document = {
        "system": {
            "preset": PRESET,
            "fabric": {"links": {"node": {"bandwidth": HDR}, "leaf": {"bandwidth": HDR}}},
            "host": {"gpu": {"bandwidth": A100, "generation": "ampere", "cpu": "amd"}},
        },
        "job": [
            {
                "name": "all-reduce",
                "nodes": of.nodes,
                "ranks_per_node": of.gpus,
                "place": "contiguous",
                "app": {
                    "collective": "allreduce",
                    "algorithm": point["model"],
                    "message": f"{point['bytes']} B",
                },
            }
        ],
        "run": {"seed": 1},
    }
    return scenario.parse(tomlkit.dumps(document), "nccl.toml")


def bus_bandwidth(cluster: str, size: int, time_ps: int) -> float:
    """In GB/s."""
    ranks = CLUSTERS[cluster].ranks
    return 2 * (ranks - 1) / ranks * size / (time_ps * 1e-12) / 1e9


def rows(runs: Runs) -> list[Row]:
    """Ours over theirs for every size."""
    theirs = published()
    statements = []
    for run in runs:
        cluster, size = run["cluster"], run["bytes"]
        ours = bus_bandwidth(cluster, size, run["time_ps"])
        what = f"{cluster}: all-reduce of {units.format_bytes(size)}"
        where = CLUSTERS[cluster].where
        statements.append(
            statement("NC1", what, ours, theirs[cluster, size], "GB/s", TOLERANCE, where, model=run["model"])
        )
    return statements


@lru_cache
def tuned(cluster: str) -> tuning.Communicator:
    """What NCCL's tuning model knows of a cluster."""
    system = make({"cluster": cluster, "model": NCCL, "bytes": 1}).resolve().system
    assert system.table.host is not None
    gpu = system.table.host.on_rails(system.rails).gpu
    assert gpu is not None
    return tuning.communicator(gpu, CLUSTERS[cluster].nodes, system.table.fabric.links["node"].bandwidth)


def estimate(cluster: str, size: int) -> float:
    """The bus bandwidth that NCCL's tuning model estimates for its choice, in GB/s."""
    of = tuned(cluster)
    return bus_bandwidth(cluster, size, round(1e6 * tuning.time_us(of, *tuning.choice(of, size), size)))


def chosen() -> list[list[str]]:
    """What NCCL's tuning model chooses for each size, what it estimates for it, and that over the published value."""
    made = []
    for (cluster, size), theirs in published().items():
        algorithm, protocol = tuning.choice(tuned(cluster), size)
        value, ours = estimate(cluster, size), tuning.ALGORITHMS[algorithm]
        made.append([cluster, units.format_bytes(size), ours, protocol, f"{value:.1f}", f"{value / theirs:.2f}"])
    return made


def _near() -> str:
    """How many of the estimates are within the tolerance of the published values."""
    values = published()
    near = [within(estimate(*key), theirs, TOLERANCE) for key, theirs in values.items()]
    return f"{sum(near)} of {len(values)}"


def _of_runs(_rows: Sequence[Row], _runs: Runs) -> dict[str, str]:
    """Nothing but rows."""
    return {}


def _of_rows(rows: Sequence[Row], _: Texts) -> dict[str, str]:
    """Verdicts by cluster and model, and the settings in the text."""
    models = dict.fromkeys(row.model for row in rows)
    host = machine.load(PRESET).table.host
    assert host is not None
    assert host.gpu is not None
    return {
        "call": units.format_time(host.call),
        "step": units.format_time(host.send + host.gpu.latency + host.receive),
        "counts": "; ".join(f"{model}: {counts(rows, model)}" for model in models),
        "tolerance": TOLERANCE,
        "preset": PRESET,
        "port": A100,
        "nic": HDR,
        "channels": " and ".join(
            f"{of.channels} channels of {of.bandwidth / of.channels:.0f} GB/s on `{name}`"
            for name, of in ((name, tuned(name)) for name in CLUSTERS)
        ),
        "near": _near(),
        "chosen": table(
            ["cluster", "size", "algorithm", "protocol", "NCCL's estimate, GB/s", "estimate / published"],
            chosen(),
            "lrllrr",
        ),
        "rows": table(
            ["what", "model", "ours, GB/s", "published", "ours / published", "verdict"],
            [
                [
                    row.what,
                    row.model,
                    f"{row.ours:.1f}",
                    f"{row.theirs:.1f}",
                    f"{row.ours / row.theirs:.2f}",
                    bold(row.verdict),
                ]
                for row in rows
            ],
            "llrrrl",
        ),
        "reasons": reasons_by_model(rows),
    }


REPRODUCTION = Reproduction(
    name="nccl",
    title="All-reduces of NCCL on A100: bus bandwidth by size, inside a node and on four nodes",
    points=points,
    make=make,
    rows=rows,
    text=Page(lambda: (files("odonata.reproduce.nccl") / "busbw.md").read_text("utf-8"), _of_rows, _of_runs),
)
