"""`desensi2019-model`: equations 1 and 2 against simulated ping-pongs (De Sensi 2019, section 2.4; D10 to D12)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from odonata import units
from odonata.analysis.correlation import correlate
from odonata.plot.style import SERIES, figure, settings
from odonata.reproduce.desensi2019.page import MODEL, coefficient, page_of
from odonata.reproduce.desensi2019.pingpong import ANYWHERE, chassis_of, draw, keep, make, point
from odonata.reproduce.desensi2019.setting import around
from odonata.reproduce.markdown import table
from odonata.reproduce.reproduction import Reproduction
from odonata.reproduce.rows import Row, statement
from odonata.text.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from odonata.analysis.correlation import Correlation
    from odonata.reproduce.reproduction import Points, Runs

ITERATIONS = {"128 B": 11, "1 KiB": 11, "8 KiB": 11, "64 KiB": 8, "512 KiB": 6, "4 MiB": 4, "16 MiB": 3}
"""Size -> iterations; the first one is not measured."""
PAIRS, SEEDS = 20, (1, 2)
"""Allocations of a run, and the seeds of the runs: 40 allocations (D12)."""
UNTIL = {"128 B": "150 us", "1 KiB": "150 us", "8 KiB": "250 us"}
"""End of the runs of small messages: the responses to the last ones have arrived."""
WINDOW = 64 * 1024
"""Bytes of the 1,024 packets that may be outstanding."""


def points(reduced: bool) -> Points:
    """All sizes on all allocations."""
    if reduced:
        small = {"machine": "small", "iterations": 4, "until": "150 us"}
        return [point("model", size, 1, [ANYWHERE], 12, **small) for size in ("128 B", "16 KiB")]
    return [
        point("model", size, seed, [ANYWHERE], PAIRS, iterations=count, until=UNTIL.get(size, ""))
        for size, count in ITERATIONS.items()
        for seed in SEEDS
    ]


@dataclass(frozen=True)
class OfSize:
    """The allocations with messages of one size; arrays have an element for each allocation, its median."""

    message: str
    iterations: int
    times_ps: NDArray[np.float64]
    network_ps: NDArray[np.float64]
    latency_ps: NDArray[np.float64]
    stalls: NDArray[np.float64]
    estimates_ps: NDArray[np.float64]
    unlimited_ps: NDArray[np.float64]
    far: NDArray[np.bool_]
    """Whether the two routers are in different groups."""

    @property
    def bytes(self) -> int:
        """The size of a message."""
        return units.size_bytes(self.message)

    @property
    def of_times(self) -> Correlation:
        """Equation 2 with the time of an iteration."""
        return _correlation(tuple(self.estimates_ps), tuple(self.times_ps))

    @property
    def of_network(self) -> Correlation:
        """Equation 2 with the part of that time that the network takes."""
        return _correlation(tuple(self.estimates_ps), tuple(self.network_ps))

    @property
    def of_far(self) -> Correlation:
        """Equation 2 with the time of an iteration, of allocations in two groups alone."""
        return _correlation(tuple(self.estimates_ps[self.far]), tuple(self.times_ps[self.far]))

    @property
    def error(self) -> float:
        """Median of equation 2 over the time of the network, minus 1."""
        return float(np.median(self.estimates_ps / self.network_ps)) - 1

    @property
    def error_unlimited(self) -> float:
        """The same of equation 1."""
        return float(np.median(self.unlimited_ps / self.network_ps)) - 1


@lru_cache(maxsize=64)
def _correlation(first: tuple[float, ...], second: tuple[float, ...]) -> Correlation:
    return correlate(np.array(first), np.array(second), names=("the estimate", "the time"))


def sizes(runs: Runs) -> list[OfSize]:
    """The allocations of all runs by size."""
    names = ("times_ps", "network_ps", "latency_ps", "stalls", "estimates_ps", "unlimited_ps")
    of_sizes = []
    for message in dict.fromkeys(run["message"] for run in runs):
        mine = [run for run in runs if run["message"] == message]
        medians = {name: np.array([np.median(values) for run in mine for values in run[name]]) for name in names}
        far = np.array([is_far for run in mine for is_far in in_two_groups(run)])
        of_sizes.append(OfSize(message, mine[0]["iterations"] - 1, **medians, far=far))
    return of_sizes


def in_two_groups(point: Mapping[str, Any]) -> list[bool]:
    """For each allocation of a point, whether its routers are in different groups."""
    shape, chassis = around(point).machine.shape, chassis_of(point)
    drawn = draw(shape, point["distances"], point["pairs"], point["seed"], chassis)
    return [first // shape.routers_per_group != second // shape.routers_per_group for _, _, (first, second) in drawn]


def mean_correlation(of_sizes: Sequence[OfSize]) -> float:
    """The mean over the sizes of Pearson's r."""
    return float(np.mean([size.of_times.pearson.value for size in of_sizes]))


