"""`placement-measured`: what an aggressor costs an all-reduce in several placements of both on Leonardo.

Every slowdown is predicted: nothing of the model was fitted to times beside an aggressor but the choice among routings
and buffers that the page shows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from importlib.resources import files
from statistics import fmean
from typing import TYPE_CHECKING, Any

from odonata.plot.style import figure, settings
from odonata.reproduce.markdown import bold, table
from odonata.reproduce.page import Page
from odonata.reproduce.placement.jobs import MODELS, Cell, cells, made
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row
    from odonata.store import Run

TOLERANCE = "10 %"
"""Of a mean slowdown. Stated before the first run of the page."""
EFFECT = 1.05
"""A cell has an effect if its measured interval begins above."""
LEAST_RANK = 0.5
"""Least rank correlation over halvings, as far as measured ones differ: two measured aggressors on the same halvings
agree at 0.8."""
WHERE = "De Sensi et al., SC 2024, data"
NAMES = {"incast": "an incast", "alltoall": "MPI_Alltoall", "alltoall-posted": "a posted all-to-all"}
COLOURS = {"incast": "#d55e00", "alltoall": "#0072b2", "alltoall-posted": "#56b4e9"}
MARKS = {"linear": "o", "interleaved": "s", "random": "D"}


def points(reduced: bool) -> Points:
    """Each cell with its aggressor, and its victim alone once for each set of nodes."""
    chosen: Points = []
    alone: set[tuple[str, tuple[int, ...]]] = set()
    for cell, model in _simulated(reduced):
        of = {"model": model, "run": cell.run, "repetition": cell.repetition}
        if (model, cell.victims) not in alone:
            alone.add((model, cell.victims))
            chosen.append({**of, "beside": False})
        chosen.append({**of, "beside": True})
    return chosen


def _simulated(reduced: bool) -> list[tuple[Cell, str]]:
    """Cells and the models that simulate them: all by the preset, incasts that slow a job down by each."""
    if reduced:
        return [(cell, "leonardo") for cell in cells() if cell.nodes == 8][:2]
    apart = [cell for cell in cells() if cell.nodes >= 32 and cell.aggressor == "incast"]
    return [(cell, "leonardo") for cell in cells()] + [(cell, model) for model in list(MODELS)[1:] for cell in apart]


def keep(run: Run) -> dict[str, Any]:
    """The mean time of an iteration that all ranks have ended, in microseconds."""
    import polars as pl

    ranks = run.jobs["ranks"][0]
    rows = run.iterations.filter(pl.col("job") == 0, pl.col("ranks") == ranks)
    return {"mean_us": fmean(rows["longest_ps"]) / 1e6 if rows.height else math.nan}


def slowdowns(runs: Runs) -> dict[tuple[str, Cell], float]:
    """Simulated slowdown of each cell, by model."""
    by_place = {(cell.run, cell.repetition): cell for cell in cells()}
    alone, beside = dict[tuple[str, tuple[int, ...]], float](), dict[tuple[str, Cell], float]()
    for run in runs:
        cell, model = by_place[run["run"], run["repetition"]], str(run["model"])
        if run["beside"]:
            beside[model, cell] = float(run["mean_us"])
        else:
            alone[model, cell.victims] = float(run["mean_us"])
    return {
        (model, cell): us / alone[model, cell.victims]
        for (model, cell), us in beside.items()
        if (model, cell.victims) in alone
    }


def _rows(runs: Runs) -> list[Row]:
    of = slowdowns(runs)
    rows = []
    for model in dict.fromkeys(model for model, _ in of):
        simulated = {cell: value for (name, cell), value in of.items() if name == model}
        kinds = defaultdict(list)
        for cell in simulated:
            kinds[cell.kind].append(cell)
        for (nodes, placement, aggressor), some in kinds.items():
            ours, theirs = fmean(simulated[cell] for cell in some), fmean(cell.slowdown for cell in some)
            halvings = f", mean of {len(some)} halvings" if len(some) > 1 else ""
            what = f"{nodes} nodes, {placement}, beside {NAMES[aggressor]}{halvings}: slowdown"
            rows.append(statement("placement", what, ours, theirs, "x", TOLERANCE, WHERE, model=model))
        rows += _order(simulated, model)
        if model == "leonardo":
            rows += _against_nothing(simulated, model)
            rows += _ranked(simulated, kinds, model)
    return rows


def _order(simulated: Mapping[Cell, float], model: str) -> list[Row]:
    """Which placement is better, where the measured intervals tell."""
    some = [cell for cell in simulated if cell.nodes == 64 and cell.aggressor == "incast"]
    linear = next((cell for cell in some if cell.placement == "linear"), None)
    return [
        statement(
            "placement",
            f"64 nodes beside an incast: {cell.placement} over linear",
            simulated[cell] / simulated[linear],
            cell.slowdown / linear.slowdown,
            "x",
            "> 1",
            WHERE,
            model=model,
        )
        for cell in some
        if linear is not None and cell is not linear
    ]


def _against_nothing(simulated: Mapping[Cell, float], model: str) -> list[Row]:
    """The error of all cells, and of those with an effect, beside that of a model that knows no interference."""
    rows = []
    groups = {"all cells": list(simulated), "cells with an effect": [c for c in simulated if c.low > EFFECT]}
    for name, some in groups.items():
        if some:
            ours = _factor([simulated[c] / c.slowdown for c in some])
            nothing = _factor([c.slowdown for c in some])
            half = math.exp(math.log(nothing) / 2)
            what = f"{name} ({len(some)}): factor by which slowdowns are missed"
            rows.append(statement("placement", what, ours, nothing, "x", f"<= {half:.4g}", WHERE, model=model))
    return rows


def _ranked(simulated: Mapping[Cell, float], kinds: Mapping[Any, Sequence[Cell]], model: str) -> list[Row]:
    """Whether the same halvings are better, where the measured ones differ."""
    rows = []
    for (nodes, _, aggressor), some in kinds.items():
        measured = [cell.slowdown for cell in some]
        apart = max(cell.low for cell in some) > min(cell.high for cell in some)
        if len(some) >= 5 and apart and max(measured) > EFFECT * min(measured):
            ours = spearman([simulated[cell] for cell in some], measured)
            what = f"{nodes} nodes beside {NAMES[aggressor]}: rank correlation over {len(some)} halvings"
            rows.append(statement("placement", what, ours, 1.0, "rho", f">= {LEAST_RANK}", WHERE, model=model))
    return rows


def spearman(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The rank correlation of two lists; 0 if one does not vary."""
    from scipy.stats import spearmanr

    if len({*ours}) == 1 or len({*theirs}) == 1:
        return 0.0
    return float(spearmanr(ours, theirs).statistic)


