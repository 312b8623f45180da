"""The first lines of a report: what slowed down, and for whom and where packets waited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.blame.causes import causes_of, groups_of
from odonata.blame.sentences import NOTABLE, about, percent, where_of
from odonata.machine.terms import group_name
from odonata.store.summary import answers

if TYPE_CHECKING:
    from odonata.store import Run

UNKNOWN = (
    "The run has not recorded for whom its packets waited: `odonata explain` finds it, and `blame = true` under "
    "[measure] records it."
)


def verdict(run: Run) -> list[str]:
    """The verdict in one sentence or two, and the conclusions that `odonata run` prints."""
    slowest = _slowest_job(run)
    return [f"{_about(run, slowest)}{_waiting(run, slowest)}", *answers(run.summary)]


def _slowest_job(run: Run) -> dict[str, Any] | None:
    """The job that its neighbours slow down most; `None` if no slowdown is known."""
    known = [job for job in run.summary["jobs"] if job.get("slowdown") is not None]
    return max(known, key=lambda job: float(job["slowdown"])) if known else None


def _about(run: Run, slowest: dict[str, Any] | None) -> str:
    if slowest is not None:
        if slowest["slowdown"] < NOTABLE:
            several = sum(job.get("slowdown") is not None for job in run.summary["jobs"]) > 1
            who, verb = ("No job", "takes longer") if several else (slowest["name"], "does not take longer")
            return f"{who} {verb} beside the others than alone. "
        what = "takes" if "iterations" in slowest else "has a mean latency"
        alone = "as long as alone" if "iterations" in slowest else "that of the job alone"
        return f"{slowest['name']} {what} {slowest['slowdown']:.2f} times {alone}. "
    if any(job["complete"] is False for job in run.summary["jobs"]):
        return "The run ended before its jobs did. "
    if not any(job["messages_delivered"] for job in run.summary["jobs"]):
        return "No message was delivered. "
    return ""


def _waiting(run: Run, slowest: dict[str, Any] | None) -> str:
    """For whom and where the packets of the slowest job waited, as `odonata explain` says it.

    Without `measure.blame` it is only known where the packets of all jobs waited for room in a buffer.
    """
    if not run.blame.is_empty():
        jobs = causes_of(run, run.blame)
        front = [job for job in jobs if not job.background] or jobs
        name = slowest["name"] if slowest is not None else max(front, key=lambda job: job.waiting_ps).job
        return about(next(job for job in jobs if job.job == name))
    links = run.scan("links").select("class", "from_kind", "to_kind", "from_group", time_ps="stalled_ps").collect()
    stalled = links.filter(pl.col("time_ps") > 0)
    if stalled.is_empty():
        return "No packet waited for room in a buffer."
    classes = (
        stalled.group_by("class").agg(pl.col("time_ps").sum()).sort(["time_ps", "class"], descending=[True, False])
    )
    class_, most = classes.row(0)
    named, groups = groups_of(stalled), links["from_group"].drop_nulls().n_unique()
    word = group_name(run.resolved["spec"]["topology"]["kind"])
    where = (
        f"{percent(most / stalled['time_ps'].sum())} of it at links of class {class_}{where_of(named, groups, word)}"
    )
    return f"Packets waited for room in buffers, {where}. {UNKNOWN}"
