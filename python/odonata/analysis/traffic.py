"""Load of links and traffic between groups, from a run's `links` and `counters`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

Way = Literal["in", "out", "both"]
"""The traffic over a group's global links that is counted: incoming, outgoing, or both."""

#: A router that belongs to no group (a core of a fat tree) has none in the table: its links leave groups.
BETWEEN_GROUPS = pl.col("from_group").ne_missing(pl.col("to_group"))
_HAS_GROUP = pl.col("from_group").is_not_null()
_JOINS_GROUPS = BETWEEN_GROUPS & _HAS_GROUP & pl.col("to_group").is_not_null()
_INSIDE = (pl.col("from_kind") == "router") & (pl.col("to_kind") == "router") & ~BETWEEN_GROUPS


def group_matrix(links: pl.DataFrame) -> NDArray[np.float64]:
    """Mean busy fraction of the links from each group (row) to each other (column); NaN where there are none."""
    groups = _groups(links)
    busy = links.filter(_JOINS_GROUPS).group_by("from_group", "to_group").agg(pl.col("busy").mean())
    matrix = np.full((groups, groups), np.nan)
    matrix[busy["from_group"].to_numpy(), busy["to_group"].to_numpy()] = busy["busy"].to_numpy()
    return matrix


def of_ring(links: pl.DataFrame) -> pl.DataFrame:
    """The links with the parts of a picture as their groups: those of the machine, or in a machine of one group its
    routers with nodes, numbered in ascending order. The other routers of that group then belong to none.
    """
    if _groups(links) > 1:
        return links
    at_nodes = pl.col("from_kind") == "node"
    routers = links.filter(at_nodes)["to_id"].unique().sort()
    place = {"old": routers, "new": pl.int_range(routers.len(), eager=True)}

    def part(end: str, other: str) -> pl.Expr:
        router = pl.when(pl.col(f"{end}_kind") == "node").then(pl.col(f"{other}_id")).otherwise(pl.col(f"{end}_id"))
        return router.replace_strict(place["old"], place["new"], default=None).alias(f"{end}_group")

    return links.with_columns(part("from", "to"), part("to", "from"))


def busiest(links: pl.DataFrame, *, between_groups: bool) -> tuple[float, str] | None:
    """The busiest link between groups, or inside one: its busy fraction, and its two ends."""
    chosen = links.filter(BETWEEN_GROUPS if between_groups else _INSIDE)
    if not chosen.height:
        return None
    top = chosen.row(int(chosen["busy"].arg_max() or 0), named=True)
    inside = f" of group {top['from_group']}"
    groups = f", {_group(top['from_group'])} to {_group(top['to_group'])}" if between_groups else inside
    return float(top["busy"]), f"router {top['from_id']} to {top['to_id']}{groups}"


def _group(number: int | None) -> str:
    return "no group" if number is None else f"group {number}"


def leaves_in_group(links: pl.DataFrame) -> int | None:
    """The number of routers with nodes in a group, if every group has these first and then routers without nodes.

    `None` if all routers have nodes, or groups differ.
    """
    routers = links.filter((pl.col("from_kind") == "router") & _HAS_GROUP)
    has_nodes = (pl.col("to_kind") == "node").any()
    leaf = routers.group_by("from_group", "from_id").agg(has_nodes.alias("leaf")).sort("from_group", "from_id")
    leaves: set[int] = set()
    for _, group in leaf.group_by("from_group", maintain_order=True):
        flags = group["leaf"].to_list()
        if all(flags) or flags != sorted(flags, reverse=True):
            return None
        leaves.add(sum(flags))
    return leaves.pop() if len(leaves) == 1 else None


def local_matrix(links: pl.DataFrame) -> NDArray[np.float64]:
    """Mean busy fraction of the local links out of each router: groups (rows) by routers in ascending order of id.

    NaN if a router has none. Rows of smaller groups have NaN at the end.
    """
    local = links.filter(_INSIDE & _HAS_GROUP).group_by("from_group", "from_id").agg(pl.col("busy").mean())
    routers = links.filter((pl.col("from_kind") == "router") & _HAS_GROUP).select("from_group", "from_id").unique()
    ordered = routers.sort("from_group", "from_id").with_columns(
        index=pl.int_range(pl.len()).over("from_group"),
    )
    placed = ordered.join(local, on=["from_group", "from_id"], how="left")
    width = int(ordered["index"].max() or 0) + 1  # type: ignore[arg-type]
    matrix = np.full((_groups(links), width), np.nan)
    matrix[placed["from_group"].to_numpy(), placed["index"].to_numpy()] = placed["busy"].to_numpy()
    return matrix


def group_capacity(links: pl.DataFrame) -> NDArray[np.float64]:
    """Bandwidth of all links from each group to the others, GiB/s each way.

    In Kang 2019, figure 10: 384 x 4.37 = 1,678.
    """
    bandwidths = links.filter(BETWEEN_GROUPS & _HAS_GROUP).group_by("from_group").agg(pl.col("bandwidth").sum())
    capacity = np.zeros(_groups(links))
    capacity[bandwidths["from_group"].to_numpy()] = bandwidths["bandwidth"].to_numpy() / 2**30
    return capacity


def arrival_rates(counters: pl.DataFrame, way: Way = "both", *, job: int | None = None) -> pl.DataFrame:
    """Traffic between groups over time: `start_ps`, `width_ps`, `group`, `rate` (GiB/s), of one job or of all.

    Kang 2019, figure 10. The window in which the run ended is as wide as the run made it. It is left out if it
    is less than a tenth of the others: a single packet is a peak there.
    """
    chosen = counters if job is None else counters.filter(pl.col("job") == job)
    whole = chosen.filter(pl.col("width_ps") * 10 >= pl.col("width_ps").max(), pl.col("width_ps") > 0)
    return (
        whole.group_by("start_ps", "width_ps", "group")
        .agg(pl.col(f"rate_{way}").sum().alias("rate"))
        .sort("start_ps", "group")
    )


def _groups(links: pl.DataFrame) -> int:
    return int(max(links["from_group"].max(), links["to_group"].max())) + 1  # type: ignore[arg-type,type-var]
