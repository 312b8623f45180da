"""The tables of a study: its runs and their jobs in the order of the points. The workers do not change their bytes.

```
study.toml        as given
scenario.toml     the scenario that the axes change, with what `-s` has set
runs.parquet      one row per point that is settled: its number, the axes, id, status, error, seed, totals, engine
jobs.parquet      one row per point and job: the number, the axes, and the columns of a run's `jobs`
walls.parquet     one row per run: id and wall time, which differs between repetitions
points.json       the run of each point, so that it is not resolved again (`resolution_cache.py`)
manifest.json     version, axes, how many points are done; lengths and hashes of the tables and texts
results/          finished runs by id, as they were written during the sweep
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from odonata import files
from odonata.scenario import Scenario
from odonata.store.columns import columns_of
from odonata.store.engine import fingerprint
from odonata.store.manifest import FORMAT, MANIFEST, sealed_text
from odonata.store.write import parquet
from odonata.study import resolution_cache, slowdowns
from odonata.study.axis import label
from odonata.study.task import KEPT, POINT, PREFIX, RUN_COLUMNS

if TYPE_CHECKING:
    from pathlib import Path

    from odonata.study.ledger import Ledger
    from odonata.study.plan import Plan

_MADE = "# A function makes the scenario of each point.\n"
WALLS = ("wall_s",)
"""Columns of runs that differ between repetitions of a sweep, and have a table of their own."""
APART = (*WALLS, "keep")
"""Columns that are not part of `runs`."""
NO_RESULT = "no result of this simulator: its sources changed while the study ran, or the result was removed"
"""The error of a settled point whose result is missing."""


def tables(ledger: Ledger) -> dict[str, pl.DataFrame]:
    """`runs`, `jobs` and `walls` of all points that are settled."""
    plan = ledger.plan
    numbers = [number for number in range(len(plan)) if ledger.is_settled(number)]
    axes = axis_columns(plan, numbers)
    ids = [ledger.ids.get(number) if number not in ledger.errors else None for number in numbers]
    alone = {run: ledger.alone[run] for run in ids if run in ledger.alone}
    needed = [run for run in ids if run is not None] + [alone_run.id for runs in alone.values() for alone_run in runs]
    rows = ledger.results.rows(dict.fromkeys(needed), plan.mark)
    lost = slowdowns.failures(alone, rows)
    unresolved = [ledger.errors.get(n, lost.get(run or "")) for n, run in zip(numbers, ids, strict=True)]
    points = pl.DataFrame(
        {
            POINT: pl.Series(numbers, dtype=pl.UInt32),
            **axes,
            "id": pl.Series(ids, dtype=pl.String),
            "unresolved": pl.Series(unresolved, dtype=pl.String),
        }
    )
    facts = [f"{PREFIX}{name}" for name in RUN_COLUMNS]
    if rows.width == 0:
        rows = pl.DataFrame(schema=dict.fromkeys(facts, pl.String))
    # An axis has the name of its key; a column of runs with the same name would be mistaken for it.
    names = {name: f"run_{name}" if name in axes else name for name in RUN_COLUMNS}
    of_runs = rows.select(pl.col(f"{PREFIX}{name}").alias(as_) for name, as_ in names.items()).unique(subset=["id"])
    kept = [name for name in rows.columns if name.startswith(KEPT)] if plan.keep else []
    if kept:
        columns = [pl.col(name).alias(name[len(KEPT) :]) for name in kept]
        firsts = rows.filter(pl.col("job") == 0).select(pl.col(f"{PREFIX}id").alias("id"), *columns)
        of_runs = of_runs.join(firsts, on="id", how="left")
    joined = points.join(of_runs, on="id", how="left", maintain_order="left")
    missing = pl.when(pl.col("status").is_null()).then(pl.lit(NO_RESULT)).otherwise(None)
    runs = joined.with_columns(
        status=pl.when(pl.col("unresolved").is_null()).then("status").fill_null("failed"),
        error=pl.coalesce("error", "unresolved", missing),
    ).select(
        POINT, *axes, *(as_ for name, as_ in names.items() if name not in APART), *(name[len(KEPT) :] for name in kept)
    )
    walls = joined.filter(pl.col("id").is_not_null()).unique("id", keep="first", maintain_order=True)
    good = points.filter(pl.col("unresolved").is_null()).select(POINT, *axes, "id")
    jobs = _jobs(good, slowdowns.beside_alone(rows, alone) if alone else rows)
    return {"runs": runs, "jobs": jobs, "walls": walls.select("id", *WALLS)}


def _jobs(points: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    registered = [column.name for column in columns_of("jobs", steady=True, collective=True, reordering=True)]
    present = {name for name in rows.columns if not name.startswith((PREFIX, KEPT))}
    columns = [name for name in registered if name in present] + sorted(present - set(registered))
    # An axis has the name of its key; a column of jobs with the same name would be mistaken for it.
    renamed = {name: f"job_{name}" if name in points.columns else name for name in columns}
    of_jobs = rows.filter(pl.col("job").is_not_null()) if "job" in rows.columns else rows.clear()
    of_jobs = of_jobs.select(pl.col(f"{PREFIX}id").alias("id"), *(pl.col(a).alias(b) for a, b in renamed.items()))
    joined = points.join(of_jobs, on="id", how="inner")
    return joined.sort(POINT, *([renamed["job"]] if "job" in renamed else [])).drop("id").rechunk()


def axis_columns(plan: Plan, numbers: list[int]) -> dict[str, pl.Series]:
    """The value of each key at each of these points."""
    columns: dict[str, pl.Series] = {}
    stride = len(plan)
    for axis in plan.axes:
        stride //= len(axis)
        steps = [number // stride % len(axis) for number in numbers]
        for column, key in enumerate(axis.keys):
            labels = _column([label(row[column]) for row in axis.rows])
            columns[key] = labels.gather(steps)
    return columns


def _column(labels: list[Any]) -> pl.Series:
    """A column of numbers if all values are numbers, else of texts."""
    if all(isinstance(value, bool) for value in labels):
        return pl.Series(labels, dtype=pl.Boolean)
    if all(isinstance(value, int) and not isinstance(value, bool) for value in labels):
        return pl.Series(labels, dtype=pl.UInt64 if min(labels) >= 0 else pl.Int64)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in labels):
        return pl.Series([float(value) for value in labels], dtype=pl.Float64)
    texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in labels]
    return pl.Series(texts, dtype=pl.String)


def begin(plan: Plan, folder: Path) -> None:
    """Write the manifest of a study before its tables are written or replaced.

    If the sweep is killed, the manifest still names the study of the folder. Raises RunError if it cannot be written.
    """
    files.write(folder / MANIFEST, sealed_text(_facts(plan)))


def write(ledger: Ledger, folder: Path) -> None:
    """Write the tables of a study, then its manifest. Raises RunError if they cannot be written."""
    plan = ledger.plan
    made = tables(ledger)
    contents: dict[str, bytes | memoryview] = {
        "study.toml": plan.as_text().encode(),
        "scenario.toml": (plan.base.text if isinstance(plan.base, Scenario) else _MADE).encode(),
        "runs.parquet": parquet(made["runs"]),
        "jobs.parquet": parquet(made["jobs"], columns_of("jobs", collective=True, reordering=True)),
    }
    begin(plan, folder)
    for name, data in contents.items():
        files.write(folder / name, data)
    files.write(folder / "walls.parquet", parquet(made["walls"]))
    resolution_cache.write(ledger, folder)
    facts = {name: files.size_and_digest(data) for name, data in contents.items()}
    files.write(folder / MANIFEST, sealed_text({**facts_of(plan, made["runs"]), "files": facts}))


def _facts(plan: Plan) -> dict[str, Any]:
    """The manifest of a study before anything is simulated."""
    from odonata.machine import core

    return {
        "format": FORMAT,
        "kind": "study",
        "name": plan.name,
        "version": core.version(),
        "engine": fingerprint(),
        "points": len(plan),
        **({"alone": True} if plan.alone else {}),
        "axes": [{"keys": list(axis.keys), "values": len(axis)} for axis in plan.axes],
        "show": {
            "columns": None if plan.show.columns is None else list(plan.show.columns),
            "by": None if plan.show.by is None else list(plan.show.by),
            "job": plan.show.job,
        },
    }


def facts_of(plan: Plan, runs: pl.DataFrame) -> dict[str, Any]:
    """The manifest of a study without its list of files."""
    failed = runs.filter(pl.col("status") == "failed").height
    return {**_facts(plan), "settled": runs.height, "failed": failed}
