"""What the pictures have in common: a colour and a marker for each policy, as the paper tells their kinds apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.plot.style import LINES
from odonata.reproduce.zhang2018.gathered import ACRONYMS, BASELINES, GROUPING, JOKANOVIC, LEVEL_SPREAD, SPREADING
from odonata.reproduce.zhang2018.prepare import CODED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

COLOURS = {
    LEVEL_SPREAD: LINES[2],
    **dict(zip(GROUPING, (LINES[1], LINES[4], LINES[7]), strict=True)),
    **dict(zip(SPREADING, (LINES[0], LINES[5], LINES[9], LINES[6]), strict=True)),
    JOKANOVIC: LINES[3],
    CODED: LINES[8],
}
"""Warm for policies that group, cool for those that spread."""
MARKERS = {
    LEVEL_SPREAD: "*",
    **dict.fromkeys(GROUPING, "D"),
    **dict.fromkeys(SPREADING, "o"),
    JOKANOVIC: "s",
    CODED: "s",
}
ALL = (LEVEL_SPREAD, *BASELINES)


def mark(axes: Axes, policy: str, across: Iterable[float], up: Iterable[float], **given: Any) -> None:
    """Points of a policy."""
    size = 9 if policy == LEVEL_SPREAD else 4
    style = {"ms": size, "ls": "none", "mec": "white", "mew": 0.4, "label": ACRONYMS[policy], **given}
    axes.plot(list(across), list(up), MARKERS[policy], color=COLOURS[policy], **style)
