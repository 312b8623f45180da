"""`interference-leonardo`: measured slowdowns of victims beside aggressors, predicted from their times alone."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from statistics import fmean
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata import __version__, runner
from odonata.plot.style import figure, settings
from odonata.reproduce.interference.data import FIT_NODES, Measured, load
from odonata.reproduce.interference.fit import fit, host_of_system, times
from odonata.reproduce.interference.loops import LONG, Model, made, times_us
from odonata.reproduce.markdown import counts, table, wrapped
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement
from odonata.store.engine import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

GOAL = 1.25
"""Largest geometric mean error of the mean slowdowns: set before the first fit."""
ALONE_GOAL = 1.15
"""The same for the median times alone."""
FAR = 1.5
"""Factor from which a cell is listed as far off."""
ITERATIONS = 1_000
SPAN_US = {"incast": 40_000.0, "alltoall": 8_000.0}
"""Aggressor -> how long its victim is simulated: about 15 rounds of an incast on 32 nodes."""
LONG_SPAN_US, LONG_SIZE = 80_000.0, 2 << 20
"""For victims with sizes from 2 MiB on, whose iterations take up to 20 ms alone."""
BURSTS = 4
"""Bursts that are simulated at least."""
REDUCED_SIZES = (4_096, 262_144)
REDUCED_NODES = 16
SYSTEMS = ("leonardo",)
"""The machines whose measurements are packaged, by the name of their preset."""


@dataclass(frozen=True)
class Cell:
    """A measured cell and its simulation."""

    measured: Measured
    slowdown: float
    low: float
    high: float
    """95 % interval, by a block bootstrap of the iterations beside the aggressor."""
    iterations: int
    alone_us: float
    share_long: float

    @property
    def error(self) -> float:
        """Logarithm of simulated by measured slowdown."""
        return math.log(self.slowdown / self.measured.slowdown)

    @property
    def alone_error(self) -> float:
        """Logarithm of simulated by measured median alone."""
        return math.log(self.alone_us / self.measured.alone_us)


def gather(system: str, reduced: bool, workers: int, folder: Path | None = None) -> Runs:
    """The fit (in the reduced form: the costs of the preset), and every cell with its simulation."""
    data = load(system, folder)
    host = host_of_system(system)
    if not reduced:
        host = fit(data.alone(), Model(system, host), workers=workers)
    model = Model(system, host)
    cells = data.cells()
    if reduced:
        cells = [one for one in cells if one.beside.size in REDUCED_SIZES and one.nodes <= REDUCED_NODES]
    loops = list(dict.fromkeys(cell.alone for cell in cells))
    alone = dict(zip(loops, times(loops, model, workers), strict=True))
    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(lambda cell: _simulated(cell, alone[cell.alone], model), cells))
    return [{"system": system, "host": host, "cells": [one for one in found if one is not None], "asked": len(cells)}]


def _simulated(cell: Measured, alone: float, model: Model) -> Cell | None:
    """A cell, whose victim takes so long alone; None if no iteration ended."""
    loop = cell.beside
    span = LONG_SPAN_US if loop.size >= LONG_SIZE else SPAN_US[loop.aggressor]
    if loop.burst_s and loop.pause_s:
        span = max(span, BURSTS * 1e6 * (loop.burst_s + loop.pause_s))
    found = np.array(times_us(runner.run(made(loop, model, iterations=ITERATIONS, us=span), threads=1)))
    if not len(found):
        return None
    low, high = block_interval(found)
    share = float((found > LONG * np.quantile(found, 0.05)).mean())
    return Cell(cell, float(found.mean()) / alone, low / alone, high / alone, len(found), alone, share)


def block_interval(values: np.ndarray[Any, Any], *, block: int = 25, draws: int = 500) -> tuple[float, float]:
    """The 95 % interval of the mean of successive values (shape `(n,)`), by a circular block bootstrap.

    Blocks and draws are those of the measured side; with fewer values than four blocks, a block is a quarter of them.
    """
    count = len(values)
    block = max(1, min(block, count // 4))
    generator = np.random.default_rng(1)
    starts = generator.integers(0, count, (draws, -(-count // block)))
    at = (starts[:, :, None] + np.arange(block)).reshape(draws, -1)[:, :count] % count
    means = values[at].mean(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def geometric(errors: Sequence[float]) -> float:
    """The factor by which such logarithms are off on the average."""
    return math.exp(fmean(map(abs, errors))) if errors else math.nan


def _groups(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """All cells, by victim, and by aggressor."""
    names = {"alltoall": "all-to-all", "allgather": "all-gather"}
    groups = {"all cells": list(cells)}
    for victim, name in names.items():
        for aggressor in ("alltoall", "incast"):
            of = [c for c in cells if (c.measured.beside.victim, c.measured.beside.aggressor) == (victim, aggressor)]
            beside = "all-to-all" if aggressor == "alltoall" else aggressor
            groups[f"{name} beside {beside}"] = of
    for nodes in sorted({cell.measured.nodes for cell in cells}):
        groups[f"{nodes} nodes beside incast"] = [
            c for c in cells if c.measured.nodes == nodes and c.measured.beside.aggressor == "incast"
        ]
    return {name: of for name, of in groups.items() if of}


def _rows(runs: Runs) -> list[Row]:
    found = []
    for run in runs:
        for name, cells in _groups(run["cells"]).items():
            found.append(
                statement(
                    "slowdown",
                    f"{name}: geometric mean error of {len(cells)} mean slowdowns",
                    geometric([cell.error for cell in cells]),
                    1.0,
                    "x",
                    f"<= {GOAL:g}",
                    "arXiv 2604.11432, data",
                    model=run["system"],
                )
            )
        for part, inside in (("fitted", True), ("not fitted", False)):
            errors = [cell.alone_error for cell in run["cells"] if (cell.measured.nodes <= FIT_NODES) == inside]
            if errors:
                what = f"alone, {part}: geometric mean error of {len(errors)} medians"
                goal = f"<= {ALONE_GOAL:g}"
                found.append(
                    statement(
                        "alone",
                        what,
                        geometric(errors),
                        1.0,
                        "x",
                        goal,
                        "arXiv 2604.11432, data",
                        model=run["system"],
                    )
                )
    return found


def _page(rows: Sequence[Row], runs: Runs) -> str:
    (run,) = runs
    cells: list[Cell] = run["cells"]
    template = (files(__package__) / "interference.md").read_text(encoding="utf-8")
    text = Template(template).substitute(
        name=run["system"].capitalize(),
        system=run["system"],
        version=__version__,
        engine=fingerprint(),
        counts=counts(rows, run["system"]),
        goals=table(
            ["what", "error", "bias", "goal", "verdict"],
            [[row.what, f"x {row.ours:.2f}", _bias(row, cells), row.tolerance, _bold(row.verdict)] for row in rows],
            "lrrrl",
        ),
        asked=str(run["asked"]),
        simulated=str(len(cells)),
        fit_nodes=str(FIT_NODES),
        host=table(
            ["size", "send", "receive", "delay"],
            [[of["size"], of["send"], of["receive"], of["delay"]] for of in run["host"]["by_size"]],
            "rrrr",
        ),
        far=_far(cells),
        cells=table(
            ["victim", "nodes", "size", "beside", "measured", "95 %", "simulated", "95 %", "off by"],
            [_line(cell) for cell in cells],
            "lrrlrrrrr",
        ),
    )
    return wrapped(text)


def _bias(row: Row, cells: Sequence[Cell]) -> str:
    name = row.what.partition(":")[0]
    if row.id == "alone":
        inside = name.endswith(", fitted")
        errors = [cell.alone_error for cell in cells if (cell.measured.nodes <= FIT_NODES) == inside]
    else:
        errors = [cell.error for cell in _groups(cells)[name]]
    return f"x {math.exp(fmean(errors)):.2f}"


def _bold(verdict: str) -> str:
    return f"**{verdict}**" if verdict == "no match" else verdict


def _far(cells: Sequence[Cell]) -> str:
    far = [cell for cell in cells if abs(cell.error) > math.log(FAR)]
    if not far:
        return "None."
    lines = [[*_line(cell), f"{cell.measured.share_long:.2f}", f"{cell.share_long:.2f}"] for cell in far]
    head = ["victim", "nodes", "size", "beside", "measured", "95 %", "simulated", "95 %", "off by", "long, measured"]
    return table([*head, "long, simulated"], lines, "lrrlrrrrrrr")


def _line(cell: Cell) -> list[str]:
    of = cell.measured
    return [
        "all-to-all" if of.beside.victim == "alltoall" else "all-gather",
        str(of.nodes),
        f"{of.beside.size:,} B",
        "all-to-all" if of.beside.aggressor == "alltoall" else "incast",
        f"{of.slowdown:.2f}",
        f"{of.low:.2f} to {of.high:.2f}",
        f"{cell.slowdown:.2f}",
        f"{cell.low:.2f} to {cell.high:.2f}",
        f"x {math.exp(abs(cell.error)):.2f}",
    ]


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Simulated against measured slowdown, on logarithmic axes."""
    (run,) = runs
    cells: list[Cell] = run["cells"]
    with settings():
        drawn = figure(6.2, 5.2)
        axes = drawn.subplots()
        ends = [0.8, 1.3 * max(max(cell.measured.slowdown, cell.slowdown) for cell in cells)]
        axes.fill_between(ends, [x / GOAL for x in ends], [x * GOAL for x in ends], color="0.9", label="within x 1.25")
        axes.plot(ends, ends, color="0.6", linewidth=0.8)
        kinds = {
            ("alltoall", "incast"): ("#0072b2", "o"),
            ("allgather", "incast"): ("#d55e00", "D"),
            ("alltoall", "alltoall"): ("#56b4e9", "x"),
            ("allgather", "alltoall"): ("#e69f00", "+"),
        }
        for (victim, aggressor), (colour, marker) in kinds.items():
            of = [c for c in cells if (c.measured.beside.victim, c.measured.beside.aggressor) == (victim, aggressor)]
            name = "all-to-all" if victim == "alltoall" else "all-gather"
            other = "all-to-all" if aggressor == "alltoall" else "incast"
            measured, simulated = [c.measured.slowdown for c in of], [c.slowdown for c in of]
            axes.plot(measured, simulated, marker, color=colour, markersize=4, label=f"{name} beside {other}")
        axes.set(
            xscale="log", yscale="log", xlim=ends, ylim=ends, title=f"Mean slowdown on {run['system'].capitalize()}"
        )
        axes.set(xlabel="measured", ylabel="simulated")
        axes.legend()
    return drawn


def _reproduction(system: str) -> Reproduction:
    return Reproduction(
        name=f"interference-{system}",
        title=f"Victims beside aggressors on {system.capitalize()}: slowdowns predicted from times alone",
        points=lambda _: [],
        make=None,
        rows=_rows,
        page=_page,
        picture=draw,
        gather=partial(gather, system),
        gather_from=partial(gather, system),
    )


ALL = {f"interference-{system}": _reproduction(system) for system in SYSTEMS}
