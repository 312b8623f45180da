"""A study in one table: medians over its repetitions, for each combination of the other axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata import text
from odonata.analysis.by_axis import numeric
from odonata.analysis.cut_off import is_whole
from odonata.analysis.derived import simulated_part
from odonata.errors import shortened
from odonata.store.columns import columns_of
from odonata.study.study import jobs_of
from odonata.study.task import POINT
from odonata.text import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.study.study import Study


EXTRAPOLATED = "extrapolated"
"""The count of runs with skipped iterations."""


@dataclass(frozen=True)
class Summary:
    """Rows of a table: keys of the groups, then `job` if there are several, `runs`, and the medians.

    If there are any, `cut_off` and `saturated` count the runs that are cut off or saturated, and `extrapolated` those
    that have skipped iterations. Runs that are cut off are not part of medians of latencies, times and slowdowns.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def summarise(study: Study, *, include_incomplete: bool = False) -> Summary:
    """Medians of the columns that the study shows, sorted by the axes in the order of the study.

    Axes of numbers and quantities ascend; names are in the order of the study. Raises InputError for an unknown job.
    """
    by = study.grouped()
    show = study.show
    jobs = jobs_of(study.jobs, show.job)
    columns = [name for name in study.columns(jobs) if name in jobs.columns and jobs[name].null_count() < jobs.height]
    several = jobs["name"].n_unique() > 1
    keys = [*by, *(["name"] if several else [])]
    if not keys:
        keys = ["name"]
    grouped = (
        jobs.group_by(keys, maintain_order=True)
        .agg(
            pl.len().alias("runs"),
            *(counted.sum().alias(title) for title, counted in _counted(jobs)),
            pl.col(POINT).min(),
            *(
                pl.when(pl.lit(include_incomplete) | is_whole(jobs, name)).then(pl.col(name)).median().alias(name)
                for name in columns
            ),
        )
        .sort(POINT, maintain_order=True)
        .drop(POINT)
    )
    grouped = grouped[_order(study, grouped, by)]
    header = tuple("job" if name == "name" else name for name in grouped.columns)
    return Summary(header, tuple(grouped.iter_rows()))


def _order(study: Study, rows: pl.DataFrame, by: Sequence[str]) -> list[int]:
    """The numbers of the rows, sorted by these axes."""
    ranks = []
    for key in by:
        labels = study.runs[key].unique(maintain_order=True).to_list()
        rank = dict(zip(labels, numeric(labels)[1], strict=True))
        ranks.append([rank[label] for label in rows[key].to_list()])
    return sorted(range(rows.height), key=lambda row: [of[row] for of in ranks])


def _counted(jobs: pl.DataFrame) -> list[tuple[str, pl.Expr]]:
    """The counts of a group as title and what is counted; counts that are 0 everywhere are left out."""
    kinds = [
        ("complete", "cut_off", pl.col("complete").eq(False)),
        ("saturated", "saturated", pl.col("saturated").eq(True)),
        ("skipped_ps", EXTRAPOLATED, pl.col("skipped_ps").gt(0)),
    ]
    present = [(title, counted) for name, title, counted in kinds if name in jobs.columns]
    return [(title, counted) for title, counted in present if jobs.select(counted.any()).item()]


def as_text(summary: Summary, most: int = 60, width: int | None = None) -> str:
    """The table as text, with times in a suitable unit for each column; transposed if it is wider than `width`."""
    lines = table_of(summary, most).lines(width)
    return "\n".join([*lines, *_more(summary, most)])


def as_html(study: Study, most: int = 20) -> str:
    """A study in a notebook: how far it is, and medians by its axes."""
    told = [repr(study).strip("<>")]
    if study.jobs.is_empty():
        return text.html(told)
    summary = summarise(study)
    return text.html([*told, *_more(summary, most)], [table_of(summary, most)])


def _more(summary: Summary, most: int) -> list[str]:
    """What follows the table: how many rows it lacks, and that numbers of skipped iterations are none of quantiles."""
    said = [f"... and {len(summary.rows) - most:,} rows more"] if len(summary.rows) > most else []
    if EXTRAPOLATED in summary.header:
        at = summary.header.index(EXTRAPOLATED)
        said.append(simulated_part(sum(row[at] for row in summary.rows)))
    return said


def table_of(summary: Summary, most: int) -> Table:
    """The first rows as a table, times and bytes in the unit that suits each column."""
    units = [unit_of(name, [row[index] for row in summary.rows]) for index, name in enumerate(summary.header)]
    numeric = [all(isinstance(row[index], int | float) for row in summary.rows) for index in range(len(units))]
    columns = [
        Column(name.removesuffix("_ps") if unit else name, right, unit)
        for name, right, (unit, _) in zip(summary.header, numeric, units, strict=True)
    ]
    shown = summary.rows[:most]
    cells = [[cell(row[index], factor) for row in shown] for index, (_, factor) in enumerate(units)]
    short = [column if right else abbreviated(column) for column, right in zip(cells, numeric, strict=True)]
    return Table(columns, [list(row) for row in zip(*short, strict=True)])


def abbreviated(values: Sequence[str], most: int = 60) -> list[str]:
    """Long values, such as tables of a scenario, are cut; they stay whole if two of them have the same beginning."""
    short = [shortened(value, most) for value in values]
    return short if len(set(short)) == len(set(values)) else list(values)


def unit_of(name: str, values: Sequence[Any]) -> tuple[str, float]:
    """The unit of a column of times, bytes or bandwidths, in picoseconds or bytes; no unit for other values."""
    known = [abs(value) for value in values if isinstance(value, int | float) and value]
    if name.endswith("_ps"):
        return text.unit_of(known)
    own = next(
        (column.unit for column in columns_of("jobs", collective=True, reordering=True) if column.name == name), ""
    )
    if own not in ("bytes", "bytes/s"):
        return "", 1.0
    unit, factor = text.unit_of_bytes(known)
    return f"{unit}/s" if own == "bytes/s" else unit, factor


def cell(value: Any, factor: float = 1.0) -> str:
    """A value with four digits or more, never a power of ten: 1.234, 51.36, 1,234."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and factor == 1.0:
        return str(value)
    if not isinstance(value, int | float):
        return str(value)
    return text.four_digits(value / factor)
