"""`desensi2019-fig5`: dispersion of times and of packet latencies (De Sensi 2019, section 3.3; D21), and D8."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from odonata.analysis.dispersion import qcd
from odonata.plot.style import LINES, figure, settings
from odonata.reproduce.desensi2019.page import MODEL, judged, page_of
from odonata.reproduce.desensi2019.pingpong import keep, make, point
from odonata.reproduce.desensi2019.relations import SMALLER, Relation, as_row, median_of
from odonata.reproduce.desensi2019.setting import LOAD
from odonata.reproduce.markdown import pivot, table
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import Row, statement
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from matplotlib.figure import Figure

    from odonata.reproduce.reproduction import Points, Runs

SILENT, NOISY = "0 us", "1 us"
"""Mean of the exponential time that each rank computes before an iteration: the noise of its host (D21). Assumed."""
SIZES = {
    "128 B": (31, "10 us"),
    "1 KiB": (31, "10 us"),
    "8 KiB": (31, "16 us"),
    "64 KiB": (31, "60 us"),
    "512 KiB": (16, "180 us"),
}
"""Size -> iterations, of which the first is not measured, and the time from one to the next."""
UNTIL = {"128 B": "370 us", "1 KiB": "370 us", "8 KiB": "560 us"}
"""End of the runs of small messages: the responses to the last ones have arrived."""
DELAY_SIZES = ("128 B", "1 KiB", "8 KiB")
"""Sizes that are also simulated with late credits (D8)."""
SCANNED, LOADS, DELAYS = "8 KiB", (LOAD, 20.0), (1, 4, 16)
"""Size that is also simulated at these loads, with delays of so many round trips and without one."""
PARTS = {"time": "time of an iteration", "network": "its part in the network", "latency": "packet latency L"}
"""What varies -> in words."""


def points(reduced: bool) -> Points:
    """All sizes without and with noise of the hosts; the small ones also with late credits."""

    def sized(size: str, iterations: int, slot: str, **more: Any) -> dict[str, Any]:
        often = {"iterations": iterations, "slot": slot, "until": UNTIL.get(size, "")}
        return point("dispersion", size, 1, ["inter-groups"], 6, **often, **more)

    noises = (SILENT, NOISY)
    if reduced:
        few = {size: (8, SIZES[size][1]) for size in ("128 B", "8 KiB")}
        return [sized(size, *often, jitter=jitter, machine="small") for size, often in few.items() for jitter in noises]
    both = [sized(size, *often, jitter=jitter) for jitter in noises for size, often in SIZES.items()]
    late = [sized(size, *SIZES[size], delay=1) for size in DELAY_SIZES]
    known = [(point["message"], point["load"], point["delay"]) for point in (*both, *late)]
    scanned = [(load, delay) for load in LOADS for delay in (0, *DELAYS) if (SCANNED, load, delay) not in known]
    return [*both, *late, *(sized(SCANNED, *SIZES[SCANNED], load=load, delay=delay) for load, delay in scanned)]


@dataclass(frozen=True)
class OfSize:
    """Dispersion with messages of one size; lists have a value for each pair."""

    message: str
    count: int
    """Measured iterations of a pair."""
    time_us: float
    """Median time of an iteration."""
    time: list[float]
    network: list[float]
    latency: list[float]
    variance: list[float]
    """Variance of L."""

    @property
    def ratio(self) -> float:
        """Median over the pairs of QCD of time over that of L."""
        return median(a / b for a, b in zip(self.time, self.latency, strict=True))

    @property
    def gap(self) -> float:
        """Median over the pairs of their difference."""
        return median(a - b for a, b in zip(self.time, self.latency, strict=True))


def by_size(runs: Runs, jitter: str, delay: int = 0, load: float = LOAD) -> list[OfSize]:
    """The sizes with this noise of hosts, this delay of credits and this load."""
    return [
        OfSize(
            message=run["message"],
            count=run["iterations"] - 1,
            time_us=median(median(of_pair) for of_pair in run["times_ps"]) / 1e6,
            **{part: [qcd(np.array(of_pair)) or 0.0 for of_pair in run[f"{name}_ps"]] for part, name in _KEPT.items()},
            variance=[float(np.var(of_pair, ddof=1)) for of_pair in run["latency_ps"]],
        )
        for run in runs
        if (run["jitter"], run["delay"], run["load"]) == (jitter, delay, load)
    ]


NO_VALUE = "the paper explains phantom congestion, and measures nothing without the delay of credits"
ASSUMED = "mean and distribution of the noise of hosts are assumed, and decide it"


_KEPT = {"time": "times", "network": "network", "latency": "latency"}


def trips(delay: int) -> str:
    """A delay in words."""
    return "a round trip" if delay == 1 else f"{delay} round trips"


def phantom(runs: Runs) -> list[Relation]:
    """D8: without the delay of credits, L varies less; pair by pair, the same nodes and background."""
    made = []
    for load in LOADS:
        without = {size.message: size for size in by_size(runs, SILENT, 0, load)}
        for delay in DELAYS:
            for on in by_size(runs, SILENT, delay, load):
                if on.message not in without:
                    continue
                off = without[on.message]
                for what, name in (("variance", "variance"), ("QCD", "latency")):
                    ratio = median_of([a / b for a, b in zip(getattr(off, name), getattr(on, name), strict=True)])
                    words = (
                        f"{on.message}, load {load:g} %, delay of credits off over {trips(delay)}: {what} of L shrinks"
                    )
                    made.append(Relation("D8", words, MODEL, SMALLER, ratio, "De Sensi 2019, section 2.2", NO_VALUE))
    return made


def compare(runs: Runs) -> list[Row]:
    """D21 and D8: figure 5, and phantom congestion."""
    noisy = by_size(runs, NOISY)
    where = "De Sensi 2019, section 3.3, figure 5"

    def row(words: str, ours: float, theirs: float, unit: str, tolerance: str, count: int) -> Row:
        return statement(
            "D21",
            words,
            ours,
            theirs,
            unit,
            tolerance,
            where,
            model=MODEL,
            messages=count,
            comparable=False,
            why=ASSUMED,
        )

    rows = [
        row(f"{size.message}, hosts with noise: QCD of time over QCD of L", size.ratio, 1, "x", "> 1", size.count)
        for size in noisy
    ]
    falls = 100 * (noisy[0].gap - noisy[-1].gap)
    least = min(size.count for size in noisy)
    what = f"QCD of time minus QCD of L, {noisy[0].message} minus {noisy[-1].message}"
    return [*rows, row(what, falls, 0, "%", "> 0", least), *(as_row(size, least) for size in phantom(runs))]


def _table(runs: Runs) -> str:
    lines = []
    for silent, noisy in zip(by_size(runs, SILENT), by_size(runs, NOISY), strict=True):
        cells = [silent.message, str(silent.count)]
        for sizes in (silent, noisy):
            cells.append(f"{sizes.time_us:.2f}")
            cells += [fixed(median(getattr(sizes, part)), ".2%") for part in PARTS]
        lines.append(cells)
    head = ["time, µs", "QCD", "network", "L"]
    return table(["size", "iterations", *head, "noise: time, µs", *head[1:]], lines, "l" + "r" * 9)


def _of_runs(runs: Runs) -> dict[str, str]:
    """Values of the page."""
    mid = {run["delay"]: float(np.mean(run["minimal"])) for run in runs if run["message"] == DELAY_SIZES[0]}
    return {
        "pairs": str(runs[0]["pairs"]),
        "sizes": _table(runs),
        "noise": NOISY,
        "small": DELAY_SIZES[0],
        "on": fixed(mid[1], ".0%"),
        "off": fixed(mid[0], ".0%"),
    }


def draw(_: Sequence[Row], runs: Runs) -> Figure:
    """QCD against size, with and without noise of the hosts."""
    titles = {SILENT: "hosts without noise", NOISY: f"hosts with noise of {NOISY}"}
    with settings():
        made = figure(10, 4)
        grid = made.subplots(1, 2, sharey=True)
        for axes, (jitter, title) in zip(grid, titles.items(), strict=True):
            sizes = by_size(runs, jitter)
            for number, (part, words) in enumerate(PARTS.items()):
                values = [[100 * value for value in getattr(size, part)] for size in sizes]
                axes.plot([median(each) for each in values], "o-", color=LINES[number], label=words)
                for at, each in enumerate(values):
                    axes.plot([at] * len(each), each, ".", ms=3, color=LINES[number], alpha=0.5)
            axes.set_xticks(range(len(sizes)), [size.message for size in sizes])
            axes.set_title(title)
            axes.grid(axis="y", color="0.9")
        grid[0].set_ylabel("QCD, %")
        grid[0].legend()
    return made


def _of_rows(rows: Sequence[Row]) -> dict[str, str]:
    """Time against latency, and what the delay of credits does."""
    phantom = pivot(
        [row for row in rows if row.id == "D8"],
        lambda row: (row.what.partition(": ")[0],),
        lambda row: row.what.partition(": ")[2],
        ("without the delay over with it",),
    )
    return {"statements": judged([row for row in rows if row.id == "D21"]), "phantom": phantom}


REPRODUCTION = Reproduction(
    name="desensi2019-fig5",
    title="Dispersion of time and of packet latency, with and without noise of the hosts (De Sensi 2019)",
    points=points,
    make=make,
    rows=compare,
    text=page_of("fig5", _of_runs, of_rows=_of_rows),
    picture=draw,
    keep=keep,
)
