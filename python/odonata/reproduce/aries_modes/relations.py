"""What is said of the modes, and whether it holds here: medians of paired values, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import comb
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.reproduce.aries_modes.runs import ADAPTIVE, HIGH_BIAS, messages
from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

    Run = Mapping[str, Any]
    OfPairs = Callable[[Run], list[float]]
    """A value for each pair of a run."""
    OfRun = Callable[[Run], float]
    """A value of a run."""

MESSAGE = 4 * 2**20
"""Bytes of a message (D22)."""
WINDOW = 1024
"""Packets that a NIC of Aries has under way at most."""
PAYLOAD = 64
"""Bytes of a packet of Aries (D5)."""


def estimate_ps(message_bytes: int, sent_ps: float, latency_ps: float, stalls: float) -> float:
    """The time of a message by De Sensi's equation (2), from latency and stalls (D11).

    T = (p + 512) / 1024 L + f (s + 1), with p packets of 64 B whose f flits alone take `sent_ps` at the NIC.
    """
    packets = -(-message_bytes // PAYLOAD)
    return (packets + WINDOW / 2) / WINDOW * latency_ps + sent_ps * (stalls + 1)


@dataclass(frozen=True)
class Median:
    """A median with its interval of 95 % confidence (D17)."""

    value: float
    low: float
    high: float
    count: int


def median_of(values: Sequence[float]) -> Median:
    """From order statistics, whatever the distribution: the k-th smallest and the k-th largest of n values, k the
    greatest with 2 P(Binomial(n, 1/2) < k) <= 5 %. The whole range if there are too few values for 95 % (fewer than 6).

    Raises ValueError if there are none.
    """
    ordered = sorted(values)
    count = len(ordered)
    if not count:
        raise ValueError("no values")
    beyond, below = 0, 1
    while 2 * (below + comb(count, beyond + 1)) <= 0.05 * 2**count:
        beyond += 1
        below += comb(count, beyond)
    return Median(median(ordered), ordered[beyond], ordered[-1 - beyond], count)


@dataclass(frozen=True)
class GroupedRuns:
    """Runs by seed, in the order in which they were simulated. The variant is "" in the main runs."""

    delays: dict[tuple[str, float, int], dict[int, Run]] = field(default_factory=dict)
    """(variant, load, delay) -> seed -> run."""
    pairs: dict[tuple[str, float, str, str], dict[int, Run]] = field(default_factory=dict)
    """(variant, load, intra or inter, mode) -> seed -> run."""

    def delay_loads(self) -> list[float]:
        """Loads of the main runs of the first experiment."""
        return list(dict.fromkeys(load for variant, load, _ in self.delays if not variant))

    def multiples(self) -> list[int]:
        """Its delays but for 0, in round trips."""
        return list(dict.fromkeys(delay for variant, _, delay in self.delays if not variant and delay))

    def pair_loads(self) -> list[float]:
        """Loads of the main runs of the second experiment."""
        return list(dict.fromkeys(load for variant, load, *_ in self.pairs if not variant))

    def modes_load(self) -> float:
        """The load at which most modes were simulated."""
        modes = {load: len({key[3] for key in self.pairs if key[:2] == ("", load)}) for load in self.pair_loads()}
        return max(modes, key=lambda load: modes[load])


def grouped(runs: Runs) -> GroupedRuns:
    """The runs by what was varied."""
    made = GroupedRuns()
    for run in runs:
        variant, load, experiment, seed = (run[key] for key in ("variant", "load", "experiment", "seed"))
        if experiment == "delay":
            made.delays.setdefault((variant, load, run["delay"]), {})[seed] = run
        else:
            made.pairs.setdefault((variant, load, experiment, run["mode"]), {})[seed] = run
    return made


def times(run: Run) -> list[float]:
    """Median time of a pair's messages."""
    return [median(of_pair) for of_pair in run["times_ps"]]


def sending(run: Run) -> list[float]:
    """Stalls as equation (1) has them: 1 + s."""
    return [1 + stalls for stalls in run["stalls"]]


def latency(run: Run) -> list[float]:
    """L."""
    return list(run["probe_ps"])


def variance(run: Run) -> list[float]:
    """Variance of L."""
    return list(run["probe_variance_ps2"])


def estimates(run: Run) -> list[float]:
    """Time by equation (2)."""
    both = zip(run["probe_ps"], run["stalls"], strict=True)
    return [estimate_ps(MESSAGE, run["sent_ps"], latency, stalls) for latency, stalls in both]


def variance_of_run(run: Run) -> float:
    """Variance of the latencies of the first experiment."""
    value: float = run["variance_ps2"]
    return value


def qcd(run: Run) -> float:
    """Their quartile coefficient of dispersion (D17)."""
    value: float = run["qcd"]
    return value


def spread(runs: Iterable[Run]) -> float:
    """Quartile coefficient of dispersion (D17) of the times of messages, each over the median of its pair."""
    relative = [time / median(pair) for run in runs for pair in run["times_ps"] for time in pair]
    low, high = np.percentile(relative, (25, 75))
    return float((high - low) / (high + low))


