"""The columns that compare a job beside others with the same job alone, from two runs of a study.

A run of a job alone has its own id, which does not depend on the neighbours, so several points can share it. The
columns are those of `odonata run --alone`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from odonata.store.columns import QUANTILES
from odonata.study.task import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.study.task import AloneRun

_ID, _STATUS, _ERROR = f"{PREFIX}id", f"{PREFIX}status", f"{PREFIX}error"
_SUFFIXES = (*QUANTILES, "mean")


def failures(alone: Mapping[str, tuple[AloneRun, ...]], rows: pl.DataFrame) -> dict[str, str]:
    """Run -> the error of the run of one of its jobs alone. Such runs have no slowdown, and count as failed."""
    if not alone or rows.width == 0:
        return {}
    failed = rows.filter(pl.col(_STATUS) == "failed")
    errors = dict(zip(failed[_ID].to_list(), failed[_ERROR].to_list(), strict=True))
    return {
        run: f"`{alone_run.name}` alone: {errors[alone_run.id]}"
        for run, runs in alone.items()
        for alone_run in runs
        if alone_run.id in errors
    }


def beside_alone(rows: pl.DataFrame, alone: Mapping[str, tuple[AloneRun, ...]]) -> pl.DataFrame:
    """Rows of runs with the columns `alone_*` and `slowdown`; `alone` gives the runs alone for the id of a run."""
    if "job" not in rows.columns:
        return rows  # no run is done
    pairs = pl.DataFrame(
        [(run, alone_run.job, alone_run.id, alone_run.every) for run, runs in alone.items() for alone_run in runs],
        schema={_ID: pl.String, "job": rows.schema["job"], "_alone": pl.String, "_every": pl.Boolean},
        orient="row",
    )
    program = pl.col("iterations").is_not_null()
    there = rows.filter(pl.col("job").is_not_null()).select(
        pl.col(_ID).alias("_alone"),
        *(pl.col(f"latency_{name}_ps").alias(f"alone_{name}_ps") for name in _SUFFIXES),
        *(pl.col(f"iteration_{name}_ps").alias(f"alone_iteration_{name}_ps") for name in _SUFFIXES),
        pl.when(program).then("time_ps").alias("alone_time_ps"),
        (pl.col("complete") if "complete" in rows.columns else pl.lit(None, pl.Boolean)).alias("alone_complete"),
        pl.col("iteration_mean_ps").alias("_iteration"),
    )
    # Only rows of runs with a single job are runs alone.
    there = there.join(pairs.select("_alone").unique(), on="_alone", how="semi")
    made = [name for name in there.columns if name in rows.columns]
    joined = rows.drop(made).join(pairs, on=[_ID, "job"], how="left").join(there, on="_alone", how="left")
    here, by_itself = (
        pl.when(~program)
        .then(pl.col(mean))
        .when(pl.col("_every"))
        .then(pl.col(iteration))
        .otherwise(pl.col(time).cast(pl.Float64))
        for mean, iteration, time in (
            ("latency_mean_ps", "iteration_mean_ps", "time_ps"),
            ("alone_mean_ps", "_iteration", "alone_time_ps"),
        )
    )
    # A ratio of incomplete runs would compare different messages.
    whole = [pl.col(name).fill_null(value=True) for name in ("complete", "alone_complete") if name in joined.columns]
    slowdown = pl.when(by_itself > 0, *whole).then(here / by_itself)
    return joined.with_columns(slowdown=slowdown).drop("_alone", "_every", "_iteration").select(rows.columns)
