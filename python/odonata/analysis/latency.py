"""Latencies of messages: what others cost a job, and whether it settles.

Source: Kang 2019, sections 3 and 4 (K20, K22). The summary of a distribution itself is
[odonata.store.latency.Latency][], because it is stored with every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from odonata.store.columns import QUANTILES

if TYPE_CHECKING:
    from odonata.store.latency import Latency

_NAMES = {name: q for name, q in QUANTILES.items() if name not in ("min", "max")}


def slowdown(together: Latency, alone: Latency) -> dict[str, float | None]:
    """Each quantile and the mean of a job's latency over that of the job by itself (`mean`: Kang 2019, figure 8).

    A quantile that is 0 ps alone has no ratio: `None`.
    """
    here, there = together.as_dict(), alone.as_dict()
    return {name: here[name] / there[name] if there[name] else None for name in here}


def slowdowns(jobs: pl.DataFrame) -> pl.DataFrame:
    """The same from a run's `jobs`: a row for each job that was also run alone, its ratios in columns.

    They speak of messages; the `slowdown` in `jobs` is of time for a program.
    """
    names = [*QUANTILES, "mean"]
    ratios = [(pl.col(f"latency_{name}_ps") / pl.col(f"alone_{name}_ps")).alias(name) for name in names]
    return jobs.filter(pl.col("alone_mean_ps").is_not_null()).select("job", "name", *ratios)


def by_interval(messages: pl.DataFrame, job: int, *, every: int = 1) -> pl.DataFrame:
    """Latency in the course of a job: one row per `every` intervals, with `interval` (the first of them), `count`,
    `mean_ps` and the quantiles (`p50_ps`, ...; nearest rank) of the messages delivered.

    A mean that keeps growing says that the load exceeds what the network carries, and that a mean over all messages
    says more about their number than about the network (requirements: "N grows with the number of messages").
    """
    delivered = messages.filter(pl.col("job") == job, pl.col("latency_ps").is_not_null())
    first = (pl.col("interval") // every * every).alias("interval")
    return (
        delivered.group_by(first)
        .agg(
            pl.len().alias("count"),
            pl.col("latency_ps").mean().alias("mean_ps"),
            *(_nearest_rank(top, bottom).alias(f"{name}_ps") for name, (top, bottom) in _NAMES.items()),
        )
        .sort("interval")
    )


def _nearest_rank(top: int, bottom: int) -> pl.Expr:
    rank = (pl.len().cast(pl.Int64) * top + (bottom - 1)) // bottom
    return pl.col("latency_ps").sort().get(rank - 1)


def throughput(messages: pl.DataFrame, message_bytes: int, job: int, *, every_ps: int) -> pl.DataFrame:
    """What arrived of a job by windows of `every_ps`, in bytes per second: `start_ps`, `count`, `rate`.

    A message counts in the window in which its last byte arrived. Windows in which nothing did are rows of zero.
    """
    delivered = messages.filter(pl.col("job") == job, pl.col("latency_ps").is_not_null())
    window = ((pl.col("issue_ps") + pl.col("latency_ps")) // every_ps).alias("window")
    counts = delivered.group_by(window).agg(pl.len().alias("count"))
    last = counts["window"].max()
    every = pl.DataFrame({"window": range(int(last) + 1 if isinstance(last, int) else 0)}, schema={"window": pl.UInt64})
    return every.join(counts, on="window", how="left").select(
        (pl.col("window") * every_ps).alias("start_ps"),
        pl.col("count").fill_null(0),
        (pl.col("count").fill_null(0) * message_bytes / (every_ps * 1e-12)).alias("rate"),
    )
