"""`interference-leonardo`, `-lumi`, `-cresco8`: measured slowdowns of victims beside aggressors, predicted from their
times alone."""

from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from statistics import fmean
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata import runner
from odonata.errors import InputError, RunError
from odonata.plot.style import figure, settings
from odonata.reproduce.interference.data import FIT_NODES, Left, Measured, load
from odonata.reproduce.interference.fit import Times, fit, host_of_system, times, warm
from odonata.reproduce.interference.loops import LONG, Loop, Model, made, times_us
from odonata.reproduce.interference.nulls import CHANCE, EFFECT, errors_of_class, nothing_to_predict, null_rows, verdict
from odonata.reproduce.markdown import bold, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from odonata.reproduce.page import Texts
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
AT_LEAST = 2.2
"""A victim is simulated at least for so many iterations alone: those of 16 MiB take up to 70 ms."""
BURSTS = 4
"""Bursts that are simulated at least."""
LONGEST = 3
"""Bursts are shortened, with their pauses and by the same factor, if these would take more than so many times the span
of a steady aggressor; but not to less than `ROUNDS` rounds of the aggressor, or than an iteration alone."""
ROUNDS = 3
MORE = 4
"""Where no iteration ended, the victim is simulated again for so many times as long, twice."""
REDUCED_SIZES = (4_096, 262_144)
REDUCED_NODES = {"leonardo": 16, "lumi": 8, "cresco8": 8}
"""On the other two machines, 16 nodes show no slowdown either."""
SYSTEMS = ("leonardo", "lumi", "cresco8")
"""The machines whose measurements are packaged, by the name of their preset."""
NAMES = {"leonardo": "Leonardo", "lumi": "LUMI", "cresco8": "CRESCO8"}
FABRICS: dict[str, dict[str, Any]] = {"lumi": {"nic": {"rail": "by-rank"}}}
"""Machine -> what of its preset's fabric is changed: the only process of a node drives one of its NICs."""

BESIDE = {"incast": "beside incast", "alltoall": "beside all-to-all"}
"""Aggressor -> the group of its victims, which is held against the null models."""

INFINIBAND = ("leonardo", "cresco8")
"""Machines whose MPI uses UCX; that of LUMI is Cray MPICH."""


QUIET = {"lumi": 0.25}
"""Machines whose victims are simulated for such a part of the span first, and for all of it only if the interval of
their slowdown is wider than `SETTLED` on a side: no victim is held up there for rounds of an incast."""
SETTLED = 0.02
ONCE = ("lumi",)
"""Machines of whose cells only those of steady runs are simulated: the runs of bursts repeat them on other nodes."""
LARGEST = {"lumi": 256 << 20}
"""Machines -> bytes that a rank of an all-to-all sends from which on it is not simulated: it takes minutes, and
the link alone limits it."""
ON_MANY = {"lumi": (64, (512, 32 << 10))}
"""Machines -> nodes of a job, and the sizes that are simulated on so many: a victim beside an all-to-all takes 15 s
there, and larger sizes minutes."""
REPETITION = "a repetition of a steady run on other nodes"
LONG_LOOP = "an all-to-all of 256 MiB or more for a rank"
OTHER_SIZE = "another size than 512 B and 32 KiB on 64 nodes"


def model_of(system: str) -> Model:
    """What is simulated of a machine, with the costs of the host that were fitted last."""
    return Model(system, host_of_system(system), FABRICS.get(system, {}), ucx=system in INFINIBAND)


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
    """The fit, and every cell with its simulation.

    The reduced form, and measurements of a folder, take the costs that were fitted last to the packaged measurements.
    """
    data = load(system, folder)
    model = model_of(system)
    if not reduced and folder is None:
        model = replace(model, host=fit(data.alone(), model, workers=workers))
    cells, left = data.cells()
    if reduced:
        cells = [cell for cell in cells if in_reduced(cell, system)]
    if folder is None:
        out = {cell: why for cell in cells if (why := left_out(cell, system))}
        left += [Left(cell.run, str(cell.beside.size), why) for cell, why in out.items()]
        cells = [cell for cell in cells if cell not in out]
    return [simulated(cells, left, model, workers, packaged=folder is None)]


def in_reduced(cell: Measured, system: str) -> bool:
    """Whether the reduced form has this cell: two sizes on few nodes, and no repetition as bursts."""
    return cell.beside.size in REDUCED_SIZES and cell.nodes <= REDUCED_NODES[system] and cell.beside.burst_s is None


