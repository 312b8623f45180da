"""A packing of sets whose members have capacities, of the greatest weight: a linear program, solved exactly."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_PIVOTS = 1_000
"""After so many steps the packing that was found is taken."""


def heaviest(sets: Sequence[Sequence[int]], capacities: Sequence[int]) -> list[Fraction]:
    """A weight of each set, of the greatest sum for which no member has more than its capacity in all of its sets.

    The simplex method (Dantzig 1951) with exact numbers, so that the result is the same everywhere.
    """
    rows = len(capacities)
    # Rows of the basis: how much of each capacity an element of it stands for, and its weight. The last row has prices.
    table = [
        [Fraction(int(row == column)) for column in range(rows)] + [Fraction(capacities[row])] for row in range(rows)
    ]
    table.append([Fraction(0)] * (rows + 1))
    basis: list[int | None] = [None] * rows
    for _ in range(MOST_PIVOTS):
        prices = table[-1][:rows]
        common = lcm(*(price.denominator for price in prices))
        whole = [int(price * common) for price in prices]
        gains = [common - sum(whole[member] for member in members) for members in sets]
        best = max(range(len(sets)), key=lambda of: (gains[of], -of), default=None)
        unused = min(range(rows), key=lambda of: (whole[of], of))
        if best is not None and gains[best] >= -whole[unused] and gains[best] > 0:
            entering, members, gain = best, sets[best], Fraction(gains[best], common)
        elif whole[unused] < 0:
            entering, members, gain = None, [unused], -prices[unused]
        else:
            break
        column = [sum((line[member] for member in members), Fraction(0)) for line in table[:-1]]
        candidates = [row for row in range(rows) if column[row] > 0]
        row = min(candidates, key=lambda of: (table[of][-1] / column[of], of))
        basis[row] = entering
        table[row] = [value / column[row] for value in table[row]]
        for line, factor in zip(table, [*column, -gain], strict=True):
            if line is not table[row] and factor:
                line[:] = [value - factor * by if by else value for value, by in zip(line, table[row], strict=True)]
    weights = [Fraction(0)] * len(sets)
    for row, chosen in enumerate(basis):
        if chosen is not None:
            weights[chosen] += table[row][-1]
    return weights
