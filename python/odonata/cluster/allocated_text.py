"""Where the jobs of a cluster are, as text."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from odonata.text import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.cluster.allocated import Allocation, Allocations


def as_text(found: Allocations, width: int | None = None) -> str:
    """Who shares what, and a table by the size of the jobs."""
    lines = [_sharing(found)]
    if found.overlapping:
        lines.append(
            f"{found.overlapping:,} jobs have a node in common with another: they share nodes, or the list is of "
            "several times.\n--together keeps those that can run at the same time."
        )
    lines += [f"left out: {count:,} job{'' if count == 1 else 's'} {why}" for why, count in found.left_out.items()]
    policy = found.policy
    columns = [Column("nodes"), Column("jobs"), Column("leaves"), Column(policy), Column("groups"), Column(policy)]
    columns += [Column("pairs of groups"), Column(policy), Column("crossing"), Column(policy)]
    columns += [Column("share leaves"), Column("share links")]
    rows = [_row(name, jobs) for name, jobs in _by_size(found.jobs)]
    title = f"means over jobs, beside those of {policy} on the empty machine"
    return "\n".join([*lines, "", *Table(columns, rows, title).lines(width)])


def _sharing(found: Allocations) -> str:
    jobs = found.jobs
    leaves = sum(bool(job.beside_leaves) for job in jobs)
    links = sum(bool(job.beside_links) for job in jobs)
    spread = sum(job.spread.groups > 1 for job in jobs)
    more = sum(job.spread.groups > job.chosen.groups for job in jobs)
    return (
        f"{len(jobs):,} jobs of two nodes or more: {leaves:,} share a leaf switch with another job, {links:,} share "
        f"global links;\n{spread:,} are in several groups, {more:,} in more groups than with {found.policy}."
    )


def _by_size(jobs: Sequence[Allocation]) -> list[tuple[str, list[Allocation]]]:
    """Jobs by powers of two of their nodes."""
    found: dict[int, list[Allocation]] = {}
    for job in jobs:
        found.setdefault((job.nodes - 1).bit_length(), []).append(job)
    return [(_size(power), found[power]) for power in sorted(found)]


def _size(power: int) -> str:
    low, high = 2 ** (power - 1) + 1, 2**power
    return f"{high:,}" if low >= high else f"{low:,} to {high:,}"


def _row(name: str, jobs: Sequence[Allocation]) -> list[str]:
    both = [(job.spread, job.chosen) for job in jobs]
    cells = [name, f"{len(jobs):,}"]
    for key in ("leaves", "groups", "pairs"):
        cells += [f"{fmean(getattr(pair[side], key) for pair in both):.1f}" for side in (0, 1)]
    cells += [f"{100 * fmean(pair[side].crossing for pair in both):.0f} %" for side in (0, 1)]
    shared = (sum(bool(job.beside_leaves) for job in jobs), sum(bool(job.beside_links) for job in jobs))
    return cells + [f"{100 * count / len(jobs):.0f} %" for count in shared]
