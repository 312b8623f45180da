"""`league`: latency against load, and interference of two jobs, of every routing of four small machines.

A point is a `machine`, a `routing`, a `test`, a `load` in percent and a `seed`. Each number has Student's 95 % interval
over the seeds. Runs of two routings with one seed have the same messages and nodes, so they are compared by the ratio
of their numbers for each seed: one is better if the 95 % interval of this ratio lies wholly on its side of 1. The place
of a routing is one more than the number of better ones: routings that the runs do not tell apart share a place.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from math import exp, log
from statistics import mean
from typing import TYPE_CHECKING, Any

from odonata.plot.style import LINES, figure, settings
from odonata.reproduce.kang2019.published import interval_of_mean
from odonata.reproduce.league.grid import (
    ADVERSARIAL,
    BANDWIDTH,
    BUFFER,
    END,
    ITERATIONS,
    LEFT_OUT,
    MACHINES,
    MESSAGE,
    NEIGHBOUR,
    PLACED,
    SEEDS,
    TARGET,
    UNIFORM,
    WARM_UP,
    keep,
    make,
    points,
)
from odonata.reproduce.markdown import table, told
from odonata.reproduce.page import Page
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from odonata.reproduce.page import Texts
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

    Standing = Mapping[str, "Number"]
    """Routing -> its number in a discipline, in the order of the machine's routings."""

ACCEPTED = 0.95
"""A network that accepts less than this fraction of the offered load is saturated: latencies grow with the run."""
NEAR = 0.1
"""How far the default may be from the best: a tenth."""
WHERE = "the best routing of the same machine"


@dataclass(frozen=True)
class Discipline:
    """What routings are placed by."""

    name: str
    what: str
    unit: str
    higher: bool
    """Whether more is better."""
    digits: int


DISCIPLINES = (
    Discipline("uniform", f"uniform traffic at {PLACED['uniform']} %: mean latency", "us", False, 2),
    Discipline("adversarial", "adversarial traffic at full load: accepted", "%", True, 1),
    Discipline("interference", "all-to-all beside a permutation: slowdown", "x", False, 2),
)

_PLACES = range(1, len(DISCIPLINES) + 1)


@dataclass(frozen=True)
class Number:
    """A number of a routing over the seeds; no values if the load was not accepted."""

    values: tuple[float, ...]
    ratio: bool = False
    """Whether it is a ratio, whose mean is geometric."""

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return exp(mean(map(log, self.values))) if self.ratio else mean(self.values)

    @property
    def interval(self) -> tuple[float, float]:
        """Student's 95 % interval of the mean; of a ratio, that of its logarithm."""
        if not self.ratio:
            return interval_of_mean(self.values)
        low, high = interval_of_mean([log(value) for value in self.values])
        return exp(low), exp(high)

    def over(self, other: Number) -> Number:
        """The ratio for each seed."""
        pairs = zip(self.values, other.values, strict=True)
        return Number(tuple(mine / theirs for mine, theirs in pairs), ratio=True)

    def beats(self, other: Number, higher: bool) -> bool:
        """Whether the interval of the ratio lies wholly on its side of 1. A load that is accepted beats one that is
        not."""
        if not self.values or not other.values:
            return bool(self.values) and not other.values
        low, high = self.over(other).interval
        return low > 1 if higher else high < 1

    def words(self, digits: int) -> str:
        """The mean and half of the interval; of a ratio its ends."""
        if not self.values:
            return "–"
        low, high = self.interval
        if self.ratio:
            return f"{self.mean:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"
        return f"{self.mean:.{digits}f}±{high - self.mean:.{digits}f}"


def _of(runs: Runs, machine: str, routing: str, test: str, load: int | None = None) -> list[Mapping[str, Any]]:
    """The runs of a cell, in the order of the seeds."""
    mine = [run for run in runs if (run["machine"], run["routing"], run["test"]) == (machine, routing, test)]
    return sorted((run for run in mine if load in (None, run["load"])), key=lambda run: run["seed"])


def latency(runs: Runs, machine: str, routing: str, traffic: str, load: int, key: str = "mean_ps") -> Number:
    """In microseconds; none if a seed's load was not accepted."""
    mine = _of(runs, machine, routing, traffic, load)
    if any(run["accepted"] < ACCEPTED * run["offered"] for run in mine):
        return Number(())
    return Number(tuple(run[key] / 1e6 for run in mine))


