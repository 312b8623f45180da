"""The locality scenarios of Salimi Beni 2022 (V4); its group is a leaf here, its island a group."""

import pytest

from odonata.errors import InputError
from odonata.machine import Shape
from odonata.placement import place

#: Like Marconi100: four islands of leaves of 20 nodes.
MARCONI = Shape(4, 12, 20)


def test_same_group_is_one_switch():
    assert place("same-group", MARCONI, 16).nodes == list(range(16))
    assert place("same-group", MARCONI, 16, busy="0-4,25-26").nodes == [*range(20, 25), *range(27, 38)]
    assert place("same-group", MARCONI, 16, groups="2").nodes == list(range(480, 496))


def test_same_island_is_one_group_over_its_leaves():
    nodes = place("same-island", MARCONI, 16).nodes
    assert {n // 240 for n in nodes} == {0}
    assert nodes[:13] == [0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220, 1]
    assert {n // 240 for n in place("same-island", MARCONI, 16, busy="0-224").nodes} == {1}


def test_same_island_needs_two_leaves():
    """Four are free on one leaf of group 0 alone, in group 1 three on one leaf and one on the other."""
    assert place("same-island", Shape(2, 2, 4), 4, busy="0-3,11,13-15").nodes == [8, 12, 9, 10]
    assert place("same-island", Shape(2, 2, 4), 1, busy="0-3").nodes == [4], "one node is on one leaf"


def test_different_islands_are_four_nodes_each_on_different_leaves():
    nodes = place("different-islands", MARCONI, 16).nodes
    for island in range(4):
        there = [n for n in nodes if n // 240 == island]
        assert there == [240 * island + 20 * leaf for leaf in range(4)]
    assert [n // 240 for n in nodes] == [0, 1, 2, 3] * 4


def test_different_islands_pass_over_full_ones():
    assert place("different-islands", Shape(3, 2, 2), 5, busy="4-6").nodes == [0, 7, 8, 2, 10]


@pytest.mark.parametrize(
    ("policy", "shape", "busy", "message"),
    [
        ("same-group", Shape(1, 2, 4), "", "5 nodes do not fit on one leaf: the emptiest has 4 free anywhere"),
        ("same-island", Shape(2, 2, 4), "0-3,8-11", "5 nodes do not fit in one group on several leaves: the emptiest"),
        ("same-island", Shape(2, 1, 8), "", "the emptiest group has 8 free anywhere"),
        ("different-islands", Shape(2, 2, 4), "0-7", "5 nodes do not fit on different islands: only group 1 has free"),
    ],
)
def test_scenarios_that_cannot_be_had(policy, shape, busy, message):
    with pytest.raises(InputError, match=message) as caught:
        place(policy, shape, 5, busy=busy)
    assert caught.value.path == ("count",)
