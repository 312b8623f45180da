"""The part of a report about time: latencies by size, distance and time of issue, traffic by window, iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata.store.latency import Latency

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from odonata.store import Run

SLICES = 200
"""Most slices of time, and most windows of traffic: a screen shows no more."""
MOST_BINS = 1_200
"""About the number of points of a cumulative distribution."""
TAIL = 300
"""The greatest bins of a distribution that are kept as they are."""
MOST_MESSAGES = 20_000_000
"""Recorded messages of a job that are read; of more, those of every second, third, ... interval."""
MOST_ITERATIONS = 2_000
"""Iterations of a job that are drawn; of more, every second, third, ... one."""

DISTANCES = ("same node", "same router", "same group", "other group")
"""Classes of distance between the nodes of a message, near to far."""


def distributions(jobs: pl.DataFrame) -> pl.DataFrame:
    """The distribution of latencies of every job: `job`, `lower_ps`, `upper_ps`, `count`.

    The bins are those of the histogram, neighbours joined to about `MOST_BINS`, except the `TAIL` greatest.
    """
    frames = []
    for row in jobs.select("job", "bin_lower_ps", "bin_upper_ps", "bin_count").iter_rows(named=True):
        lower, upper, count = (np.asarray(row[f"bin_{name}"] or (), np.uint64) for name in _BINS)
        if not len(count):
            continue
        ends = _ends(np.cumsum(count, dtype=np.uint64))
        begins = np.concatenate([[0], ends[:-1] + 1])
        sums = np.add.reduceat(count, begins)
        frames.append(_bins(row["job"], lower[begins], upper[ends], sums))
    return pl.concat(frames) if frames else _bins(0, *[np.zeros(0, np.uint64)] * 3)


_BINS = ("lower_ps", "upper_ps", "count")


def _bins(job: int, *columns: NDArray[np.uint64]) -> pl.DataFrame:
    data = {"job": np.full(len(columns[0]), job, np.uint16), **dict(zip(_BINS, columns, strict=True))}
    return pl.DataFrame(data)


def _ends(up_to: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The last bin of each joint bin."""
    step = (up_to * np.uint64(MOST_BINS)) // up_to[-1] if int(up_to[-1]) < 2**50 else np.arange(len(up_to))
    last = np.flatnonzero(np.append(step[1:] != step[:-1], True))
    return np.union1d(last, np.arange(max(0, len(up_to) - TAIL - 1), len(up_to)))


def messages_of(run: Run, left_out: list[str]) -> dict[str, Any]:
    """Latencies of recorded messages by distance, and by time of issue; of those that count as measured."""
    spec = run.resolved.get("spec", {})
    measure, jobs = spec.get("measure", {}), spec.get("jobs", [])
    width = slice_width(int(run.manifest["sim_time_ps"]))
    router, group = _places(run)
    by_distance: list[dict[str, Any]] = []
    over_time: list[pl.DataFrame] = []
    for number, job in enumerate(jobs):
        if job["record"] != "every-message":
            continue
        rows = _messages(run, number, measure, job, left_out)
        if not rows.height:
            continue
        over_time.append(_over_time(rows, number, width))
        nodes = np.asarray(job["nodes"], np.int64)
        source, destination = nodes[rows["source"].to_numpy()], nodes[rows["destination"].to_numpy()]
        far = (
            (source != destination).astype(np.int8)
            + (router[source] != router[destination])
            + (group[source] != group[destination])
        )
        latency = rows["latency_ps"].to_numpy()
        for distance, name in enumerate(DISTANCES):
            latencies = Latency.from_rows(latency[far == distance])
            if latencies is not None:
                by_distance.append({"job": number, "distance": name, "count": latencies.count, **latencies.as_dict()})
    return {
        "slice_ps": width,
        "distances": by_distance,
        "over_time": pl.concat(over_time) if over_time else None,
    }