def accepted(runs: Runs, machine: str, routing: str, traffic: str, load: int) -> Number:
    """In percent of what the nodes can inject."""
    return Number(tuple(100 * run["accepted"] for run in _of(runs, machine, routing, traffic, load)))


def slowdown(runs: Runs, machine: str, routing: str) -> Number:
    """Time of the target beside its neighbour over that alone on the same nodes."""
    alone, beside = (_of(runs, machine, routing, test) for test in ("alone", "beside"))
    late, undisturbed = (Number(tuple(run["time_ps"] for run in of)) for of in (beside, alone))
    return late.over(undisturbed)


def standings(runs: Runs) -> dict[tuple[str, str], Standing]:
    """Machine and discipline -> the number of each routing."""
    made: dict[tuple[str, str], Standing] = {}
    for machine, routings in _simulated(runs).items():
        made[machine, "uniform"] = {
            name: latency(runs, machine, name, "uniform", PLACED["uniform"]) for name in routings
        }
        made[machine, "adversarial"] = {
            name: accepted(runs, machine, name, "adversarial", PLACED["adversarial"]) for name in routings
        }
        made[machine, "interference"] = {name: slowdown(runs, machine, name) for name in routings}
    return made


def _simulated(runs: Runs) -> dict[str, list[str]]:
    """Machine -> its routings, the default first."""
    return {
        machine: list(dict.fromkeys(run["routing"] for run in runs if run["machine"] == machine))
        for machine in dict.fromkeys(run["machine"] for run in runs)
    }


def places(standing: Standing, higher: bool) -> dict[str, int]:
    """Routing -> its place."""
    return {name: 1 + sum(other.beats(of, higher) for other in standing.values()) for name, of in standing.items()}


def best(standing: Standing, higher: bool) -> str:
    """The routing with the best mean."""
    known = {name: of.mean for name, of in standing.items() if of.values}
    return max(known, key=lambda name: known[name] if higher else -known[name])


def compare(runs: Runs) -> list[Row]:
    """For each machine and discipline: the default over the routing with the best mean, paired by seed."""
    rows, of = [], standings(runs)
    for machine, routings in _simulated(runs).items():
        default = routings[0]
        for number, by in enumerate(DISCIPLINES, 1):
            standing = of[machine, by.name]
            leader = best(standing, by.higher)
            first, mine = standing[leader], standing[default]
            if not mine.values:
                continue
            ratio = mine.over(first)
            tolerance = f">= {1 - NEAR:g}" if by.higher else f"<= {1 + NEAR:g}"
            what = f"{machine}, {by.what} of the default over that of the best"
            better = first.beats(mine, by.higher)
            row = statement(
                f"LG{number}",
                what,
                ratio.mean,
                1,
                "x",
                tolerance,
                WHERE,
                model=default,
                why=f"`{leader}` is better there than the default" if better else "",
                experiment="the league" if better else "",
                interval=ratio.interval,
            )
            rows.append(row)
    return rows


def _of_rows(rows: Sequence[Row], _: Texts) -> Texts:
    by_machine: dict[str, list[Row]] = {}
    for row in rows:
        by_machine.setdefault(row.what.partition(",")[0], []).append(row)
    lines = []
    for machine, of in by_machine.items():
        known = {row.id: told(row, interval=True) for row in of}
        lines.append([machine, f"`{of[0].model}`", *(known.get(f"LG{place}", "–") for place in _PLACES)])
    return {
        "defaults": table(["machine", "default", *(by.name for by in DISCIPLINES)], lines, "llrrr"),
        "machines": "\n".join(f"- `{name}`: {of.words}; {of.nodes} nodes." for name, of in MACHINES.items()),
        "left_out": "; ".join(f"`{name}` ({why})" for name, why in LEFT_OUT.items()),
        "link": BANDWIDTH,
        "buffer": BUFFER,
        "message": MESSAGE,
        "window": f"{WARM_UP} to {END}",
        "seeds": str(len(SEEDS)),
        "placed": f"{PLACED['uniform']} %",
        "target": TARGET,
        "iterations": str(ITERATIONS),
        "neighbour": f"{NEIGHBOUR} %",
        "saturated": f"{100 * ACCEPTED:.0f} %",
        "near": f"{100 * NEAR:.0f} %",
    }


def _of_runs(_: Sequence[Row], runs: Runs) -> Texts:
    return {
        "take": _take(runs),
        "league": _league(runs),
        "curves": _curves(runs, _but_placed(), "mean_ps"),
        "tails": _curves(runs, {"uniform": UNIFORM, "adversarial": ADVERSARIAL}, "p99_ps"),
    }


