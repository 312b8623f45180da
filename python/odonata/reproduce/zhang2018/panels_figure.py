"""Pictures of figures 7 and 8: times of small jobs across, of large jobs up, both over those under Simple."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.plot.style import figure, settings
from odonata.reproduce.zhang2018.drawing import ALL, mark
from odonata.reproduce.zhang2018.gathered import gather
from odonata.reproduce.zhang2018.heterogeneous_rows import AT_70
from odonata.reproduce.zhang2018.panels import counts, motif, where
from odonata.reproduce.zhang2018.workloads import MOTIFS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import CommResults, Runs
    from odonata.reproduce.zhang2018.setup import Setup


def draw_fig7(_: Sequence[Row], results: CommResults) -> Figure:
    """A row for each bandwidth on 272 nodes, then for each larger machine."""
    runs = where(gather("fig7", results), lambda setup: counts(setup) != AT_70)
    return _draw(runs, lambda setup: f"{setup.nodes:,} nodes\nratio {setup.ratio}")


def draw_fig8(_: Sequence[Row], results: CommResults) -> Figure:
    """A row for each pair of sizes."""
    return _draw(gather("fig8", results), lambda setup: "\n".join(f"{one.name} {one.message}" for one in setup.classes))


def _draw(runs: Sequence[Runs], words: Callable[[Setup], str]) -> Figure:
    lines = list(dict.fromkeys(words(one.setup) for one in runs))
    with settings():
        made = figure(13, 2.1 * len(lines) + 0.7)
        grid = made.subplots(len(lines), len(MOTIFS), squeeze=False)
        for one in runs:
            row, column = lines.index(words(one.setup)), MOTIFS.index(motif(one.setup))
            axes = grid[row][column]
            for policy in reversed(ALL):
                mark(axes, policy, [one.over(policy, "small")], [one.over(policy, "large")])
            axes.axvline(1, color="0.85", lw=0.6, zorder=0)
            axes.axhline(1, color="0.85", lw=0.6, zorder=0)
            axes.margins(0.15)
            if row == 0:
                axes.set_title(motif(one.setup))
            if column == 0:
                axes.set_ylabel(lines[row])
        handles, labels = grid[0][0].get_legend_handles_labels()
        made.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=len(ALL))
        made.supxlabel("time of jobs of 16 nodes over that under Simple", fontsize=9)
        made.supylabel("time of jobs of 64 nodes over that under Simple", fontsize=9)
    return made