def compare(runs: Runs) -> list[Row]:
    """D12, over all sizes and for each."""
    of_sizes = sizes(runs)
    least = min(size.iterations for size in of_sizes)
    what = f"correlation of equation 2 and time over {len(of_sizes[0].times_ps)} allocations"

    def row(words: str, ours: float, messages: int, *, comparable: bool = True, why: str = "") -> Row:
        where = "De Sensi 2019, section 2.4"
        return statement(
            "D12",
            words,
            ours,
            0.79,
            "rho",
            ">= 0.79",
            where,
            model=MODEL,
            messages=messages,
            comparable=comparable,
            why=why,
        )

    single = "the paper states the mean over the sizes only"
    two = "the paper does not say where its allocations were"
    far = float(np.mean([size.of_far.pearson.value for size in of_sizes]))
    return [
        row(f"{what}, mean of {len(of_sizes)} sizes", mean_correlation(of_sizes), least),
        row("the same, allocations in two groups alone", far, least, comparable=False, why=two),
        *(
            row(f"{what}, {size.message}", size.of_times.pearson.value, size.iterations, comparable=False, why=single)
            for size in of_sizes
        ),
    ]


def _table(of_sizes: Sequence[OfSize]) -> str:
    lines = [
        [
            size.message,
            str(size.iterations),
            *(f"{np.median(each) / 1e6:,.2f}" for each in (size.times_ps, size.network_ps, size.latency_ps)),
            f"{np.median(size.stalls):.3f}",
            fixed(size.error_unlimited, "+.1%"),
            fixed(size.error, "+.1%"),
            coefficient(size.of_times.pearson),
            coefficient(size.of_far.pearson),
            coefficient(size.of_network.pearson),
        ]
        for size in of_sizes
    ]
    head = ["size", "iterations", "time, µs", "network, µs", "L, µs", "s", "eq. 1", "eq. 2"]
    head += ["r of time", "r, two groups", "r of network"]
    return table(head, lines, "l" + "r" * (len(head) - 1))


def _of_runs(runs: Runs) -> dict[str, str]:
    """Values of the page."""
    of_sizes = sizes(runs)
    small = [size.error for size in of_sizes if size.bytes <= WINDOW]
    large = [size.error for size in of_sizes if size.bytes > WINDOW]
    return {
        "sizes": _table(of_sizes),
        "ours": f"{mean_correlation(of_sizes):.2f}",
        "far": f"{np.mean([size.of_far.pearson.value for size in of_sizes]):.2f}",
        "apart": f"{int(of_sizes[0].far.sum())}",
        "network": f"{np.mean([size.of_network.pearson.value for size in of_sizes]):.2f}",
        "small": f"{fixed(min(small), '+.0%')} to {fixed(max(small), '+.0%')}",
        "large": f"{fixed(min(large), '+.0%')} to {fixed(max(large), '+.0%')}",
    }


def picture(_: Sequence[Row], runs: Runs) -> Figure:
    """Estimate against time of every allocation, relative to the median of its size; r by size."""
    of_sizes = sizes(runs)
    with settings():
        made = figure(11, 4.4)
        left, right = made.subplots(1, 2)
        for number, size in enumerate(of_sizes):
            values = (each / np.median(each) for each in (size.times_ps, size.estimates_ps))
            left.plot(*values, "o", ms=3.5, color=f"C{number}", alpha=0.7, label=size.message)
        left.set_xlabel("time of an iteration, over the median of the size")
        left.set_ylabel("equation 2, over the median of the size")
        left.legend()
        left.set_title("40 allocations of each size")
        at = np.arange(len(of_sizes))
        for offset, (name, each) in enumerate(
            (
                ("all allocations", [size.of_times for size in of_sizes]),
                ("in two groups", [size.of_far for size in of_sizes]),
            )
        ):
            right.bar(
                at + 0.4 * offset - 0.2, [size.pearson.value for size in each], 0.38, color=SERIES[offset], label=name
            )
        right.axhline(0.79, color="0.3", lw=0.8, ls="--", label="mean of the paper")
        right.set_xticks(at, [size.message for size in of_sizes])
        right.set_ylabel("r of equation 2 and time")
        right.legend(loc="lower right")
    return made


REPRODUCTION = Reproduction(
    name="desensi2019-model",
    title="Performance model of Aries: equations 1 and 2 against ping-pongs on 40 allocations (De Sensi 2019)",
    points=points,
    make=make,
    rows=compare,
    text=page_of("model", _of_runs),
    picture=picture,
    keep=keep,
)
