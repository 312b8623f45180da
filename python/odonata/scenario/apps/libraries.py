"""The algorithms of collectives that libraries of MPI choose by size and number of ranks.

`algorithm = "open-mpi"`, `"mpich"` or `"cray"` selects as the published tables do. What Odonata has under another name,
or does not have, stands in the tables as the algorithm that is closest; docs/host.md lists these.

Sources: Open MPI 4.1, `ompi/mca/coll/tuned/coll_tuned_decision_fixed.c` (commutative operations); MPICH,
`src/mpi/coll/coll_selection.json` (commit 07f13b4); Cray MPICH 8.1.17, the settings that `MPICH_ENV_DISPLAY` prints on
Crusher, and for what they do not say the table of MPICH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.scenario.apps.tables_open_mpi import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

LIBRARIES = {
    "open-mpi": "what Open MPI 4.1 chooses by size and number of ranks",
    "mpich": "what MPICH 4 chooses by size and number of ranks",
    "cray": "what Cray MPICH 8.1 chooses by size and number of ranks, as far as that is published",
}
"""Library -> what it stands for, as `algorithm` of any collective."""

ELEMENT_BYTES = 4
"""Size of an element of a vector, where a table counts elements. Assumed: single precision."""
SHORT_BROADCAST, MEDIUM_BROADCAST, FEW_RANKS = 12_288, 524_288, 8
SHORT_ALLREDUCE = 8
LONG_BYTES, MEDIUM_BYTES = 524_288, 81_920
SHORT_ALLTOALL, MEDIUM_ALLTOALL = 256, 32_768
"""Sizes and numbers of ranks in the table of MPICH, in bytes."""

CRAY_ALLTOALL = ((512, 512), (1_024, 256), (8_192, 128))
"""Most ranks -> largest block that Cray MPICH sends by Bruck's algorithm. Published is the range 64 to 512 B; that it
falls with the number of ranks in these steps is assumed."""
CRAY_SHORT_ALLTOALL = 64
CRAY_LONG_BYTES = 524_288
"""`MPICH_REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE`."""


REDUCE_BROADCAST = "reduce-broadcast"
"""An all-reduce that is a reduction to rank 0 and then a broadcast from it."""


def chosen(library: str, collective: str, ranks: int, size: int) -> str:
    """The algorithm that a library chooses.

    Parameters
    ----------
    library
        One of `LIBRARIES`.
    collective
        As a scenario names it.
    ranks
        Number of ranks, at least 1.
    size
        `message` of the collective, in bytes; 0 for a barrier.

    Returns
    -------
    str
        A name of `odonata show COLLECTIVE`, or `reduce-broadcast` for an all-reduce in two operations.
    """
    return _CHOICES[library](collective, ranks, size)


def _open_mpi(collective: str, ranks: int, size: int) -> str:
    table = TABLES[collective]
    by_size = next(sizes for limit, sizes in table if limit is None or ranks < limit)
    name = next(name for limit, name in by_size if limit is None or size < limit)
    if (collective, name) == ("allgather", "recursive-doubling") and not _is_power_of_two(ranks):
        return "bruck"  # as its all-gather by recursive doubling does
    return name


def _mpich(collective: str, ranks: int, size: int) -> str:
    power = _is_power_of_two(ranks)
    core = 1 << (ranks.bit_length() - 1)
    if collective == "broadcast":
        if ranks < FEW_RANKS or size <= SHORT_BROADCAST:
            return "binomial"
        return "scatter-recursive-doubling" if power and size <= MEDIUM_BROADCAST else "scatter-allgather"
    if collective == "allreduce":
        short = size <= SHORT_ALLREDUCE or size // ELEMENT_BYTES < core
        return "recursive-doubling" if short else "rabenseifner"
    if collective == "allgather":
        if power:
            return "recursive-doubling" if size * ranks < LONG_BYTES else "ring"
        return "bruck" if size * ranks < MEDIUM_BYTES else "ring"
    if collective == "reduce-scatter":
        return "recursive-halving" if size < LONG_BYTES else "pairwise"
    if collective == "alltoall":
        if ranks >= FEW_RANKS and size <= SHORT_ALLTOALL:
            return "bruck"
        return "scattered" if size <= MEDIUM_ALLTOALL else "pairwise"
    return {"reduce": "binomial", "barrier": "dissemination"}[collective]


def _cray(collective: str, ranks: int, size: int) -> str:
    if collective == "broadcast":
        return "knomial"  # MPICH_BCAST_ONLY_TREE = 1, MPICH_BCAST_INTERNODE_RADIX = 4
    if collective == "alltoall":
        short = next((most for limit, most in CRAY_ALLTOALL if ranks <= limit), CRAY_SHORT_ALLTOALL)
        return "bruck" if size <= short else "scattered"
    if collective == "reduce-scatter":
        return "recursive-halving" if size < CRAY_LONG_BYTES else "pairwise"
    return _mpich(collective, ranks, size)


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


_CHOICES: dict[str, Callable[[str, int, int], str]] = {"open-mpi": _open_mpi, "mpich": _mpich, "cray": _cray}
