"""`odonata bench --sweep`: the cost of a run in a sweep in addition to its simulation.

Many runs of a few hundred packets on the 16 nodes of `tiny`, by one worker. Processor time is counted, of the sweep and
of its worker, less what starting takes and less what the core says that it took; load on the machine moves it less than
wall time. Medians over the repetitions.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

from odonata.text import aligned

RUNS = 2000
"""Runs of a repetition."""

_SCENARIO = {
    "system": "tiny",
    "routing": "fpar",
    "job": [
        {
            "name": "target",
            "place": {"policy": "per-leaf", "per_leaf": 1},
            "app": {"pattern": "uniform-random", "message": "4 KB", "interval": "1 us", "messages": 2},
        },
        {
            "name": "noise",
            "nodes": 6,
            "app": {"pattern": "uniform-random", "message": "40 KB", "interval": "5 us"},
            "background": True,
        },
    ],
    "measure": {"latency": "histogram"},
}


def measure(repetitions: int) -> dict[str, Any]:
    """Milliseconds of processor time per run: in the core, outside it, and the parent's share of the latter."""
    rounds = [_round() for _ in range(repetitions)]
    medians = {name: statistics.median(times[name] for times in rounds) for name in rounds[0]}
    return {"repetitions": repetitions, "runs": RUNS, **medians}


def as_text(medians: dict[str, Any]) -> str:
    """A line for each number."""
    lines = [
        ("runs, repetitions", f"{medians['runs']:,}, {medians['repetitions']}"),
        ("core, per run", f"{medians['core_ms']:.2f} ms"),
        ("beside it, per run", f"{medians['overhead_ms']:.2f} ms"),
        ("of that the parent", f"{medians['parent_ms']:.2f} ms"),
        ("runs per second", f"{medians['runs_per_s']:.0f}"),
    ]
    return "\n".join(aligned(lines, [False, True]))


def _round() -> dict[str, float]:
    start, whole = _swept(2), _swept(RUNS)
    parent, workers = ((whole[name] - start[name]) / RUNS * 1e3 for name in ("parent_s", "workers_s"))
    core = whole["core_s"] / RUNS * 1e3
    return {
        "core_ms": core,
        "overhead_ms": parent + workers - core,
        "parent_ms": parent,
        "runs_per_s": RUNS / (whole["wall_s"] - start["wall_s"]),
    }


def _swept(runs: int) -> dict[str, float]:
    import time

    import polars as pl

    from odonata.scenario import Scenario
    from odonata.study.axis import Axis
    from odonata.study.local import LocalPool
    from odonata.study.plan import Plan
    from odonata.study.sweep import sweep

    seeds = tuple((seed,) for seed in range(runs // 2))
    axes = (Axis(("routing",), (("fpar",), ("minimal",))), Axis(("run.seed",), seeds))
    plan = Plan("bench", Scenario.of(_SCENARIO), axes)
    with tempfile.TemporaryDirectory() as scratch:
        before, began = os.times(), time.perf_counter()
        sweep(plan, Path(scratch) / "out", LocalPool(1))
        wall, after = time.perf_counter() - began, os.times()
        core = pl.read_parquet(Path(scratch) / "out" / "walls.parquet")["wall_s"]
    return {
        "wall_s": wall,
        "parent_s": after.user + after.system - before.user - before.system,
        "workers_s": after.children_user + after.children_system - before.children_user - before.children_system,
        # The core measures only wall time; its lower quartile is closest to its time on an idle computer.
        "core_s": float(core.quantile(0.25) or 0.0) * runs,
    }