def all_pairs(runs: Mapping[int, Run], value: OfPairs) -> list[float]:
    """The value of every pair of every seed."""
    return [number for run in runs.values() for number in value(run)]


def high_over_adaptive(known: GroupedRuns, variant: str, load: float, where: str, value: OfPairs) -> list[float]:
    """`adaptive-3` over `adaptive-0`, pair by pair: the same nodes and the same background."""
    high, low = (known.pairs[variant, load, where, mode] for mode in (HIGH_BIAS, ADAPTIVE))
    return [a / b for seed in high for a, b in zip(value(high[seed]), value(low[seed]), strict=True)]


def off_over_on(known: GroupedRuns, variant: str, load: float, delay: int, value: OfRun) -> list[float]:
    """Without the delay over with it, seed by seed: the same nodes and the same messages."""
    off, on = known.delays[variant, load, 0], known.delays[variant, load, delay]
    return [value(off[seed]) / value(on[seed]) for seed in on]


SMALLER, GREATER, EQUAL = "< 1", "> 1", "10 %"
"""Tolerances: a relation must hold for both ends of the interval of the median; `about equal` for the median."""

_CAUSES = {
    "latency L is similar": (
        "the packets of a pair queue in the routers of its few minimal paths, up to the bias: with a smaller high bias "
        "L is similar, but then so is the time",
        "sensitivity on this page, high bias of 2 KiB",
    ),
}
"""Statement -> the cause where it does not hold, and the experiment that supports it."""


@dataclass(frozen=True)
class Relation:
    """One statement about ratios of paired values."""

    id: str
    what: str
    model: str
    tolerance: str
    ratio: Median
    where: str
    cause: tuple[str, str] = ("", "")
    """The cause if ours does not agree, and the experiment that supports it."""

    @property
    def no_difference(self) -> bool:
        """Whether the interval holds 1."""
        return self.ratio.low <= 1 <= self.ratio.high


def compare(runs: Runs) -> list[Row]:
    """A row for every statement."""
    most: dict[str, int] = {}
    for run in runs:
        most[run["mode"]] = max(messages(run), most.get(run["mode"], 0))
    return [as_row(relation, most[relation.model]) for relation in relations(grouped(runs))]


def relations(known: GroupedRuns) -> list[Relation]:
    """Every statement about the main runs."""
    return [*_phantom(known), *_pairs(known)]


def as_row(relation: Relation, messages: int) -> Row:
    """The row of a statement, with the interval of its ratio."""
    of, (cause, experiment) = relation.ratio, relation.cause
    row = statement(
        relation.id,
        relation.what,
        of.value,
        1.0,
        "x",
        relation.tolerance,
        relation.where,
        model=relation.model,
        why=cause,
        experiment=experiment,
        messages=messages,
        interval=(of.low, of.high),
    )
    note = ""
    if row.verdict == "no match" and relation.tolerance != EQUAL:
        note = "the interval holds 1" if relation.no_difference else ""
    return replace(row, repetitions=of.count, note=note)


def trips(delay: int) -> str:
    """A delay in words."""
    return "a round trip" if delay == 1 else f"{delay} round trips"


def _phantom(known: GroupedRuns) -> Iterator[Relation]:
    """D8: the delay of what credits tell makes latencies vary."""
    source = "De Sensi 2019, section 2.2"
    for load in known.delay_loads():
        for delay in known.multiples():
            for what, value in (("variance", variance_of_run), ("QCD", qcd)):
                ratio = median_of(off_over_on(known, "", load, delay, value))
                words = f"load {load:g} %, delay off over {trips(delay)}: {what} of latency shrinks"
                yield Relation("D8", words, ADAPTIVE, SMALLER, ratio, source)


def _pairs(known: GroupedRuns) -> Iterator[Relation]:
    """D22: figure 7."""
    wanted: dict[str, tuple[tuple[str, OfPairs, str, str], ...]] = {
        "intra": (
            ("time is longer", times, GREATER, "7(a)"),
            ("stalls (1 + s) are more", sending, GREATER, "7(b)"),
            ("latency L is similar", latency, EQUAL, "7(c)"),
            ("time by equation (2) is longer", estimates, GREATER, "7(d)"),
        ),
        "inter": (
            ("time is shorter", times, SMALLER, "7(a)"),
            ("stalls (1 + s) are comparable", sending, EQUAL, "7(b)"),
            ("latency L is lower", latency, SMALLER, "7(c)"),
            ("variance of L is lower", variance, SMALLER, "7(c)"),
            ("time by equation (2) is shorter", estimates, SMALLER, "7(d)"),
        ),
    }
    for load in known.pair_loads():
        for where, statements in wanted.items():
            for what, value, tolerance, panel in statements:
                ratio = median_of(high_over_adaptive(known, "", load, where, value))
                words = f"{where}-group, load {load:g} %, high bias over none: {what}"
                source = f"De Sensi 2019, section 4.1, figure {panel}"
                yield Relation("D22", words, HIGH_BIAS, tolerance, ratio, source, _CAUSES.get(what, ("", "")))
