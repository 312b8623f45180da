"""The files of DragonView, a viewer of dragonfly machines of the Lawrence Livermore National Laboratory.

Its README describes them: `counters.csv` has a row for each link between routers (group, row and column of both ends, a
colour, counters), `jobs.csv` a row for each process (group, row and column of the router, node, core, job), and
`runs.csv` the names of both for each run. Links inside a row are green (`g`), those between rows black (`k`), and those
between groups blue (`b`), as on a Cray XC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from odonata.report.machine import machine_of

if TYPE_CHECKING:
    from odonata.store import Run

SHAPE = (16, 6, 16)
"""Groups, rows and columns that DragonView draws (those of Edison)."""

_PLACE = ("group", "row", "column")


def dragonview_of(run: Run) -> tuple[dict[str, bytes], list[str]]:
    """The files by name, and what a reader should know about them.

    Jobs are numbers, in the order of the scenario. The routers of a group of a dragonfly are in one row; those of a
    Dragonfly+ have the leaves in row 0 and the spines in row 1.

    Raises InputError if a file of the run is damaged.
    """
    machine = machine_of(run, [])
    place, columns, leaves = pl.col("place"), machine["columns"], machine["leaves"]
    if columns is not None:
        row, column = place // columns, place % columns
    elif leaves is not None:
        spine = place >= leaves
        row, column = spine.cast(pl.Int64), pl.when(spine).then(place - leaves).otherwise(place)
    else:
        row, column = pl.lit(0, pl.Int64), place
    routers = machine["routers"].select("id", "group", row.alias("row"), column.alias("column"))
    names = [job["name"] for job in run.jobs.iter_rows(named=True)]
    notes = ["jobs: " + ", ".join(f"{number} is {name}" for number, name in enumerate(names))]
    shape = tuple(int(routers[name].max()) + 1 for name in _PLACE)
    if any(size > most for size, most in zip(shape, SHAPE, strict=True)):
        groups, rows, across = shape
        notes.append(
            f"The machine has {groups} groups of {rows} x {across} routers. DragonView draws {SHAPE[0]} groups of "
            f"{SHAPE[1]} x {SHAPE[2]}: change `N_GROUPS`, `N_ROWS` and `N_COLS` in its app/src/model.js."
        )
    files = {
        "runs.csv": pl.DataFrame({"name": [run.id], "counters": ["counters.csv"], "jobs": ["jobs.csv"]}),
        "counters.csv": _counters(run, routers),
        "jobs.csv": _jobs(run, machine["nodes"], routers),
    }
    return {name: frame.write_csv().encode() for name, frame in files.items()}, notes


def _counters(run: Run, routers: pl.DataFrame) -> pl.DataFrame:
    links = run.links.filter((pl.col("from_kind") == "router") & (pl.col("to_kind") == "router"))
    for side, letter in (("from", "s"), ("to", "d")):
        ends = routers.rename({"id": f"{side}_id", **{name: f"{letter}{name[0]}" for name in _PLACE}})
        links = links.join(ends, on=f"{side}_id", how="left", maintain_order="left")
    same_group, same_row = pl.col("sg") == pl.col("dg"), pl.col("sr") == pl.col("dr")
    colour = pl.when(~same_group).then(pl.lit("b")).when(same_row).then(pl.lit("g")).otherwise(pl.lit("k"))
    counters = ("packets", "bytes", "busy", "stalled_ps")
    return links.select("sg", "sr", "sc", "dg", "dr", "dc", colour.alias("color"), *counters)


def _jobs(run: Run, nodes: pl.DataFrame, routers: pl.DataFrame) -> pl.DataFrame:
    ranks = [(node, job) for job, of in enumerate(run.resolved["spec"]["jobs"]) for node in of["nodes"]]
    processes = pl.DataFrame(ranks, schema={"id": pl.UInt32, "jobid": pl.UInt16}, orient="row")
    here = nodes.select("id", "router", n=pl.int_range(pl.len()).over("router"))
    jobs = processes.with_columns(core=pl.int_range(pl.len()).over("id")).join(here, on="id", maintain_order="left")
    jobs = jobs.join(routers.rename({"id": "router"}), on="router", maintain_order="left")
    return jobs.select(g="group", r="row", c="column", n="n", core="core", jobid="jobid")
