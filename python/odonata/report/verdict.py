"""The first lines of a report: what slowed down, and where packets waited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata.store.summary import answers

if TYPE_CHECKING:
    from odonata.store import Run

NOTABLE = 1.02
"""Slowdown below which a job counts as undisturbed (assumed)."""
PART = 0.5
"""Share of the waiting for which the fewest links are counted."""
FEW = 4
"""Most groups that a sentence names."""


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
    """Where packets waited: the fewest links that have half of the waiting time.

    These are the packets of the slowest job if it is slowed down and the run has recorded waiting by job. Otherwise
    they are the packets of all jobs, and only waiting for room in a buffer counts.
    """
    columns = ("link", "class", "from_kind", "from_id", "from_group", "stalled_ps")
    every = run.scan("links").select(*columns).collect()
    whose, links = "the time that packets waited for room", every.with_columns(ps="stalled_ps")
    if slowest is not None and slowest["slowdown"] >= NOTABLE:
        own = _waits_of(run, run.jobs["name"].to_list().index(slowest["name"]))
        if own is not None and own.height:
            whose, links = "its waiting", every.join(own, on="link", how="inner", maintain_order="left")
    links = links.filter(pl.col("ps") > 0)
    if links.is_empty():
        return "No packet waited for room in a buffer."
    links = links.sort("ps", "from_kind", "from_id", descending=[True, False, False], maintain_order=True)
    share = links["ps"].to_numpy().astype(np.float64).cumsum()
    count = int(np.searchsorted(share, PART * share[-1])) + 1
    top = links.head(count)
    kinds = sorted({_kind(*row) for row in top.select("class", "from_kind").unique().iter_rows()})
    where = f"{count:,} of {every.height:,} links ({' and '.join(kinds) if len(kinds) < 3 else ', '.join(kinds)})"
    groups = sorted(top["from_group"].unique().to_list())
    if len(groups) <= min(FEW, every["from_group"].n_unique() - 1):
        numbers = ", ".join(map(str, groups[:-1])) + (" and " if len(groups) > 1 else "") + str(groups[-1])
        where += f" out of group{'s' * (len(groups) > 1)} {numbers}"
    return f"{100 * share[count - 1] / share[-1]:.0f} % of {whose} is on {where}."


def _waits_of(run: Run, job: int) -> pl.DataFrame | None:
    """The waiting of a job's packets by link, from the blame or the series of the run; `None` if it has neither."""
    if not run.blame.is_empty():
        rows = run.blame.filter(pl.col("victim") == job, pl.col("link").is_not_null())
        return rows.group_by("link").agg(ps=pl.col("time_ps").sum())
    if not run.series.is_empty():
        return run.series.filter(pl.col("job") == job).group_by("link").agg(ps=pl.col("wait_ps").sum())
    return None


def _kind(link_class: str, sender: str) -> str:
    return "NICs" if sender == "node" else f"{link_class} links"
