"""The picture of `kang2019-matrix`: figures 5 to 7 with the shipped model, a box for each case of the first seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.plot.style import figure, settings
from odonata.reproduce.kang2019.figure_large import FIGURES, boxes, legend, letter, share
from odonata.reproduce.kang2019.runs import BOTH, LOADS, by_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

SIZE = "4 KB"
_LOADS = tuple(load.replace("@100us", "@1us") for load in LOADS)


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """The picture of the runs of the full study."""
    cases = by_case(runs)
    with settings():
        made = figure(8.5, 9.0)
        for line, (number, pattern) in zip(made.subplots(len(FIGURES), len(BOTH)), FIGURES.items(), strict=True):
            for axes, place in zip(line, BOTH, strict=True):
                boxes(axes, cases, f"{pattern}/{place}", SIZE, _LOADS)
                axes.set_title(f"{number}({letter(SIZE, place)}): {place}, {SIZE}")
            share(line)
            line[0].set_ylabel(f"{pattern}: latency")
        legend(made, published=False)
    return made