def _but_placed() -> dict[str, list[int]]:
    """The loads of the curves but those of the league table."""
    loads = {"uniform": UNIFORM, "adversarial": ADVERSARIAL}
    return {traffic: [load for load in of if load != PLACED[traffic]] for traffic, of in loads.items()}


def _take(runs: Runs) -> str:
    """Which routings have the first place: alone, or together with others that are not told apart from the best."""
    of, lines = standings(runs), []
    for machine in _simulated(runs):
        for by in DISCIPLINES:
            standing = of[machine, by.name]
            at = places(standing, by.higher)
            first = best(standing, by.higher)
            value = f"{standing[first].words(by.digits)} {by.unit}"
            others = [f"`{name}`" for name, place in at.items() if place == 1 and name != first]
            told_apart = sum(place > 1 for place in at.values())
            sure = f"{told_apart} of {len(at) - 1}"
            lines.append([machine, by.name, f"`{first}`", value, sure, ", ".join(others)])
    return table(["machine", "for", "take", "its number", "others worse", "not told apart"], lines, "lllrrl")


def _league(runs: Runs) -> str:
    of, lines = standings(runs), []
    for machine, routings in _simulated(runs).items():
        placed = {by.name: places(of[machine, by.name], by.higher) for by in DISCIPLINES}
        for name in routings:
            cells = [
                cell
                for by in DISCIPLINES
                for cell in (str(placed[by.name][name]), of[machine, by.name][name].words(by.digits))
            ]
            lines.append([machine if name == routings[0] else "", f"`{name}`", *cells])
    head = ["machine", "routing", *(cell for by in DISCIPLINES for cell in ("place", f"{by.name}, {by.unit}"))]
    return table(head, lines, "llrrrrrr")


def _curves(runs: Runs, traffics: Mapping[str, Sequence[int]], key: str) -> str:
    """A latency at each load, or what is accepted where that is less than the load."""
    simulated = {(run["test"], run["load"]) for run in runs}
    shown = [(traffic, load) for traffic, of in traffics.items() for load in of if (traffic, load) in simulated]
    lines = []
    for machine, routings in _simulated(runs).items():
        for name in routings:
            cells = []
            for at in shown:
                number = latency(runs, machine, name, *at, key)
                taken = f"*{accepted(runs, machine, name, *at).words(1)}*"
                cells.append(number.words(2) if number.values else taken)
            lines.append([machine if name == routings[0] else "", f"`{name}`", *cells])
    head = ["machine", "routing", *(f"{traffic} {load} %" for traffic, load in shown)]
    return table(head, lines, "ll" + "r" * len(shown))


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """The three numbers of each routing with their intervals, a row for each machine."""
    of, simulated = standings(runs), _simulated(runs)
    with settings():
        made = figure(10.5, 1.0 + 0.24 * sum(map(len, simulated.values())) + 0.5 * len(simulated))
        heights = [len(routings) + 1 for routings in simulated.values()]
        grid = made.subplots(len(simulated), len(DISCIPLINES), squeeze=False, height_ratios=heights)
        for row, (machine, routings) in enumerate(simulated.items()):
            for column, by in enumerate(DISCIPLINES):
                _bars(grid[row][column], of[machine, by.name], by, routings if column == 0 else None)
                if row == 0:
                    grid[row][column].set_title(f"{by.name} [{by.unit}]")
            grid[row][0].set_ylabel(machine)
        made.align_ylabels()
    return made


def _bars(axes: Axes, standing: Standing, by: Discipline, names: Sequence[str] | None) -> None:
    """A point with its interval for each routing; those of the first place are coloured."""
    at = places(standing, by.higher)
    for height, (name, number) in enumerate(standing.items()):
        if number.values:
            low, high = number.interval
            colour = LINES[0] if at[name] == 1 else LINES[6]
            axes.plot([low, high], [height, height], color=colour, lw=1.2)
            axes.plot([number.mean], [height], "o", color=colour, ms=4)
    axes.set_ylim(len(standing) - 0.5, -0.5)
    axes.set_yticks(range(len(standing)), names if names is not None else [""] * len(standing))
    axes.grid(axis="x", color="0.9")


REPRODUCTION = Reproduction(
    name="league",
    title="League table of routings: latency against load and interference on four small machines",
    points=points,
    make=make,
    rows=compare,
    text=Page(lambda: (files("odonata.reproduce.league") / "page.md").read_text("utf-8"), _of_rows, _of_runs),
    picture=draw,
    keep=keep,
)
