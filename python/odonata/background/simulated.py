"""The background utilisation of simulated machines, by the same function as that of real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from odonata.background.utilisation import of_jobs
from odonata.errors import InputError
from odonata.queue.records import Job
from odonata.study.study import open_study
from odonata.study.task import POINT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path
    from typing import Any

    from odonata.background.utilisation import Background

_RUNNING = frozenset({"RUNNING"})


def of_jobs_on_nodes(jobs: Mapping[str, Collection[int]], nodes_total: int) -> Background:
    """The background utilisation of jobs (name -> numbers of its nodes) that all run at once.

    Raises InputError as `odonata.background.utilisation.of_jobs`.
    """
    return of_jobs([Job(name, _RUNNING, tuple(map(str, nodes))) for name, nodes in jobs.items()], nodes_total)


def of_spec(spec: Mapping[str, Any], nodes_total: int, without: Collection[str] = ()) -> Background:
    """The background utilisation of a resolved scenario (`run.resolved["spec"]`), without some of its jobs."""
    jobs = {job["name"]: job["nodes"] for job in spec["jobs"] if job["name"] not in without}
    return of_jobs_on_nodes(jobs, nodes_total)


def of_study(path: str | Path, nodes_total: int | None) -> pl.DataFrame:
    """The first job of every finished point of a study, with the columns of the point, and `b` of its other jobs.

    A study that kept a column `b` needs no `nodes_total`. Raises InputError if the study cannot be read, and if b is
    not known.
    """
    study = open_study(path)
    jobs = study.jobs
    first_jobs = jobs.filter(pl.col("job") == 0)
    extra = [name for name in study.runs.columns if name not in first_jobs.columns]
    first_jobs = first_jobs.join(study.runs.select(POINT, *extra), on=POINT, how="left", maintain_order="left")
    if nodes_total is not None:
        others = jobs.filter(pl.col("job") != 0).select(POINT, "name", "nodes")
        b = dict.fromkeys(first_jobs[POINT].to_list(), 0.0)
        for point, part in others.group_by(POINT):
            first = [0, *np.cumsum(part["nodes"].to_numpy().astype(np.int64)).tolist()]
            # Jobs of a scenario do not share nodes, so any distinct numbers give their b.
            named = {name: range(first[at], first[at + 1]) for at, name in enumerate(part["name"])}
            b[point[0]] = of_jobs_on_nodes(named, nodes_total).b
        first_jobs = first_jobs.with_columns(b=pl.col(POINT).replace_strict(b, return_dtype=pl.Float64))
    elif "b" not in first_jobs.columns:
        raise InputError(
            "the study has no column `b`",
            file=path,
            hint="--nodes-total N, the nodes of its system, gives b of the jobs beside the first of each run",
        )
    if not first_jobs.height:
        raise InputError("the study has no finished run", file=path)
    return first_jobs
