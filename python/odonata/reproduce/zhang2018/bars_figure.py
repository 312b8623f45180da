"""Pictures of figures 2 and 4: times of jobs of one size, relative to one policy, with standard deviations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.plot.style import figure, settings
from odonata.reproduce.zhang2018.drawing import COLOURS
from odonata.reproduce.zhang2018.gathered import ACRONYMS, SIMPLE, gather
from odonata.reproduce.zhang2018.homogeneous_rows import AT_90, RDG
from odonata.reproduce.zhang2018.panels import counts, is_main, motif, where
from odonata.reproduce.zhang2018.workloads import MOTIFS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import CommResults, Runs


def draw_fig2(_: Sequence[Row], results: CommResults) -> Figure:
    """Both workloads, a pair of bars for each pattern."""
    runs = where(gather("fig2", results), lambda setup: not setup.variant)
    with settings():
        made = figure(9.5, 3.4)
        panels = made.subplots(1, 2, sharey=True)
        for axes, job_class, words in zip(panels, ("small", "large"), ("17 jobs of 16", "4 jobs of 68"), strict=True):
            mine = where(runs, lambda setup, name=job_class: setup.classes[0].name == name)  # type: ignore[misc]
            for at, one in enumerate(mine):
                _bars(axes, one, RDG, at, 0.36)
            axes.set_xticks(range(len(mine)), [motif(one.setup) for one in mine], rotation=20)
            axes.set_title(f"{words} nodes")
        panels[0].set_ylabel("time over that with RDG")
        handles, labels = panels[0].get_legend_handles_labels()
        panels[1].legend(handles[:2], labels[:2], loc="upper right")
    return made


def draw_fig4(_: Sequence[Row], results: CommResults) -> Figure:
    """A row for each size of jobs and bandwidth, a column for each pattern."""
    runs = where(gather("fig4", results), lambda setup: is_main(setup) and counts(setup) in AT_90.values())
    lines = list(dict.fromkeys((counts(one.setup), one.setup.ratio) for one in runs))
    with settings():
        made = figure(13, 2.0 * len(lines) + 0.5)
        grid = made.subplots(len(lines), len(MOTIFS), squeeze=False, sharey="row", sharex=True)
        for one in runs:
            row, column = lines.index((counts(one.setup), one.setup.ratio)), MOTIFS.index(motif(one.setup))
            axes = grid[row][column]
            _bars(axes, one, SIMPLE, 0, 1.0)
            axes.set_xticks(range(len(one.by_policy)), [ACRONYMS[policy] for policy in one.by_policy], rotation=90)
            axes.axhline(1, color="0.5", lw=0.6)
            if row == 0:
                axes.set_title(motif(one.setup))
            if column == 0:
                jobs, nodes = lines[row][0].split("x")
                axes.set_ylabel(f"{jobs} jobs of {nodes}\nratio {lines[row][1]}")
        made.supylabel("communication time over that with Simple", fontsize=9)
    return made


def _bars(axes: Axes, runs: Runs, against: str, at: float, width: float) -> None:
    """A bar for each policy side by side, the first around `at`."""
    (job_class,) = (one.name for one in runs.setup.classes)
    unit = runs.time(against, job_class)
    for number, policy in enumerate(runs.by_policy):
        axes.bar(
            at + number * width, runs.time(policy, job_class) / unit, width=0.9 * width, color=COLOURS[policy],
            yerr=runs.spread(policy, job_class) / unit, error_kw={"lw": 0.8}, label=ACRONYMS[policy],
        )  # fmt: skip
