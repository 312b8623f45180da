"""The machine of a run and its load, from the table `links`: classes, groups, routers, nodes.

Only what is wired and works is in the table, so only that is in the report.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata.machine.terms import group_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.store import Run

MOST_LINKS = 400_000
"""Largest number of directed links of which a report has all. Of a larger machine, it has the busiest half of that
number."""
HOTTEST = 20
"""Rows of a hot list."""

NO_JOB = 65_535
"""The job of a node that has none."""

_LINK = ("class", "from_kind", "from_id", "from_port", "to_kind", "to_id", "packets", "bytes", "stalled_ps")
_BETWEEN_GROUPS = pl.col("from_group") != pl.col("to_group")
_BETWEEN_ROUTERS = (pl.col("from_kind") == "router") & (pl.col("to_kind") == "router")
_LOAD = (
    pl.col("busy").mean(),
    pl.col("busy").max().alias("busy_max"),
    pl.col("bytes").sum(),
    pl.col("stalled_ps").sum(),
)


def machine_of(run: Run, left_out: list[str]) -> dict[str, Any]:
    """The document of the machine; appends to `left_out` what it leaves out because the machine is large."""
    links = run.scan("links").select(*_LINK, "from_group", "to_group", "bandwidth", "busy", "link").collect()
    # Routers that belong to no group (the cores of a fat tree) are drawn as one more group.
    outside = int(max(links["from_group"].max(), links["to_group"].max())) + 1  # type: ignore[arg-type,type-var]
    links = links.with_columns(pl.col("from_group", "to_group").fill_null(outside))
    topology = run.resolved.get("spec", {}).get("topology", {})
    columns, routers_per_group = _grid(topology)
    routers = (
        links.filter(pl.col("from_kind") == "router")
        .group_by(id="from_id")
        .agg(
            pl.col("from_group").first().alias("group"),
            (pl.col("to_kind") == "node").any().alias("leaf"),
        )
        .sort("id")
    )
    loads = links.filter(_BETWEEN_ROUTERS).group_by(id="from_id").agg(pl.len().alias("links"), *_LOAD)
    routers = routers.join(loads, on="id", how="left", maintain_order="left").with_columns(
        place=pl.col("id") - pl.col("group") * routers_per_group
        if routers_per_group
        else pl.int_range(pl.len()).over("group")
    )
    nodes = _nodes(links, run.resolved.get("spec", {}))
    routers = routers.join(_chassis(links, nodes), on="id", how="left", maintain_order="left").with_columns(
        pl.col("chassis").fill_null(pl.col("id"))
    )
    pairs = (
        links.filter(_BETWEEN_GROUPS)
        .group_by("from_group", "to_group")
        .agg(pl.len().alias("links"), *_LOAD, pl.col("bandwidth").sum())
        .sort("from_group", "to_group")
    )
    classes = (
        links.group_by("class", maintain_order=True)
        .agg(pl.len().alias("links"), pl.col("bandwidth").first(), pl.col("packets").sum(), *_LOAD)
        .sort("class")
    )
    return {
        "kind": topology.get("kind", ""),
        "columns": columns,
        "leaves": _leaves(topology),
        "group_name": group_name(topology.get("kind")),
        "groups": int(max(links["from_group"].max(), links["to_group"].max())) + 1,  # type: ignore[arg-type,type-var]
        "classes": classes,
        "routers": routers,
        "nodes": nodes,
        "pairs": pairs,
        "links": _kept(links, left_out).select("link", *_LINK),
        "hot_links": _hottest(links.filter(_BETWEEN_ROUTERS)),
        "hot_nics": _hottest(links.filter(~_BETWEEN_ROUTERS)),
    }


def _grid(topology: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Columns of the grid in which a group's routers are (`None`: no grid), and routers of a whole group."""
    if topology.get("kind") == "cascade":
        return int(topology["columns"]), int(topology["columns"]) * int(topology["rows"])
    if topology.get("kind") == "dragonfly-plus":
        return None, int(topology["leaves"]) + int(topology["spines"])
    if topology.get("kind") == "hyperx":
        *slice_, _ = (int(routers) for routers in topology["dimensions"])
        return slice_[0] if len(slice_) > 1 else None, prod(slice_)
    return None, int(topology["routers"]) if "routers" in topology else None


def _leaves(topology: Mapping[str, Any]) -> int | None:
    """Routers of a group with nodes, which come first; the others are drawn above them (`None`: all have nodes)."""
    if topology.get("kind") == "graph":
        return 1 + max(int(router) for router in topology["nics"])
    leaves: int | None = topology.get("leaves")
    return leaves


def _nodes(links: pl.DataFrame, spec: Mapping[str, Any]) -> pl.DataFrame:
    """Nodes with a NIC that works: their router (that of the first NIC), job, and what the NICs carried together."""
    sent = (
        links.filter(pl.col("from_kind") == "node")
        .group_by(id="from_id")
        .agg(
            pl.col("to_id").first().alias("router"),
            pl.col("bytes").sum().alias("sent"),
            pl.col("busy").mean().alias("busy_sending"),
            pl.col("stalled_ps").sum(),
        )
    )
    received = (
        links.filter(pl.col("to_kind") == "node")
        .group_by(id="to_id")
        .agg(pl.col("bytes").sum().alias("received"), pl.col("busy").mean().alias("busy_receiving"))
    )
    nodes = sent.join(received, on="id", how="left").sort("id")
    size = int(nodes["id"].max() or 0) + 1 if nodes.height else 0  # type: ignore[arg-type]
    job = np.full(size, NO_JOB, np.uint16)
    for number, of in enumerate(spec.get("jobs", ())):
        job[np.asarray(of["nodes"], np.int64)] = number
    return nodes.with_columns(job=pl.Series(job[nodes["id"].to_numpy()], dtype=pl.UInt16))


def _chassis(links: pl.DataFrame, nodes: pl.DataFrame) -> pl.DataFrame:
    """Routers with the NICs of the same nodes, as rails are: each with the router of their first NICs.

    A router to which any node has its first NIC begins a chassis of its own.
    """
    attached = links.filter(pl.col("from_kind") == "node").select(id="to_id", node="from_id")
    first = nodes.select(node="id", chassis="router")
    return (
        attached.join(first, on="node")
        .group_by("id")
        .agg(
            pl.when((pl.col("chassis") == pl.col("id")).any())
            .then(pl.col("id").first())
            .otherwise(pl.col("chassis").mode().min())
            .alias("chassis")
        )
        .sort("id")
    )


def _kept(links: pl.DataFrame, left_out: list[str]) -> pl.DataFrame:
    if links.height <= MOST_LINKS:
        return links
    kept = MOST_LINKS // 2
    left_out.append(
        f"The machine has {links.height:,} directed links. The lists of links have the {kept:,} busiest of them. "
        "Numbers of routers, nodes, pairs of groups and classes count all links."
    )
    return links.sort("busy", "link", descending=[True, False]).head(kept).sort("link")


def _hottest(links: pl.DataFrame) -> pl.DataFrame:
    carried = links.filter(pl.col("bytes") > 0).sort("busy", "link", descending=[True, False])
    return carried.head(HOTTEST).select("link", *_LINK, "from_group", "to_group", "bandwidth", "busy")
