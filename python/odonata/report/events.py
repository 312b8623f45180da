"""A run as a trace in the JSON format of Chrome's trace viewer, which ui.perfetto.dev opens.

The format is described in Google's "Trace Event Format". Every job is a process, with a slice for the whole job, an
asynchronous slice for each of its iterations and recorded messages, and a slice for each rank of a program up to its
end. Traffic between groups is a counter for each job. Times are microseconds, as the format wants.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.store import Run

MOST_MESSAGES = 100_000
"""Messages of a trace at most; of more, those of every second, third, ... source rank."""
MOST_RANKS = 2_000
"""Ranks of a job at most; of more, every second, third, ... one."""


def _process(job: int) -> int:
    """Number of the process of a job, and of its main thread. Number 0 is the idle process of Perfetto."""
    return job + 1


def _thread(job: int, rank: int) -> int:
    """Number of the thread of a rank: Perfetto wants other numbers in other processes."""
    return _process(job) * 10_000_000 + rank


def trace_of(run: Run) -> tuple[bytes, list[str]]:
    """The trace as JSON, and what was left out of it.

    Raises InputError if a file of the run is damaged.
    """
    left_out: list[str] = []
    events = [*_jobs(run), *_iterations(run), *_ranks(run, left_out), *_messages(run, left_out), *_traffic(run)]
    document = {
        "displayTimeUnit": "ns",
        "otherData": {
            "made by": f"odonata {run.manifest['version']}",
            "run": run.id,
            "seed": str(run.seed),
            "left out": " ".join(left_out) or "nothing",
        },
        "traceEvents": events,
    }
    return json.dumps(document, separators=(",", ":")).encode(), left_out


def _us(ps: float) -> float:
    return ps / 1e6


def _named(pid: int, name: str, tid: int | None = None) -> dict[str, Any]:
    where = {"pid": pid} if tid is None else {"pid": pid, "tid": tid}
    return {"ph": "M", "name": "process_name" if tid is None else "thread_name", **where, "args": {"name": name}}


def _slice(pid: int, tid: int, name: str, begin: int, end: int, args: dict[str, Any]) -> dict[str, Any]:
    return {
        "ph": "X", "pid": pid, "tid": tid, "name": name, "ts": _us(begin), "dur": _us(end - begin), "args": args,
    }  # fmt: skip


def _span(
    pid: int, kind: str, mark: int, name: str, begin: int, end: int, args: dict[str, Any]
) -> list[dict[str, Any]]:
    """A slice that may overlap others: its begin and its end."""
    same = {"cat": kind, "id": f"{kind} {pid} {mark}", "pid": pid, "tid": pid, "name": name}
    return [{"ph": "b", **same, "ts": _us(begin), "args": args}, {"ph": "e", **same, "ts": _us(end)}]


def _jobs(run: Run) -> Iterator[dict[str, Any]]:
    wanted = ("nodes", "messages_sent", "messages_delivered", "latency_mean_ps", "slowdown")
    for row in run.jobs.iter_rows(named=True):
        pid = _process(row["job"])
        yield _named(pid, row["name"])
        yield _named(pid, "job", pid)
        begin, end = row["first_issue_ps"], row["last_delivery_ps"]
        if begin is not None and end is not None:
            yield _slice(pid, pid, row["name"], begin, end, {name: row[name] for name in wanted})


def _iterations(run: Run) -> Iterator[dict[str, Any]]:
    for row in run.iterations.iter_rows(named=True):
        args = {"ranks": row["ranks"], "mean_ps": row["mean_ps"], "longest_ps": row["longest_ps"]}
        name = f"iteration {row['iteration']}"
        pid = _process(row["job"])
        yield from _span(pid, "iteration", row["iteration"], name, row["first_begin_ps"], row["last_end_ps"], args)


def _ranks(run: Run, left_out: list[str]) -> Iterator[dict[str, Any]]:
    names = run.jobs["name"].to_list()
    for (job,), ranks in run.ranks.group_by("job", maintain_order=True):
        every = -(-ranks.height // MOST_RANKS)
        if every > 1:
            left_out.append(f"{names[job]}: one rank in {every} is in the trace.")
        for row in ranks.filter(pl.col("rank") % every == 0).iter_rows(named=True):
            end = row["finish_ps"]
            pid, tid = _process(row["job"]), _thread(row["job"], row["rank"])
            yield _named(pid, f"rank {row['rank']} on node {row['node']}", tid)
            name = "runs" if end is not None else "runs, not finished"
            end = run.manifest["sim_time_ps"] if end is None else end
            yield _slice(pid, tid, name, 0, end, {"work_ps": row["work_ps"]})


def _messages(run: Run, left_out: list[str]) -> Iterator[dict[str, Any]]:
    arrived = run.scan("messages").filter(pl.col("latency_ps").is_not_null())
    total = int(arrived.select(pl.len()).collect().item())
    every = -(-total // MOST_MESSAGES)
    if every > 1:
        left_out.append(f"Of {total:,} recorded messages, those of one source rank in {every} are in the trace.")
        arrived = arrived.filter(pl.col("source") % every == 0)
    for number, row in enumerate(arrived.collect().iter_rows(named=True)):
        args = {"source": row["source"], "destination": row["destination"], "interval": row["interval"]}
        name = f"{row['source']} to {row['destination']}"
        end = row["issue_ps"] + row["latency_ps"]
        yield from _span(_process(row["job"]), "message", number, name, row["issue_ps"], end, args)


def _traffic(run: Run) -> Iterator[dict[str, Any]]:
    """Traffic of each job into groups, one value a window."""
    totals = run.counters.group_by("window", "start_ps", "job").agg(pl.col("rate_in").sum()).sort("window", "job")
    for row in totals.iter_rows(named=True):
        name = "traffic into groups (GiB/s)"
        where = {"pid": _process(row["job"]), "ts": _us(row["start_ps"])}
        yield {"ph": "C", "name": name, **where, "args": {"rate": row["rate_in"]}}