def left_out(cell: Measured, system: str) -> str:
    """Why a cell is not simulated, by its settings alone; "" for the others."""
    loop = cell.beside
    if system in ONCE and loop.burst_s is not None:
        return REPETITION
    large = loop.victim == "alltoall" and loop.message * len(loop.nodes) >= LARGEST.get(system, math.inf)
    if large:
        return LONG_LOOP
    nodes, sizes = ON_MANY.get(system, (math.inf, ()))
    return OTHER_SIZE if cell.nodes >= nodes and loop.size not in sizes else ""


def simulated(
    cells: Sequence[Measured], left: Sequence[Left], model: Model, workers: int, *, packaged: bool = True
) -> dict[str, Any]:
    """Cells with their simulation. Rows that are not compared are those of `left`, and what cannot be simulated."""
    loops = list(dict.fromkeys(cell.alone for cell in cells))
    alone = dict(zip(loops, times(loops, model, workers), strict=True))
    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(lambda cell: _simulated(cell, alone[cell.alone], model), cells))
    return {
        "system": model.system,
        "host": model.host,
        "cells": [result for result in results if isinstance(result, Cell)],
        "left": [*left, *(result for result in results if isinstance(result, Left))],
        "asked": len(cells),
        "packaged": packaged,
    }


def span_us(loop: Loop, alone_us: float, round_us: float) -> tuple[float, float]:
    """How long a victim is simulated, in microseconds, and the factor of its aggressor's bursts and pauses.

    `alone_us` is an iteration alone, `round_us` one of the aggressor.
    """
    span = max(SPAN_US[loop.aggressor], AT_LEAST * alone_us)
    if not loop.bursts:
        return span, 1.0
    assert loop.burst_s is not None
    assert loop.pause_s is not None
    burst, pause = 1e6 * loop.burst_s, 1e6 * loop.pause_s
    all_us = BURSTS * (max(burst, round_us) + pause)
    most = LONGEST * span
    if all_us <= most:
        return max(span, all_us), 1.0
    shorter = min(1.0, max(most / all_us, min(1.0, ROUNDS * round_us / burst), min(1.0, alone_us / pause)))
    return min(max(span, shorter * all_us), 2 * most), shorter


def _simulated(cell: Measured, alone: Times, model: Model) -> Cell | Left:
    """A cell, whose victim takes so long alone. Means are compared, on both sides without the first iterations."""
    loop = cell.beside
    peers = len(loop.aggressor_nodes) - 1
    span, shorter = span_us(loop, alone.mean, peers * (2 << 20) / (200e9 / 8) * 1e6)
    spans = [span, span * MORE, span * MORE**2]
    if model.system in QUIET and not loop.bursts:
        spans.insert(0, max(QUIET[model.system] * SPAN_US[loop.aggressor], AT_LEAST * alone.mean))
    times = np.array([])
    for us in spans:
        scenario = made(loop, model, iterations=ITERATIONS, us=us, shorter=shorter)
        try:
            times = np.array(warm(times_us(runner.run(scenario, threads=1))))
        except (InputError, RunError) as problem:
            return Left(cell.run, str(loop.size), str(problem).splitlines()[0], understood=False)
        if len(times) and (us >= span or settled(times)):
            break
    else:
        return Left(cell.run, str(loop.size), f"no iteration ended in {spans[-1] / 1e3:,.0f} ms", understood=False)
    low, high = block_interval(times)
    share = float((times > LONG * np.quantile(times, 0.05)).mean())
    mean = alone.mean
    return Cell(cell, float(times.mean()) / mean, low / mean, high / mean, len(times), alone.median, share)


def settled(times: np.ndarray[Any, Any]) -> bool:
    """Whether the mean is known well enough: each side of its interval is at most `SETTLED` of it."""
    low, high = block_interval(times)
    mean = float(times.mean())
    return len(times) > 1 and max(mean - low, high - mean) <= SETTLED * mean


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
    for aggressor, name in BESIDE.items():
        groups[name] = [c for c in cells if c.measured.beside.aggressor == aggressor]
    for nodes in sorted({cell.measured.nodes for cell in cells}):
        groups[f"{nodes} nodes beside incast"] = [
            c for c in cells if c.measured.nodes == nodes and c.measured.beside.aggressor == "incast"
        ]
    return {name: of for name, of in groups.items() if of}


