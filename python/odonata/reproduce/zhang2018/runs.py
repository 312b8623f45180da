"""The simulations for Zhang 2018 (figures 2 and 4 to 13; catalogue L14 to L41), and what is kept of them.

A point is a `policy`, a `seed`, and a setup: the kind of `routers`, `nodes` of the machine, `ratio` of bandwidths,
classes of `jobs`, the `order` of placing them, and for a `variant` its `settings` of the scenario. Every figure is
simulated as its authors ran it, with their routers as the paper describes them, and with today's routers (`SHOWN`).
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata import machine, placement
from odonata.placement import Job
from odonata.placement.splitmix import SplitMix64
from odonata.reproduce.zhang2018.as_run import FABRIC, HEADER, ITERATIONS, LAST_RANK, can, named, program
from odonata.reproduce.zhang2018.workloads import MACHINE, MOTIFS, as_authors_drew, read
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from odonata.machine import System
    from odonata.reproduce.reproduction import Points
    from odonata.reproduce.zhang2018.workloads import Workload
    from odonata.store import Run

LEVEL_SPREAD, SIMPLE, JOKANOVIC = "level-spread", "simple", "jokanovic"
CODED = "jokanovic-coded"
"""The policy with the defect of the authors' code (L12)."""
GROUPING = (SIMPLE, "slurm-zhang-sst", "random-groups")
"""With "Slurm" as the authors' code has it (L10)."""
SPREADING = ("random-routers", "round-robin-routers", "random-nodes", "round-robin-nodes")
BASELINES = (*GROUPING, *SPREADING)
EIGHT = (LEVEL_SPREAD, *BASELINES)
"""The policies as the paper lists them."""

RANKS_PER_NODE = 2
"""Tasks of a node (L5)."""
SEED_STEP = 10_000
"""Between two repetitions: job n of a run draws with the run's seed + n."""
_MAPPING = int.from_bytes(b"mapping")
"""Keeps the shuffles of a mapping apart from those of a placement with the same seed."""
_GLOBAL = {"0.25": "2 Gbit/s", "1": "8 Gbit/s", "4": "32 Gbit/s"}
"""Ratio -> bandwidth of global links (L3)."""
AS_RUN, AS_PUBLISHED, TODAY = "as-run", "as-published", "today"
STORED, VIRTUAL = "store-and-forward", "virtual-output-queued"
SHOWN = (AS_RUN, AS_PUBLISHED, TODAY)
"""The kinds of the figures: what the authors' scripts made their simulator do, their routers with the routing that the
paper describes, and the shipped presets, whose ideal routers cut through."""
UGAL = "ugal-l"
"""The shipped presets with the usual routing of a dragonfly, which was their default once: figures 10 and 12 only."""


@dataclass(frozen=True)
class Routers:
    """A kind of routers, as changes of the scenario."""

    suffix: str
    """Of the preset."""
    of_run: dict[str, Any] = field(default_factory=dict)
    """Routing and sensing, where they are not those of the preset."""
    fabric: dict[str, Any] = field(default_factory=dict)
    overhead: dict[str, Any] = field(default_factory=dict)
    """Of every job, where it differs from the preset's."""


_MERLIN = {"routing": "adaptive-local", "sensing": "output-buffer"}
ROUTERS = {
    # Minimal paths need no metric; to name the usual one keeps these runs what they were.
    AS_RUN: Routers("-as-published", {"routing": "minimal", "sensing": "backlog"}, FABRIC, {"header": HEADER}),
    AS_PUBLISHED: Routers("-as-published"),
    VIRTUAL: Routers("-as-published", fabric={"router": {"kind": "virtual-output-queued"}}),
    TODAY: Routers(""),
    UGAL: Routers("", {"routing": "ugal-l"}),
    # The first version of these pages: no paths through a router of the own group either.
    STORED: Routers(
        "",
        {"routing": {"name": "adaptive-local", "inside": "minimal"}},
        {"switching": "store-and-forward", "flit": "1 B"},
    ),
}
"""Name -> routers. Jobs of `AS_RUN` have programs of their own (`as_run`)."""
FIVE = tuple(kind for kind in ROUTERS if kind != UGAL)
"""Those of the page of routers."""
KINDS = ("local", "global")
COUNTS = ("packets", "stalled_ps")


