"""The time of the arithmetic of a reduction."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.scenario.apps.values import MAX_DURATION_PS
from odonata.units import format_bytes

if TYPE_CHECKING:
    from odonata.machine.host import HostTable


def combining(overhead: HostTable, size: int) -> int:
    """Time to combine a vector of `size` bytes, in picoseconds (docs/model.md, section 10).

    Raises InputError for a time that the core does not have.
    """

    def at(rate: int) -> int:
        return -(-size * 10**18 // rate) if rate else 0

    sizes = overhead.reduce_by_size
    if not sizes:
        return _checked(at(overhead.reduce), size)
    if size <= sizes[0].size:
        return _checked(at(sizes[0].rate), size)
    for low, high in pairwise(sizes):
        if size <= high.size:
            below, above = at(low.rate), at(high.rate)
            return _checked(below + int(Fraction((above - below) * (size - low.size), high.size - low.size)), size)
    return _checked(at(sizes[-1].rate), size)


def _checked(ps: int, size: int) -> int:
    if ps > MAX_DURATION_PS:
        message = f"a rank would combine a vector of {format_bytes(size)} for longer than 2^54 ps (5 hours)"
        raise InputError(message, hint="a higher `reduce` of the host, or a smaller message, makes it shorter")
    return ps
