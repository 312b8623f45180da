"""How a published value is computed from the outcomes of cases: one function each, listed in `MEASURES`."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from odonata.reproduce.outcome import Outcome

    Measure = Callable[[Sequence[Outcome], Sequence[Outcome]], float]
    """Cases and those they are compared with, to a value: picoseconds, bytes per second, a ratio or percent."""


def _mean(cases: Sequence[Outcome], _: Sequence[Outcome]) -> float:
    """Mean latency."""
    (case,) = cases
    return case.mean_ps


def _ratios(cases: Sequence[Outcome], reference: Sequence[Outcome]) -> list[float]:
    """Mean latency over that of the reference, pair by pair."""
    return [here.mean_ps / there.mean_ps for here, there in zip(cases, reference, strict=True)]


def _ratio(cases: Sequence[Outcome], reference: Sequence[Outcome]) -> float:
    (found,) = _ratios(cases, reference)
    return found


def _mean_ratio(cases: Sequence[Outcome], reference: Sequence[Outcome]) -> float:
    """Mean of the ratios, not ratio of the means (K32)."""
    return mean(_ratios(cases, reference))


def _largest_ratio(cases: Sequence[Outcome], reference: Sequence[Outcome]) -> float:
    return max(_ratios(cases, reference))


def _least_ratio(cases: Sequence[Outcome], reference: Sequence[Outcome]) -> float:
    return min(_ratios(cases, reference))


def _ratio_of_largest(cases: Sequence[Outcome], reference: Sequence[Outcome]) -> float:
    """Largest ratio of the first half of the pairs over the largest of the second half."""
    ratios = _ratios(cases, reference)
    half = len(ratios) // 2
    return max(ratios[:half]) / max(ratios[half:])


def _slowdown(cases: Sequence[Outcome], reference: Sequence[Outcome]) -> float:
    """Percent by which the mean latency is larger than the reference's."""
    return (_ratio(cases, reference) - 1) * 100


def _largest_slowdown(cases: Sequence[Outcome], reference: Sequence[Outcome]) -> float:
    return (_largest_ratio(cases, reference) - 1) * 100


def _spread(cases: Sequence[Outcome], _: Sequence[Outcome]) -> float:
    """Percent by which the largest mean latency exceeds the smallest."""
    means = [case.mean_ps for case in cases]
    return (max(means) / min(means) - 1) * 100


def _rate(cases: Sequence[Outcome], _: Sequence[Outcome]) -> float:
    """What leaves the root's group while a broadcast is under way."""
    (case,) = cases
    assert case.root_rate is not None, "needs windows"
    return case.root_rate


def _background(cases: Sequence[Outcome], _: Sequence[Outcome]) -> float:
    """Background into and out of the root's group (K21: only the sum explains 1,758 GiB/s)."""
    (case,) = cases
    assert case.background_in is not None, "needs windows and a background"
    assert case.background_out is not None
    return case.background_in + case.background_out


CAPACITY = 384 * 4.37 * 2**30
"""What the global links of a group carry in one direction (K53), bytes per second."""


def _background_load(cases: Sequence[Outcome], _: Sequence[Outcome]) -> float:
    return _background(cases, ()) / CAPACITY


MEASURES: dict[str, Measure] = {
    "mean": _mean,
    "ratio": _ratio,
    "mean-ratio": _mean_ratio,
    "largest-ratio": _largest_ratio,
    "least-ratio": _least_ratio,
    "ratio-of-largest": _ratio_of_largest,
    "slowdown": _slowdown,
    "largest-slowdown": _largest_slowdown,
    "spread": _spread,
    "rate": _rate,
    "background": _background,
    "background-load": _background_load,
}
"""Name in `expected.csv` -> function."""

SCALE = {"us": 1e6, "ms": 1e9, "GiB/s": 2.0**30, "x": 1.0, "%": 1.0}
"""Unit in `expected.csv` -> what a measured value is divided by."""
