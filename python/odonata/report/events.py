"""A run as a trace in the JSON format of Chrome's trace viewer, which ui.perfetto.dev opens.

The format is described in Google's "Trace Event Format". Every job is a process, with a slice for the whole job, an
asynchronous slice for each of its iterations and recorded messages, and a slice for each rank of a program up to its
end. Inside the slice of a rank are its operations and its waits, if the run has recorded operations: a rank waits
when its CPU is idle. Traffic between groups is a counter for each job. Times are microseconds, as the format wants.
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
MOST_OPERATIONS = 200_000
"""Operations of a job at most; of more, those of every second, third, ... recorded rank."""


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
    names, recorded = run.jobs["name"].to_list(), run.operations
    if run.ranks.height and recorded.is_empty():
        left_out.append("The run has no operations of ranks: it records them with `operations = true` under [measure].")
    for (job,), ranks in run.ranks.group_by("job", maintain_order=True):
        every = -(-ranks.height // MOST_RANKS)
        if every > 1:
            left_out.append(f"{names[job]}: one rank in {every} is in the trace.")
        start = int(run.resolved["spec"]["jobs"][job]["program"]["start_ps"])
        rows = recorded.filter(pl.col("job") == job)
        kept, latest = _kept_operations(rows, names[job], ranks.height, left_out), dict[int, int]()
        if rows.height:
            latest = dict(rows.group_by("rank").agg(pl.col("end_ps").max()).iter_rows())
        tid = _thread(job, ranks.height)
        for row in ranks.filter(pl.col("rank") % every == 0).iter_rows(named=True):
            rank, finish = row["rank"], row["finish_ps"]
            pid, main = _process(job), _thread(job, rank)
            yield _named(pid, f"rank {rank} on node {row['node']}", main)
            end = run.manifest["sim_time_ps"] if finish is None else finish
            name = "runs" if finish is not None else "runs, not finished"
            begin = min(start, end)
            yield _slice(pid, main, name, begin, max(end, latest.get(rank, 0)), {"work_ps": row["work_ps"]})
            for cpu, tasks in kept.get(rank, {}).items():
                on, since, until = main, begin, end
                if cpu:
                    on, since, until = tid, tasks[0]["begin_ps"], tasks[-1]["end_ps"]
                    tid += 1
                    yield _named(pid, f"rank {rank}, CPU {cpu}", on)
                yield from _operations(pid, on, tasks, since, until)


def _kept_operations(
    rows: pl.DataFrame, name: str, ranks: int, left_out: list[str]
) -> dict[int, dict[int, list[dict[str, Any]]]]:
    """The operations that are in the trace, in order of time, by rank and CPU."""
    if rows.is_empty():
        return {}
    recorded = rows["rank"].unique(maintain_order=True)
    if len(recorded) < ranks:
        left_out.append(f"{name}: the run has recorded operations of {len(recorded):,} of {ranks:,} ranks.")
    every = max(-(-rows.height // MOST_OPERATIONS), -(-len(recorded) // MOST_RANKS))
    if every > 1:
        left_out.append(f"{name}: operations of one recorded rank in {every} are in the trace.")
        rows = rows.filter(pl.col("rank").is_in(recorded.gather_every(every).implode()))
    kept: dict[int, dict[int, list[dict[str, Any]]]] = {}
    for row in rows.sort("rank", "cpu", "begin_ps", maintain_order=True).iter_rows(named=True):
        kept.setdefault(row["rank"], {}).setdefault(row["cpu"], []).append(row)
    return kept


def _operations(pid: int, tid: int, tasks: list[dict[str, Any]], since: int, until: int) -> Iterator[dict[str, Any]]:
    """The tasks of a CPU and its waits between `since` and `until`."""
    for row in tasks:
        towards = {"send": " to", "receive": " from"}.get(row["kind"])
        name = row["kind"] if towards is None else f"{row['kind']}{towards} rank {row['peer']}"
        if row["begin_ps"] > since:
            yield _slice(pid, tid, "waits", since, row["begin_ps"], {"until": name})
        args = {"iteration": row["iteration"]} | ({} if row["bytes"] is None else {"bytes": row["bytes"]})
        yield _slice(pid, tid, name, row["begin_ps"], row["end_ps"], args)
        since = row["end_ps"]
    if since < until:
        yield _slice(pid, tid, "waits", since, until, {"until": "the end of the rank or of the run"})


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
