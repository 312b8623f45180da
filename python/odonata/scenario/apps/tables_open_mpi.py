"""What the tuned module of Open MPI 4.1 chooses, for commutative operations.

Collective -> (fewer ranks than -> (smaller than so many bytes -> algorithm)), the first that fits; None is no limit.
Source: `ompi/mca/coll/tuned/coll_tuned_decision_fixed.c`. The table gives segments no size, so messages are
sent whole.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

BySize: TypeAlias = tuple[tuple[int | None, str], ...]
ByRanks: TypeAlias = tuple[tuple[int | None, BySize], ...]

_DOUBLING, _RABENSEIFNER, _RING = "recursive-doubling", "rabenseifner", "ring"
_TWO = "reduce-broadcast"
_SCATTERED, _SHIFT, _BRUCK = "scattered", "linear-shift", "bruck"
_NEIGHBOR = "neighbor-exchange"
_TREE, _BINOMIAL, _KNOMIAL, _FLAT, _CHAIN = "binary", "binomial", "knomial", "flat", "chain"
_SCATTER = "scatter-recursive-doubling"
_HALVING = "recursive-halving"
KIB, MIB = 1 << 10, 1 << 20


def _sizes(*steps: str | int) -> BySize:
    """Algorithms, and between two of them the size from which on the second one is chosen."""
    names, limits = steps[::2], [*steps[1::2], None]
    made = tuple((limit, name) for limit, name in zip(limits, names, strict=True))
    given = [limit for limit, _ in made[:-1]]
    assert all(isinstance(name, str) for name in names)
    assert all(isinstance(a, int) and isinstance(b, int) and a < b for a, b in pairwise(given))
    return made  # type: ignore[return-value]


TABLES: dict[str, ByRanks] = {
    "allreduce": (
        (
            4,
            _sizes(
                *(_RING, 8, _DOUBLING, 4 * KIB, _RING, 8 * KIB, _DOUBLING, 16 * KIB),
                *(_RING, 256 * KIB, _RABENSEIFNER),
            ),
        ),
        (8, _sizes(_RING, 16, _DOUBLING, 8 * KIB, _RABENSEIFNER)),
        (16, _sizes(_DOUBLING, 8 * KIB, _RABENSEIFNER)),
        (32, _sizes(_RING, 64, _DOUBLING, 4 * KIB, _RABENSEIFNER)),
        (64, _sizes(_RING, 128, _RABENSEIFNER)),
        (128, _sizes(_DOUBLING, 256 * KIB, _RABENSEIFNER)),
        (256, _sizes(_TWO, 128 * KIB, _DOUBLING, 256 * KIB, _RABENSEIFNER)),
        (512, _sizes(_TWO, 4 * KIB, _RABENSEIFNER)),
        (2_048, _sizes(_TWO, 2 * KIB, _DOUBLING, 16 * KIB, _RABENSEIFNER)),
        (4_096, _sizes(_TWO, 2 * KIB, _RING, 4 * KIB, _DOUBLING, 16 * KIB, _RABENSEIFNER)),
        (None, _sizes(_TWO, 2 * KIB, _RING, 16 * KIB, _DOUBLING, 32 * KIB, _RING)),
    ),
    "alltoall": (
        (3, _sizes(_SHIFT, 32 * KIB, _SCATTERED, 256 * KIB, _SHIFT)),
        (8, _sizes(_SCATTERED, 512 * KIB, _SHIFT, MIB, _SCATTERED)),
        (16, _sizes(_SCATTERED)),
        (32, _sizes(_SCATTERED, 4, _BRUCK, 512, _SCATTERED)),
        (64, _sizes(_BRUCK, 512, _SCATTERED)),
        (128, _sizes(_BRUCK, KIB, _SCATTERED, 256 * KIB, _SHIFT)),
        (256, _sizes(_BRUCK, KIB, _SCATTERED, 256 * KIB, _SHIFT)),
        (512, _sizes(_BRUCK, KIB, _SCATTERED, 32 * KIB, _SHIFT)),
        (1_024, _sizes(_BRUCK, 512, _SCATTERED, 256 * KIB, _SHIFT)),
        (2_048, _sizes(_BRUCK, 512, _SCATTERED)),
        (4_096, _sizes(_BRUCK, KIB, _SCATTERED)),
        (8_192, _sizes(_BRUCK, 2 * KIB, _SCATTERED)),
        (None, _sizes(_SHIFT)),
    ),
    "allgather": (
        (32, _sizes(_DOUBLING)),
        (64, _sizes(_DOUBLING, KIB, _NEIGHBOR, 64 * KIB, _RING)),
        (128, _sizes(_DOUBLING, 512, _NEIGHBOR, 64 * KIB, _RING)),
        (256, _sizes(_DOUBLING, 512, _NEIGHBOR, 128 * KIB, _RING, 512 * KIB, _NEIGHBOR, MIB, _RING)),
        (
            512,
            _sizes(
                *(_DOUBLING, 32, _BRUCK, 128, _DOUBLING, KIB, _NEIGHBOR, 128 * KIB),
                *(_RING, 512 * KIB, _NEIGHBOR, MIB, _RING),
            ),
        ),
        (1_024, _sizes(_DOUBLING, 64, _BRUCK, 256, _DOUBLING, 2 * KIB, _NEIGHBOR)),
        (
            2_048,
            _sizes(
                *(_DOUBLING, 4, _BRUCK, 8, _DOUBLING, 16, _BRUCK, 32, _DOUBLING, 256, _BRUCK, 512),
                *(_DOUBLING, 4 * KIB, _NEIGHBOR),
            ),
        ),
        (4_096, _sizes(_BRUCK, 32, _DOUBLING, 128, _BRUCK, 512, _DOUBLING, 4 * KIB, _NEIGHBOR)),
        (None, _sizes(_DOUBLING, 2, _BRUCK, 8, _DOUBLING, 16, _BRUCK, 512, _DOUBLING, 4 * KIB, _NEIGHBOR)),
    ),
    "broadcast": (
        (
            4,
            _sizes(
                *(_CHAIN, 32, _TREE, 256, _CHAIN, 512, _KNOMIAL, KIB, _FLAT, 32 * KIB, _TREE, 128 * KIB),
                *(_CHAIN, 256 * KIB, _FLAT, 512 * KIB, _BINOMIAL, MIB, _TREE),
            ),
        ),
        (8, _sizes(_TREE, 64, _BINOMIAL, 128, _TREE, 2 * KIB, _BINOMIAL, 8 * KIB, _FLAT, MIB, _CHAIN)),
        (16, _sizes(_KNOMIAL, 8, _TREE, 64, _KNOMIAL, 4 * KIB, _TREE, 16 * KIB, _BINOMIAL, 32 * KIB, _FLAT)),
        (32, _sizes(_KNOMIAL, 4 * KIB, _BINOMIAL, MIB, _SCATTER)),
        (64, _sizes(_BINOMIAL, 2 * KIB, _KNOMIAL)),
        (128, _sizes(_KNOMIAL)),
        (256, _sizes(_BINOMIAL, 2, _TREE, 16 * KIB, _FLAT, 32 * KIB, _TREE, 64 * KIB, _KNOMIAL)),
        (1_024, _sizes(_KNOMIAL, 16 * KIB, _TREE, 32 * KIB, _KNOMIAL)),
        (2_048, _sizes(_KNOMIAL, 512 * KIB, _SCATTER)),
        (4_096, _sizes(_KNOMIAL, 256 * KIB, _SCATTER)),
        (None, _sizes(_KNOMIAL, 8 * KIB, _TREE, 16 * KIB, _KNOMIAL)),
    ),
    "reduce": (
        (4, _sizes(_BINOMIAL, 8, _TREE, 16, _BINOMIAL)),
        (8, _sizes(_TREE, 4 * KIB, _BINOMIAL)),
        (16, _sizes(_TREE, 8 * KIB, _BINOMIAL)),
        (32, _sizes(_TREE, 4 * KIB, _BINOMIAL)),
        (256, _sizes(_BINOMIAL)),
        (512, _sizes(_BINOMIAL, 8 * KIB, _TREE, 16 * KIB, _BINOMIAL)),
        (2_048, _sizes(_BINOMIAL)),
        (4_096, _sizes(_BINOMIAL, 512, _TREE, KIB, _BINOMIAL, 8 * KIB, _TREE, 16 * KIB, _BINOMIAL)),
        (
            None,
            _sizes(
                *(_BINOMIAL, 16, _TREE, 32, _BINOMIAL, KIB, _TREE, 2 * KIB),
                *(_BINOMIAL, 8 * KIB, _TREE, 16 * KIB, _BINOMIAL),
            ),
        ),
    ),
    "reduce-scatter": (
        (4, _sizes(_RING, 64 * KIB, _HALVING, 128 * KIB, _RING)),
        (32, _sizes(_HALVING, 256 * KIB, _RING)),
        (64, _sizes(_HALVING, 512 * KIB, _RING)),
        (None, _sizes(_HALVING)),
    ),
    "barrier": (
        (4, _sizes("dissemination")),
        (8, _sizes(_TREE)),
        (256, _sizes("dissemination")),
        (512, _sizes(_TREE)),
        (1_024, _sizes("dissemination")),
        (4_096, _sizes(_TREE)),
        (None, _sizes("dissemination")),
    ),
}
