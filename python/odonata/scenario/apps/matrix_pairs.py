"""The messages of an iteration of a communication matrix, for the ranks of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from odonata.errors import InputError
from odonata.scenario.apps.matrix_values import MOST_PAIRS
from odonata.scenario.apps.values import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from odonata.scenario.apps.matrix_values import CommunicationMatrix, Numbers

#: Most messages of an iteration that the core takes.
MOST_MESSAGES = 2**26


def iteration_pairs(
    matrix: CommunicationMatrix, ranks: int, *, steps: int = 1, message: int | None = None, strong: bool = False
) -> list[list[int]]:
    """What each rank sends to each other in an iteration.

    Parameters
    ----------
    matrix
        The sum of all steps.
    ranks
        Ranks of the job. If they are a multiple of those of the matrix, each rank becomes several, which exchange with
        those of the same number; if they are a divisor, several become a single rank, which sends nothing to itself.
    steps
        How many steps it is the sum of.
    message
        Bytes of the largest message. Default: as many messages as the matrix says, else one for each pair.
    strong
        With other ranks: whether the bytes of all stay the same, instead of those of each rank.

    Returns
    -------
    list
        Rank, other rank, bytes and messages of each pair, ascending. Bytes and messages are rounded; there is at least
        a message.

    Raises
    ------
    InputError
        If the ranks do not fit, or the messages are too many or too large. The path leads into the app's table.
    """
    sources, targets, sizes, counts = _scaled(matrix, ranks, strong)
    sizes = _divided(sizes, steps)
    if message is not None:
        counts = np.maximum(-(-sizes // message), 1)
    elif counts is not None:
        counts = np.maximum(_divided(counts, steps), 1)
    else:
        counts = np.ones_like(sizes)
    messages = int(counts.sum(dtype=float))  # which does not overflow
    if messages > MOST_MESSAGES:
        raise InputError(
            f"an iteration would send {messages:,} messages, more than {MOST_MESSAGES:,}",
            hint="give `steps`, if the matrix is the sum of several steps, or larger messages (`message`)",
            path=("matrix",),
        )
    if int(sizes.max()) > MAX_MESSAGE_BYTES:
        raise InputError(
            f"a pair of ranks exchanges {int(sizes.max()):,} bytes in an iteration, more than 2^40",
            hint="give `steps`, if the matrix is the sum of several steps",
            path=("matrix",),
        )
    pairs: list[list[int]] = np.stack([sources, targets, sizes, counts], axis=1).tolist()
    return pairs


def _scaled(matrix: CommunicationMatrix, ranks: int, strong: bool) -> tuple[Numbers, Numbers, Numbers, Numbers | None]:
    """Each rank becomes several that exchange with those of the same number, or several become a single rank."""
    sources, targets, sizes, counts = matrix.sources, matrix.targets, matrix.bytes, matrix.messages
    if ranks == matrix.ranks:
        return sources, targets, sizes, counts
    if ranks % matrix.ranks and matrix.ranks % ranks:
        raise InputError(
            f"the matrix has {matrix.ranks:,} ranks, and the job {ranks:,}: neither a multiple nor a divisor",
            hint=f"scale to {matrix.ranks * max(1, round(ranks / matrix.ranks)):,} ranks",
            path=("scale",),
        )
    if ranks > matrix.ranks:
        factor = ranks // matrix.ranks
        if len(sources) * factor > MOST_PAIRS:
            message = f"{len(sources) * factor:,} pairs of ranks would exchange messages, more than {MOST_PAIRS:,}"
            raise InputError(message, path=("scale",))
        number = np.tile(np.arange(factor), len(sources))
        sources, targets = (np.repeat(ends, factor) * factor + number for ends in (sources, targets))
        sizes = np.repeat(_divided(sizes, factor if strong else 1), factor)
        counts = None if counts is None else np.repeat(counts, factor)
        order = np.lexsort((targets, sources))
        return sources[order], targets[order], sizes[order], None if counts is None else counts[order]
    factor = matrix.ranks // ranks
    sources, targets = sources // factor, targets // factor
    between = np.flatnonzero(sources != targets)
    if not between.size:
        raise InputError(f"no two of {ranks} ranks would exchange a message", path=("scale",))
    keys, place = np.unique(sources[between] * ranks + targets[between], return_inverse=True)

    def merged(values: Numbers) -> Numbers:
        total = np.zeros(keys.size, dtype=np.int64)
        np.add.at(total, place, values[between])
        return _divided(total, 1 if strong else factor)

    return keys // ranks, keys % ranks, merged(sizes), None if counts is None else np.maximum(merged(counts), 1)


def _divided(values: Numbers, by: int) -> Numbers:
    """Rounded to the nearest whole number, halves upwards."""
    return (values + by // 2) // by
