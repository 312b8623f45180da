"""Medians of paired values, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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
