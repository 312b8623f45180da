"""A study in one table: medians over its repetitions, for each combination of the other axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.study.dataset import POINT
from odonata.study.study import jobs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.study.study import Study

UNITS = (("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3), ("ps", 1.0))


@dataclass(frozen=True)
class Summary:
    """Rows of a table: keys of the groups, then `job` if there are several, `runs`, and the medians."""

    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def summarise(study: Study) -> Summary:
    """Medians of the columns that the study shows. Raises InputError for a job that there is not."""
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
        .agg(pl.len().alias("runs"), pl.col(POINT).min(), *(pl.col(name).median() for name in columns))
        .sort(POINT, maintain_order=True)
        .drop(POINT)
    )
    header = tuple("job" if name == "name" else name for name in grouped.columns)
    return Summary(header, tuple(grouped.iter_rows()))


def as_text(summary: Summary, most: int = 60) -> str:
    """The table in plain text, times in the unit that suits each column."""
    units = [unit_of(name, [row[index] for row in summary.rows]) for index, name in enumerate(summary.header)]
    header = [titled(name, unit) for name, (unit, _) in zip(summary.header, units, strict=True)]
    rows = [[cell(value, factor) for value, (_, factor) in zip(row, units, strict=True)] for row in summary.rows[:most]]
    numeric = [all(isinstance(row[index], int | float) for row in summary.rows) for index in range(len(header))]
    lines = aligned([header, *rows], numeric)
    if len(summary.rows) > most:
        lines.append(f"... and {len(summary.rows) - most:,} rows more")
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def unit_of(name: str, values: Sequence[Any]) -> tuple[str, float]:
    """The unit in which a column of picoseconds is shown, and its picoseconds; no unit for what is no time."""
    if not name.endswith("_ps"):
        return "", 1.0
    least = min((abs(value) for value in values if isinstance(value, int | float) and value), default=1.0)
    return next(((unit, factor) for unit, factor in UNITS if least >= factor), UNITS[-1])


def titled(name: str, unit: str) -> str:
    """The name of a column with its unit."""
    return f"{name.removesuffix('_ps')} ({unit})" if unit else name


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
    scaled = value / factor
    places = next((p for p, below in ((3, 10), (2, 100), (1, 1000)) if abs(scaled) < below), 0)
    return f"{scaled:,.{places}f}"


def aligned(lines: list[list[str]], right: Sequence[bool]) -> list[str]:
    """Lines of a table with its columns under each other, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    ]
