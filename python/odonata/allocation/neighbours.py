"""How much a job is exposed to its neighbours: other jobs that send through its leaf switches."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable


def neighbours(nodes: Collection[int], jobs: Iterable[Collection[int]], leaf_of: Callable[[int], int]) -> float:
    """Nodes of other jobs that send through a leaf switch of a job: mean of its nodes.

    A node of another job counts for the share of its job that is on other leaves: 0 for a job on this leaf alone, which
    sends nothing through the links of the leaf, and nearly 1 for a job that is spread over many. It is known when a job
    is submitted, and tells runs apart that have the same b (`validation/salimi-beni2022-leonardo.md` has what it adds).

    Parameters
    ----------
    nodes
        Numbers of the nodes of the job.
    jobs
        For each other running job the numbers of its nodes.
    leaf_of
        The leaf switch of a node.

    Returns
    -------
    float
        In nodes, 0 or more.
    """
    mine = Counter(map(leaf_of, nodes))
    if not mine:
        return 0.0
    exposed = 0.0
    for job in jobs:
        leaves = Counter(map(leaf_of, job))
        size = sum(leaves.values())
        exposed += sum(
            count * leaves[leaf] * (1 - leaves[leaf] / size) for leaf, count in mine.items() if leaf in leaves
        )
    return exposed / sum(mine.values())
