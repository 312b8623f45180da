"""A communication matrix in memory, and what the readers of its files share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.errors import InputError, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
    Array = np.ndarray[Any, np.dtype[Any]]

#: Most ranks, as of a job; most pairs that exchange messages: they take 4 GB of memory (seen: 250 bytes a pair).
MOST_RANKS, MOST_PAIRS = 2**24, 2**24

#: Most bytes, and messages, of an entry and of all: sums fit into 64 bits.
MOST_SUM = 2.0**62

#: Names of the columns of a list of pairs, in lower case; the first is what Odonata calls it.
COLUMNS: dict[str, tuple[str, ...]] = {
    "source": ("source", "src", "from", "sender", "rank"),
    "target": ("target", "dst", "dest", "destination", "to", "receiver", "peer"),
    "bytes": ("bytes", "weight", "size", "volume", "total_bytes"),
    "messages": ("messages", "count", "calls", "msgs"),
}


@dataclass(frozen=True)
class CommunicationMatrix:
    """What ranks sent to each other: pairs of different ranks, ascending, each once."""

    ranks: int
    """Number of ranks."""
    sources: Numbers
    """The rank that sent, of each pair."""
    targets: Numbers
    """The rank that received."""
    bytes: Numbers
    """Bytes in all."""
    messages: Numbers | None
    """Number of messages; None if the file does not say it."""


def number(value: Any, where: str) -> float | int:
    """A number of JSON. Raises InputError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{where}: expected a number, found `{shortened(str(value))}`")
    return value


def listed(names: Iterable[str], none: str) -> str:
    """The first names of an object or an archive, for a message; `none` if there are none."""
    return ", ".join(f"`{shortened(name, 20)}`" for name in list(names)[:5]) or none


def dense(sizes: Array, counts: Array | None) -> CommunicationMatrix:
    """The matrix of a square array: row r has what rank r sent. Raises InputError."""
    for array in (sizes, counts):
        if array is not None and (array.ndim != 2 or array.shape != (len(sizes), len(sizes))):
            raise InputError(f"expected a square matrix, found the shape {shortened(str(array.shape))}")
    ranks = len(sizes)
    # Only what is not zero takes more memory than the array itself.
    here = sizes != 0 if counts is None else (sizes != 0) | (counts != 0)
    pairs = int(np.count_nonzero(here)) - int(np.count_nonzero(here.diagonal()))
    if pairs > MOST_PAIRS:
        raise _too_many(pairs)
    rows, columns = np.nonzero(here)

    def place(at: int) -> str:
        return f"row {rows[at]}, column {columns[at]} (from 0)"

    messages = None if counts is None else rounded(counts[rows, columns], place)
    return summed(ranks, rows, columns, rounded(sizes[rows, columns], place), messages)


def rounded(values: Array, place: Callable[[int], str], lines: Sequence[int] = ()) -> Numbers:
    """Whole numbers from 0 to 2^62; `place` says where a value stands, or `lines` in which line. Raises InputError."""
    with np.errstate(all="ignore"):  # what becomes infinite is refused
        numbers = values.astype(float)
    bad = np.flatnonzero(~((numbers >= 0) & (numbers < MOST_SUM)))
    if bad.size:
        at = int(bad[0])
        message = f"expected a number from 0 to 2^62, found {values[at]}"
        raise InputError(message, line=lines[at]) if lines else InputError(f"{place(at)}: {message}")
    return np.rint(values).astype(np.int64) if values.dtype.kind == "f" else values.astype(np.int64)


def summed(
    ranks: int, sources: Numbers, targets: Numbers, sizes: Numbers, messages: Numbers | None
) -> CommunicationMatrix:
    """The sums of the entries of each pair, without what stays in a rank and without pairs that have no message.

    Raises InputError if there are too many of them or none, and for bytes without a message.
    """
    if ranks > MOST_RANKS:
        raise InputError(f"{ranks:,} ranks are more than {MOST_RANKS:,}")
    if messages is not None:
        lost = np.flatnonzero((messages == 0) & (sizes > 0))
        if lost.size:
            at = int(lost[0])
            raise InputError(f"rank {sources[at]} sent {sizes[at]:,} bytes to rank {targets[at]} in 0 messages")
    kept = (sources != targets) & (sizes > 0 if messages is None else messages > 0)
    keys, place = np.unique(sources[kept] * ranks + targets[kept], return_inverse=True)
    if not keys.size:
        raise InputError("no rank sends anything to another")
    if keys.size > MOST_PAIRS:
        raise _too_many(keys.size)

    for values, what in ((sizes, "bytes"), (messages, "messages")):
        if values is not None and values[kept].sum(dtype=float) >= MOST_SUM:
            raise InputError(f"the matrix has more than 2^62 {what} in all")

    def sums(values: Numbers) -> Numbers:
        total = np.zeros(keys.size, dtype=np.int64)
        np.add.at(total, place, values[kept])
        return total

    counts = None if messages is None else sums(messages)
    return CommunicationMatrix(ranks, keys // ranks, keys % ranks, sums(sizes), counts)


def _too_many(pairs: int) -> InputError:
    return InputError(f"{pairs:,} pairs of ranks exchange messages, more than {MOST_PAIRS:,}")
