"""The picture of `kang2019-matrix` and `kang2019-matrix-512kb`: figures 5 to 7, a box for each case, first seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.plot.style import figure, settings
from odonata.reproduce.kang2019.figure_large import FIGURES, boxes, legend, letter, share
from odonata.reproduce.kang2019.runs import BOTH, LOADS, by_case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Runs

_LOADS = tuple(load.replace("@100us", "@1us") for load in LOADS)


def draw(sizes: Sequence[str], runs: Runs) -> Figure:
    """The picture of the runs of the full study, with two columns for each size."""
    cases = by_case(runs)
    columns = [(size, place) for size in sizes for place in BOTH]
    with settings():
        made = figure(1.0 + 3.75 * len(columns), 9.0)
        for line, (number, pattern) in zip(made.subplots(len(FIGURES), len(columns)), FIGURES.items(), strict=True):
            for axes, (size, place) in zip(line, columns, strict=True):
                boxes(axes, cases, f"{pattern}/{place}", size, _LOADS)
                axes.set_title(f"{number}({letter(size, place)}): {place}, {size}")
            share(line)
            line[0].set_ylabel(f"{pattern}: latency")
        legend(made, published=False)
    return made
