"""What is simulated beside Kang 2019, and what is kept of it.

A point is a `model`, a `case`, a number of `messages`, what is `changed` in the scenario, and a `repetition`, which is
the seed. The case says the rest,
as `expected.csv` does: pattern/place/interval, the background's load@interval and a label of what is changed, where
there are any. Messages have 4 KB unless the interval names a size: `512KB@450us`.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata import units
from odonata.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from odonata.reproduce.reproduction import Points, Runs
    from odonata.store import Run

    ByCase = dict[tuple[str, str], dict[int, Mapping[str, Any]]]

AS_PUBLISHED, CORRECT, BACKLOG = "as-published", "correct", "backlog"
MODELS: dict[str, dict[str, Any]] = {
    CORRECT: {"routing": {"name": "fpar"}},
    # The variant with the metric of the other routings, as its rows were made: a node sends at 82 % of its link.
    BACKLOG: {"routing": {"name": "fpar"}, "sensing": "backlog", "fabric.links.node.buffer": "8 KiB"},
    # The authors' published simulator, and its settings where they differ from the paper's text. With `compat`, the
    # buffer of nodes is that of an example configuration of theirs; its nodes ignore credits, so it hardly matters.
    AS_PUBLISHED: {
        "compat": "codes-2019",
        "routing": {"name": "fpar", "compare": "at-most", "channel_switch": "intermediate-leaf"},
        "fabric.nic.overhead": "10 ns",
    },
}
"""Model -> its settings of a scenario."""

BACKLOGS = {"sensing": "backlog"}
"""The metric of the calibration and of the variants, which were made before FPAR had its own."""

PATTERNS: dict[str, dict[str, Any]] = {
    "uniform-random": {},
    "tornado": {"offset": 384},
    "stencil": {"pattern": "stencil-3d", "grid": [12, 12, 16]},
    "broadcast": {},
}
PLACES: dict[str, dict[str, Any]] = {
    "contiguous": {"policy": "contiguous", "groups": "3-8"},
    "random": {"policy": "kang2019-random"},
    # For broadcasts: the root outside of the background's groups, and in them (K13).
    "random-out": {"policy": "kang2019-random-broadcast", "root_groups": "3-8"},
    "random-in": {"policy": "kang2019-random-broadcast", "root_groups": "0-2"},
}

FULLEST_PAIR = 130
"""Percentage of the load that 2 background nodes per leaf offer at most; more comes from more nodes (K13)."""
BOTH = ("contiguous", "random")
"""The placements of figures 5 to 8."""
INTERVALS = {
    "4 KB": ("3us", "1us", "0.5us"),
    "512 KB": ("512KB@450us", "512KB@150us", "512KB@100us"),
    "4 MB": ("4MB@4ms", "4MB@1ms", "4MB@0.7ms"),
}
"""Size -> the intervals of figures 5 to 8, as cases say them."""
BACKGROUNDS = ("50%@100us", "90%@100us", "130%@100us")
"""The backgrounds of figures 5 to 8."""
LOADS = ("", *(f"/{background}" for background in BACKGROUNDS))
"""What follows the name of a case that runs alone and beside each of these backgrounds."""


WINDOWS = "2 us"
"""Width of the windows in which traffic between groups is counted beside a broadcast (K52)."""


def product(
    patterns: Iterable[str],
    places: Iterable[str],
    intervals: Iterable[str],
    messages: Sequence[int],
    *,
    models: Iterable[str] = (CORRECT, AS_PUBLISHED),
    backgrounds: Iterable[str] = ("",),
    changes: Iterable[Mapping[str, Any]] = ({},),
    always: Mapping[str, Any] | None = None,
    repetitions: Iterable[int] = (1,),
) -> Points:
    """The points of all combinations; `backgrounds` are loads@intervals, "" for none. The case does not name what is
    `always` changed."""
    return [
        {
            "model": model,
            "case": "/".join(part for part in (pattern, place, interval, background, label(changed)) if part),
            "messages": number,
            "changed": {**changed, **(always or {})},
            "repetition": repetition,
        }
        for model, pattern, place, interval, background, changed, number, repetition in itertools.product(
            models, patterns, places, intervals, backgrounds, changes, messages, repetitions
        )
    ]


def varied(**values: Sequence[Any]) -> list[dict[str, Any]]:
    """One change for each combination of the values; `__` in a name stands for a dot."""
    keys = [key.replace("__", ".") for key in values]
    return [dict(zip(keys, row, strict=True)) for row in itertools.product(*values.values())]


def label(changed: Mapping[str, Any]) -> str:
    """`threshold=0.4`; for a table its entries."""
    pairs: list[tuple[str, Any]] = []
    for key, value in changed.items():
        pairs += value.items() if isinstance(value, dict) else [(key.rpartition(".")[2], value)]
    return ",".join(f"{name}={text}" for name, text in pairs).replace(" ", "")


def make(point: Mapping[str, Any]) -> Scenario:
    """The scenario of a point, with the target first."""
    pattern, place, interval, *rest = point["case"].split("/")
    size, _, interval = interval.rpartition("@")
    app = {"pattern": pattern, "message": size or "4 KB", **PATTERNS[pattern], "interval": interval}
    target = {"name": "target", "nodes": 2304, "place": PLACES[place], "app": {**app, "messages": point["messages"]}}
    jobs = [target, *(_background(*job.split("@")) for job in rest if "@" in job)]
    table: dict[str, Any] = {
        "system": "kang2019",
        "job": jobs,
        "run": {"seed": point.get("repetition", 1)},
        "measure": {"latency": "histogram"},
    }
    if pattern == "broadcast":
        table["measure"]["links"] = {"every": WINDOWS}
    made = Scenario.of(table)
    for key, value in {**MODELS[point["model"]], **point["changed"]}.items():
        made = made.set(key, value)
    return made


def met(case: str, messages: int) -> float:
    """The share of the target's messages that are issued no earlier than the first message of the background, which
    every process sends after an interval (`make`); 1 without a background."""
    parts = case.split("/")
    starts = [units.time_ps(part.partition("@")[2]) for part in parts[3:] if "@" in part]
    if not starts:
        return 1.0
    interval = units.time_ps(parts[2].rpartition("@")[2])
    before = min(messages, -(-max(starts) // interval) - 1)
    return 1 - before / messages


def _background(load: str, interval: str) -> dict[str, Any]:
    """The job beside the target: load of the links between its groups (K10), and its interval.

    It has 2 nodes per leaf, and in proportion beyond 130 % (8 at 520 %; catalogue, decision 4).
    """
    percent = int(load.removesuffix("%"))
    per_leaf = 2 if percent <= FULLEST_PAIR else 2 * percent // FULLEST_PAIR
    return {
        "name": "background",
        "place": {"policy": "per-leaf", "groups": "0-2", "per_leaf": per_leaf},
        "app": {"pattern": "group-peers", "tgll": load, "interval": interval},
        "background": True,
    }


def keep(run: Run) -> dict[str, Any]:
    """What beside the target's latencies is compared or shown.

    - `up_ports`: busy fraction of the links from a leaf to its spines by number of the port, mean over the target's
      groups; `global_ports`: of the links of a spine to other groups.
    - `root_rate`: bytes per second of the target that leave the group of rank 0, over the windows from the first issue
      to the last that leaves (K52). Windows in which none leaves count only at the beginning, when the root sends
      inside its group: a last straggler does not count for the whole wait.
    - `background_rate`: background into and out of that group, bytes per second over the whole run (K21, K53: only the
      sum explains 1,758 GiB/s).

    The rates are absent unless traffic between groups is counted, and there is a background.
    """
    spec = run.resolved["spec"]
    links = run.links
    group_of = dict(links.filter(pl.col("from_kind") == "node").select("from_id", "from_group").iter_rows())
    groups = sorted({group_of[node] for node in spec["jobs"][0]["nodes"]})
    ports = links.filter(
        pl.col("from_kind") == "router", pl.col("to_kind") == "router", pl.col("from_group").is_in(groups)
    )
    leaves = links.filter(pl.col("to_kind") == "node")["from_id"].unique()
    kept: dict[str, Any] = {
        "up_ports": _by_port(ports.filter(pl.col("class") == "local", pl.col("from_id").is_in(leaves.implode()))),
        "global_ports": _by_port(ports.filter(pl.col("class") == "global")),
        "root_rate": None,
        "background_rate": None,
    }
    every_ps = spec["measure"]["arrivals_every_ps"]
    if every_ps is not None:
        at_root = run.counters.filter(pl.col("group") == group_of[spec["jobs"][0]["nodes"][0]])
        left = at_root.filter(pl.col("job") == 0, pl.col("bytes_out") > 0)
        sending: int = left["window"].min()  # type: ignore[assignment]
        before = sending - run.jobs["first_issue_ps"][0] // every_ps
        kept["root_rate"] = left["bytes_out"].sum() / ((before + left.height) * every_ps * 1e-12)
        if len(spec["jobs"]) > 1:
            both = at_root.filter(pl.col("job") == 1)["bytes_both"].sum()
            kept["background_rate"] = both / (run.manifest["sim_time_ps"] * 1e-12)
    return kept


def _by_port(links: pl.DataFrame) -> list[float]:
    """Mean busy fraction by port, ascending."""
    busy = links.group_by("from_port").agg(pl.col("busy").mean()).sort("from_port")["busy"]
    shares: list[float] = busy.to_list()
    return shares


def by_case(runs: Runs, repetition: int = 1) -> ByCase:
    """(model, case) -> number of messages -> run of a repetition; a run that names none is the first."""
    cases: ByCase = {}
    for run in runs:
        if run.get("repetition", 1) == repetition:
            cases.setdefault((run["model"], run["case"]), {})[run["messages"]] = run
    return cases


def shown(cases: ByCase, model: str, alone: str, loads: Sequence[str] = LOADS) -> dict[str, Mapping[str, Any]]:
    """Background of `loads` -> run of a model, all with the largest number of messages that was simulated alone and
    beside every background there is, so that they differ by the background only."""
    outcomes = {load: cases[model, alone + load] for load in loads if (model, alone + load) in cases}
    common = set.intersection(*map(set, outcomes.values())) if "" in outcomes else set()
    return {load: runs[max(common)] for load, runs in outcomes.items()} if common else {}


def largest_slowdown(cases: ByCase, model: str, alone: str) -> float | None:
    """Mean latency over that alone, at the background that makes it largest; None if none was simulated."""
    runs = shown(cases, model, alone)
    ratios = [run["latency_mean_ps"] / runs[""]["latency_mean_ps"] for load, run in runs.items() if load]
    return max(ratios, default=None)
