"""Statements about ratios of paired values: their medians, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from statistics import median
from typing import TYPE_CHECKING

from odonata.reproduce.rows import statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.rows import Row

SMALLER, GREATER, EQUAL = "< 1", "> 1", "10 %"
"""Tolerances, which must hold for both ends of the interval of the median."""


FEWEST = 6
"""Values whose order statistics give an interval of 95 % at all: 2 / 2^6 is below 5 %, 2 / 2^5 is not."""
TOO_FEW = f"fewer than {FEWEST} values have no interval of 95 %"


@dataclass(frozen=True)
class Median:
    """A median with its interval of 95 % confidence (D17)."""

    value: float
    low: float
    high: float
    count: int

    @property
    def unsure(self) -> str:
        """Why it is no ground for a verdict; "" if it is one."""
        return TOO_FEW if self.count < FEWEST else ""


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
class Relation:
    """One statement about ratios of paired values."""

    id: str
    what: str
    model: str
    tolerance: str
    ratio: Median
    where: str
    open: str = ""
    """Why it cannot be compared, whatever its values; "" if it can."""

    @property
    def no_difference(self) -> bool:
        """Whether the interval holds 1."""
        return self.ratio.low <= 1 <= self.ratio.high


def as_row(relation: Relation, messages: int) -> Row:
    """The row of a statement, with the interval of its ratio."""
    of = relation.ratio
    row = statement(
        relation.id,
        relation.what,
        of.value,
        1.0,
        "x",
        relation.tolerance,
        relation.where,
        model=relation.model,
        messages=messages,
        why=relation.open or of.unsure,
        comparable=not (relation.open or of.unsure),
        interval=(of.low, of.high),
    )
    note = ""
    if row.verdict == "no match" and relation.tolerance != EQUAL:
        note = "the interval holds 1" if relation.no_difference else ""
    return replace(row, repetitions=of.count, note=note)
