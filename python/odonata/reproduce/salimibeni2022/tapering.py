"""`salimi-beni2022-tapering`: with how many cables between islands the statements of figure 5 hold (V13).

The paper does not say how many links join the islands of Marconi100. The preset assumes nearly as many as nodes, so
that global links are hardly loaded. Here their number is varied; every statement rests on several queues.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.analysis.peaks import LEVEL
from odonata.reproduce.desensi2019.relations import median_of
from odonata.reproduce.markdown import number, published, reasons, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import holds, statement
from odonata.reproduce.salimibeni2022.relations import FACTOR, Measured
from odonata.reproduce.salimibeni2022.runs import (
    COLLECTIVES,
    DRAWN,
    FAR,
    LONG,
    MINIMAL,
    OFTEN,
    QUEUES,
    ROUTING,
    keep,
    point_of,
    utilisation,
)
from odonata.reproduce.salimibeni2022.runs import make as make_shipped
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row
    from odonata.scenario import Scenario

CABLES = {15: 80, 9: 48, 6: 32, 3: 16}
"""Global links of each of 16 spines -> links between two of the four islands. The first is that of the preset."""
SHIPPED = next(iter(CABLES))
QUEUE_PAIRS = 9
"""Queues of low and of high b. Nine are the fewest whose median has an interval that leaves out the extremes."""
LOW, HIGH = QUEUES["low"][1], QUEUES["high"][1]
"""Loads of the queues of figure 5."""
ITERATIONS = {"broadcast": 40, "reduce": 40, "alltoall": 30}
"""Of a distribution; 30 are the fewest that the test of peaks takes."""
_WHERE = "Salimi Beni 2022, section 5.3, figure 5"
_NO_CLAIM = "a candidate; the shipped number of cables is judged"
PUBLISHED = {"broadcast": 6.4, "alltoall": 1.6}
"""Mean at high b over that at low b (V13)."""
PEAKED = ("reduce", "alltoall")
"""Collectives that have two peaks at high b in the paper, and one with minimal routing."""


def points(reduced: bool) -> Points:
    """Two sizes beside queues of low and of high b; the smaller one at high b with minimal routing too."""
    if reduced:
        return list(_points((SHIPPED, min(CABLES)), 1, ("broadcast",), iterations=5))
    return list(_points(tuple(CABLES), QUEUE_PAIRS, COLLECTIVES))


def _points(
    cables: Sequence[int], pairs: int, apps: Sequence[str], iterations: int | None = None
) -> Iterator[dict[str, Any]]:
    for count, app, pair in itertools.product(cables, apps, range(pairs)):
        low, high = (201 + pair, LOW), (301 + pair, HIGH)
        many = iterations or ITERATIONS[app]
        few = iterations or OFTEN[LONG] // (2 if app == "alltoall" else 1)
        for point in (
            *(point_of(app, DRAWN, FAR, queue, many) for queue in (low, high)),
            *(point_of(app, LONG, FAR, queue, few) for queue in (low, high)),
            point_of(app, DRAWN, FAR, high, many, MINIMAL),
        ):
            yield point | {"cables": count, "pair": pair}


def make(point: Mapping[str, Any]) -> Scenario:
    """The scenario of figure 5 with so many global links of each spine."""
    made = make_shipped(point).set("system.global_links_per_spine", point["cables"])
    return made.set("system.links_per_pair", CABLES[point["cables"]])


def of_model(cables: int) -> str:
    """The name of a setting in the rows: its share of the cables of the preset."""
    return fixed(cables / SHIPPED, ".0%")


class Pairs:
    """The runs with so many cables: for each pair of queues what was measured."""

    def __init__(self, runs: Runs, cables: int) -> None:
        self._of = {
            (run["app"], run["size"], run["load"], run["routing"], run["pair"]): Measured(
                utilisation(run["draw"], run["load"]), np.asarray(run["times_ps"], np.float64), run
            )
            for run in runs
            if run["cables"] == cables
        }
        self.pairs = sorted({key[-1] for key in self._of})
        self.apps = list(dict.fromkeys(key[0] for key in self._of))

    def high_and_low(self, app: str, size: str, value: Callable[[Measured, Measured], float]) -> list[float]:
        """A value of the measurements at high and at low b, for each pair."""
        loads = [[self._of[app, size, load, ROUTING, pair] for load in (HIGH, LOW)] for pair in self.pairs]
        return [value(high, low) for high, low in loads]

    def at_high(self, app: str, routing: str, value: Callable[[Measured], float]) -> list[float]:
        """A value of the measurements at high b, for each pair."""
        return [value(self._of[app, DRAWN, HIGH, routing, pair]) for pair in self.pairs]


def compare(runs: Runs) -> list[Row]:
    """The statements of figure 5, for each number of cables; the verdict is on that of the preset."""
    rows = []
    for cables in dict.fromkeys(run["cables"] for run in runs):
        for row in _of_cables(Pairs(runs, cables), of_model(cables)):
            candidate = cables != SHIPPED
            rows.append(replace(row, verdict="not comparable", why=_NO_CLAIM, experiment="") if candidate else row)
    return rows


def _of_cables(pairs: Pairs, model: str) -> Iterator[Row]:
    def row(what: str, values: Sequence[float], theirs: float, unit: str, tolerance: str) -> Row:
        of = median_of(values)
        made = statement(
            "V13", what, of.value, theirs, unit, tolerance, _WHERE,
            model=model, messages=len(values), interval=(of.low, of.high),
        )  # fmt: skip
        return replace(made, repetitions=len(values))

    for app in pairs.apps:
        slower = pairs.high_and_low(app, LONG, lambda high, low: float(high.times_ps.mean() / low.times_ps.mean()))
        tolerance = FACTOR if app in PUBLISHED else "> 1"
        yield row(f"{app}, {LONG}: mean at high b over low b", slower, PUBLISHED.get(app, 1), "x", tolerance)
        longer = pairs.high_and_low(app, DRAWN, lambda high, low: (high.tail_ps - low.tail_ps) / 1e6)
        yield row(f"{app}: tail (p99 - median) at high b minus low b", longer, 0, "us", "> 0")
        lower = pairs.high_and_low(app, DRAWN, lambda high, low: low.narrowest_half / high.narrowest_half)
        yield row(f"{app}: height of the peak at high b over low b", lower, 1, "x", "< 1")
        more = pairs.high_and_low(app, DRAWN, lambda high, low: 100 * (low.run["minimal"] - high.run["minimal"]))
        yield row(f"{app}: share of non-minimal packets at high b minus low b", more, 0, "%", "> 0")
    if "alltoall" in pairs.apps:
        shifts = {
            app: pairs.high_and_low(app, DRAWN, lambda high, low: high.dispersion.median / low.dispersion.median)
            for app in pairs.apps
        }
        own = shifts.pop("alltoall")
        most = [shift / max(others) for shift, *others in zip(own, *shifts.values(), strict=True)]
        yield row("shift of the median of alltoall over the largest other", most, 1, "x", "> 1")
    for app in PEAKED:
        if app in pairs.apps:
            adaptive, minimal = (pairs.at_high(app, routing, _one_peak) for routing in (ROUTING, MINIMAL))
            sooner = [of - than for of, than in zip(minimal, adaptive, strict=True)]
            yield row(f"{app}: p of one peak at high b, minimal minus adaptive routing", sooner, 0, "p", "> 0")
            for routing, of, tolerance in (("adaptive", adaptive, "> 50"), ("minimal", minimal, "< 50")):
                share = 100 * float(np.mean([p <= LEVEL for p in of]))
                yield statement(
                    "V13", f"{app}: queues of high b with two peaks or more, {routing} routing", share, 50, "%",
                    tolerance, _WHERE, model=model, messages=len(of),
                )  # fmt: skip


def _one_peak(measured: Measured) -> float:
    """p of "one peak" by Silverman's test; 1 for times that have too few different values for a second one."""
    return 1.0 if measured.peaks is None else measured.peaks.p_one


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    models = list(dict.fromkeys(row.model for row in rows))
    by_statement = {(row.what, row.model): row for row in rows}
    lines = []
    for first in (row for row in rows if row.model == models[0]):
        mine = [by_statement[first.what, model] for model in models]
        lines.append([first.what, published(first), first.tolerance, *map(_cell, mine)])
    held = {model: sum(holds(row) for row in rows if row.model == model) for model in models}
    everywhere = [
        row.what
        for row in rows
        if row.model == models[0]
        if all(holds(by_statement[row.what, model]) for model in models)
    ]
    nowhere = [
        row.what
        for row in rows
        if row.model == models[0]
        if not any(holds(by_statement[row.what, model]) for model in models)
    ]
    return {
        "table": table(["statement", "published", "tolerance", *models], lines, "lrl" + "r" * len(models)),
        "held": "; ".join(f"{model} of the cables: {count} of {len(lines)}" for model, count in held.items()),
        "everywhere": "; ".join(everywhere) or "none",
        "nowhere": "; ".join(nowhere) or "none",
        "reasons": reasons(row for row in rows if row.model == models[0]),
        "cables": ", ".join(map(str, CABLES)),
        "pairs": str(QUEUE_PAIRS),
        "few": str(OFTEN[LONG]),
        "iterations": ", ".join(f"{app} {count}" for app, count in ITERATIONS.items()),
    }


