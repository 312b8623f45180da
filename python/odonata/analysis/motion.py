"""The load of the links between groups over time, from a run's `series`: what an animation shows, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from odonata.analysis.traffic import BETWEEN_GROUPS, of_ring
from odonata.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from odonata.store import Run

Ends = tuple[int, int | None]
"""Two groups, the lower one first; or a group and the routers of no group (the cores of a fat tree)."""
MOST_FRAMES = 128
"""Slices of the series are joined, so that there are at most as many frames."""
MOST_NUMBERS = 4_000_000
"""Links times slices times jobs that are in memory at once."""


@dataclass(frozen=True)
class Motion:
    """The loads of a run over time."""

    width_ps: int
    """Length of each frame."""
    ends: list[Ends]
    loads: NDArray[np.float64]
    """The mean share of a frame in which the links between two ends are busy, the busier direction: a row for each of
    `ends`, a column for each frame."""
    by_job: NDArray[np.float64]
    """The mean share of all links between groups by job (row) and frame (column)."""


def recorded_slices(run: Run) -> tuple[int, int]:
    """Length of a slice in ps, and the slices up to the end of the run. Raises InputError without a series."""
    rows = run.series
    if rows.is_empty():
        hint = "set `measure.series = true`, and run it again"
        raise InputError(f"run {run.id} did not record the load of links over time", hint=hint)
    width = int(rows["width_ps"][0])
    last = int(rows["slice"].max() or 0)  # type: ignore[arg-type]
    return width, max(last + 1, -(-int(run.manifest["sim_time_ps"]) // width))


def frame_width(runs: list[Run]) -> int:
    """The length of a frame in which runs play in step: the least multiple of the slices of all, so that the longest
    run has at most `MOST_FRAMES` frames. Lengths of slices are powers of two."""
    recorded = [recorded_slices(run) for run in runs]
    width = max(of for of, _ in recorded)
    end = max(of * slices for of, slices in recorded)
    while -(-end // width) > MOST_FRAMES:
        width *= 2
    return width


def motion_of(run: Run, width_ps: int) -> Motion:
    """The loads of a run in frames of `width_ps`, a multiple of its slices.

    Bytes that a link cannot send in the slice in which their transmission starts count in the next ones (`spread`).
    Raises InputError if there is no series, or no link between groups.
    """
    slice_ps, slices = recorded_slices(run)
    links = of_ring(run.links).filter(BETWEEN_GROUPS).select("link", "from_group", "to_group", "bandwidth").sort("link")
    if links.is_empty():
        hint = "`odonata plot --kind links` draws the load of the links of nodes"
        raise InputError("the machine of this run has no links between routers", hint=hint)
    joined = width_ps // slice_ps
    frames = -(-slices // joined)
    jobs = run.jobs.height
    by_link = np.zeros((links.height, frames))
    by_job = np.zeros((jobs, frames))
    at_once = max(1, MOST_NUMBERS // (slices * jobs))
    for first in range(0, links.height, at_once):
        some = links[first : first + at_once]
        shares = _shares(run, some, slices, slice_ps)
        padded = np.zeros((jobs, some.height, frames * joined))
        padded[:, :, :slices] = shares
        mean = padded.reshape(jobs, some.height, frames, joined).mean(axis=3)
        by_link[first : first + some.height] = mean.sum(axis=0)
        by_job += mean.sum(axis=1)
    ends, loads = _joined(links, by_link)
    return Motion(width_ps, ends, loads, by_job / links.height)


def _shares(run: Run, links: pl.DataFrame, slices: int, slice_ps: int) -> NDArray[np.float64]:
    """The share of each slice in which these links are busy, `[job, link, slice]`."""
    rows = run.series.join(links.with_row_index("row").select("row", "link", "bandwidth"), on="link")
    sent = np.zeros((run.jobs.height, links.height, slices))
    place = rows["job"].to_numpy(), rows["row"].to_numpy(), rows["slice"].to_numpy()
    np.add.at(sent, place, rows["bytes"].to_numpy() / (rows["bandwidth"].to_numpy() * (slice_ps * 1e-12)))
    return spread(sent)


def spread(sent: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of each slice that a link is busy with each job, from what starts there; both `[job, link, slice]`.

    Changes `sent`.
    """
    left = np.zeros(sent.shape[:2])
    for part in range(sent.shape[2]):
        left += sent[:, :, part]
        whole = left.sum(axis=0)
        now = left * (np.minimum(whole, 1) / np.maximum(whole, 1e-300))
        sent[:, :, part] = now
        left -= now
    return sent


def _joined(links: pl.DataFrame, by_link: NDArray[np.float64]) -> tuple[list[Ends], NDArray[np.float64]]:
    """The mean over the links of each direction between two ends, and of both directions the busier one."""
    directions: dict[tuple[int | None, int | None], list[int]] = {}
    for row, ends in enumerate(links.select("from_group", "to_group").iter_rows()):
        directions.setdefault(ends, []).append(row)
    loads: dict[Ends, NDArray[np.float64]] = {}
    for (start, end), rows in directions.items():
        known = sorted(group for group in (start, end) if group is not None)
        if known:
            key: Ends = (known[0], known[1] if len(known) > 1 else None)
            mean = by_link[rows].mean(axis=0)
            loads[key] = np.maximum(loads[key], mean) if key in loads else mean
    ordered = sorted(loads, key=lambda ends: (ends[0], -1 if ends[1] is None else ends[1]))
    return ordered, np.array([loads[ends] for ends in ordered])
