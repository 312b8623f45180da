"""The machine of a run in a ring of groups: the jobs on its nodes, and the links between groups by their load."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator, PercentFormatter

from odonata.analysis.traffic import group_matrix
from odonata.machine.terms import group_name
from odonata.plot.style import LINES, MOST_LINES, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from odonata.store import Run

NO_JOB, OTHERS, SPARE = "0.9", "0.55", "white"
"""Colours of nodes without a job, of those of jobs without a colour of their own, and of what is no node."""
RING = 1.0
HOT = "YlOrRd"
"""Colour map of loads of links, apart from the colours of jobs."""
LEAST_SPREAD = 0.02
"""Difference of loads from which the scale of colours begins at the least of them."""
MOST_LINKS = 300
"""Lines that are drawn: those with most load."""
LEGEND = 0.5
"""Room beside the ring."""
NAMED_UP_TO = 24
"""Groups up to which each has its number."""


def draw_machine(axes: Axes, run: Run, *, colours: dict[str, str]) -> Axes:
    """Draws the nodes of each group, coloured by job (`job_colours`), and a curve between two groups for the busier of
    both directions of their links (mean share of time busy). In a tree the lines go to the cores in the middle."""
    busy = group_matrix(run.links)
    groups = len(busy)
    nodes = _nodes(run.links)
    owner = _owners(run)
    # A block is as wide as its part of the ring allows.
    side = min(0.55, 2 * math.pi * RING / max(groups, 3) * 0.85)
    angles = [math.pi / 2 - 2 * math.pi * group / max(groups, 1) for group in range(groups)]
    word = group_name(run.resolved.get("spec", {}).get("topology", {}).get("kind"))
    _links(axes, busy, _to_cores(run.links, groups), angles, word)
    for group, angle in enumerate(angles):
        x, y = ((RING + 0.72 * side) * part for part in (math.cos(angle), math.sin(angle)))
        _block(axes, (x, y), side, [owner.get(node) for node in nodes.get(group, [])], colours)
        if groups <= NAMED_UP_TO:
            far = RING + 1.4 * side + 0.1
            axes.text(far * math.cos(angle), far * math.sin(angle), str(group), ha="center", va="center", fontsize=7.5)
    reach = RING + 1.4 * side + 0.2
    axes.set_xlim(-reach - LEGEND, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    axes.set_axis_off()
    shown = {NO_JOB: "no job", **({OTHERS: "other jobs"} if OTHERS in colours.values() else {})}
    handles = [Patch(facecolor=colour, label=plain(name)) for name, colour in colours.items() if colour != OTHERS]
    handles += [Patch(facecolor=colour, label=name) for colour, name in shown.items()]
    axes.legend(handles=handles, title=f"nodes of the {groups:,} {word}s", loc="upper left", alignment="left")
    return axes


def job_colours(run: Run) -> dict[str, str]:
    """The colour of each job: one of its own for the largest six, grey for the others."""
    by_size = sorted(zip(run.jobs["name"], run.jobs["nodes"], strict=True), key=lambda job: -job[1])
    own = {name for name, _ in by_size[:MOST_LINES]}
    palette = iter(LINES)
    return {name: next(palette) if name in own else OTHERS for name in run.jobs["name"]}


def _nodes(links: pl.DataFrame) -> dict[int, list[int]]:
    """The nodes of each group, ascending."""
    known = links.filter(pl.col("from_kind") == "node").group_by("to_group").agg(pl.col("from_id").unique().sort())
    return {group: of for group, of in known.iter_rows() if group is not None}


def _owners(run: Run) -> dict[int, str]:
    """Node -> its job."""
    names = run.jobs["name"].to_list()
    return {node: names[at] for at, job in enumerate(run.resolved["spec"]["jobs"]) for node in job["nodes"]}


def _block(
    axes: Axes, middle: tuple[float, float], side: float, owners: list[str | None], colours: dict[str, str]
) -> None:
    """A square of one cell for each node."""
    if not owners:
        return
    edge = math.ceil(math.sqrt(len(owners)))
    rows = -(-len(owners) // edge)
    cells = np.ones((rows, edge, 3)) * to_rgb(SPARE)
    for at, owner in enumerate(owners):
        cells[divmod(at, edge)] = to_rgb(NO_JOB if owner is None else colours[owner])
    x, y = middle
    half = side / 2
    high = half * rows / edge
    axes.imshow(
        cells, extent=(x - half, x + half, y - high, y + high), interpolation="nearest", zorder=3, aspect="equal"
    )


def _to_cores(links: pl.DataFrame, groups: int) -> list[float]:
    """Of each group the mean load of its links to routers of no group, the busier direction; NaN where there are
    none."""
    loads = [math.nan] * groups
    for of, other in (("from_group", "to_group"), ("to_group", "from_group")):
        outside = links.filter(pl.col(of).is_not_null(), pl.col(other).is_null())
        for group, load in outside.group_by(of).agg(pl.col("busy").mean()).iter_rows():
            loads[group] = float(np.fmax(loads[group], load))
    return loads


def _links(axes: Axes, busy: NDArray[np.float64], to_cores: list[float], angles: list[float], word: str) -> None:
    ends = [(RING * math.cos(angle), RING * math.sin(angle)) for angle in angles]
    middle, through = (0.0, 0.0), [Path.MOVETO, Path.CURVE3, Path.CURVE3]
    both = np.fmax(busy, busy.T)
    lines = [
        (float(both[start, end]), Path([ends[start], middle, ends[end]], through))
        for start, end in np.argwhere(np.isfinite(both))
        if start < end
    ]
    cores = [(load, Path([end, middle])) for load, end in zip(to_cores, ends, strict=True) if math.isfinite(load)]
    if cores:
        axes.text(*middle, "cores", ha="center", va="center", fontsize=9, zorder=4, bbox={"fc": "white", "ec": "0.6"})
    shown = sorted([*lines, *cores], key=lambda line: line[0])[-MOST_LINKS:]
    if not shown:
        return
    # From the least to the greatest load, so that the hottest links stand out; of nearly equal ones, from 0.
    low, high = shown[0][0], shown[-1][0]
    low = low if high - low > LEAST_SPREAD else 0.0
    norm = Normalize(low, high if high > low else low + LEAST_SPREAD)
    colours = LinearSegmentedColormap.from_list("load", colormaps[HOT](np.linspace(0.2, 1.0, 256)))
    for load, path in shown:
        width = 0.5 + 3.0 * float(norm(load))
        axes.add_patch(PathPatch(path, fill=False, edgecolor=colours(norm(load)), linewidth=width, zorder=2))
    bar = axes.figure.colorbar(ScalarMappable(norm, colours), ax=axes, location="bottom", shrink=0.5, aspect=30, pad=0)
    bar.ax.xaxis.set_major_locator(MaxNLocator(5))
    bar.ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=None, symbol=" %"))
    bar.outline.set_visible(False)
    between = f"a {word} and the cores" if cores and not lines else f"two {word}s"
    bar.set_label(f"mean load of the links between {between}, the busier direction")