def slice_width(sim_time_ps: int) -> int:
    """The width of a slice: at most `SLICES` cover the run."""
    return max(1, -(-max(sim_time_ps, 1) // SLICES))


def _messages(
    run: Run, number: int, measure: Mapping[str, Any], job: Mapping[str, Any], left_out: list[str]
) -> pl.DataFrame:
    rows = run.scan("messages").filter(pl.col("job") == number, pl.col("latency_ps").is_not_null())
    rows = rows.filter(pl.col("issue_ps") >= measure.get("from_ps", 0))
    if measure.get("until_ps") is not None:
        rows = rows.filter(pl.col("issue_ps") < measure["until_ps"])
    count = int(rows.select(pl.len()).collect().item())
    every = -(-count // MOST_MESSAGES)
    if every > 1:
        rows = rows.filter(pl.col("interval") % every == 0)
        left_out.append(
            f"{job['name']}: latencies by distance and over time are those of the messages of one in {every} intervals."
        )
    return rows.select("source", "destination", "issue_ps", "latency_ps").collect()


def _over_time(rows: pl.DataFrame, job: int, width: int) -> pl.DataFrame:
    latency = pl.col("latency_ps")
    slices = rows.group_by((pl.col("issue_ps") // width).alias("slice")).agg(
        pl.len().alias("count"),
        latency.cast(pl.Float64).sum().alias("sum_ps"),
        *(latency.sort().get((pl.len() * top + 99) // 100 - 1).alias(f"p{top}_ps") for top in (50, 99)),
        latency.max().alias("max_ps"),
    )
    return slices.sort("slice").with_columns(pl.lit(job, pl.UInt16).alias("job"))


def _places(run: Run) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Router and group of each node, by its id; -1 for nodes without a NIC that works."""
    nics = run.scan("links").filter(pl.col("from_kind") == "node")
    nics = nics.select("from_id", "from_port", "to_id", "to_group")
    first = nics.collect().sort("from_id", "from_port").unique("from_id", keep="first")
    size = int(first["from_id"].max() or 0) + 1 if first.height else 0  # type: ignore[arg-type]
    router, group = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    router[first["from_id"].to_numpy()] = first["to_id"].to_numpy()
    group[first["from_id"].to_numpy()] = first["to_group"].to_numpy()
    return router, group


def traffic_of(run: Run, left_out: list[str]) -> dict[str, Any] | None:
    """Traffic between groups by window, job and group, without rows of zeros; `None` if the run did not count it."""
    counters = run.counters
    if counters.is_empty():
        return None
    windows = counters.select("window", "start_ps", "width_ps").unique("window").sort("window")
    every = -(-windows.height // SLICES)
    if every > 1:
        left_out.append(f"Traffic between groups: {every} windows of the run are one window of this report.")
    joint = pl.col("window") // every
    windows = windows.group_by(joint).agg(pl.col("start_ps").min(), pl.col("width_ps").sum()).sort("window")
    totals = ("packets_in", "bytes_in", "packets_out", "bytes_out")
    rows = counters.group_by(joint, "job", "group").agg(pl.col(name).sum() for name in totals)
    rows = rows.filter(pl.col("packets_in") + pl.col("packets_out") > 0).sort("window", "job", "group")
    return {"windows": windows.drop("window"), "rows": rows}


def iterations_of(run: Run, left_out: list[str]) -> pl.DataFrame | None:
    """Iterations that all ranks of a job have ended; `None` if there are none."""
    columns = ("job", "iteration", "first_begin_ps", "last_end_ps", "time_ps", "longest_ps", "mean_ps")
    iterations = run.scan("iterations").filter(pl.col("time_ps").is_not_null()).select(*columns).collect()
    if iterations.is_empty():
        return None
    most = int(iterations.group_by("job").len()["len"].max())  # type: ignore[arg-type]
    every = -(-most // MOST_ITERATIONS)
    if every > 1:
        left_out.append(f"Iterations: one in {every} is drawn. The table of jobs counts all of them.")
    return iterations.filter(pl.col("iteration") % every == 0)
