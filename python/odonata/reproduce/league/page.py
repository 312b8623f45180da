"""`league`: the statements of the literature about adaptive routing, and a table of all routings by machine."""

from __future__ import annotations

from importlib.resources import files
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from odonata.reproduce.league.cells import MACHINES, NODES, ROUTINGS, SEEDS, TIMES, make, points
from odonata.reproduce.markdown import reasons_by_model, side_by_side, table
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}
"""Number of values -> 97.5 % point of Student's distribution with one degree of freedom less."""
ADVERSE = (
    ("LE1", "dragonfly", "ugal-g", "minimal", "Kim 2008, section 4"),
    ("LE2", "dragonfly", "q-adaptive", "minimal", "Kang 2021, section 5"),
    ("LE3", "dragonfly-plus", "fpar", "minimal", "Shpiner 2017"),
    ("LE4", "hyperx", "omni-war", "minimal", "McDonald 2019"),
    ("LE5", "slim-fly", "ugal-hops", "minimal", "Besta 2014, section 4"),
    ("LE6", "fat-tree", "up-down, least-loaded", "up-down, hash", "Zahavi 2010"),
)
"""Adverse traffic: the adaptive routing accepts more than the other."""
UNIFORM = (
    ("LE7", "dragonfly", "ugal-g", "minimal", "Kim 2008, section 4"),
    ("LE8", "dragonfly", "q-adaptive", "minimal", "Kang 2021, section 5"),
    ("LE9", "dragonfly-plus", "fpar", "minimal", "Shpiner 2017"),
    ("LE10", "hyperx", "omni-war", "minimal", "McDonald 2019"),
    ("LE11", "slim-fly", "ugal-hops", "minimal", "Besta 2014, section 4"),
)
"""Uniform traffic: the adaptive routing accepts as much as the minimal one, within 10 %."""


def _values(runs: Runs, machine: str, routing: str, measure: str, load: int, key: str) -> list[float]:
    wanted = (machine, routing, measure, load)
    chosen = [run for run in runs if (run["machine"], run["routing"], run["measure"], run["load"]) == wanted]
    return [_value(run, key) for run in sorted(chosen, key=lambda run: run["seed"])]


def _value(run: Mapping[str, Any], key: str) -> float:
    """A column of the first job; `accepted` in percent, from the growth of what is under way."""
    if key == "accepted":
        return float(run["load"]) * (1 - max(float(run["backlog_growth"] or 0), 0.0))
    return float(run[key])


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of a mean of normal values; none of a single one."""
    if len(values) < 2:
        return None
    half = STUDENT[len(values)] * stdev(values) / len(values) ** 0.5
    return fmean(values) - half, fmean(values) + half


def slowdowns(runs: Runs, machine: str, routing: str) -> list[float]:
    """Mean iteration of the ring beside the neighbour over that alone on the same nodes, by seed."""
    beside = _values(runs, machine, routing, "neighbour", 0, "iteration_mean_ps")
    alone = _values(runs, machine, routing, "alone", 0, "iteration_mean_ps")
    return [there / here for there, here in zip(beside, alone, strict=True)]


def compare(runs: Runs) -> list[Row]:
    """What the papers of the adaptive routings say of minimal ones, where the runs have both."""
    simulated = {run["machine"] for run in runs}
    rows = []
    for measure, stated in (("adverse", ADVERSE), ("uniform", UNIFORM)):
        for id_, machine, routing, other, where in stated:
            if machine not in simulated:
                continue
            ours = _values(runs, machine, routing, measure, 100, "accepted")
            theirs = fmean(_values(runs, machine, other, measure, 100, "accepted"))
            more = measure == "adverse"
            what = f"{machine}, {measure} traffic: {'more than' if more else 'as much as'} `{other}`"
            bound = f"> {theirs:.4g}" if more else f">= {0.9 * theirs:.4g}"
            row = statement(id_, what, fmean(ours), theirs, "%", bound, where, model=routing, interval=_interval(ours))
            rows.append(row)
    return rows


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    models = list(dict.fromkeys(row.model for row in rows))
    machines = ", ".join(f"{machine} ({nodes})" for machine, nodes in NODES.items())
    return {
        "rows": side_by_side(rows, models),
        "reasons": reasons_by_model(rows),
        "machines": machines,
        "seeds": str(len(SEEDS)),
        "warm_up": TIMES[0],
        "end": TIMES[1],
    }


def _with_interval(values: Sequence[float], digits: int) -> str:
    told = _interval(values)
    mean = f"{fmean(values):.{digits}f}"
    return mean if told is None else f"{mean} ({told[0]:.{digits}f} to {told[1]:.{digits}f})"


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    head = ["routing", "uniform, accepted", "at 30 %", "at 70 %", "adverse, accepted", "at 30 %", "slowdown"]
    sections = []
    for machine in MACHINES:
        lines = []
        for routing in ROUTINGS[machine]:
            latency = [
                f"{fmean(_values(runs, machine, routing, measure, load, 'latency_mean_ps')) / 1e6:.2f}"
                for measure, load in (("uniform", 30), ("uniform", 70), ("adverse", 30))
            ]
            full = [
                f"{fmean(_values(runs, machine, routing, measure, 100, 'accepted')):.1f} %"
                for measure in ("uniform", "adverse")
            ]
            slowdown = _with_interval(slowdowns(runs, machine, routing), 2)
            lines.append([f"`{routing}`", full[0], latency[0], latency[1], full[1], latency[2], slowdown])
        sections.append(f"**{machine}**\n\n" + table(head, lines, "lrrrrrr"))
    return {"league": "\n\n".join(sections)}


REPRODUCTION = Reproduction(
    name="league",
    title="All routings on five machines: throughput, latency, and what a neighbour does",
    points=points,
    make=make,
    rows=compare,
    text=Page(lambda: (files("odonata.reproduce.league") / "league.md").read_text("utf-8"), _of_rows, _of_runs),
)
