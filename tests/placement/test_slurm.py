"""The Slurm policies against allocations of a real Slurm, against a literal reading of its rule, and by hand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.errors import InputError
from odonata.machine import Shape
from odonata.placement import parse_ids, place

#: Where the golden allocations were made: 4 islands of 4 leaves of 4 nodes.
CLUSTER = Shape(4, 4, 4)
POLICY = {
    ("cons_tres", "-"): "slurm-tree",
    ("cons_tres", "dragonfly"): "slurm-dragonfly",
    ("linear", "-"): "slurm-tree-linear",
    ("linear", "dragonfly"): "slurm-dragonfly-linear",
}


def allocations():
    """Policy, occupied nodes, size and nodes of each golden allocation."""
    policy = occupied = ""
    for line in (Path(__file__).parent / "golden/slurm-22.05.txt").read_text().splitlines():
        words = line.split()
        if line.startswith("  "):
            yield policy, occupied, int(words[0]), parse_ids(words[1])
        elif not line.startswith("#"):
            policy, occupied = POLICY[words[0], words[1]], words[2]


def test_there_are_72_golden_allocations():
    golden = list(allocations())
    assert len(golden) == 72
    assert {policy for policy, *_ in golden} == set(POLICY.values())
    assert all(len(nodes) == size for _, _, size, nodes in golden)


@pytest.mark.parametrize(("policy", "occupied", "size", "nodes"), list(allocations()))
def test_what_a_real_slurm_did(policy, occupied, size, nodes):
    """L10: all 72, in the order of Slurm's ranks."""
    assert place(policy, CLUSTER, size, busy=occupied).nodes == nodes


def literal_tree(shape, busy, count):
    """`slurm-tree` as Slurm goes about it: every leaf against the best so far, distances summed up leaf by leaf."""
    leaf_of, island_of = shape.router_of, shape.group_of
    leaves, islands = {}, {}
    for node in (n for n in range(shape.nodes) if n not in busy):
        leaves.setdefault(leaf_of(node), []).append(node)
        islands[island_of(node)] = islands.get(island_of(node), 0) + 1
    island = {leaf: island_of(nodes[0]) for leaf, nodes in leaves.items()}
    distance = dict.fromkeys(leaves, 0)

    def compare(i, j, missing):
        sizes = len(leaves[i]), len(leaves[j])
        if max(sizes) < missing and island[i] != island[j]:
            sizes = islands[island[i]], islands[island[j]]
        fits = sizes[0] >= missing, sizes[1] >= missing
        if fits[0] != fits[1]:
            return fits[0] - fits[1]
        return (
            (sizes[0] < sizes[1]) - (sizes[0] > sizes[1]) if fits[0] else (sizes[0] > sizes[1]) - (sizes[0] < sizes[1])
        )

    chosen = []
    while len(chosen) < count:
        best = None
        for leaf in sorted(leaves):
            if best is None:
                best = leaf
                continue
            better = compare(leaf, best, count - len(chosen))
            nearer = distance[leaf] - distance[best]
            if (nearer < 0 and better >= 0) or (nearer == 0 and better > 0):
                best = leaf
        chosen += leaves.pop(best)[: count - len(chosen)]
        for leaf in leaves:
            distance[leaf] += 2 if island[leaf] == island[best] else 4
    return sorted(chosen)


@given(st.data(), st.builds(Shape, st.integers(1, 5), st.integers(1, 5), st.integers(1, 5)))
def test_the_quick_tree_is_the_literal_one(data, shape):
    busy = data.draw(st.sets(st.integers(0, shape.nodes - 1), max_size=shape.nodes - 1))
    count = data.draw(st.integers(1, shape.nodes - len(busy)))
    assert place("slurm-tree", shape, count, busy=busy).nodes == literal_tree(shape, busy, count)


def literal_linear_dragonfly(leaves, count):
    """One node at a time, from the leaf that gave fewest, of these the one with fewest idle nodes."""
    leaves, given_by, chosen = [list(leaf) for leaf in leaves], [0] * len(leaves), []
    while len(chosen) < count:
        best = min((i for i, leaf in enumerate(leaves) if leaf), key=lambda i: (given_by[i], len(leaves[i]), i))
        chosen.append(leaves[best].pop(0))
        given_by[best] += 1
    return sorted(chosen)


@given(st.data())
def test_the_quick_linear_dragonfly_is_the_literal_one(data):
    """One island, so that the switch is the island or, if a leaf has room, that leaf."""
    shape = Shape(1, 5, 4)
    busy = data.draw(st.sets(st.integers(0, 19), max_size=15))
    free = [[n for n in range(4 * leaf, 4 * leaf + 4) if n not in busy] for leaf in range(5)]
    count = data.draw(st.integers(1, 20 - len(busy)))
    enough = [leaf for leaf in free if len(leaf) >= count]
    leaves = [min(enough, key=len)] if enough else free
    assert place("slurm-dragonfly-linear", shape, count, busy=busy).nodes == literal_linear_dragonfly(leaves, count)


@pytest.mark.parametrize(
    ("policy", "nodes"),
    [
        # Leaves 1, 3, 4 of 0-5 have 2 nodes, leaf 0 has 1, leaf 2 has 3, leaf 5 none. Groups of three leaves.
        ("slurm-zhang-text", [3, 4]),
        ("slurm-zhang-sst", [3, 4]),
        ("slurm-dragonfly", [6, 7]),
        ("slurm-dragonfly-linear", [3, 4]),
        ("slurm-tree", [3, 4]),
        ("slurm-tree-linear", [3, 4]),
    ],
)
def test_a_job_for_one_leaf(policy, nodes):
    assert place(policy, Shape(2, 3, 3), 2, busy="0-1,5,9,13,15-17").nodes == nodes


def test_first_fit_is_not_best_fit():
    """The text of Zhang 2018 takes the first router with room, its code the tightest."""
    shape, busy = Shape(2, 2, 4), "4,8,9"
    assert place("slurm-zhang-text", shape, 2, busy=busy).nodes == [0, 1]
    assert place("slurm-zhang-sst", shape, 2, busy=busy).nodes == [10, 11]


def test_zhang_slurm_gathers_the_routers_with_the_fewest_idle_nodes():
    """Idle: 2 on router 0, 4 on 1, 1 on 2, 2 on 3; exhausted in the order 2, 0, 3, 1."""
    for policy in ("slurm-zhang-text", "slurm-zhang-sst"):
        assert place(policy, Shape(2, 2, 4), 6, busy="0-1,8-10,14-15").nodes == [11, 2, 3, 12, 13, 4]


def test_jobs_that_do_not_fit():
    for policy in POLICY.values():
        with pytest.raises(InputError, match="4 nodes do not fit: only 3 are free anywhere"):
            place(policy, CLUSTER, 4, busy="0-60")
