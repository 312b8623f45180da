"""What the probe runs: operations, sizes and numbers, with their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.errors import InputError, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Operations: the three of Salimi Beni 2022, and three that are common in applications.
OPERATIONS = ("bcast", "reduce", "alltoall", "allreduce", "barrier", "ping-pong")

#: Sizes in bytes. Source: Salimi Beni 2022, section 3.3, table 1.
SIZES = (4, 1 << 10, 1 << 15, 1 << 20)

#: Iterations. Source: Salimi Beni 2022, section 3.3.
ITERATIONS = 1000

#: Seconds between the end of one operation and the next. Source: Salimi Beni 2022, section 3.3.
GAP_S = 1e-3

#: Iterations that are not recorded: connections are made in them. Assumed.
WARMUP = 10

_MOST_BYTES = (1 << 31) - 1


def configurations(operations: Sequence[str], sizes: Sequence[int]) -> list[tuple[str, int]]:
    """Operations with sizes, in order; a barrier has one, of 0 bytes. Raises InputError."""
    for name in operations:
        if name not in OPERATIONS:
            raise unknown("operation of the probe", name, OPERATIONS)
    for size in sizes:
        if not 4 <= size <= _MOST_BYTES or size % 4:
            raise InputError(
                f"expected sizes that are multiples of 4 bytes, from 4 to {_MOST_BYTES:,}, found {size:,}",
                hint="reductions add numbers of 4 bytes",
            )
    planned = [
        (name, size)
        for name in dict.fromkeys(operations)
        for size in ((0,) if name == "barrier" else dict.fromkeys(sizes))
    ]
    if not planned:
        raise InputError("the probe has no operation, or no size")
    return planned
