"""Load of links: a matrix of groups for the global ones, a strip of routers for the local ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib import colormaps
from matplotlib.ticker import MaxNLocator

from odonata.plot.style import HEAT, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

WRITTEN_UP_TO = 16
"""Greatest number of groups for which the percentages are written into the matrix."""

_TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def scale_for(*busy: NDArray[np.float64]) -> float:
    """Top of a colour scale that holds all of them: one of a few values, so pictures are comparable; at most 1."""
    peak = max((float(np.nanmax(matrix)) for matrix in busy if np.isfinite(matrix).any()), default=0.0)
    return next((top for top in _TOPS if peak <= top), _TOPS[-1])


def draw_group_matrix(
    axes: Axes, busy: NDArray[np.float64], *, top: float | None = None, busiest: tuple[float, str] | None = None
) -> Axes:
    """Busy fraction of the links from each group (row) to each other (column): `analysis.traffic.group_matrix`.

    `top` is the fraction of the darkest colour, by default what `scale_for` gives; `busiest` is the single link that
    is named (`analysis.traffic.busiest`).
    """
    top = scale_for(busy) if top is None else top
    _draw(axes, busy, "links between groups", top, busiest=busiest)
    axes.set_xlabel("to group")
    axes.set_ylabel("from group")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=9, min_n_ticks=1))
    if len(busy) <= WRITTEN_UP_TO:
        axes.set_xticks(range(len(busy)))
        axes.set_yticks(range(len(busy)))
        for row, column in np.argwhere(~np.isnan(busy)):
            percent = float(busy[row, column]) * 100
            # The colour follows the written number, so that equal numbers look the same.
            colour = "white" if round(percent) > 60 * top else "black"
            text = "<1" if 0 < percent < 1 else f"{percent:.0f}"
            size = 7.5 if len(busy) <= 9 else 6
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=size)
    return axes


def draw_local(
    axes: Axes,
    busy: NDArray[np.float64],
    *,
    top: float | None = None,
    busiest: tuple[float, str] | None = None,
    leaves: int | None = None,
) -> Axes:
    """Busy fraction of the local links out of each router: `analysis.traffic.local_matrix`; `top`, `busiest` as above.

    `leaves` is the number of leaves of a group, if the other routers are spines (`analysis.traffic.leaves_in_group`).
    """
    top = scale_for(busy) if top is None else top
    _draw(axes, busy, "local links out of each router", top, aspect="auto", busiest=busiest)
    axes.set_xlabel("router in the group, by id")
    if leaves is not None:
        axes.axvline(leaves - 0.5, color="black", linewidth=1.2)
        spines = f"spines: {leaves} to {busy.shape[1] - 1}"
        axes.set_xlabel(f"router in the group, by id (leaves: 0 to {leaves - 1}; {spines})")
    axes.set_ylabel("group")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12, min_n_ticks=1))
    return axes


def _draw(
    axes: Axes,
    busy: NDArray[np.float64],
    what: str,
    top: float,
    *,
    aspect: Literal["equal", "auto"] = "equal",
    busiest: tuple[float, str] | None = None,
) -> None:
    colours = colormaps[HEAT].with_extremes(bad="0.85")
    image = axes.imshow(busy, cmap=colours, vmin=0, vmax=top, aspect=aspect, interpolation="nearest")
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.9 if aspect == "equal" else 1.0, pad=0.02)
    bar.ax.yaxis.set_major_locator(MaxNLocator(nbins=5))
    bar.ax.yaxis.set_major_formatter(percent)
    bar.outline.set_visible(False)
    second = "" if busiest is None else f"\nbusiest link: {busiest[0] * 100:.0f} % ({busiest[1]})"
    if np.nanmax(busy, initial=0.0) > 1 or (busiest is not None and busiest[0] > 1):
        second += "\nabove 100 %: granted, but not sent by the end"
    # A matrix may be narrower than its title; there is room on both sides of it.
    axes.set_title(f"{what}: mean share of time busy{second}", loc="center" if aspect == "equal" else "left")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=9, min_n_ticks=1))
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
