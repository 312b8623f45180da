"""`q-adaptive`: latency and throughput of Q-adaptive and of five routings on a dragonfly of 1,056 nodes (Kang 2021).

A point is a `model` (a routing as the authors' simulator has it, or Q-adaptive with one thing changed), a `traffic` and
an offered `load` in percent. What the paper says at hand is its abstract, and six numbers of a summary of its text; the
text itself was not at hand. The summary does not say at which loads latencies and paths are.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.plot.style import LINES, figure, settings
from odonata.reproduce.latency_load.load import keep
from odonata.reproduce.markdown import number, reasons, table, told
from odonata.reproduce.page import Page
from odonata.reproduce.q_adaptive.grid import (
    ADAPTIVE,
    BUFFER,
    CROSSBAR,
    EXPERIMENTS,
    LATENCIES,
    LINK,
    MODELS,
    OBLIVIOUS,
    OURS,
    PACKET,
    PATTERNS,
    ROUTER,
    SHAPES,
    WINDOWS,
    make,
    points,
)
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

    Cells = Mapping[tuple[str, str, int], Mapping[str, Any]]
    """Model, traffic and load -> run."""

ACCEPTED = 0.95
"""A network that accepts less than this fraction of the offered load is saturated: latencies grow with the run."""
UNSTATED = "the load at which the paper has it is not at hand"
BETTER = "a summary of the paper: better in throughput and latency than adaptive routings"


@dataclass(frozen=True)
class Published:
    """A number of the paper."""

    id: str
    what: str
    value: float
    unit: str
    tolerance: str
    load_stated: bool
    where: str


@lru_cache
def published() -> tuple[Published, ...]:
    """All numbers of the paper that are at hand."""
    text = (files("odonata.reproduce.q_adaptive") / "published.csv").read_text("utf-8")
    return tuple(
        Published(
            row["id"],
            row["what"],
            float(row["value"]),
            row["unit"],
            row["tolerance"],
            row["load_stated"] == "yes",
            row["where"],
        )
        for row in csv.DictReader(text.splitlines())
    )


def cells(runs: Runs) -> Cells:
    """The runs by model, traffic and load."""
    return {(run["model"], run["traffic"], run["load"]): run for run in runs}


def stable(run: Mapping[str, Any]) -> bool:
    """Whether the offered load was accepted."""
    return bool(run["accepted"] >= ACCEPTED * run["offered"])


def greatest(of: Cells, model: str, traffic: str) -> float | None:
    """The most that a routing accepts at any load, in percent; None if it was not simulated."""
    accepted = [100 * run["accepted"] for (name, which, _), run in of.items() if (name, which) == (model, traffic)]
    return max(accepted, default=None)


def _gain(of: Cells, traffic: str, other: str) -> float | None:
    """What Q-adaptive accepts above another routing, in percent of that."""
    mine, theirs = greatest(of, OURS, traffic), greatest(of, other, traffic)
    return None if mine is None or theirs is None else 100 * (mine / theirs - 1)


def _slower(of: Cells, traffic: str, other: str, load: int, key: str = "mean_ps") -> float | None:
    """A latency of another routing over that of Q-adaptive, if both accept the load."""
    mine, theirs = of.get((OURS, traffic, load)), of.get((other, traffic, load))
    return None if mine is None or theirs is None or not (stable(mine) and stable(theirs)) else theirs[key] / mine[key]


def _loads(of: Cells, traffic: str) -> list[int]:
    return sorted({load for _, which, load in of if which == traffic})


def _slowest(of: Cells, pairs: Sequence[tuple[str, str]]) -> float | None:
    """The greatest of these ratios of mean latencies."""
    ratios = [_slower(of, traffic, other, load) for traffic, other in pairs for load in _loads(of, traffic)]
    return max((ratio for ratio in ratios if ratio is not None), default=None)


def _once(of: Cells, wanted: Published) -> float | None:
    """Ours of a number whose load is stated or is the whole curve; None if its runs are missing."""
    traffic, _, what = wanted.what.partition(": ")
    if what == "greatest accepted load":
        return greatest(of, OURS, traffic)
    every = [(traffic, other) for traffic in PATTERNS for other in ADAPTIVE]
    if wanted.what == "most that it accepts above an adaptive routing":
        gains = [_gain(of, *pair) for pair in every]
        return max((gain for gain in gains if gain is not None), default=None)
    if wanted.what == "largest mean latency of an adaptive routing over its own":
        return _slowest(of, every)
    if what == "most that it accepts above valiant":
        return _gain(of, traffic, OBLIVIOUS)
    ratio = _slowest(of, [(traffic, OBLIVIOUS)])
    return None if ratio is None else 100 * (1 - 1 / ratio)


def compare(runs: Runs) -> list[Row]:
    """The numbers of the paper, those without a load at each load; then the orderings."""
    of = cells(runs)
    rows = []
    for wanted in published():
        of_it = (wanted.value, wanted.unit, wanted.tolerance, wanted.where)
        if wanted.load_stated:
            ours = _once(of, wanted)
            if ours is not None:
                rows.append(statement(wanted.id, wanted.what, ours, *of_it, model=OURS))
            continue
        traffic, _, what = wanted.what.partition(": ")
        for load in _loads(of, traffic):
            run = of.get((OURS, traffic, load))
            if run is not None and stable(run):
                ours = run["hops_mean"] if what == "links of a path" else run["mean_ps"] / 1e6
                said = f"{traffic} at {load} %: {what}"
                rows.append(statement(wanted.id, said, ours, *of_it, model=OURS, comparable=False, why=UNSTATED))
    return [*rows, *_orderings(of)]


def _orderings(of: Cells) -> list[Row]:
    """That it accepts more than each adaptive routing, and has the lower mean latency where both accept the load."""
    rows = []
    for traffic in PATTERNS:
        for other in ADAPTIVE:
            mine, theirs = greatest(of, OURS, traffic), greatest(of, other, traffic)
            if mine is not None and theirs is not None:
                what = f"{traffic}: greatest accepted load over that of {other}"
                rows.append(statement("QA11", what, mine / theirs, 1, "x", "> 1", BETTER, model=OURS))
            for load in _loads(of, traffic):
                ratio = _slower(of, traffic, other, load)
                if ratio is not None:
                    what = f"{traffic} at {load} %: mean latency of {other} over its own"
                    rows.append(statement("QA12", what, ratio, 1, "x", "> 1", BETTER, model=OURS))
    return rows


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    numbers = [row for row in rows if row.id not in ("QA11", "QA12")]
    lines = [
        [row.id, row.what, f"{number(row.theirs, row.unit)} {row.unit}", row.tolerance, told(row), row.where]
        for row in numbers
    ]
    shape = SHAPES["full"]
    return {
        "rows": table(["id", "what", "published", "tolerance", "ours", "source"], lines, "llrlrl"),
        "orderings": _ordered(rows),
        "reasons": reasons(rows),
        "nodes": f"{shape['groups'] * shape['routers'] * shape['nodes_per_router']:,}",
        "groups": str(shape["groups"]),
        "routers": str(shape["routers"]),
        "per_router": str(shape["nodes_per_router"]),
        "packet": f"{PACKET} B",
        "link": LINK,
        "crossbar": CROSSBAR,
        "buffer": BUFFER,
        "router": ROUTER,
        "latencies": ", ".join(f"{name} {latency}" for name, latency in LATENCIES.items()),
        "window": " to ".join(WINDOWS["full"]),
        "late": " to ".join(WINDOWS["late"]),
        "saturated": f"{100 * ACCEPTED:.0f} %",
    }


def _ordered(rows: Sequence[Row]) -> str:
    """A line for each traffic and routing: how much more it accepts, and the ratios of latencies by load."""
    lines = []
    for traffic in PATTERNS:
        for other in ADAPTIVE:
            more = [row for row in rows if row.id == "QA11" and row.what.startswith(f"{traffic}: ")]
            more = [row for row in more if row.what.endswith(f" {other}")]
            slower = [row for row in rows if row.id == "QA12" and row.what.startswith(f"{traffic} at")]
            slower = [row for row in slower if f" {other} over" in row.what]
            if more or slower:
                said = "; ".join(
                    f"{row.what.split(':')[0].removeprefix(f'{traffic} at ')}: {told(row)}" for row in slower
                )
                lines.append([traffic, f"`{other}`", *(told(row) for row in more), said])
    return table(
        ["traffic", "than", "accepts more, x", "mean latency of the other over its own, by load"], lines, "llrl"
    )


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    of = cells(runs)
    lines: list[list[str]] = []
    tried: list[list[str]] = []
    for (model, traffic, load), run in of.items():
        cut = not stable(run)
        latencies = ["–" if cut else number(run[key] / 1e6, "us") for key in ("mean_ps", "p99_ps")]
        offered = f"{100 * run['offered']:.1f}"
        line = [traffic, f"{load} %", f"`{model}`", offered, f"{100 * run['accepted']:.1f}", *latencies]
        line += [f"{run['hops_mean']:.2f}", f"{100 * run['minimal_fraction']:.0f}"]
        (tried if model in EXPERIMENTS else lines).append(line)
    head = ["traffic", "load", "routing", "offered, %", "accepted, %", "mean, us", "99 %, us", "links", "minimal, %"]
    order = {name: place for place, name in enumerate(PATTERNS)}
    lines.sort(key=lambda line: (order[line[0]], int(line[1].split()[0])))
    made = {
        f"curves_{name.replace('+', '_')}": table(head[1:], [line[1:] for line in lines if line[0] == name], "rlrrrrrr")
        for name in PATTERNS
    }
    return {**made, "experiments": table(head, tried, "lrlrrrrrr")}


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Mean and 99 % latency where the load is accepted, and accepted load, over the offered load."""
    of = cells(runs)
    names = [name for name in MODELS if name not in EXPERIMENTS]
    with settings():
        made = figure(10.5, 6.4)
        grid = made.subplots(2, len(PATTERNS), sharex="col", squeeze=False)
        for column, traffic in enumerate(PATTERNS):
            upper, lower = grid[0][column], grid[1][column]
            upper.set_title(traffic)
            for name, colour in zip(names, LINES, strict=False):
                line = [(load, of[name, traffic, load]) for load in _loads(of, traffic) if (name, traffic, load) in of]
                kept = [(load, run) for load, run in line if stable(run)]
                if not line:
                    continue
                style = {"marker": "o", "ms": 4, "lw": 1.2, "color": colour}
                upper.plot([load for load, _ in kept], [run["mean_ps"] / 1e6 for _, run in kept], label=name, **style)
                tails = [run["p99_ps"] / 1e6 for _, run in kept]
                upper.plot([load for load, _ in kept], tails, ls="--", lw=0.8, color=colour)
                lower.plot([load for load, _ in line], [100 * run["accepted"] for _, run in line], label=name, **style)
            upper.set_yscale("log")
            upper.yaxis.set_major_formatter("{x:g}")
            upper.grid(axis="y", color="0.9")
            lower.grid(axis="y", color="0.9")
            lower.set_xlabel("offered load [%]")
        grid[0][0].set_ylabel("latency [µs]: mean (solid), 99 % (dashed)")
        grid[1][0].set_ylabel("accepted [%]")
        handles = {name: line for axes in grid[1] for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
        grid[1][0].legend(handles.values(), handles, loc="best")
    return made


REPRODUCTION = Reproduction(
    name="q-adaptive",
    title="Q-adaptive beside adaptive and oblivious routings on a dragonfly of 1,056 nodes (Kang 2021)",
    points=points,
    make=make,
    rows=compare,
    text=Page(lambda: (files("odonata.reproduce.q_adaptive") / "page.md").read_text("utf-8"), _of_rows, _of_runs),
    picture=draw,
    keep=keep,
)
