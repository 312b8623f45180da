"""`q-adaptive`: latency and throughput of Q-adaptive and of five routings on a dragonfly of 1,056 nodes (Kang 2021).

A point is a `model` (a routing as the authors' simulator has it, the same with sources that pause, or Q-adaptive with
one thing changed), a `traffic` and an offered `load` in percent. What the paper says at hand is its abstract, and six
numbers of a summary of its text; the text itself was not at hand. The summary does not say at which loads latencies and
paths are.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.plot.style import LINES, figure, settings
from odonata.reproduce.latency_load.load import keep
from odonata.reproduce.markdown import held, number, reasons, side_by_side, table, told
from odonata.reproduce.page import Page
from odonata.reproduce.q_adaptive.grid import (
    ADAPTIVE,
    BUFFER,
    BURSTS,
    CROSSBAR,
    EXPERIMENTS,
    FIRST_PS,
    LATENCIES,
    LINK,
    MODELS,
    OBLIVIOUS,
    OFF,
    ON,
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
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

    Cells = Mapping[tuple[str, str, int], Mapping[str, Any]]
    """Model, traffic and load -> run."""

ACCEPTED = 0.95
"""A network that accepts less than this fraction of the offered load is saturated: latencies grow with the run."""
DRAINS = 1.02
"""One that delivers more than this fraction of what is offered sends a backlog of earlier."""
CAUSES = {
    f"{OURS}-learned": "Q-adaptive is still learning: it accepts more later",
    f"{OURS}-ideal": "part of it: packets wait at the inputs of routers behind others; it accepts more without that",
}
"""Experiment -> what it shows where it accepts more."""
MORE = 1.05
TOLERANCE = "10 %"
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
    """Whether the offered load was accepted, and no backlog of earlier with it."""
    return bool(ACCEPTED * run["offered"] <= run["accepted"] <= DRAINS * run["offered"])


def greatest(of: Cells, model: str, traffic: str) -> float | None:
    """The most that a routing accepts at any load, in percent; None if it was not simulated."""
    accepted = [100 * run["accepted"] for (name, which, _), run in of.items() if (name, which) == (model, traffic)]
    return max(accepted, default=None)


def _gain(of: Cells, traffic: str, other: str) -> float | None:
    """What Q-adaptive accepts above another routing, in percent of that."""
    mine, theirs = greatest(of, OURS, traffic), greatest(of, other, traffic)
    return None if mine is None or theirs is None else 100 * (mine / theirs - 1)


def _slower(of: Cells, traffic: str, other: str, load: int, kind: str) -> float | None:
    """The mean latency of another routing over that of Q-adaptive, if both accept the load; `kind` ends their names."""
    mine, theirs = of.get((OURS + kind, traffic, load)), of.get((other + kind, traffic, load))
    if mine is None or theirs is None or not (stable(mine) and stable(theirs)):
        return None
    ratio: float = theirs["mean_ps"] / mine["mean_ps"]
    return ratio


def _loads(of: Cells, traffic: str) -> list[int]:
    return sorted({load for _, which, load in of if which == traffic})


def _slowest(of: Cells, pairs: Sequence[tuple[str, str]], kind: str) -> float | None:
    """The greatest of these ratios of mean latencies."""
    ratios = [_slower(of, traffic, other, load, kind) for traffic, other in pairs for load in _loads(of, traffic)]
    return max((ratio for ratio in ratios if ratio is not None), default=None)


def _once(of: Cells, wanted: Published, kind: str) -> float | None:
    """Ours of a number of the whole curve; None if its runs are missing. Sources that pause have no throughput."""
    traffic, _, what = wanted.what.partition(": ")
    every = [(traffic, other) for traffic in PATTERNS for other in ADAPTIVE]
    if wanted.what == "largest mean latency of an adaptive routing over its own":
        return _slowest(of, every, kind)
    if what == "largest reduction of the mean latency of valiant":
        ratio = _slowest(of, [(traffic, OBLIVIOUS)], kind)
        return None if ratio is None else 100 * (1 - 1 / ratio)
    if kind:
        return None
    if what == "greatest accepted load":
        return greatest(of, OURS, traffic)
    if wanted.what == "most that it accepts above an adaptive routing":
        gains = [_gain(of, *pair) for pair in every]
        return max((gain for gain in gains if gain is not None), default=None)
    return _gain(of, traffic, OBLIVIOUS)


def compare(runs: Runs) -> list[Row]:
    """The numbers of the paper, those without a load at each load; then the orderings."""
    of = cells(runs)
    rows = []
    for wanted in published():
        for kind in ("", BURSTS):
            of_it = (wanted.value, wanted.unit, wanted.tolerance, wanted.where)
            if wanted.load_stated:
                ours = _once(of, wanted, kind)
                if ours is not None:
                    why, experiment = _cause(of, wanted, ours)
                    rows.append(
                        statement(
                            wanted.id, wanted.what, ours, *of_it, model=OURS + kind, why=why, experiment=experiment
                        )
                    )
                continue
            traffic, _, what = wanted.what.partition(": ")
            for load in _loads(of, traffic):
                run = of.get((OURS + kind, traffic, load))
                if run is not None and stable(run):
                    ours = run["hops_mean"] if what == "links of a path" else run["mean_ps"] / 1e6
                    said = f"{traffic} at {load} %: {what}"
                    rows.append(
                        statement(wanted.id, said, ours, *of_it, model=OURS + kind, comparable=False, why=UNSTATED)
                    )
    return [*rows, *_valiant(of), *_orderings(of)]


def _valiant(of: Cells) -> list[Row]:
    """The throughput of Valiant routing that follows from two numbers of the paper, if both are greatest loads."""
    ours = greatest(of, OBLIVIOUS, "adv+1")
    if ours is None:
        return []
    most, above = ({wanted.id: wanted.value for wanted in published()}[name] for name in ("QA2", "QA9"))
    theirs = most / (1 + above / 100)
    where = "QA2 over QA9 (assumed: both of the greatest accepted load)"
    what = "adv+1: greatest accepted load of valiant"
    return [statement("QA13", what, ours, theirs, "%", TOLERANCE, where, model=OBLIVIOUS)]


def _cause(of: Cells, wanted: Published, ours: float) -> tuple[str, str]:
    """Why a throughput is lower, and the experiment that accepts more than a twentieth above it."""
    traffic, _, what = wanted.what.partition(": ")
    if what != "greatest accepted load":
        return "", ""
    reached = {name: greatest(of, name, traffic) or 0.0 for name in CAUSES}
    name = max(reached, key=reached.__getitem__)
    if reached[name] <= MORE * ours:
        return "", ""
    return CAUSES[name], f"`{name}` in the table of experiments"


def _orderings(of: Cells) -> list[Row]:
    """That it accepts more than each adaptive routing, and has the lower mean latency where both accept the load."""
    rows = []
    for traffic in PATTERNS:
        for other in ADAPTIVE:
            mine, theirs = greatest(of, OURS, traffic), greatest(of, other, traffic)
            if mine is not None and theirs is not None:
                what = f"{traffic}: greatest accepted load over that of {other}"
                rows.append(statement("QA11", what, mine / theirs, 1, "x", "> 1", BETTER, model=OURS))
            for kind in ("", BURSTS):
                for load in _loads(of, traffic):
                    ratio = _slower(of, traffic, other, load, kind)
                    if ratio is not None:
                        what = f"{traffic} at {load} %: mean latency of {other} over its own"
                        rows.append(statement("QA12", what, ratio, 1, "x", "> 1", BETTER, model=OURS + kind))
    return rows


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    numbers = [row for row in rows if row.id not in ("QA11", "QA12")]
    known = [row for row in numbers if row.verdict != "not comparable"]
    shape = SHAPES["full"]
    return {
        "rows": side_by_side(known, [OURS, OURS + BURSTS, OBLIVIOUS]),
        "unstated": _unstated(row for row in numbers if row.verdict == "not comparable"),
        "orderings": _ordered(rows),
        "held": held(row for row in rows if row.id in ("QA11", "QA12")),
        "reasons": reasons(known),
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
        "first": f"{FIRST_PS // 1000} ns",
        "learned": " to ".join(WINDOWS["learned"]),
        "short": " to ".join(WINDOWS["short"]),
        "on": ON,
        "off": OFF,
        "saturated": f"{100 * ACCEPTED:.0f} %",
        "drains": f"{100 * DRAINS:.0f} %",
    }


def _unstated(rows: Iterable[Row]) -> str:
    """A line for each number whose load is not known: ours at each load."""
    by_number: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        load, _, what = row.what.partition(": ")
        traffic, _, percent = load.partition(" at ")
        key = (f"{row.id} {what}, {traffic}", f"{number(row.theirs, row.unit)} {row.unit}", row.model)
        by_number.setdefault(key, []).append(f"{number(row.ours, row.unit)} at {percent}")
    return "\n".join(
        f"- {what}: published {theirs}; `{model}` has {', '.join(said)}."
        for (what, theirs, model), said in by_number.items()
    )


def _ordered(rows: Sequence[Row]) -> str:
    """A line for each traffic and routing: how much more it accepts, and the ratios of latencies by load."""
    lines = []
    for traffic in PATTERNS:
        for other in ADAPTIVE:
            more = [row for row in rows if row.id == "QA11" and row.what.startswith(f"{traffic}: ")]
            more = [row for row in more if row.what.endswith(f" {other}")]
            cells = ["–" if not more else told(more[0])]
            for kind in ("", BURSTS):
                slower = [row for row in rows if row.id == "QA12" and row.what.startswith(f"{traffic} at")]
                slower = [row for row in slower if f" {other} over" in row.what and row.model == OURS + kind]
                said = (f"{row.what.split(':')[0].removeprefix(f'{traffic} at ')}: {told(row)}" for row in slower)
                cells.append("; ".join(said) or "–")
            if cells != ["–"] * 3:
                lines.append([traffic, f"`{other}`", *cells])
    head = ["traffic", "than", "accepts more, x", "mean latency of the other over its own", "the same, bursts"]
    return table(head, lines, "llrll")


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    of = cells(runs)
    steady: list[list[str]] = []
    tried: list[list[str]] = []
    for (model, traffic, load), run in of.items():
        cut = not stable(run)
        latencies = ["–" if cut else number(run[key] / 1e6, "us") for key in ("mean_ps", "p99_ps")]
        line = [traffic, f"{load} %", f"`{model}`"]
        shares = [f"{100 * run['offered']:.1f}", f"{100 * run['accepted']:.1f}"]
        if model in EXPERIMENTS:
            tried.append([*line, shares[1], latencies[0]])
        elif not model.endswith(BURSTS):
            steady.append([*line, *shares, *latencies, f"{run['hops_mean']:.2f}"])
    order = {name: place for place, name in enumerate(PATTERNS)}
    steady.sort(key=lambda line: (order[line[0]], int(line[1].split()[0])))
    head = ["traffic", "load", "routing", "offered, %", "accepted, %", "mean, us", "99 %, us", "links"]
    names = {"uniform": "curves_uniform", "adv+1": "curves_first", "adv+4": "curves_fourth"}
    made = {
        names[name]: table(head[1:], [line[1:] for line in steady if line[0] == name], "rlrrrrr") for name in PATTERNS
    }
    told_of = [f"`{name}`" for name in (*CAUSES, f"{OURS}-first-times")]
    shown = [*head[:3], *head[4:6]]
    return {
        **made,
        "experiments": table(shown, [line for line in tried if line[2] in told_of], "lrlrr"),
        "others": table(shown, [line for line in tried if line[2] not in told_of], "lrlrr"),
        "bursts": _bursts(of),
    }


def _bursts(of: Cells) -> str:
    """Mean and 99 % latency of each routing with sources that pause: a line for each traffic and load."""
    names = [name for name in MODELS if name.endswith(BURSTS)]
    lines = []
    for traffic in PATTERNS:
        for load in _loads(of, traffic):
            mine = [of.get((name, traffic, load)) for name in names]
            if any(mine):
                cells = [
                    "" if run is None else "; ".join(number(run[key] / 1e6, "us") for key in ("mean_ps", "p99_ps"))
                    for run in mine
                ]
                lines.append([traffic, f"{load} %", *cells])
    head = ["traffic", "load", *(f"`{name.removesuffix(BURSTS)}`" for name in names)]
    return table(head, lines, "lr" + "r" * len(names))


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """Mean and 99 % latency where the load is accepted, and accepted load, over the offered load."""
    of = cells(runs)
    names = [name for name in MODELS if name not in EXPERIMENTS and not name.endswith(BURSTS)]
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
            upper.yaxis.set_minor_formatter("{x:g}")
            upper.grid(axis="y", color="0.9")
            lower.grid(axis="y", color="0.9")
            lower.set_ylim(bottom=0)
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