@dataclass(frozen=True)
class JobClass:
    """Equal jobs."""

    name: str
    """`small` or `large`."""
    count: int
    nodes: int
    """Nodes of each job."""
    motif: str
    message: str = "1 KB"
    """Size of each message."""
    iterations: int = 1

    def __str__(self) -> str:
        words = f"{self.count}x{self.nodes}:{self.motif}:{self.message.replace(' ', '')}"
        return words if self.iterations == 1 else f"{words}:x{self.iterations}"


@dataclass(frozen=True)
class Setup:
    """One experiment, to be done with each policy."""

    routers: str
    """Their kind, a name in `ROUTERS`."""
    nodes: int
    """Nodes of the machine, which is the preset `zhang2018-NODES`."""
    ratio: str
    """Bandwidth of a global link over that of a local one: `0.25`, `1`, `4` (L3)."""
    classes: tuple[JobClass, ...]
    order: str = "small-first"
    """The order in which jobs are placed (L17)."""
    variant: str = ""
    """The difference from the main runs."""
    settings: tuple[tuple[str, str], ...] = ()
    """Its changes of the scenario: key and value (JSON); `overhead` is of all jobs."""

    @property
    def name(self) -> str:
        """Unique among the setups of a study."""
        parts = (
            self.routers,
            f"{self.nodes}",
            f"ratio={self.ratio}",
            *map(str, self.classes),
            self.order,
            self.variant,
        )
        return "/".join(part for part in parts if part)

    def point(self, policy: str, seed: int) -> dict[str, Any]:
        """The point of a policy and a seed."""
        told = {
            "routers": self.routers,
            "nodes": self.nodes,
            "ratio": self.ratio,
            "order": self.order,
            "variant": self.variant,
        }
        jobs = [dict(vars(job_class)) for job_class in self.classes]
        settings = {key: json.loads(value) for key, value in self.settings}
        return {"policy": policy, "seed": seed, **told, "jobs": jobs, "settings": settings}


def setup_of(point: Mapping[str, Any]) -> Setup:
    """The setup of a point."""
    classes = tuple(JobClass(**job_class) for job_class in point["jobs"])
    order, variant, settings = point["order"], point["variant"], written(point["settings"])
    return Setup(point["routers"], point["nodes"], point["ratio"], classes, order, variant, settings)


