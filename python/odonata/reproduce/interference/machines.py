"""`interference`: the measured slowdowns of three machines side by side, in one picture and in their order."""

from __future__ import annotations

import math
from importlib.resources import files
from statistics import fmean
from string import Template
from typing import TYPE_CHECKING

from odonata import __version__
from odonata.reproduce.interference.data import load
from odonata.reproduce.interference.page import (
    NAMES,
    SYSTEMS,
    Cell,
    draw,
    geometric,
    in_reduced,
    model_of,
    predicted,
    simulated,
)
from odonata.reproduce.markdown import counts, number, table, wrapped
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement
from odonata.store.engine import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

SIZES = (4_096, 32_768, 262_144, 2 << 20)
"""Sizes of the comparison: the largest, which take longest to simulate, are on the pages of the machines only."""
MODEL = "three machines"


def _gather(reduced: bool, workers: int) -> Runs:
    """The cells of every machine, with the costs of the host that were fitted last."""
    found = []
    for system in SYSTEMS:
        cells, _ = load(system).cells()
        chosen = [one for one in cells if (in_reduced(one) if reduced else one.beside.size in SIZES)]
        found.append(simulated(chosen, [], model_of(system), workers))
    return found


def means(cells: Sequence[Cell], nodes: int) -> tuple[float, float]:
    """Geometric means of the slowdowns beside an incast on so many nodes: measured and simulated."""
    of = [one for one in cells if one.measured.nodes == nodes and one.measured.beside.aggressor == "incast"]
    return (
        math.exp(fmean(math.log(one.measured.slowdown) for one in of)),
        math.exp(fmean(math.log(one.slowdown) for one in of)),
    )


def in_order(pairs: Sequence[tuple[float, float]]) -> float:
    """The percentage of pairs of machines, of (measured, simulated), that are in the same order in both."""
    same = [(a[0] - b[0]) * (a[1] - b[1]) > 0 for place, a in enumerate(pairs) for b in pairs[place + 1 :]]
    return 100 * same.count(True) / len(same)


def _most(runs: Runs) -> int:
    """The largest number of nodes that all machines have."""
    most: int = min(max(cell.measured.nodes for cell in run["cells"]) for run in runs)
    return most


def _rows(runs: Runs) -> list[Row]:
    nodes = _most(runs)
    pairs = [means(run["cells"], nodes) for run in runs]
    where = "arXiv 2604.11432, data"
    found = []
    for run, (measured, ours) in zip(runs, pairs, strict=True):
        what = f"{NAMES[run['system']]}: geometric mean of the mean slowdowns beside an incast on {nodes} nodes"
        found.append(statement("slowdown", what, ours, measured, "x", "25 %", where, model=MODEL))
    what = f"pairs of machines in the measured order, beside an incast on {nodes} nodes"
    found.append(statement("order", what, in_order(pairs), 100.0, "%", ">= 100", where, model=MODEL))
    return found


def _page(rows: Sequence[Row], runs: Runs) -> str:
    template = (files(__package__) / "machines.md").read_text(encoding="utf-8")
    lines = []
    for run in runs:
        cells = run["cells"]
        incast = [cell for cell in cells if cell.measured.beside.aggressor == "incast"]
        lines.append(
            [
                f"[{NAMES[run['system']]}](interference-{run['system']}.md)",
                str(len(cells)),
                f"x {geometric([cell.error for cell in cells]):.2f}",
                str(len(incast)),
                f"x {geometric([cell.error for cell in incast]):.2f}",
                f"x {geometric([math.log(cell.measured.slowdown) for cell in incast]):.2f}",
                "yes" if predicted(cells) else "**no**",
            ]
        )
    head = ["machine", "cells", "error", "beside an incast", "error", "if always 1", "predicted"]
    text = Template(template).substitute(
        version=__version__,
        engine=fingerprint(),
        counts=counts(rows, MODEL),
        machines=table(head, lines, "lrrrrrl"),
        goals=table(
            ["what", "measured", "simulated", "tolerance", "verdict"],
            [
                [
                    row.what,
                    *(f"{number(value, row.unit)} {row.unit}" for value in (row.theirs, row.ours)),
                    row.tolerance,
                    row.verdict if row.verdict == "match" else f"**{row.verdict}**",
                ]
                for row in rows
            ],
            "lrrrl",
        ),
    )
    return wrapped(text)


REPRODUCTION = Reproduction(
    name="interference",
    title="Victims beside aggressors on Leonardo, LUMI and CRESCO8: measured and simulated slowdowns in one picture",
    points=lambda _: [],
    make=None,
    rows=_rows,
    page=_page,
    picture=draw,
    gather=_gather,
)
