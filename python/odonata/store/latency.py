"""The summary of a distribution of latencies: count, quantiles and mean.

Quantiles are **nearest rank**: the q-quantile of n values is the `ceil(q n)`-th smallest (the smallest for q = 0), so
it is always a latency that occurred, whole picoseconds, and the same on every machine. From rows it is exact. From a
histogram it is the middle of the bin that holds that rank, between the exact minimum and maximum: at most 0.05 % off
(bins are exact below 2,048 ps and at most 1/1024 of their value wide above). Count, sum and so the mean are exact
either way. Box plots that interpolate between two values differ from this by less than the gap between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from odonata.store.columns import QUANTILES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Latency:
    """Latencies of many messages in a few numbers."""

    count: int
    """Number of messages, at least 1."""
    quantiles: Mapping[str, int]
    """Picoseconds by the names in [QUANTILES][odonata.store.columns.QUANTILES]: `min`, `p25`, `p50`, ... `max`."""
    mean: float
    """Picoseconds."""

    @classmethod
    def from_rows(cls, latency_ps: NDArray[np.uint64]) -> Latency | None:
        """Exact, from the latency of every message in any order; `None` if there are none."""
        count = len(latency_ps)
        if count == 0:
            return None
        ranks = {name: _rank(q, count) for name, q in QUANTILES.items()}
        ordered = np.partition(latency_ps, sorted(set(ranks.values())))
        quantiles = {name: int(ordered[rank]) for name, rank in ranks.items()}
        return cls(count, quantiles, _exact_sum(latency_ps) / count)

    @classmethod
    def from_histogram(
        cls,
        lower: NDArray[np.uint64],
        upper: NDArray[np.uint64],
        bin_count: NDArray[np.uint64],
        *,
        total: int,
        least: int,
        greatest: int,
    ) -> Latency | None:
        """From ascending bins `[lower, upper)`, the exact sum `total` of all values, and their exact extremes.

        `None` if the histogram is empty.
        """
        up_to = np.cumsum(bin_count, dtype=np.uint64)
        count = int(up_to[-1]) if len(up_to) else 0
        if count == 0:
            return None
        quantiles = {}
        for name, q in QUANTILES.items():
            rank = _rank(q, count)
            index = int(np.searchsorted(up_to, np.uint64(rank), side="right"))
            middle = (int(lower[index]) + int(upper[index]) - 1) // 2
            inside = min(max(middle, least), greatest)
            quantiles[name] = {0: least, count - 1: greatest}.get(rank, inside)
        return cls(count, quantiles, total / count)

    def as_dict(self) -> dict[str, int | float]:
        """Quantiles and mean, as in `--json`: picoseconds by name."""
        return {**self.quantiles, "mean": self.mean}


def _rank(q: tuple[int, int], count: int) -> int:
    """Index from 0 of the nearest rank, in exact integers."""
    top, bottom = q
    return max(-(-top * count // bottom), 1) - 1


def _exact_sum(values: NDArray[np.uint64]) -> int:
    """Sum without overflow: 2^64 ps is 213 days, which some 10^11 messages of a millisecond exceed."""
    high, low = values >> np.uint64(32), values & np.uint64(0xFFFF_FFFF)
    return (int(high.sum(dtype=np.uint64)) << 32) + int(low.sum(dtype=np.uint64))
