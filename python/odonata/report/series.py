"""The load of every link over time as small numbers in a fixed order, and the paths of packets over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata.analysis.motion import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from odonata.store import Run

MOST_CELLS = 20_000_000
"""Numbers of a report's series, one byte each: slices are joined, and the shares of jobs left out, to stay below it."""
FULL = 250
"""The number for a link that is busy all the time."""
PER_PACKET = 8
"""The number for one packet that waits on average."""


def series_of(run: Run, links: pl.DataFrame, left_out: list[str]) -> dict[str, Any] | None:
    """The loads of `links`, the table of links that the report has; `None` if the run did not record a series.

    `busy` and `queue` have a number for each link and slice, link by link, in the order of `links`: the share of the
    slice in which the link is busy (of `FULL`), and the mean number of packets that wait for it (times `PER_PACKET`).
    `job_0`, `job_1` and so on are the parts of `busy` by job. Bytes that a link cannot send in the slice in which their
    transmission starts count in the next ones.
    """
    rows = run.series
    if rows.is_empty() or links.is_empty():
        return None
    width, slices = int(rows["width_ps"][0]), int(rows["slice"].max()) + 1  # type: ignore[arg-type]
    every = -(-2 * links.height * slices // MOST_CELLS)
    if every > 1:
        width, slices = width * every, -(-slices // every)
        left_out.append(f"Load over time: {every} slices of the run are one slice of this report.")
    jobs = run.jobs.height
    by_job = jobs if (jobs + 2) * links.height * slices <= MOST_CELLS else 0
    if jobs > 1 and not by_job:
        left_out.append("Load over time has no shares of jobs, because there are too many links and jobs.")
    place = np.full(int(run.scan("links").select(pl.col("link").max()).collect().item()) + 1, -1, np.int64)
    place[links["link"].to_numpy()] = np.arange(links.height)
    cell = place[rows["link"].to_numpy()] * slices + rows["slice"].to_numpy() // every
    kept = cell >= 0
    speeds = run.scan("links").select("link", "bandwidth").collect()
    bandwidth = links.select("link").join(speeds, on="link", how="left", maintain_order="left")["bandwidth"]
    capacity = np.repeat(bandwidth.to_numpy() * (width * 1e-12), slices)

    waits = rows["wait_ps"].fill_null(0).to_numpy()
    job = rows["job"].to_numpy() if by_job else np.zeros(rows.height, np.int64)
    sent = np.zeros((max(by_job, 1), len(capacity)))
    for number in range(len(sent)):
        of = kept & (job == number)
        sent[number] = np.bincount(cell[of], rows["bytes"].to_numpy()[of], len(capacity)) / capacity
    busy = spread(sent.reshape(len(sent), links.height, slices)).reshape(len(sent), -1) * FULL
    return {
        "width_ps": width,
        "slices": slices,
        "full": FULL,
        "per_packet": PER_PACKET,
        "cells": pl.DataFrame(
            {
                "busy": _byte(busy.sum(axis=0)),
                "queue": _byte(np.bincount(cell[kept], waits[kept], len(capacity)) / width * PER_PACKET),
                **{f"job_{number}": _byte(busy[number]) for number in range(by_job if jobs > 1 else 0)},
            }
        ),
    }


def routes_of(run: Run) -> dict[str, Any] | None:
    """Packets that reach their node, and the minimal ones, by slice and job; `None` if no series was recorded."""
    rows = run.routes
    if rows.is_empty():
        return None
    return {"width_ps": int(rows["width_ps"][0]), "rows": rows.select("slice", "job", "packets", "minimal")}


def _byte(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The next whole number up, so that what is not 0 stays so; at most 255."""
    return np.minimum(np.ceil(values - 1e-6), 255).astype(np.uint8)
