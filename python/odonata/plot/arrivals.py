"""Traffic between groups over time, as in Kang 2019, figure 10."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.ticker import StrMethodFormatter

from odonata.plot.style import LINES, MOST_LINES, time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SAYS = {
    "in": "into the group",
    "out": "out of the group",
    "both": "in and out of the group",
}

_CAPACITY = {"in": "in", "out": "out", "both": "in and out"}


def draw_arrivals(axes: Axes, rates: pl.DataFrame, *, way: str = "both", capacity: float | None = None) -> Axes:
    """A line for each group from `analysis.traffic.arrival_rates` (GiB/s), and a dashed one at `capacity` (GiB/s).

    `capacity` is that of the shown traffic: of both directions together for `both`.

    Of more than six groups five are lines: the three with most traffic in all, such as that of the root of an incast,
    and those with the highest peaks. A grey band reaches from the least to the greatest of the others.
    """
    ends = (rates["start_ps"] + rates["width_ps"]).to_list() if rates.height else []
    unit, factor = time_unit([max(ends)] if ends else [])
    groups = rates["group"].unique().sort().to_list()
    named = groups if len(groups) <= MOST_LINES else _busiest(rates, MOST_LINES - 1)
    others = rates.filter(~pl.col("group").is_in(named))
    if others.height:
        spread = others.group_by("start_ps").agg(pl.col("rate").min().alias("low"), pl.col("rate").max().alias("high"))
        spread = spread.sort("start_ps")
        edges = np.append(spread["start_ps"].to_numpy(), ends[-1]) / factor
        low, high = spread["low"].to_numpy(), spread["high"].to_numpy()
        label = f"{len(groups) - len(named)} other groups"
        axes.stairs(high, edges, baseline=low, fill=True, color="0.85", label=label)
    for index, group in enumerate(named):
        of_group = rates.filter(group=group)
        edges = np.append(of_group["start_ps"].to_numpy(), ends[-1]) / factor
        look: dict[str, Any] = {"color": LINES[index], "linewidth": 1.1, "label": f"group {group}"}
        axes.stairs(of_group["rate"].to_numpy(), edges, baseline=None, **look)
    if capacity is not None:
        axes.axhline(capacity, color="black", linestyle=(0, (5, 3)), linewidth=1, label=f"capacity {_CAPACITY[way]}")
    axes.set_ylim(bottom=0)
    axes.margins(x=0)
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.set_xlabel(f"simulated time ({unit})")
    axes.set_ylabel(f"traffic {_SAYS[way]}\n(GiB/s)")
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return axes


MOST_IN_ALL = 3
"""Lines for the groups with most traffic in all."""


def _busiest(rates: pl.DataFrame, most: int) -> list[int]:
    """The groups with most traffic in all and then those with the highest peaks, up to a number, in ascending order;
    ties go to the lower group."""
    by_group = rates.group_by("group").agg(
        (pl.col("rate") * pl.col("width_ps")).sum().alias("traffic"), pl.col("rate").max().alias("peak")
    )

    def ranked(column: str) -> list[int]:
        return by_group.sort(column, "group", descending=[True, False])["group"].to_list()

    chosen = dict.fromkeys([*ranked("traffic")[:MOST_IN_ALL], *ranked("peak")])
    return sorted(list(chosen)[:most])
