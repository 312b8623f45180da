"""The results of programs: iterations, ranks, and their columns in the table of jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata.steady.series import rows_of
from odonata.store.columns import columns_of
from odonata.store.frame import frame
from odonata.store.latency import Latency

if TYPE_CHECKING:
    from collections.abc import Mapping

NOT_FINISHED = np.uint64(2**64 - 1)
"""The core's end time of a rank that has not finished."""
NO_PEER = np.uint32(2**32 - 1)
"""The core's peer of a CPU task without a message."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The results of a job with a program."""

    time_ps: int | None
    """From the start to the end of its last rank; `None` if one has not finished."""
    iterations: int
    """Number of iterations that all ranks have ended."""
    per_s: float | None
    """These over the time from the start to the end of the last of them; `None` if there are none."""
    times: Latency | None
    """Times of those of them that began while measuring, first begin to last end; `None` if there are none."""
    rank_mean_ps: float | None
    """Mean time of a rank for one of these."""
    all_measured_ended: bool
    """Whether all ranks have ended all iterations that began before the end of measuring."""


def of_job(rows: Mapping[str, Any], job: int) -> dict[str, Any]:
    """The rows of one job. The core returns them job by job, so no search is needed."""
    of_it = rows_of(rows, job)
    return {name: column[of_it] for name, column in rows.items()}


def progress(result: Mapping[str, Any], spec: Mapping[str, Any], job: int) -> Progress | None:
    """The results of a job; `None` if it has no program."""
    program = spec["jobs"][job].get("program")
    if program is None:
        return None
    finish = of_job(result["ranks"], job)["finish_ps"]
    done = len(finish) > 0 and bool((finish != NOT_FINISHED).all())
    ranks, rows = len(spec["jobs"][job]["nodes"]), of_job(result["iterations"], job)
    ended = rows["ranks"] == ranks
    measured = ended & (rows["first_begin_ps"] >= spec["measure"]["from_ps"])
    until = spec["measure"]["until_ps"]
    if until is not None:
        measured &= rows["first_begin_ps"] < until
    times = Latency.from_rows((rows["last_end_ps"] - rows["first_begin_ps"])[measured])
    last = int(rows["last_end_ps"][ended].max(initial=0)) - program["start_ps"]
    of_ranks = float(rows["total_ps"][measured].sum(dtype=np.float64))
    return Progress(
        time_ps=int(finish.max()) - program["start_ps"] if done else None,
        iterations=int(ended.sum()),
        per_s=int(ended.sum()) / last * 1e12 if last > 0 else None,
        times=times,
        rank_mean_ps=of_ranks / (ranks * times.count) if times else None,
        # If all ranks have ended a later iteration, each of them has ended all earlier ones.
        all_measured_ended=until is not None and bool((rows["first_begin_ps"][ended] >= until).any()),
    )


def iterations_frame(result: Mapping[str, Any], spec: Mapping[str, Any]) -> pl.DataFrame:
    """The iterations of all jobs with a program."""
    rows = result["iterations"]
    ranks_of = np.array([len(job["nodes"]) for job in spec["jobs"]], dtype=np.uint32)
    all_ended = rows["ranks"] == ranks_of[rows["job"]]
    names = ("job", "iteration", "ranks", "first_begin_ps", "last_begin_ps", "first_end_ps", "last_end_ps")
    data: dict[str, Any] = {name: rows[name] for name in names}
    data["time_ps"] = pl.Series(rows["last_end_ps"] - rows["first_begin_ps"]).set(pl.Series(~all_ended), None)
    data["longest_ps"] = rows["longest_ps"]
    data["mean_ps"] = rows["total_ps"] / rows["ranks"]
    return frame("iterations", data)


def ranks_frame(result: Mapping[str, Any], spec: Mapping[str, Any]) -> pl.DataFrame:
    """The ranks of all jobs with a program."""
    rows = result["ranks"]
    nodes = [job["nodes"] for job in spec["jobs"] if "program" in job]
    finish = pl.Series(rows["finish_ps"])
    data = {
        "job": rows["job"],
        "rank": rows["rank"],
        "node": np.concatenate([np.asarray(of_job, np.uint32) for of_job in nodes] or [np.zeros(0, np.uint32)]),
        "finish_ps": finish.set(pl.Series(rows["finish_ps"] == NOT_FINISHED), None),
        "work_ps": rows["work_ps"],
    }
    return frame("ranks", data)


def operations_frame(result: Mapping[str, Any]) -> pl.DataFrame:
    """The CPU tasks of the ranks of programs; no rows if they were not recorded."""
    operations = result.get("operations")
    if operations is None:
        return frame("operations", {column.name: [] for column in columns_of("operations")})
    kind = pl.Series(operations["task"], dtype=pl.String)
    sized = kind.is_in(["combine", "send", "receive"])
    rows = {name: operations[name] for name in ("job", "rank", "cpu", "iteration", "begin_ps", "end_ps")}
    peer, size = pl.Series(operations["peer"]), pl.Series(operations["bytes"])
    return frame(
        "operations", {**rows, "kind": kind, "peer": peer.set(peer == NO_PEER, None), "bytes": size.set(~sized, None)}
    )