def _rows(runs: Runs) -> list[Row]:
    rows = []
    for run in runs:

        def state(id_: str, what: str, errors: Sequence[float], goal: float, model: str = run["system"]) -> Row:
            where = "arXiv 2604.11432, data"
            # A bound on a mean of errors says nothing of single cells: a direction, and no match.
            kind = "F" if what.startswith("alone, fitted") else "R"
            return statement(id_, what, geometric(errors), 1.0, "x", f"<= {goal:g}", where, model=model, kind=kind)

        groups = _groups(run["cells"])
        for name, cells in groups.items():
            what = f"{name}: geometric mean error of {len(cells)} mean slowdowns"
            goal = EFFECT if nothing_to_predict([cell.measured for cell in cells]) else GOAL
            rows.append(state("slowdown", what, [cell.error for cell in cells], goal))
        for name in BESIDE.values():
            rows += null_rows(name, groups[name], run["system"]) if name in groups else []
        for part, cells in _alone(run["cells"]).items():
            what = f"{part}: geometric mean error of {len(cells)} medians"
            rows.append(state("alone", what, [cell.alone_error for cell in cells], ALONE_GOAL))
    return rows


def _alone(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """One cell of each victim alone, by whether its nodes are so few that it was fitted."""
    each = {cell.measured.alone: cell for cell in cells}.values()
    groups = {
        "alone, fitted": [cell for cell in each if cell.measured.nodes <= FIT_NODES],
        "alone, not fitted": [cell for cell in each if cell.measured.nodes > FIT_NODES],
    }
    return {name: of for name, of in groups.items() if of}


def _of_rows(system: str, rows: Sequence[Row], texts: Texts) -> Texts:
    notes = (files(__package__) / f"notes-{system}.md").read_text(encoding="utf-8")
    words = {
        "part": f"{100 * QUIET.get(system, 1):g} %",
        "settled": f"{100 * SETTLED:g} %",
    }
    return {
        "summary": _summary(system, rows, texts["beside"]),
        "name": NAMES[system],
        "system": system,
        "goals": table(
            ["what", "error", "bias", "if always 1", "mean of the class", "goal", "verdict"],
            [
                [row.what, f"x {row.ours:.2f}", *texts["beside"][row.what], row.tolerance, _judged(row)]
                for row in rows
                if row.id != "null"
            ],
            "lrrrrrl",
        ),
        "fit_nodes": str(FIT_NODES),
        "far_factor": f"{FAR:g}",
        "chance": f"{100 * CHANCE:g} %",
        "effect": f"{EFFECT:g}",
        "notes": Template(notes.strip()).substitute(words),
    }


def _of_runs(rows: Sequence[Row], runs: Runs) -> Texts:
    (run,) = runs
    cells: list[Cell] = run["cells"]
    left: list[Left] = run["left"]
    return {
        "beside": {row.what: list(_beside(row, cells)) for row in rows if row.id != "null"},
        "asked": str(run["asked"]),
        "simulated": str(len(cells)),
        "fitted": "They are fitted" if run["packaged"] else "They were fitted before, to the packaged measurements:",
        "host": table(
            ["size", "send", "receive", "delay"],
            [[of["size"], of["send"], of["receive"], of["delay"]] for of in run["host"]["by_size"]],
            "rrrr",
        ),
        "far": _far(cells),
        "left": _left(left),
        "cells": table(
            ["victim", "nodes", "size", "beside", "measured", "95 %", "simulated", "95 %", "off by"],
            [_line(cell) for cell in cells],
            "lrrlrrrrr",
        ),
    }


def _summary(system: str, rows: Sequence[Row], beside: Mapping[str, Sequence[str]]) -> str:
    """A sentence for each aggressor: the verdict, our error and those of the null models."""
    lines = []
    for name in BESIDE.values():
        words = name.replace("beside ", "beside an ")
        errors = [row for row in rows if row.id == "slowdown" and row.what.startswith(f"{name}:")]
        if not errors:
            lines.append(f"- No victim of {NAMES[system]} {words} is here.")
            continue
        (error,) = errors
        nulls = [row for row in rows if row.id == "null" and row.what.startswith(f"{name}:")]
        _, none, of_class = beside[error.what]
        ratios = [f"x {row.ours:.2f} ({row.interval[0]:.2f} to {row.interval[1]:.2f})" for row in nulls if row.interval]
        said = f"a model that knows no interference by {none}"
        if of_class:
            said += f", and the mean of the class by {of_class}"
        lines.append(
            f"- Slowdowns {words} on {NAMES[system]}: {verdict(error, nulls)}. They are off by x {error.ours:.2f} on "
            f"the average, {said}. Our error over {'theirs' if of_class else 'its'} is {' and '.join(ratios)}."
        )
    return "\n".join(lines)


def _left(left: Sequence[Left]) -> str:
    expected = Counter(row.why for row in left if row.understood)
    lines = [f"- {count} rows: {why}." for why, count in sorted(expected.items())]
    odd = [[row.run, row.size, row.why] for row in left if not row.understood]
    if odd:
        lines += ["", "Rows that were not understood, or could not be simulated:", ""]
        lines.append(table(["run", "size", "why"], odd, "lrl"))
    return "\n".join(lines) or "None."


def _judged(row: Row) -> str:
    """The verdict on a goal; a goal of `EFFECT` is of cells that show nothing."""
    if row.id == "slowdown" and row.tolerance == f"<= {EFFECT:g}":
        return "correctly none" if row.verdict == "direction" else "**wrongly some**"
    return bold(row.verdict)


def _beside(row: Row, cells: Sequence[Cell]) -> tuple[str, str, str]:
    """Bias, and the errors of no interference and of the mean of the class."""
    name = row.what.partition(":")[0]
    if row.id == "alone":
        return f"x {math.exp(fmean(cell.alone_error for cell in _alone(cells)[name])):.2f}", "", ""
    of = _groups(cells)[name]
    none = geometric([math.log(cell.measured.slowdown) for cell in of])
    of_class = errors_of_class([cell.measured for cell in of])
    bias = math.exp(fmean(cell.error for cell in of))
    return f"x {bias:.2f}", f"x {none:.2f}", f"x {geometric(of_class):.2f}" if of_class else ""


def _far(cells: Sequence[Cell]) -> str:
    far = [cell for cell in cells if abs(cell.error) > math.log(FAR)]
    if not far:
        return "None."
    unknown = "What explains these cells is not known."
    lines = [[*_line(cell), f"{cell.measured.share_long:.2f}", f"{cell.share_long:.2f}"] for cell in far]
    head = ["victim", "nodes", "size", "beside", "measured", "95 %", "simulated", "95 %", "off by", "long, measured"]
    return f"{table([*head, 'long, simulated'], lines, 'lrrlrrrrrrr')}\n\n{unknown}"


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
    """Simulated against measured slowdown, on logarithmic axes: a panel for each machine."""
    with settings():
        drawn = figure(6.2 if len(runs) == 1 else 3.4 * len(runs), 5.2 if len(runs) == 1 else 4.1)
        panels = drawn.subplots(1, len(runs), sharex=True, sharey=True, squeeze=False)[0]
        most = max((max(cell.measured.slowdown, cell.slowdown) for run in runs for cell in run["cells"]), default=1.0)
        ends = [0.5, 1.3 * most]
        for axes, run in zip(panels, runs, strict=True):
            axes.fill_between(
                ends, [x / GOAL for x in ends], [x * GOAL for x in ends], color="0.9", label="within x 1.25"
            )
            axes.plot(ends, ends, color="0.6", linewidth=0.8)
            for (victim, aggressor), (colour, marker) in MARKS.items():
                of = [
                    c
                    for c in run["cells"]
                    if (c.measured.beside.victim, c.measured.beside.aggressor) == (victim, aggressor)
                ]
                name = "all-to-all" if victim == "alltoall" else "all-gather"
                other = "all-to-all" if aggressor == "alltoall" else "incast"
                measured, ours = [c.measured.slowdown for c in of], [c.slowdown for c in of]
                axes.plot(measured, ours, marker, color=colour, markersize=4, label=f"{name} beside {other}")
            title = f"Mean slowdown on {NAMES[run['system']]}" if len(runs) == 1 else NAMES[run["system"]]
            axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, title=title, xlabel="measured mean slowdown")
        panels[0].set(ylabel="simulated mean slowdown")
        panels[0].legend(loc="upper left")
    return drawn


MARKS = {
    ("alltoall", "incast"): ("#0072b2", "o"),
    ("allgather", "incast"): ("#d55e00", "D"),
    ("alltoall", "alltoall"): ("#56b4e9", "x"),
    ("allgather", "alltoall"): ("#e69f00", "+"),
}
"""Victim and aggressor -> colour and marker."""


def _reproduction(system: str) -> Reproduction:
    return Reproduction(
        name=f"interference-{system}",
        title=f"Victims beside aggressors on {NAMES[system]}: slowdowns predicted from times alone",
        points=lambda _: [],
        make=None,
        rows=_rows,
        text=Page(
            lambda: (files("odonata.reproduce.interference") / "interference.md").read_text("utf-8"),
            partial(_of_rows, system),
            _of_runs,
        ),
        picture=draw,
        gather=partial(gather, system),
        gather_from=partial(gather, system),
    )


ALL = {f"interference-{system}": _reproduction(system) for system in SYSTEMS}