def _cell(row: Row) -> str:
    ends = f" ({number(row.interval[0], row.unit)} to {number(row.interval[1], row.unit)})" if row.interval else ""
    value = number(row.ours, row.unit)
    return f"**{value}**{ends}" if holds(row) else f"{value}{ends}"


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    lines = []
    for cables in dict.fromkeys(run["cables"] for run in runs):
        mine = [run for run in runs if run["cables"] == cables and run["routing"] == ROUTING]
        of = {load: [run for run in mine if run["load"] == load] for load in (LOW, HIGH)}
        loads = [float(np.mean([run["global"] for run in of[load]])) for load in (LOW, HIGH)]
        diverted = [1 - float(np.mean([run["minimal_all"] for run in of[load]])) for load in (LOW, HIGH)]
        lines.append([of_model(cables), str(cables), *(fixed(share, ".0%") for share in (*loads, *diverted))])
    head = ["cables", "of a spine", "load, low b", "load, high b", "non-minimal, low b", "non-minimal, high b"]
    return {"loads": table(head, lines, "rrrrrr"), "runs": str(len(runs))}


REPRODUCTION = Reproduction(
    name="salimi-beni2022-tapering",
    title="With how many cables between islands the statements of figure 5 hold (Salimi Beni 2022)",
    points=points,
    make=make,
    rows=compare,
    text=Page(
        lambda: (files("odonata.reproduce.salimibeni2022") / "tapering.md").read_text("utf-8"), _of_rows, _of_runs
    ),
    keep=keep,
)