def written(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """As a setup has them."""
    return tuple((key, json.dumps(value)) for key, value in settings.items())


def setup_of_workload(workload: Workload, order: str, routers: str, *, motif: str = "") -> Setup:
    """A random workload as an experiment; with one pattern for both classes if it is named."""
    small = JobClass("small", workload.small_jobs, workload.small_nodes, motif or workload.small_motif)
    large = JobClass("large", workload.large_jobs, workload.large_nodes, motif or workload.large_motif)
    return Setup(routers, MACHINE, "1", (small, large), order)


def _regular(
    *workloads: str,
    repetitions: int,
    ratios: Sequence[str] = ("1",),
    nodes: Sequence[int] = (272,),
    policies: Sequence[str] = EIGHT,
    motifs: Sequence[str] = MOTIFS,
    messages: Sequence[tuple[str, str]] = (("1 KB", "1 KB"),),
    iterations: int = 1,
    utilisation: int = 90,
    variant: str = "",
    routers: Sequence[str] = SHOWN,
) -> Iterator[dict[str, Any]]:
    """Points of homogeneous and heterogeneous workloads; `messages` are those of small and of large jobs.

    As run there are only those that the authors' programs can do, with their number of iterations.
    """
    for kind, size, ratio, workload, motif, sizes, repetition in itertools.product(
        routers, nodes, ratios, workloads, motifs, messages, range(1, repetitions + 1)
    ):
        if kind == AS_RUN and not all(can(motif, message) for message in sizes):
            continue
        repeated = ITERATIONS if kind == AS_RUN else iterations
        classes = tuple(
            JobClass(name, count, of_nodes, motif, sizes[name == "large"], repeated)
            for name, count, of_nodes in _counted(workload, size, utilisation)
        )
        for policy in policies:
            yield Setup(kind, size, ratio, classes, variant=variant).point(policy, SEED_STEP * repetition)


def _counted(workload: str, nodes: int, utilisation: int) -> Sequence[tuple[str, int, int]]:
    """Class, number and size of the jobs (L14, L15): jobs of 16 nodes, of 64, four of a quarter of the machine, as many
    of 16 as of 64."""
    busy = nodes * utilisation // 100
    return {
        "full-16": [("small", nodes // 16, 16)],
        "16": [("small", busy // 16, 16)],
        "64": [("large", busy // 64, 64)],
        "quarter": [("large", 4, nodes // 4)],
        "both": [("small", busy // 80, 16), ("large", busy // 80, 64)],
    }[workload]


def _random(
    count: int,
    order: str = "small-first",
    *,
    routers: Sequence[str] = SHOWN,
    policies: Sequence[str] = EIGHT,
    alone: bool = False,
) -> Iterator[dict[str, Any]]:
    """Points of the first random workloads (`workloads.csv`), each once (L20).

    With `alone` one pattern at a time: the k-th hundred of the file for the k-th pattern (L39).
    """
    for kind, (number, motif) in itertools.product(routers, enumerate(MOTIFS if alone else ("",))):
        if motif and motif not in patterns(kind):
            continue
        for workload in workloads_of(kind)[100 * number : 100 * number + count]:
            for policy in policies:
                yield setup_of_workload(workload, order, kind, motif=motif).point(policy, SEED_STEP * workload.number)


def patterns(kind: str) -> Sequence[str]:
    """Patterns of the random workloads of a kind of routers."""
    return [motif for motif in MOTIFS if kind != AS_RUN or can(motif, "1 KB", any_ranks=True)]


def workloads_of(kind: str) -> Sequence[Workload]:
    """The random workloads of a kind of routers, in order."""
    return as_authors_drew() if kind == AS_RUN else read()


def _varied(count: int) -> Iterator[dict[str, Any]]:
    """Points of the first random workloads, changed. `message` and `iterations` of a variant are those of all jobs."""
    for (kind, label), changes in VARIANTS.items():
        settings = dict(changes)
        own = {key: settings.pop(key) for key in ("message", "iterations") if key in settings}
        for workload in workloads_of(kind)[:count]:
            usual = setup_of_workload(workload, "small-first", kind)
            classes = tuple(replace(each, **own) for each in usual.classes)
            varied = replace(usual, classes=classes, variant=label, settings=written(settings))
            for policy in (*EIGHT, JOKANOVIC, CODED):
                yield varied.point(policy, SEED_STEP * workload.number)


REPETITIONS = 10
"""Of figures 2 and 4 to 7 (L20)."""
WORKLOADS, ALONE = 1_000, 100
"""Random workloads of figures 10 to 13, and of each pattern alone (L16, L39)."""
TWO = ("random-groups", "random-nodes")
THREE = (LEVEL_SPREAD, JOKANOVIC, CODED)
RATIOS = ("0.25", "1", "4")
_LINKS = ("local", "global", "node")
MAIN = "as in the figures"
_FREE = {"send": "0 s", "receive": "0 s", "copy": "none"}
_SINGLE: dict[str, dict[str, Any]] = {
    "threshold 1 in place of 2": {"routing": {"name": "adaptive-local", "factor": 1.0}},
    "minimal routing": {"routing": "minimal"},
    "5 iterations": {"iterations": 5},
    "MPI calls cost nothing": {"overhead": _FREE},
}
VARIANTS: dict[tuple[str, str], dict[str, Any]] = {
    (AS_RUN, MAIN): {},
    (AS_RUN, "adaptive-local"): _MERLIN,
    (AS_RUN, "packets of 1 KiB"): {"fabric.packet": "1 KiB"},
    (AS_RUN, "2 iterations of 10 KB"): {"iterations": ITERATIONS, "message": "10 KB"},
    **{(AS_PUBLISHED, name): changes for name, changes in {MAIN: {}, **_SINGLE}.items()},
    (AS_PUBLISHED, "without the header of messages"): {"overhead": {"header": "0 B"}},
    (AS_PUBLISHED, "packets of 2 KiB"): {"fabric.packet": "2 KiB"},
    (AS_PUBLISHED, "crossbar twice as fast"): {"fabric.router.crossbar": "2x"},
    (AS_PUBLISHED, "buffers of 7 KB"): {f"fabric.links.{name}.buffer": "7 KB" for name in _LINKS},
    (AS_PUBLISHED, "buffers of 56 KB"): {f"fabric.links.{name}.buffer": "56 KB" for name in _LINKS},
    (AS_PUBLISHED, "circulant arrangement"): {"system.arrangement": "circulant"},
    (AS_PUBLISHED, "router delay of 0"): {"fabric.router_delay": "0 ns"},
    (VIRTUAL, MAIN): {},
    **{(TODAY, name): changes for name, changes in {MAIN: {}, **_SINGLE}.items()},
    (STORED, MAIN): {},
}
"""Routers and name of a variant -> its settings, for what the paper leaves open, or only its simulator has."""


def points(figure: str, reduced: bool) -> Points:
    """The points of a figure, each once; those of the reduced form are among the full ones."""
    chosen = (_reduced if reduced else _full)(figure)
    return list({json.dumps(point): point for point in chosen}.values())


def _full(figure: str) -> Iterator[dict[str, Any]]:
    if figure == "fig2":
        yield from _regular("full-16", "quarter", policies=TWO, repetitions=REPETITIONS)
    elif figure == "fig4":
        yield from _regular("16", "64", ratios=RATIOS, repetitions=REPETITIONS)
        # Said in words: utilisation, four large jobs on all machines, longer messages.
        yield from _regular("16", "64", utilisation=70, repetitions=1)
        # How often a job repeats its pattern is not stated in the paper.
        others = [kind for kind in SHOWN if kind != AS_RUN]
        yield from _regular("16", "64", iterations=5, repetitions=1, variant="5 iterations", routers=others)
        yield from _regular("quarter", nodes=(272, 528, 544, 1056), repetitions=1)
        yield from _regular("16", "64", messages=[("100 KB", "100 KB")], repetitions=1)
    elif figure in ("fig5", "fig6"):
        yield from _regular("16" if figure == "fig5" else "64", motifs=["alltoall"], repetitions=REPETITIONS)
    elif figure == "fig7":
        yield from _regular("both", ratios=RATIOS, repetitions=REPETITIONS)
        yield from _regular("both", nodes=(528, 544, 1056), repetitions=1)
        yield from _regular("both", utilisation=70, repetitions=1)
    elif figure == "fig8":
        # The sizes of the paper's rows are not in its text: the two that it uses, and one between.
        light = [("1 KB", heavy) for heavy in ("100 KB", "10 KB", "1 KB")]
        yield from _regular("both", messages=[*light, ("10 KB", "1 KB"), ("100 KB", "1 KB")], repetitions=1)
    elif figure == "fig10":
        yield from _random(WORKLOADS, routers=(*SHOWN, UGAL))
        yield from _random(ALONE, alone=True)
    elif figure == "fig11":
        yield from _random(WORKLOADS, "large-first")
        yield from _random(WORKLOADS)  # so that the points can be compared with those of figure 10
    elif figure in ("fig12", "fig13"):
        order, kinds = ("small-first", (*SHOWN, UGAL)) if figure == "fig12" else ("large-first", SHOWN)
        yield from _random(WORKLOADS, order, policies=THREE, routers=kinds)
    elif figure == "variants":
        yield from _varied(20)
    elif figure == "routers":
        yield from _regular("16", "64", repetitions=1, routers=FIVE)


def _reduced(figure: str) -> Iterator[dict[str, Any]]:
    if figure == "fig2":
        yield from _regular("full-16", "quarter", policies=TWO, motifs=["alltoall"], repetitions=2)
    elif figure == "fig4":
        yield from _regular("16", "64", motifs=["halo2d", "halo3d26"], repetitions=1)
    elif figure in ("fig5", "fig6"):
        yield from _regular("16" if figure == "fig5" else "64", motifs=["alltoall"], repetitions=1)
    elif figure == "fig7":
        yield from _regular("both", motifs=["halo2d", "fft3d"], repetitions=1)
    elif figure == "fig8":
        sizes = [("1 KB", "100 KB"), ("1 KB", "1 KB")]
        yield from _regular("both", messages=sizes, motifs=["broadcast", "halo2d"], repetitions=1)
    elif figure == "fig10":
        yield from _random(2)
        yield from _random(1, alone=True)
    elif figure == "fig11":
        yield from _random(3, "large-first")
        yield from _random(3)
    elif figure in ("fig12", "fig13"):
        yield from _random(6, "small-first" if figure == "fig12" else "large-first", policies=THREE)
    elif figure == "variants":
        yield from _varied(1)
    elif figure == "routers":
        yield from _regular("64", motifs=["halo2d"], repetitions=1, routers=FIVE)


def make(point: Mapping[str, Any]) -> Scenario:
    """The scenario of a point: its jobs, small ones first, placed in the order of the setup.

    The seeds of job n are explicit and follow from the run's + n, so that the validation pages keep their numbers
    whatever seeds a scenario gives its jobs.
    """
    setup, policy, seed = setup_of(point), point["policy"], point["seed"]
    listed = [
        (f"{job_class.name}-{number}", job_class) for job_class in setup.classes for number in range(job_class.count)
    ]
    chosen, options = ("jokanovic", {"fall_through": True}) if policy == CODED else (policy, {})
    drawn = placement.get(chosen).seeded
    asked = [
        Job(name, chosen, job_class.nodes, options | ({"seed": seed + number} if drawn else {}))
        for number, (name, job_class) in enumerate(listed)
    ]
    settings, routers = dict(point["settings"]), ROUTERS[setup.routers]
    overhead = routers.overhead | settings.pop("overhead", {})
    places = {job.name: {"nodes": job.nodes, "place": {"policy": job.policy, **job.options}} for job in asked}
    if setup.order != "small-first":  # a scenario places jobs as they are listed
        placed = placement.place_all(asked, _system(setup.nodes), setup.order)
        places = {
            name: {"place": {"policy": "explicit", "nodes": placement.nodes}} for name, placement in placed.items()
        }
    jobs = [
        {
            "name": name,
            **places[name],
            "ranks_per_node": RANKS_PER_NODE,
            "mapping": {"name": "random-nodes", "seed": SplitMix64((seed + number) ^ _MAPPING).word()},
            "iterations": job_class.iterations,
            "record": "nothing",
            "app": _app(setup.routers, job_class),
            **({"overhead": overhead} if overhead else {}),
        }
        for number, (name, job_class) in enumerate(listed)
    ]
    preset: dict[str, Any] = {"preset": f"zhang2018-{setup.nodes}{routers.suffix}", "fabric": dict(routers.fabric)}
    if setup.ratio != "1":
        preset["fabric"]["links"] = {"global": {"bandwidth": _GLOBAL[setup.ratio]}}
    table = {"system": preset, **routers.of_run, "job": jobs, "run": {"seed": seed}}
    made = Scenario.of(table)
    for key, value in settings.items():
        made = made.set(key, value)
    return made


def _app(routers: str, job_class: JobClass) -> dict[str, Any]:
    if routers == AS_RUN:
        return program(job_class.motif, job_class.message, RANKS_PER_NODE * job_class.nodes)
    return {**named(job_class.motif), "message": job_class.message}


@lru_cache
def _system(nodes: int) -> System:
    return machine.load(f"zhang2018-{nodes}")


def keep(run: Run) -> dict[str, Any]:
    """Communication times of each class of jobs, and how packets and stalls spread over links.

    - `time_CLASS`: picoseconds per iteration until the last rank of a job has finished, mean over the jobs (L18); all
      jobs start at 0. `coded_CLASS`: until the rank has finished that the authors' code asks: the highest-numbered one
      of a broadcast, else rank 0.
    - `local_packets`, `global_packets`, `local_stalled_ps`, `global_stalled_ps`: least, quartiles and largest over the
      output ports to such links (L19).
    - `minimal`: fraction of all packets on minimal paths.
    """
    ends = run.ranks.group_by("job", maintain_order=True).agg(
        last=pl.col("finish_ps").max(), first=pl.col("finish_ps").first(), highest=pl.col("finish_ps").last()
    )
    last, first, highest = (ends[name].to_numpy().astype(np.float64) for name in ("last", "first", "highest"))
    programs = [job["program"] for job in run.resolved["spec"]["jobs"]]
    asks_last = [program["body"]["phases"][0]["what"]["name"] in LAST_RANK for program in programs]
    coded = np.where(asks_last, highest, first)
    names = np.array([name.partition("-")[0] for name in run.jobs["name"]])
    kept: dict[str, Any] = {}
    for name in ("small", "large"):
        mine = np.flatnonzero(names == name)
        iterations = programs[mine[0]]["iterations"] if len(mine) else 1
        for key, values in (("time", last), ("coded", coded)):
            kept[f"{key}_{name}"] = float(values[mine].mean()) / iterations if len(mine) else None
    ports = run.links.filter(pl.col("from_kind") == "router", pl.col("to_kind") == "router")
    for kind in KINDS:
        of_kind = ports.filter(pl.col("class") == kind)
        for count in COUNTS:
            kept[f"{kind}_{count}"] = np.percentile(of_kind[count].to_numpy(), (0, 25, 50, 75, 100))
    went = run.jobs.drop_nulls("minimal_fraction")
    packets = int(went["packets"].sum())
    kept["minimal"] = float((went["minimal_fraction"] * went["packets"]).sum()) / packets if packets else 1.0
    return kept
