"""Columns of studies that follow from columns of `jobs`: they are computed when a study is read, not stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.store.columns import Column

if TYPE_CHECKING:
    import polars as pl

VARIATION = "iteration_variation"
DERIVED = (
    Column(
        "jobs", "accepted_fraction", "Float64", "1",
        "accepted share of the offered load: 1 less `backlog_growth`, from 0 to 1; absent where that is", "more",
    ),
    Column(
        "jobs", VARIATION, "Float64", "1",
        "step-time variation of a program: 99 % quantile of the times of its iterations divided by their median; "
        "absent without iterations; with `run.steady` of the simulated iterations alone", "less",
    ),
)  # fmt: skip


def extrapolated(jobs: pl.DataFrame) -> int:
    """In how many rows of `jobs` iterations were skipped (`run.steady`)."""
    if "skipped_ps" not in jobs.columns:
        return 0
    return int((jobs["skipped_ps"].fill_null(0) > 0).sum())


def simulated_part(runs: int) -> str:
    """The note for so many runs with skipped iterations."""
    return (
        f"In {runs} run{'s' * (runs > 1)} iterations were skipped (`run.steady`): p99/p50 and other quantiles are of "
        "the simulated part alone; times, rates, means and slowdowns are extrapolated."
    )


def with_derived(jobs: pl.DataFrame) -> pl.DataFrame:
    """The rows of `jobs` of a study with the columns of `DERIVED` whose sources they have."""
    import polars as pl

    if "backlog_growth" in jobs.columns:
        jobs = jobs.with_columns(accepted_fraction=(1 - pl.col("backlog_growth")).clip(0, 1))
    if {"iteration_p99_ps", "iteration_p50_ps"} <= set(jobs.columns):
        median = pl.col("iteration_p50_ps")
        ratio = pl.when(median > 0).then(pl.col("iteration_p99_ps") / median)
        jobs = jobs.with_columns(ratio.alias(VARIATION))
    return jobs