def _factor(ratios: Sequence[float]) -> float:
    return math.exp(fmean(abs(math.log(ratio)) for ratio in ratios))


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    of = [row for row in rows if row.model == "leonardo"]
    others = [row for row in rows if row.model != "leonardo"]

    def shown(some: Sequence[Row], with_model: bool) -> str:
        head = [*(["model"] if with_model else []), "what", "measured", "simulated", "tolerance", "verdict"]
        lines = [
            [
                *([row.model] if with_model else []),
                row.what.removesuffix(": slowdown"),
                f"{row.theirs:.2f}",
                f"{row.ours:.2f}",
                row.tolerance,
                bold(row.verdict),
            ]
            for row in some
        ]
        return table(head, lines, "l" * (1 + with_model) + "rrll")

    small = [row for row in of if "32 nodes" in row.what and row.what.endswith(": slowdown")]
    beside = [
        f"{row.theirs:.2f} {row.what.split(', ')[2]}" for row in sorted(small, key=lambda row: row.theirs, reverse=True)
    ]
    unknown = "not in this form"
    return {
        "small": " and ".join(beside) or unknown,
        "effect": f"{EFFECT:g}",
        "rows": shown(of, False),
        "variants": shown(others, True) if others else "Not simulated in this form.",
        "tolerance": TOLERANCE,
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    lines = [
        [str(cell.nodes), cell.placement, NAMES[cell.aggressor], f"{cell.slowdown:.3f}", f"{value:.3f}"]
        for (model, cell), value in slowdowns(runs).items()
        if model == "leonardo"
    ]
    return {"cells": table(["nodes", "placement", "beside", "measured", "simulated"], lines, "rllrr")}


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Simulated against measured slowdown: a mark for each placement, a colour for each aggressor."""
    of = {cell: value for (model, cell), value in slowdowns(runs).items() if model == "leonardo"}
    with settings():
        drawn = figure(6.2, 5.2)
        axes = drawn.subplots()
        most = 1.05 * max(max(cell.slowdown, value) for cell, value in of.items())
        ends = [0.95, most]
        axes.plot(ends, ends, color="0.6", linewidth=0.8)
        axes.axhline(1, color="0.85", linewidth=0.8, zorder=0)
        drawn_kinds = dict.fromkeys((cell.placement, cell.aggressor) for cell in of)
        for placement, aggressor in drawn_kinds:
            some = [cell for cell in of if (cell.placement, cell.aggressor) == (placement, aggressor)]
            axes.scatter(
                [cell.slowdown for cell in some],
                [of[cell] for cell in some],
                s=[8 + cell.nodes for cell in some],
                marker=MARKS[placement],
                color=COLOURS[aggressor],
                alpha=0.8,
                label=f"{placement}, beside {NAMES[aggressor]}",
            )
        axes.set(
            xlim=ends,
            ylim=ends,
            xlabel="measured slowdown",
            ylabel="simulated slowdown",
            title="An all-reduce on Leonardo by placement (larger marks: more nodes)",
        )
        axes.legend(loc="upper left")
    return drawn


REPRODUCTION = Reproduction(
    name="placement-measured",
    title="An all-reduce beside another job on Leonardo, in three placements and ten halvings",
    points=points,
    make=made,
    keep=keep,
    rows=_rows,
    text=Page(lambda: (files("odonata.reproduce.placement") / "placement.md").read_text("utf-8"), _of_rows, _of_runs),
    picture=draw,
)
