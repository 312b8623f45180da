"""What programs leave behind: iterations, ranks, and their columns in the table of jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata.store.frame import frame
from odonata.store.latency import Latency

if TYPE_CHECKING:
    from collections.abc import Mapping

NOT_FINISHED = np.uint64(2**64 - 1)
"""When a rank finished, as the core says it of one that has not."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How a job with a program fared."""

    time_ps: int | None
    """From the start to the end of its last rank (L18); `None` if one has not finished."""
    iterations: int
    """Iterations that all ranks have ended."""
    times: Latency | None
    """Times of those of them that began while measuring, first begin to last end; `None` if there are none."""
    rank_mean_ps: float | None
    """Mean time of a rank for one of these."""


def of_job(rows: Mapping[str, Any], job: int) -> dict[str, Any]:
    """The rows of one job; the core gives them job by job, so that nothing has to be searched row by row."""
    jobs = rows["job"]
    first, end = (int(np.searchsorted(jobs, jobs.dtype.type(job), side)) for side in ("left", "right"))
    return {name: column[first:end] for name, column in rows.items()}


def progress(result: Mapping[str, Any], spec: Mapping[str, Any], job: int) -> Progress | None:
    """How a job fared; `None` if it has no program."""
    program = spec["jobs"][job].get("program")
    if program is None:
        return None
    finish = of_job(result["ranks"], job)["finish_ps"]
    done = len(finish) > 0 and bool((finish != NOT_FINISHED).all())
    ranks, rows = len(spec["jobs"][job]["nodes"]), of_job(result["iterations"], job)
    ended = rows["ranks"] == ranks
    measured = ended & (rows["first_begin_ps"] >= spec["measure"]["from_ps"])
    if spec["measure"]["until_ps"] is not None:
        measured &= rows["first_begin_ps"] < spec["measure"]["until_ps"]
    times = Latency.from_rows((rows["last_end_ps"] - rows["first_begin_ps"])[measured])
    of_ranks = float(rows["total_ps"][measured].sum(dtype=np.float64))
    return Progress(
        time_ps=int(finish.max()) - program["start_ps"] if done else None,
        iterations=int(ended.sum()),
        times=times,
        rank_mean_ps=of_ranks / (ranks * times.count) if times else None,
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
