"""The tables of the page of `aries-modes`."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from odonata.reproduce.aries_modes import relations as measures
from odonata.reproduce.aries_modes.relations import median_of
from odonata.reproduce.aries_modes.runs import ADAPTIVE, DISTANCES, HIGH_BIAS
from odonata.reproduce.markdown import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.reproduce.aries_modes.relations import GroupedRuns, Median, OfPairs, OfRun, Run

_PAIR_HEAD = ["T, µs", "spread of T, %", "stalls s", "L, µs", "T by eq. (2), µs", "minimal, %", "links"]


def delays(known: GroupedRuns) -> str:
    """Medians over the seeds of the first experiment's main runs."""
    head = ["load", "delay", "mean, µs", "variance, µs²", "QCD, %", "minimal, %", "background minimal, %"]
    lines = []
    for (variant, load, delay), runs in known.delays.items():
        if variant:
            continue
        columns = (
            _mid(runs, lambda run: run["mean_ps"] / 1e6, 3),
            _mid(runs, lambda run: run["variance_ps2"] / 1e12, 3),
            _mid(runs, lambda run: run["qcd"] * 100, 2),
            _mid(runs, lambda run: run["minimal"] * 100, 1),
            _mid(runs, lambda run: run["background_minimal"] * 100, 1),
        )
        lines.append([f"{load:g} %", "off" if not delay else f"{delay} x", *columns])
    return table(head, lines, "r" * len(head))


def pairs(known: GroupedRuns) -> str:
    """Medians over the pairs, `adaptive-0` and `adaptive-3`, at each load."""
    lines = [
        [where, f"{load:g} %", f"`{mode}`", *_pair_cells(known.pairs["", load, where, mode])]
        for where in DISTANCES
        for load in known.pair_loads()
        for mode in (ADAPTIVE, HIGH_BIAS)
    ]
    return table(["", "load", "mode", *_PAIR_HEAD], lines, "lrl" + "r" * len(_PAIR_HEAD))


def modes(known: GroupedRuns) -> str:
    """All modes at the load at which all were simulated."""
    load = known.modes_load()
    keys = [key for key in known.pairs if key[:2] == ("", load)]
    lines = [
        [where, f"`{mode}`", *_pair_cells(known.pairs["", load, where, mode])]
        for where in DISTANCES
        for mode in sorted({key[3] for key in keys if key[2] == where}, key=[key[3] for key in keys].index)
    ]
    return table(["", "mode", *_PAIR_HEAD], lines, "ll" + "r" * len(_PAIR_HEAD))


def delay_variants(known: GroupedRuns) -> str:
    """Ratios of the first experiment, one thing changed, delay off over a round trip."""
    lines = []
    for variant, load, delay in known.delays:
        if variant and delay:
            ratios = (
                median_of(measures.off_over_on(known, variant, load, delay, value))
                for value in (measures.variance_of_run, measures.qcd)
            )
            lines.append([variant, f"{load:g} %", *map(_ratio, ratios)])
    return table(["changed", "load", "variance", "QCD"], lines, "lrrr")


def pair_variants(known: GroupedRuns) -> str:
    """Ratios of the second experiment, one thing changed, high bias over none."""
    values: tuple[OfPairs, ...] = (measures.times, measures.sending, measures.latency, measures.variance)
    lines = []
    names = dict.fromkeys((variant, load) for variant, load, _, _ in known.pairs if variant)
    for variant, load in names:
        for where in DISTANCES:
            ratios = [median_of(measures.high_over_adaptive(known, variant, load, where, value)) for value in values]
            lines.append([variant if where == DISTANCES[0] else "", where, *map(_ratio, ratios)])
    return table(["changed", "", "T", "1 + s", "L", "variance of L"], lines, "llrrrr")


def _pair_cells(runs: Mapping[int, Run]) -> list[str]:
    def mid(value: OfPairs) -> float:
        return median(measures.all_pairs(runs, value))

    return [
        f"{mid(measures.times) / 1e6:.1f}",
        f"{measures.spread(runs.values()) * 100:.2f}",
        f"{mid(lambda run: run['stalls']):.2f}",
        f"{mid(measures.latency) / 1e6:.2f}",
        f"{mid(measures.estimates) / 1e6:.0f}",
        f"{mid(lambda run: run['pair_minimal']) * 100:.1f}",
        f"{mid(lambda run: run['pair_hops']):.2f}",
    ]


def _mid(runs: Mapping[int, Run], value: OfRun, decimals: int) -> str:
    return f"{median(value(run) for run in runs.values()):.{decimals}f}"


def _ratio(ratio: Median) -> str:
    return f"{ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f})"
