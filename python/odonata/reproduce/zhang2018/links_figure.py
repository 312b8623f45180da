"""Pictures of figures 5 and 6: packets and stalled time of output ports, as boxes of five numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from odonata.plot.style import figure, settings
from odonata.reproduce.zhang2018.drawing import COLOURS
from odonata.reproduce.zhang2018.gathered import ACRONYMS, gather
from odonata.reproduce.zhang2018.link_rows import five

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.rows import Row
    from odonata.reproduce.zhang2018.gathered import CommResults, Runs

_PANELS = (
    ("global packets", "packets of a global port", 1.0),
    ("local packets", "packets of a local port", 1.0),
    ("global stalled_ps", "stalled time of a global port [µs]", 1e6),
    ("local stalled_ps", "stalled time of a local port [µs]", 1e6),
)


def draw_links(name: str, _: Sequence[Row], results: CommResults) -> Figure:
    """Packets above, stalls below; global links left."""
    (runs,) = gather(name, results)
    with settings():
        made = figure(9.5, 5.8)
        for axes, (what, words, scale) in zip(made.subplots(2, 2).flat, _PANELS, strict=True):
            _boxes(axes, runs, what, scale)
            axes.set_ylabel(words)
    return made


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


draw_fig5, draw_fig6 = (partial(draw_links, name) for name in ("fig5", "fig6"))
