"""`nccl`: the bus bandwidth of an all-reduce by size, as nccl-tests measures it, on two published clusters.

- `nd-a100`: eight A100 of one virtual machine of Azure, joined by NVSwitch.
- `dgx-a100`: 32 A100 of four DGX A100 with eight NICs of HDR each.

The models: one ring in the order of the ranks, and between nodes eight rings side by side (`ring-channels`) and
`hierarchical`: a reduce-scatter inside each node, all-reduces between the GPUs of one number, an all-gather inside; all
with the protocol Simple. The model `nccl` is rings side by side or trees, with the protocol, whichever NCCL's tuning
model chooses for the size (`algorithm = "nccl"`). Two models are *nccl* with one setting changed: `nccl-start` begins
as late as the published time of 0 bytes says; `nccl-2.7` chooses as version 2.7.5 did, with the times of its tables.

The bus bandwidth is `2 (n - 1) / n` times the bytes of a rank over the time, for n ranks.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata import machine, units
from odonata.reproduce.markdown import reasons_by_model, side_by_side, table
from odonata.reproduce.nccl import version
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import explained_by_model, statement, within, without_cause
from odonata.scenario import Scenario
from odonata.scenario.apps import nccl as tuning
from odonata.scenario.apps.nccl import NCCL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

TOLERANCE = "15 %"
"""Stated before the first run."""
PRESET = "superpod-h100-gpu"
A100 = "240 GB/s"
"""A port of a GPU: twelve links of NVLink 3 at the 20 GB/s that NCCL reckons with (NCCL, src/graph/topo.h)."""
HDR = "200 Gbit/s"
STARTED, OLD = f"{NCCL}-start", f"{NCCL}-2.7"
OLD_CHANNELS, OLD_SPEED = 8, 24.0
"""Channels of version 2.7.5 on `dgx-a100`, one for each NIC, and the speed of its list that a NIC allows, in GB/s."""
START_US = 34.69
"""Time of an all-reduce of 0 bytes on `nd-a100`, out of place: the mean of the two rows of its table."""


@dataclass(frozen=True)
class Cluster:
    """A published cluster."""

    nodes: int
    gpus: int
    """GPUs of a node."""
    models: tuple[str, ...]
    where: str
    """Where the figures are published."""
    tried: tuple[str, ...] = ()
    """Models of experiments, which are not compared: what they assume is not published for the cluster, or is worse."""

    @property
    def ranks(self) -> int:
        """All GPUs."""
        return self.nodes * self.gpus


CLUSTERS = {
    "nd-a100": Cluster(
        1,
        8,
        ("ring", NCCL, STARTED),
        "microsoft/superbenchmark, tests of `nccl-bw`: all_reduce_perf, out of place",
    ),
    "dgx-a100": Cluster(
        4,
        8,
        ("ring", "ring-channels", "hierarchical", NCCL),
        "NVIDIA/deepops, guide of a performance cluster: all_reduce_perf, out of place",
        (STARTED, OLD),
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
        for model in (*CLUSTERS[cluster].models, *CLUSTERS[cluster].tried)
        if size <= small
    ]


def make(point: Mapping[str, Any]) -> Scenario:
    """The scenario of a point."""
    of, model = CLUSTERS[point["cluster"]], point["model"]
    app = {
        "collective": "allreduce",
        "algorithm": NCCL if model == STARTED else model,
        "message": f"{point['bytes']} B",
    }
    host: dict[str, Any] = {}
    if model == STARTED:
        host = {"call": f"{usual_start() + START_US:.4f} us"}
    if model == OLD:
        chosen = version.choice(old(point["cluster"]), point["bytes"])
        app |= {"algorithm": tuning.ALGORITHMS[chosen[0]], "protocol": chosen[1]}
        host = version.host(old(point["cluster"]), *chosen)
    host["gpu"] = {"bandwidth": A100, "generation": "ampere", "cpu": "amd", **host.get("gpu", {})}
    document = {
        "system": {
            "preset": PRESET,
            "fabric": {"links": {"node": {"bandwidth": HDR}, "leaf": {"bandwidth": HDR}}},
            "host": host,
        },
        "job": [
            {
                "name": "all-reduce",
                "nodes": of.nodes,
                "ranks_per_node": of.gpus,
                "place": "contiguous",
                "app": app,
            }
        ],
        "run": {"seed": 1},
    }
    return Scenario.of(document)


def old(cluster: str) -> version.Machine:
    """A cluster as version 2.7.5 of NCCL finds it (assumed)."""
    of = CLUSTERS[cluster]
    return version.Machine(of.nodes, of.gpus, OLD_CHANNELS, OLD_SPEED)


@lru_cache
def usual_start() -> float:
    """Microseconds at the start of a collective in the preset."""
    host = machine.load(PRESET).table.host
    assert host is not None
    return host.call / 1e6


def bus_bandwidth(cluster: str, size: int, time_ps: int) -> float:
    """In GB/s."""
    ranks = CLUSTERS[cluster].ranks
    return 2 * (ranks - 1) / ranks * size / (time_ps * 1e-12) / 1e9


def rows(runs: Runs) -> list[Row]:
    """Ours over theirs for every size."""
    theirs, ours = published(), bandwidths(runs)
    statements = []
    for (cluster, size, model), value in ours.items():
        if model in CLUSTERS[cluster].tried:
            continue
        what = f"{cluster}: all-reduce of {units.format_bytes(size)}"
        started = ours.get((cluster, size, STARTED))
        late = model == NCCL and started is not None and within(started, theirs[cluster, size], TOLERANCE)
        known = STARTED in CLUSTERS[cluster].models
        statements.append(
            statement(
                *("NC1", what, value, theirs[cluster, size], "GB/s", TOLERANCE, CLUSTERS[cluster].where),
                model=model,
                why=(LATE if known else PERHAPS_LATE) if late else "",
                experiment=f"*{STARTED}* in the table of experiments" if late else "",
            )
        )
    return statements


LATE = "a collective starts sooner here than the published time of an empty one says"
PERHAPS_LATE = (
    "a collective may start later than NCCL's model says: with the start of `nd-a100`, which is not published for "
    "`dgx-a100`, the value is within the tolerance"
)


def bandwidths(runs: Runs) -> dict[tuple[str, int, str], float]:
    """Cluster, bytes and model -> bus bandwidth in GB/s."""
    return {
        (run["cluster"], run["bytes"], run["model"]): bus_bandwidth(run["cluster"], run["bytes"], run["time_ps"])
        for run in runs
    }


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


def _old_choices() -> list[str]:
    """What version 2.7.5 chooses on `dgx-a100`, from the least size for which it does."""
    made: dict[str, str] = {}
    for cluster, size in published():
        if OLD in CLUSTERS[cluster].tried:
            algorithm, protocol = version.choice(old(cluster), size)
            made.setdefault(f"{tuning.ALGORITHMS[algorithm]} with {protocol}", units.format_bytes(size))
    return [f"{chosen} from {size}" for chosen, size in made.items()]


def _near() -> str:
    """How many of the estimates are within the tolerance of the published values."""
    values = published()
    near = [within(estimate(*key), theirs, TOLERANCE) for key, theirs in values.items()]
    return f"{sum(near)} of {len(values)}"


def _of_runs(_rows: Sequence[Row], runs: Runs) -> dict[str, str]:
    """What each setting gives beside the published values."""
    ours, models = bandwidths(runs), (NCCL, STARTED, OLD)
    lines = []
    for (cluster, size), theirs in published().items():
        values = [ours.get((cluster, size, model)) for model in models]
        cells = ["" if value is None else f"{value / theirs:.2f}" for value in values]
        lines.append([cluster, units.format_bytes(size), f"{theirs:.1f}", *cells])
    return {"experiments": table(["cluster", "size", "published, GB/s", *models], lines, "lrrrrr")}


def _of_rows(rows: Sequence[Row], _: Texts) -> dict[str, str]:
    """Verdicts by cluster and model, and the settings in the text."""
    host = machine.load(PRESET).table.host
    assert host is not None
    assert host.gpu is not None
    return {
        "call": units.format_time(host.call),
        "step": units.format_time(host.send + host.gpu.latency + host.receive),
        "tolerance": TOLERANCE,
        "preset": PRESET,
        "port": A100,
        "nic": HDR,
        "channels": " and ".join(
            f"{of.channels} channels of {of.bandwidth / of.channels:.0f} GB/s on `{name}`"
            for name, of in ((name, tuned(name)) for name in CLUSTERS)
        ),
        "near": _near(),
        "start": f"{START_US} us",
        "version": version.VERSION,
        "old_choices": ", ".join(_old_choices()),
        "chosen": table(
            ["cluster", "size", "algorithm", "protocol", "NCCL's estimate, GB/s", "estimate / published"],
            chosen(),
            "lrllrr",
        ),
        "rows": "\n\n".join(
            side_by_side(of := [row for row in rows if row.what.startswith(f"{name}:")], list({r.model: 0 for r in of}))
            for name in CLUSTERS
        ),
        "reasons": reasons_by_model(rows),
    }


def explained(rows: Sequence[Row]) -> list[Row]:
    """What an algorithm misses and NCCL's own choice gives has the algorithm as its cause."""
    why = "NCCL's tuning model chooses another algorithm or protocol here"
    of = ("ring", "ring-channels", "hierarchical")
    return explained_by_model(without_cause(rows, why), NCCL, of, why, f"the same row of the model *{NCCL}*")


REPRODUCTION = Reproduction(
    name="nccl",
    title="All-reduces of NCCL on A100: bus bandwidth by size, inside a node and on four nodes",
    points=points,
    make=make,
    rows=rows,
    explain=explained,
    text=Page(lambda: (files("odonata.reproduce.nccl") / "busbw.md").read_text("utf-8"), _of_rows, _of_runs),
)
