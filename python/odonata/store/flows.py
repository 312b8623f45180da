"""Flow completion times of jobs that send lists of flows, and their slowdowns over the ideal (`ideal.py`)."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from odonata.store.columns import columns_of
from odonata.store.costs import Costs
from odonata.store.frame import frame
from odonata.store.ideal import Ideal
from odonata.store.programs import of_job

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_RANK = re.compile(r"rank (\d+) \{")
_SEND = re.compile(r"l\d+: send (\d+)b to (\d+) tag (\d+)(?: cpu (\d+))?")
_CALC = re.compile(r"l\d+: calc (\d+)(?:ps)? cpu (\d+)")

BINS = 20
"""Most bins of sizes: each has 5 % of the flows, as in `fct_analysis.py` of HPCC."""


class _Flow(NamedTuple):
    source: int
    destination: int
    bytes: int
    start: int
    """After the begin of the iteration."""


def flows_frame(
    result: Mapping[str, Any], spec: Mapping[str, Any], system: Mapping[str, Any], lists: Sequence[int]
) -> pl.DataFrame:
    """The flows of the jobs with these numbers; no rows of a job whose messages were not all recorded."""
    data: dict[str, list[Any]] = {column.name: [] for column in columns_of("flow_times")}
    for job in lists:
        what = spec["jobs"][job]
        if what["record"] != "every-message":
            continue
        ideal = Ideal(spec, system) if Ideal.covers(spec, what) else None
        for row in _rows(of_job(result["messages"], job), what, ideal):
            for name, value in zip(data, (job, *row), strict=True):
                data[name].append(value)
    return frame("flow_times", data)


def _rows(messages: Mapping[str, Any], job: Mapping[str, Any], ideal: Ideal | None) -> Iterator[tuple[Any, ...]]:
    """Of each iteration, the flows that were issued, in the order of the list."""
    flows, costs, nodes = _of_goal(job["program"]["body"]["goal"]), Costs.of(job["program"]), job["nodes"]
    before = [costs.handed_over_ps(flow.bytes, inside=nodes[flow.source] == nodes[flow.destination]) for flow in flows]
    alone = [
        None if ideal is None else ideal.time_ps(costs, nodes[flow.source], nodes[flow.destination], flow.bytes)
        for flow in flows
    ]
    # Rows of a pair of ranks are in the order of the hand-over, which follows from starts and costs.
    of_pair: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number in sorted(range(len(flows)), key=lambda n: (flows[n].start + before[n], flows[n].start, n)):
        of_pair[flows[number].source, flows[number].destination].append(number)
    names = ("interval", "source", "destination", "issue_ps", "latency_ps")
    columns = [np.asarray(messages[name]).tolist() for name in names]
    seen: dict[tuple[int, int, int], int] = defaultdict(int)
    matched = []
    for interval, source, destination, issue, latency in zip(*columns, strict=True):
        place = seen[interval, source, destination]
        seen[interval, source, destination] += 1
        number = of_pair[source, destination][place]
        matched.append((interval, number, issue, latency))
    for interval, number, issue, latency in sorted(matched):
        flow = flows[number]
        time = None if latency == _LATE else before[number] + latency
        slowdown = None if time is None or not alone[number] else time / alone[number]
        yield (
            interval, number, flow.source, flow.destination, flow.bytes, issue - before[number], time,
            alone[number], slowdown,
        )  # fmt: skip


_LATE = 2**64 - 1


def _of_goal(goal: str) -> list[_Flow]:
    """The flows of the operations that a list of flows becomes: flow n has the tag n and a CPU of its own."""
    sent: dict[int, tuple[int, int, int, str | None]] = {}
    starts: dict[tuple[int, str], int] = {}
    rank = -1
    for line in goal.splitlines():
        if (match := _RANK.fullmatch(line)) is not None:
            rank = int(match[1])
        elif (match := _SEND.fullmatch(line)) is not None:
            sent[int(match[3])] = rank, int(match[2]), int(match[1]), match[4]
        elif (match := _CALC.fullmatch(line)) is not None:
            # A time in a trace is nanoseconds; one of whole picoseconds has its unit.
            starts[rank, match[2]] = int(match[1]) * (1 if "ps" in line else 1_000)
    flows = []
    for number in sorted(sent):
        source, destination, size, cpu = sent[number]
        flows.append(_Flow(source, destination, size, starts.get((source, cpu or "0"), 0)))
    return flows


def add_flows(jobs: Sequence[dict[str, Any]], flows: pl.DataFrame, measure: Mapping[str, Any]) -> None:
    """Adds to jobs of a summary how many of their flows began while measuring, how many are complete, and `by_size`."""
    began = flows.filter(pl.col("start_ps") >= measure.get("from_ps", 0))
    if measure.get("until_ps") is not None:
        began = began.filter(pl.col("start_ps") < measure["until_ps"])
    for number, job in enumerate(jobs):
        own = began.filter(job=number)
        if not own.is_empty():
            complete = own.height - own["fct_ps"].null_count()
            job["flows"] = {"begun": own.height, "complete": complete, "by_size": by_size(own)}


def by_size(flows: pl.DataFrame) -> list[dict[str, Any]]:
    """Completion times and slowdowns of completed flows by size, and of all: nearest-rank quantiles, and means.

    Each bin has 5 % of the flows, as in `fct_analysis.py` of HPCC, and no size is in two bins.
    """
    done = flows.drop_nulls("fct_ps").sort("bytes", maintain_order=True)
    if done.is_empty():
        return []
    sizes = done["bytes"].to_numpy()
    ends = []
    for part in range(1, BINS + 1):
        end = -(-part * len(sizes) // BINS)
        ends.append(int(np.searchsorted(sizes, sizes[end - 1], side="right")))
    starts = [0, *ends[:-1]]
    bins = [done[start:end] for start, end in zip(starts, ends, strict=True) if end > start]
    return [_bin(part) for part in ([*bins, done] if len(bins) > 1 else bins)]


def _bin(flows: pl.DataFrame) -> dict[str, Any]:
    least, most = int(flows["bytes"].min()), int(flows["bytes"].max())  # type: ignore[arg-type]
    row: dict[str, Any] = {"bytes_least": least, "bytes_most": most, "flows": flows.height}
    for name in ("fct_ps", "slowdown"):
        values = np.sort(flows[name].drop_nulls().to_numpy())
        row[name] = _quantiles(values) if len(values) else None
    return row


def _quantiles(ordered: Any) -> dict[str, float]:
    """The nearest-rank quantiles of ascending values, and their mean."""
    ranks = {name: -(-percent * len(ordered) // 100) - 1 for name, percent in (("p50", 50), ("p95", 95), ("p99", 99))}
    values = {name: ordered[rank].item() for name, rank in ranks.items()}
    return {**values, "mean": float(np.mean(ordered, dtype=np.float64))}
