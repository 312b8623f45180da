"""Runs that are cut off, whose numbers would mislead (docs/results.md)."""

from __future__ import annotations

import polars as pl

_COUNTS = ("latency_count", "alone_complete")


def is_censored(column: str) -> bool:
    """Whether a column of `jobs` covers only what arrived, if the job is cut off: latencies, times and slowdowns."""
    return column in ("slowdown", "time_ps") or (
        column.startswith(("latency_", "iteration_", "alone_")) and column not in _COUNTS
    )


def is_whole(jobs: pl.DataFrame, column: str) -> pl.Expr:
    """True in the rows of `jobs` whose value of the column covers all that was to be measured, or may do so."""
    if not is_censored(column):
        return pl.lit(True)
    # Null: a background job without end.
    known = [name for name in ("complete", "alone_complete") if name in jobs.columns]
    of = [name for name in known if name == "complete" or column.startswith("alone_") or column == "slowdown"]
    return pl.all_horizontal(pl.lit(True), *(pl.col(name).fill_null(value=True) for name in of))


def without_cut_off(jobs: pl.DataFrame, column: str) -> tuple[pl.DataFrame, int]:
    """The rows that are whole, and how many are not."""
    kept = jobs.filter(is_whole(jobs, column))
    return kept, jobs.height - kept.height


def saturated(jobs: pl.DataFrame, column: str) -> int:
    """Rows whose value depends on how long the job sent."""
    if not column.startswith(("latency_", "slowdown")) or column == "latency_count" or "saturated" not in jobs.columns:
        return 0
    return int(jobs["saturated"].fill_null(value=False).sum())
