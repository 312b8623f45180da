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
    return [f"{_slowest(run)}{_waiting(run)}", *answers(run.summary)]


def _slowest(run: Run) -> str:
    """The job that its neighbours slow down most."""
    known = [job for job in run.summary["jobs"] if job.get("slowdown") is not None]
    if known:
        job = max(known, key=lambda job: float(job["slowdown"]))
        if job["slowdown"] < NOTABLE:
            others = "No job" if len(known) > 1 else job["name"]
            verb = "takes longer" if len(known) > 1 else "does not take longer"
            return f"{others} {verb} beside the others than alone. "
        what = "takes" if "iterations" in job else "has a mean latency"
        return f"{job['name']} {what} {job['slowdown']:.2f} times {_as_alone(job)}. "
    if any(job["complete"] is False for job in run.summary["jobs"]):
        return "The run ended before its jobs did. "
    if not any(job["messages_delivered"] for job in run.summary["jobs"]):
        return "No message was delivered. "
    return ""


def _as_alone(job: dict[str, Any]) -> str:
    return "as long as alone" if "iterations" in job else "that of the job alone"


def _waiting(run: Run) -> str:
    """Where packets waited for room: the fewest links that have half of the stalled time."""
    columns = ("class", "from_kind", "from_id", "from_group", "stalled_ps")
    every = run.scan("links").select(*columns).collect()
    links = every.filter(pl.col("stalled_ps") > 0)
    if links.is_empty():
        return "No packet waited for room in a buffer."
    links = links.sort("stalled_ps", "from_kind", "from_id", descending=[True, False, False], maintain_order=True)
    share = links["stalled_ps"].to_numpy().astype(np.float64).cumsum()
    count = int(np.searchsorted(share, PART * share[-1])) + 1
    top = links.head(count)
    kinds = sorted({_kind(*row) for row in top.select("class", "from_kind").unique().iter_rows()})
    where = f"{count:,} of {every.height:,} links ({' and '.join(kinds) if len(kinds) < 3 else ', '.join(kinds)})"
    groups = sorted(top["from_group"].unique().to_list())
    if len(groups) <= min(FEW, every["from_group"].n_unique() - 1):
        numbers = ", ".join(map(str, groups[:-1])) + (" and " if len(groups) > 1 else "") + str(groups[-1])
        where += f" out of group{'s' * (len(groups) > 1)} {numbers}"
    return f"{100 * share[count - 1] / share[-1]:.0f} % of the time that packets waited for room is on {where}."


def _kind(link_class: str, sender: str) -> str:
    return "NICs" if sender == "node" else f"{link_class} links"
