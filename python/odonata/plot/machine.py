"""The machine of a run in a ring of groups: the jobs on its nodes, and the links between groups by their load. In a
machine of one group, the ring is made of its routers with nodes.
"""

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
from matplotlib.ticker import MaxNLocator

from odonata.analysis.traffic import group_matrix, of_ring
from odonata.machine.terms import group_name
from odonata.plot.style import LINES, MOST_LINES, percent, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.axes import Axes

    from odonata.analysis.motion import Ends
    from odonata.store import Run

NO_JOB, OTHERS, SPARE = "0.9", "0.55", "white"
"""Colours of nodes without a job, of those of jobs without a colour of their own, and of what is no node."""
RING = 1.0
HOT = "YlOrRd"
"""Colour map of loads of links, apart from the colours of jobs."""
MOST_LINKS = 300
"""Lines that are drawn: those with most load."""
LEGEND = 0.5
"""Room beside the ring."""
MIDDLE = "middle"
"""What the text in the middle is known by (`get_gid`)."""
NAMED_UP_TO = 24
"""Groups up to which each has its number."""


def draw_machine(axes: Axes, run: Run, *, colours: dict[str, str]) -> Axes:
    """Draws the nodes of each group, coloured by job (`job_colours`), and a curve between two groups for the busier of
    both directions of their links (mean share of time busy). In a tree the lines go to the cores in the middle."""
    links = of_ring(run.links)
    busy = group_matrix(links)
    angles = draw_groups(axes, run, colours=colours)
    both = np.fmax(busy, busy.T)
    loads: dict[Ends, float] = {
        (int(start), int(end)): float(both[start, end]) for start, end in np.argwhere(np.isfinite(both)) if start < end
    }
    to_cores = enumerate(_to_cores(links, len(busy)))
    loads |= {(group, None): load for group, load in to_cores if math.isfinite(load)}
    if loads:
        scale = Scale(max(loads.values()))
        draw_lines(axes, loads, angles, scale, middle_name(run))
        draw_scale(axes, scale, loads, run)
    return axes


def draw_groups(axes: Axes, run: Run, *, colours: dict[str, str]) -> list[float]:
    """Draws the groups in a ring, with their nodes and a legend; returns the angle of each."""
    links = of_ring(run.links)
    nodes = _nodes(links)
    groups = len(group_matrix(links))
    owner = _owners(run)
    # A block is as wide as its part of the ring allows.
    side = min(0.55, 2 * math.pi * RING / max(groups, 3) * 0.85)
    angles = [math.pi / 2 - 2 * math.pi * group / max(groups, 1) for group in range(groups)]
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
    axes.legend(handles=handles, title=f"nodes of the {groups:,} {_word(run)}s", loc="upper left", alignment="left")
    return angles


def _word(run: Run) -> str:
    if _one_group(run):
        return "router"
    return group_name(run.resolved.get("spec", {}).get("topology", {}).get("kind"))


def middle_name(run: Run) -> str:
    """What the routers of no part of the ring are."""
    if not _one_group(run):
        return "cores"
    kind = run.resolved.get("spec", {}).get("topology", {}).get("kind")
    return "routers without nodes" if kind == "graph" else "spines"


def _one_group(run: Run) -> bool:
    return len(group_matrix(run.links)) == 1


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


class Scale:
    """Colours and widths of lines, from no load to the greatest: links of nearly the same load look alike."""

    def __init__(self, high: float) -> None:
        self.norm = Normalize(0.0, high if high > 0 else 1.0, clip=True)
        self.colours = LinearSegmentedColormap.from_list("load", colormaps[HOT](np.linspace(0.2, 1.0, 256)))

    def show(self, line: PathPatch, load: float) -> None:
        """Gives a line the looks of its load."""
        line.set_edgecolor(self.colours(self.norm(load)))
        line.set_linewidth(0.5 + 3.0 * float(self.norm(load)))


def draw_lines(
    axes: Axes, loads: Mapping[Ends, float], angles: list[float], scale: Scale, name: str
) -> dict[Ends, PathPatch]:
    """Draws the lines with most load, the busiest last. `name` is what stands in the middle, where lines go to it."""
    places = [(RING * math.cos(angle), RING * math.sin(angle)) for angle in angles]
    middle, through = (0.0, 0.0), [Path.MOVETO, Path.CURVE3, Path.CURVE3]
    if any(end is None for _, end in loads):
        box = {"fc": "white", "ec": "0.6"}
        axes.text(*middle, name, ha="center", va="center", fontsize=9, zorder=4, bbox=box, gid=MIDDLE)
    lines = {}
    for ends in sorted(loads, key=loads.__getitem__)[-MOST_LINKS:]:
        start, end = ends
        path = Path([places[start], middle]) if end is None else Path([places[start], middle, places[end]], through)
        lines[ends] = PathPatch(path, fill=False, zorder=2)
        scale.show(lines[ends], loads[ends])
        axes.add_patch(lines[ends])
    return lines


def draw_scale(axes: Axes, scale: Scale, ends: Iterable[Ends], run: Run, *, what: str = "mean load") -> None:
    """Draws the bar of colours below the machine, and says what `what` is of."""
    shown = ScalarMappable(scale.norm, scale.colours)
    bar = axes.figure.colorbar(shown, ax=axes, location="bottom", shrink=0.5, aspect=30, pad=0)
    bar.ax.xaxis.set_major_locator(MaxNLocator(5))
    bar.ax.xaxis.set_major_formatter(percent)
    bar.outline.set_visible(False)
    to_cores = [end is None for _, end in ends]
    between = f"a {_word(run)} and the {middle_name(run)}" if all(to_cores) else f"two {_word(run)}s"
    bar.set_label(f"{what} of the links between {between}, the busier direction")
