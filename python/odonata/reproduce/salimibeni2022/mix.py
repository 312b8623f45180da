"""`salimi-beni2022-mix`: what V11 to V13 depend on that is assumed, and claims about point-to-point and low b.

The paper does not know what the other jobs do. The pages assume four applications. Here the same queues are simulated
with other mixes of them, and every value has its range over the mixes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from importlib.resources import files
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata import machine
from odonata.analysis.correlation import correlate
from odonata.reproduce.desensi2019.relations import median_of
from odonata.reproduce.markdown import reasons, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement
from odonata.reproduce.salimibeni2022.queue import APPS, MIXES, SHIPPED, SYSTEM, allocations, mixed, others
from odonata.reproduce.salimibeni2022.relations import MODEL
from odonata.reproduce.salimibeni2022.runs import (
    DRAWS,
    FAR,
    LONG,
    POINT_TO_POINT,
    QUEUES,
    keep,
    make,
    point_of,
    utilisation,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Points, Runs
    from odonata.reproduce.rows import Row

APP = "broadcast"
SHORT = "4 B"
QUEUE_COUNT = 30
"""Queues of figure 4, the first ones of those of `salimi-beni2022`."""
ITERATIONS = {SHORT: 10, LONG: 3}
LOW_QUEUES = 9
"""Queues of low b, those of `salimi-beni2022-tapering`."""
NEAR = "same-island"
ENDS = 3
"""Queues of highest and of lowest b that a ratio compares."""


def points(reduced: bool) -> Points:
    """Broadcasts beside every queue and mix, a message between two nodes, and two localities beside queues of low b."""
    queues = DRAWS[: 4 if reduced else QUEUE_COUNT]
    mixes = (SHIPPED, "in-order") if reduced else tuple(MIXES)
    made = [point_of(APP, SHORT, FAR, queue, ITERATIONS[SHORT]) | {"mix": mix} for mix in mixes for queue in queues]
    if reduced:
        return made
    for size, count in ITERATIONS.items():
        made += [point_of(POINT_TO_POINT, size, FAR, queue, count) | {"mix": SHIPPED} for queue in queues]
    low = [(201 + draw, QUEUES["low"][1]) for draw in range(LOW_QUEUES)]
    for locality in (NEAR, FAR):
        made += [point_of(APP, LONG, locality, queue, ITERATIONS[LONG]) | {"mix": SHIPPED} for queue in low]
    return made


def _means(runs: Runs, **wanted: Any) -> dict[tuple[int, float], float]:
    """Queue -> mean time in microseconds of the runs with these values."""
    return {
        (run["draw"], run["load"]): float(np.mean(run["times_ps"])) / 1e6
        for run in runs
        if all(run[key] == value for key, value in wanted.items())
    }


def _of_mix(runs: Runs, size: str, mix: str) -> dict[tuple[int, float], float]:
    means = _means(runs, app=APP, size=size, locality=FAR, mix=mix)
    return {queue: mean for queue, mean in means.items() if queue in set(DRAWS)}


def _rho(means: Mapping[tuple[int, float], float], of: Sequence[float] | None = None) -> float:
    """Rank correlation of the means with b, or with other values of the queues; 0 for values that are all equal."""
    x = np.array([utilisation(*queue) for queue in means] if of is None else of, dtype=np.float64)
    y = np.array(list(means.values()))
    return 0.0 if np.ptp(x) == 0 else float(correlate(x, y).spearman.value)


def _high_over_low(means: Mapping[tuple[int, float], float]) -> float:
    """Mean beside the queues of highest b over that beside those of lowest b."""
    ascending = [means[queue] for queue in sorted(means, key=lambda queue: utilisation(*queue))]
    return float(np.mean(ascending[-ENDS:]) / np.mean(ascending[:ENDS]))


def exposed(queue: tuple[int, float], mix: str) -> Counter[str]:
    """Application -> its nodes on the leaf switches of the measured job."""
    shape = machine.load(SYSTEM).shape
    leaves = {shape.router_of(node) for node in allocations()[FAR]}
    apps, count = mixed(*queue, mix), Counter[str]()
    for job in others(*queue):
        if len(job.nodes) > 1:
            count[apps[job.name]] += sum(shape.router_of(node) in leaves for node in job.nodes)
    return count


def compare(runs: Runs) -> list[Row]:
    """A row for each statement, with its range over the mixes."""
    rows = []
    of = {mix: means for mix in MIXES if len(means := _of_mix(runs, SHORT, mix)) >= 4}
    if of:
        rhos = [_rho(means) for means in of.values()]
        what = f"ρ of b with the mean, {APP}, {SHORT}"
        rows.append(_over_mixes("V11", what, rhos, 0, "rho", "> 0", "5.2, figure 4"))
    for size in ITERATIONS:
        means = _means(runs, app=POINT_TO_POINT, size=size)
        if means:
            of_queue = median_of([mean / min(means.values()) for mean in means.values()])
            what = f"point-to-point, {size}: mean over the least of all queues"
            row = _row("V12", what, of_queue.value, 1, "x", "10 %", "5.2", (of_queue.low, of_queue.high))
            rows.append(replace(row, repetitions=of_queue.count))
    low = [
        {queue: mean for queue, mean in _means(runs, app=APP, size=LONG, locality=where, mix=SHIPPED).items()
         if queue not in set(DRAWS)}
        for where in (FAR, NEAR)
    ]  # fmt: skip
    if all(low):
        pairs = median_of([low[0][queue] / low[1][queue] for queue in low[0]])
        what = f"{APP}, {LONG}, low b: mean of {FAR} over {NEAR}"
        row = _row("V13", what, pairs.value, 1, "x", "10 %", "5.3", (pairs.low, pairs.high))
        rows.append(replace(row, repetitions=pairs.count))
    return rows


def _row(
    id_: str,
    what: str,
    ours: float,
    theirs: float,
    unit: str,
    tolerance: str,
    where: str,
    interval: tuple[float, float],
) -> Row:
    return statement(
        id_, what, ours, theirs, unit, tolerance, f"Salimi Beni 2022, section {where}", model=MODEL,
        interval=interval,
    )  # fmt: skip


def _over_mixes(
    id_: str,
    what: str,
    values: Sequence[float],
    theirs: float,
    unit: str,
    tolerance: str,
    where: str,
) -> Row:
    """The median over the mixes with their whole range."""
    ends = (min(values), max(values))
    row = _row(id_, what, median(values), theirs, unit, tolerance, where, ends)
    return replace(row, repetitions=len(values))


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    lines = [
        [
            row.id, row.what, f"{row.theirs:g}", row.tolerance, f"{row.ours:.2f}",
            " to ".join(f"{end:.2f}" for end in row.interval or ()), str(row.repetitions), row.verdict,
        ]
        for row in rows
    ]  # fmt: skip
    head = ["id", "what", "published", "tolerance", "simulated", "range or interval", "of", "verdict"]
    return {
        "statements": table(head, lines, "llrlrrrl"),
        "reasons": reasons(rows),
        "mixes": "\n".join(f"- `{name}`: {about}." for name, about in MIXES.items()),
        "count": str(len(MIXES)),
        "queues": str(QUEUE_COUNT),
        "low_queues": str(LOW_QUEUES),
        "ends": str(ENDS),
        "iterations": ", ".join(f"{size} {count}" for size, count in ITERATIONS.items()),
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    lines, exposure = [], []
    for mix in MIXES:
        means = _of_mix(runs, SHORT, mix)
        values = list(means.values())
        if len(values) < 4:
            continue
        cells = [f"{part:,.1f}" for part in (min(values), median(values), max(values))]
        lines.append([mix, *cells, f"{_rho(means):.2f}", f"{_high_over_low(means):.2f}"])
        nodes = [exposed(queue, mix) for queue in means]
        apart = [_rho(means, [count[app] for count in nodes]) for app in APPS]
        exposure.append([mix, *(f"{value:.2f}" for value in apart), f"{_rho(means):.2f}"])
    head = ["mix", "least mean (us)", "median", "greatest", "ρ with b", "high over low b"]
    shipped, ordered = (_of_mix(runs, SHORT, mix) for mix in (SHIPPED, "in-order"))
    return {
        "by_mix": table(head, lines, "lrrrrr"),
        "exposure": table(["mix", *(f"`{app}`" for app in APPS), "b"], exposure, "l" + "r" * (len(APPS) + 1)),
        "shipped_most": f"{max(shipped.values()):.0f}",
        "ordered_most": f"{max(ordered.values()):.0f}",
        "runs": str(len(runs)),
    }


REPRODUCTION = Reproduction(
    name="salimi-beni2022-mix",
    title="What the assumed mix of other jobs decides of latencies and b (Salimi Beni 2022)",
    points=points,
    make=make,
    rows=compare,
    text=Page(lambda: (files("odonata.reproduce.salimibeni2022") / "mix.md").read_text("utf-8"), _of_rows, _of_runs),
    keep=keep,
)
