"""The pictures of the pages: a colour and a marker for each policy, as the paper tells their kinds apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.plot.style import LINES, figure, settings
from odonata.reproduce.zhang2018.gathered import (
    ACRONYMS,
    by_routers,
    counts,
    gather,
    headline,
    is_main,
    mixed,
    motif,
    points,
    share,
    where,
)
from odonata.reproduce.zhang2018.job_rows import AT_90, BOTH_AT_70, RDG
from odonata.reproduce.zhang2018.link_rows import five
from odonata.reproduce.zhang2018.runs import (
    BASELINES,
    CODED,
    EIGHT,
    GROUPING,
    JOKANOVIC,
    LEVEL_SPREAD,
    SIMPLE,
    SPREADING,
)
from odonata.reproduce.zhang2018.workloads import MOTIFS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from odonata.reproduce.reproduction import Runs as Table
    from odonata.reproduce.zhang2018.gathered import Point, Runs
    from odonata.reproduce.zhang2018.runs import Setup

    Draw = Callable[[SubFigure | None, Table], tuple[float, float]]
    """Draws the runs of one kind of routers into a part of a picture; gives its width and height in inches, also
    without a part."""

COLOURS = {
    LEVEL_SPREAD: LINES[2],
    **dict(zip(GROUPING, (LINES[1], LINES[4], LINES[7]), strict=True)),
    **dict(zip(SPREADING, (LINES[0], LINES[5], LINES[9], LINES[6]), strict=True)),
    JOKANOVIC: LINES[3],
    CODED: LINES[8],
}
"""Warm for policies that group, cool for those that spread."""
WIDEST = 11.0
"""Inches of the widest picture: at the width of a page (900 pixels) its letters have more than 9 pixels."""
MARKERS = {
    LEVEL_SPREAD: "*",
    **dict.fromkeys(GROUPING, "D"),
    **dict.fromkeys(SPREADING, "o"),
    JOKANOVIC: "s",
    CODED: "s",
}


def mark(axes: Axes, policy: str, across: Iterable[float], up: Iterable[float], **given: Any) -> None:
    """Points of a policy."""
    size = 9 if policy == LEVEL_SPREAD else 4
    style = {"ms": size, "ls": "none", "mec": "white", "mew": 0.4, "label": ACRONYMS[policy], **given}
    axes.plot(list(across), list(up), MARKERS[policy], color=COLOURS[policy], **style)


def twice(draw: Draw, table: Table, names: Mapping[str, str]) -> Figure | None:
    """The picture of each kind of routers in `names`, one below the other; None if there are no runs of one."""
    by_kind = {routers: runs for routers, runs in by_routers(table).items() if routers in names}
    if len(by_kind) < len(names):
        return None
    sizes = [draw(None, runs) for runs in by_kind.values()]
    with settings():
        made = figure(max(width for width, _ in sizes), sum(height + 0.3 for _, height in sizes))
        parts = made.subfigures(len(by_kind), 1, squeeze=False, height_ratios=[height + 0.3 for _, height in sizes])
        for part, (routers, runs) in zip(parts.flat, by_kind.items(), strict=True):
            part.suptitle(f"Routers: {names[routers]}", weight="bold", fontsize=11)
            draw(part, runs)
    return made


def draw_fig2(made: SubFigure | None, table: Table) -> tuple[float, float]:
    """Both workloads, a pair of bars for each pattern."""
    runs = gather(table)
    if made is not None:
        panels = made.subplots(1, 2, sharey=True)
        for axes, job_class, words in zip(panels, ("small", "large"), ("17 jobs of 16", "4 jobs of 68"), strict=True):
            mine = where(runs, lambda setup, name=job_class: setup.classes[0].name == name)  # type: ignore[misc]
            for at, of_setup in enumerate(mine):
                _bars(axes, of_setup, RDG, at, 0.36)
            axes.set_xticks(range(len(mine)), [motif(of_setup.setup) for of_setup in mine], rotation=20)
            axes.set_title(f"{words} nodes")
        panels[0].set_ylabel("time over that with RDG")
        handles, labels = panels[0].get_legend_handles_labels()
        panels[1].legend(handles[:2], labels[:2], loc="upper right")
    return 9.5, 3.1


def draw_fig4(made: SubFigure | None, table: Table) -> tuple[float, float]:
    """A row for each size of jobs and bandwidth, a column for each pattern."""
    runs = where(gather(table), lambda setup: is_main(setup) and counts(setup) in AT_90.values())
    lines = list(dict.fromkeys((counts(of_setup.setup), of_setup.setup.ratio) for of_setup in runs))
    if made is not None:
        grid = made.subplots(len(lines), len(MOTIFS), squeeze=False, sharey="row", sharex=True)
        for of_setup in runs:
            row, column = (
                lines.index((counts(of_setup.setup), of_setup.setup.ratio)),
                MOTIFS.index(motif(of_setup.setup)),
            )
            axes = grid[row][column]
            _bars(axes, of_setup, SIMPLE, 0, 1.0)
            axes.set_xticks(
                range(len(of_setup.by_policy)), [ACRONYMS[policy] for policy in of_setup.by_policy], rotation=90
            )
            axes.axhline(1, color="0.5", lw=0.6)
            if row == 0:
                axes.set_title(motif(of_setup.setup))
            if column == 0:
                jobs, nodes = lines[row][0].split("x")
                axes.set_ylabel(f"{jobs} jobs of {nodes}\nratio {lines[row][1]}")
        made.supylabel("communication time over that with Simple", fontsize=9)
    return WIDEST, 1.7 * len(lines) + 0.5


def _bars(axes: Axes, runs: Runs, against: str, at: float, width: float) -> None:
    """A bar for each policy side by side, the first around `at`."""
    (job_class,) = (job_class.name for job_class in runs.setup.classes)
    unit = runs.time(against, job_class)
    for number, policy in enumerate(runs.by_policy):
        axes.bar(
            at + number * width, runs.time(policy, job_class) / unit, width=0.9 * width, color=COLOURS[policy],
            yerr=runs.spread(policy, job_class) / unit, error_kw={"lw": 0.8}, label=ACRONYMS[policy],
        )  # fmt: skip


_PANELS = (
    ("global_packets", "packets of a global port", 1.0),
    ("local_packets", "packets of a local port", 1.0),
    ("global_stalled_ps", "stalled time of a global port [µs]", 1e6),
    ("local_stalled_ps", "stalled time of a local port [µs]", 1e6),
)


def draw_links(made: SubFigure | None, table: Table) -> tuple[float, float]:
    """Packets above, stalls below; global links left."""
    (runs,) = gather(table)
    if made is not None:
        for axes, (what, words, scale) in zip(made.subplots(2, 2).flat, _PANELS, strict=True):
            _boxes(axes, runs, what, scale)
            axes.set_ylabel(words)
    return 9.5, 5.2


def _boxes(axes: Axes, runs: Runs, what: str, scale: float) -> None:
    keys = ("whislo", "q1", "med", "q3", "whishi")
    boxes = []
    for policy in runs.by_policy:
        values = [value / scale for value in five(runs, policy, what)]
        boxes.append({"label": ACRONYMS[policy], **dict(zip(keys, values, strict=True))})
    drawn = axes.bxp(boxes, showfliers=False, patch_artist=True, widths=0.6, medianprops={"color": "black"})
    for patch, policy in zip(drawn["boxes"], runs.by_policy, strict=True):
        patch.set_facecolor(COLOURS[policy])
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color="0.9")


def draw_fig7(made: SubFigure | None, table: Table) -> tuple[float, float]:
    """A row for each bandwidth on 272 nodes, then for each larger machine."""
    runs = where(gather(table), lambda setup: counts(setup) != BOTH_AT_70)
    return _draw_panels(made, runs, lambda setup: f"{setup.nodes:,} nodes\nratio {setup.ratio}")


def draw_fig8(made: SubFigure | None, table: Table) -> tuple[float, float]:
    """A row for each pair of sizes."""
    return _draw_panels(
        made,
        gather(table),
        lambda setup: "\n".join(f"{job_class.name} {job_class.message}" for job_class in setup.classes),
    )


def _draw_panels(made: SubFigure | None, runs: Sequence[Runs], words: Callable[[Setup], str]) -> tuple[float, float]:
    lines = list(dict.fromkeys(words(of_setup.setup) for of_setup in runs))
    if made is not None:
        grid = made.subplots(len(lines), len(MOTIFS), squeeze=False)
        for of_setup in runs:
            row, column = lines.index(words(of_setup.setup)), MOTIFS.index(motif(of_setup.setup))
            axes = grid[row][column]
            for policy in reversed(EIGHT):
                mark(axes, policy, [of_setup.over(policy, "small")], [of_setup.over(policy, "large")])
            axes.axvline(1, color="0.85", lw=0.6, zorder=0)
            axes.axhline(1, color="0.85", lw=0.6, zorder=0)
            axes.margins(0.15)
            if row == 0:
                axes.set_title(motif(of_setup.setup))
            if column == 0:
                axes.set_ylabel(lines[row])
        handles, labels = axes.get_legend_handles_labels()
        made.legend(handles[::-1], labels[::-1], loc="outside right upper")
        made.supxlabel("time of jobs of 16 nodes over that under Simple", fontsize=9)
        made.supylabel("time of jobs of 64 nodes over that under Simple", fontsize=9)
    return WIDEST, 1.8 * len(lines) + 0.7


SHOWN = (0.5, 4.0)
"""Range of both axes; the few points beyond stand at the border."""


def draw_random(made: SubFigure | None, table: Table, name: str) -> tuple[float, float]:
    """All points; for the seven baselines also the policies one by one."""
    order = "large-first" if name in ("fig11", "fig13") else "small-first"
    policies: tuple[str, ...] = (JOKANOVIC, CODED) if name in ("fig12", "fig13") else BASELINES
    # All baselines together, then one by one; Jokanovic's two forms only one by one.
    shown: list[tuple[str, ...]] = [(policy,) for policy in policies]
    shown = [policies, *shown] if policies == BASELINES else shown
    rows = -(-len(shown) // 4)
    if made is not None:
        of_workloads = points(mixed(table, order), policies)
        grid = made.subplots(rows, len(shown) // rows, sharex=True, sharey=True, squeeze=False)
        for axes, which in zip(grid.flat, shown, strict=True):
            _scatter(axes, [point for point in of_workloads if point.policy in which], which)
            axes.set_title(f"all baselines, {order}" if len(which) > 1 else ACRONYMS[which[0]])
        for axes in grid.flat:
            axes.label_outer()
    return 3 * min(len(shown), 4) + (3 if rows == 1 else 0), 3.0 * rows + (1.0 if rows == 1 else 0)


def _scatter(axes: Axes, of: Sequence[Point], policies: Sequence[str]) -> None:
    for policy in policies:
        mine = [point for point in of if point.policy == policy]
        small, large = ([_inside(getattr(point, name)) for point in mine] for name in ("small", "large"))
        mark(axes, policy, small, large, ms=2.2, mew=0, alpha=0.55)
    for line in (axes.axvline, axes.axhline):
        line(1, color="#3a9a3a", lw=0.9, ls="--")
    axes.set(xscale="log", yscale="log", xlim=SHOWN, ylim=SHOWN)
    ticks = (0.5, 1, 2, 4)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_ticks((), minor=True)
    said = headline(of)
    left_above = share([point.small < 1 and point.large > 1 for point in of])
    right_below = share([point.small > 1 and point.large < 1 for point in of])
    for value, across, up in (
        (said.better, 0.97, 0.97), (said.worse, 0.03, 0.03), (left_above, 0.03, 0.97), (right_below, 0.97, 0.03),
    ):  # fmt: skip
        axes.text(
            across, up, f"{value:.0f} %", transform=axes.transAxes, color="#1030a0", weight="bold",
            ha="right" if across > 0.5 else "left", va="top" if up > 0.5 else "bottom",
        )  # fmt: skip
    axes.set_xlabel("small jobs: time over Level-Spread's")
    axes.set_ylabel("large jobs: time over Level-Spread's")


def _inside(ratio: float) -> float:
    return min(max(ratio, SHOWN[0]), SHOWN[1])
