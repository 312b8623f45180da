"""What is read off the outcomes: a value for each pair of nodes, and ratios of two modes or two delays."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from odonata.reproduce.aries_modes.estimate import estimate_ps
from odonata.reproduce.aries_modes.modes_grid import ADAPTIVE, HIGH_BIAS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from odonata.reproduce.aries_modes.delay_outcome import DelayOutcome
    from odonata.reproduce.aries_modes.found import Found
    from odonata.reproduce.aries_modes.pair_outcome import PairOutcome

    OfPairs = Callable[[PairOutcome], list[float]]
    """A value for each pair of a run."""

    OfRun = Callable[[DelayOutcome], float]
    """A value of a run."""

MESSAGE = 4 * 2**20
"""Bytes of a message (D22)."""


def times(outcome: PairOutcome) -> list[float]:
    """Median time of a pair's messages."""
    return [median(one) for one in outcome.times_ps]


def sending(outcome: PairOutcome) -> list[float]:
    """Stalls as equation (1) has them: 1 + s."""
    return [1 + one for one in outcome.stalls]


def latency(outcome: PairOutcome) -> list[float]:
    """L."""
    return outcome.latency_ps


def variance(outcome: PairOutcome) -> list[float]:
    """Variance of L."""
    return outcome.variance_ps2


def estimates(outcome: PairOutcome) -> list[float]:
    """Time by equation (2)."""
    both = zip(outcome.latency_ps, outcome.stalls, strict=True)
    return [estimate_ps(MESSAGE, outcome.sent_ps, latency, stalls) for latency, stalls in both]


def spread(outcomes: Iterable[PairOutcome]) -> float:
    """Quartile coefficient of dispersion (D17) of the times of messages, each over the median of its pair."""
    relative = [time / median(pair) for outcome in outcomes for pair in outcome.times_ps for time in pair]
    low, high = np.percentile(relative, (25, 75))
    return float((high - low) / (high + low))


def all_pairs(outcomes: Mapping[str, PairOutcome], value: OfPairs) -> list[float]:
    """The value of every pair of every seed."""
    return [one for outcome in outcomes.values() for one in value(outcome)]


def high_over_adaptive(found: Found, variant: str, load: float, where: str, value: OfPairs) -> list[float]:
    """`adaptive-3` over `adaptive-0`, pair by pair: the same nodes and the same background."""
    high, low = (found.pairs[variant, load, where, mode] for mode in (HIGH_BIAS, ADAPTIVE))
    return [a / b for seed in high for a, b in zip(value(high[seed]), value(low[seed]), strict=True)]


def off_over_on(found: Found, variant: str, load: float, delay: int, value: OfRun) -> list[float]:
    """Without the delay over with it, seed by seed: the same nodes and the same messages."""
    off, on = found.delays[variant, load, 0], found.delays[variant, load, delay]
    return [value(off[seed]) / value(on[seed]) for seed in on]
