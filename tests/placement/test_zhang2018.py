"""The policies of Zhang 2018, by the paper's examples and by hand."""

import pytest

from odonata.errors import InputError
from odonata.machine import Shape
from odonata.placement import Job, place, place_all

#: Figure 3: nine groups of four routers of four nodes.
FIGURE_3 = Shape(9, 4, 4)
#: The smallest machine of the study.
SMALL = Shape(17, 4, 4)
#: For examples by hand: 3 groups of 2 routers of 3 nodes; idle are 2 | 3 4 5 || 7 | 9 11 || 12 13 14 | 15.
HAND = Shape(3, 2, 3)
BUSY = "0-1,6,8,10,16-17"


def test_figure_3():
    """L8: a job on one router, one spread over another group, one with the first six available nodes of every group."""
    jobs = [Job(name, "level-spread", nodes) for name, nodes in (("orange", 4), ("green", 8), ("blue", 54))]
    placed = place_all(jobs, FIGURE_3)
    orange, green, blue = (placed[name].nodes for name in ("orange", "green", "blue"))
    assert orange == [0, 1, 2, 3]
    assert green == [16, 20, 24, 28, 17, 21, 25, 29]
    first_six = {0: [4, 5, 6, 7, 8, 9], 1: [18, 19, 22, 23, 26, 27]}
    for group in range(9):
        expected = first_six.get(group, list(range(16 * group, 16 * group + 6)))
        assert [n for n in blue if n // 16 == group] == expected
    assert blue[:10] == [4, 18, 32, 48, 64, 80, 96, 112, 128, 5], "ranks go round the groups"


def test_large_first_spreads_the_small_job_too():
    """L42: 50 nodes first take 2 or 3 of each group, then 15 fit in none and are spread as RRN would spread them."""
    jobs = [Job("small", "level-spread", 15), Job("large", "level-spread", 50)]
    placed = place_all(jobs, SMALL, order="large-first")
    by_group = [sum(n // 16 == g for n in placed["large"].nodes) for g in range(17)]
    assert by_group == [3] * 16 + [2]
    small = placed["small"].nodes
    assert len({n // 16 for n in small}) == 15
    assert small == place("RRN", SMALL, 15, busy=placed["large"].nodes).nodes
    small_first = place_all(jobs, SMALL, order="small-first")["small"].nodes
    assert {n // 16 for n in small_first} == {0}


def test_level_spread_counts_exactly_enough_as_room():
    """L6: router 1 and router 4 have three idle, the lower one is taken; group 0 and group 2 four."""
    assert place("level-spread", HAND, 3, busy=BUSY).nodes == [3, 4, 5]
    assert place("level-spread", HAND, 4, busy=BUSY).nodes == [2, 3, 4, 5]
    assert place("level-spread", HAND, 4, busy=f"{BUSY},2").nodes == [12, 15, 13, 14]
    assert place("level-spread", HAND, 5, busy=BUSY).nodes == [2, 7, 12, 3, 9]
    assert place("level-spread", HAND, 11, busy=BUSY).nodes == [2, 7, 12, 3, 9, 13, 4, 11, 14, 5, 15]


def test_level_spread_in_a_group_passes_over_full_routers():
    assert place("level-spread", Shape(1, 3, 3), 5, busy="3-5,7").nodes == [0, 6, 1, 8, 2]


def test_going_on_behind_the_last_job():
    """`after-last`: the last node given was 12, in group 2 of 3, on router 4 of 6; then 2, in group 0."""
    owners = {2: "first", 13: "second", 12: "second"}
    asked = {"busy": owners.keys(), "owners": owners, "start": "after-last"}
    assert place("RRN", HAND, 4, **asked).nodes == [0, 6, 14, 1]
    assert place("RRR", HAND, 4, **asked).nodes == [0, 1, 6, 7]
    assert place("level-spread", HAND, 7, **asked).nodes == [0, 6, 14, 1, 7, 15, 3]
    before = {"busy": [2], "owners": {2: "first"}, "start": "after-last"}
    assert place("level-spread", HAND, 7, **before).nodes == [6, 12, 0, 7, 13, 1, 8]
    assert place("RRR", HAND, 7, **before).nodes == [6, 7, 8, 12, 13, 14, 0]
    only = {"groups": 2, **asked}
    assert place("level-spread", HAND, 4, **only).nodes == [15, 14, 16, 17], "router 5 before router 4"
    assert place("RRN", HAND, 4, start="after-last").nodes == [0, 6, 12, 1], "no job was placed before"


@pytest.mark.parametrize(
    ("policy", "count", "nodes"),
    [
        ("simple", 5, [2, 3, 4, 5, 7]),
        ("RRN", 8, [2, 7, 12, 3, 9, 13, 4, 11]),
        ("RRR", 8, [2, 7, 12, 13, 14, 3, 4, 5]),
        ("RRR", 3, [2, 7, 12]),
        ("jokanovic", 4, [2, 3, 4, 5]),
        ("jokanovic", 5, [2, 3, 4, 5, 7]),
        ("jokanovic", 7, [15, 14, 13, 12, 11, 9, 7]),
    ],
)
def test_by_hand(policy, count, nodes):
    """L9, L11, L12. No group has five idle, and a group holds six: Jokanovic's 5 come from the left."""
    assert place(policy, HAND, count, busy=BUSY).nodes == nodes


def test_jokanovic_takes_the_first_group_with_room_not_the_emptiest():
    assert place("jokanovic", HAND, 3, busy="0-1").nodes == [2, 3, 4]
    assert place("jokanovic", HAND, 3, busy="0-3").nodes == [6, 7, 8]
    assert place("jokanovic", HAND, 6).nodes == [0, 1, 2, 3, 4, 5], "as large as a group is small"


def test_jokanovic_as_it_was_coded():
    """The group found is given up for the lowest idle nodes outside it, as far as there are any."""
    asked = {"busy": "0-3", "fall_through": True}
    assert place("jokanovic", HAND, 3, **asked).nodes == [4, 5, 9]
    assert place("jokanovic", HAND, 3, busy="0-5,9-17", fall_through=True).nodes == [6, 7, 8]
    assert place("jokanovic", HAND, 3, busy="0-4,9-17", fall_through=True).nodes == [5, 7, 8]
    assert place("jokanovic", HAND, 7, **asked).nodes == place("jokanovic", HAND, 7, busy="0-3").nodes


def test_random_routers_are_whole_and_each_is_drawn_alike():
    """RDR: blocks of idle nodes in label order; each of the six routers comes first in a sixth of the draws."""
    idle = {0: [2], 1: [3, 4, 5], 2: [7], 3: [9, 11], 4: [12, 13, 14], 5: [15]}
    first, draws = [0] * 6, 3000
    for seed in range(draws):
        nodes = place("RDR", HAND, 11, busy=BUSY, seed=seed).nodes
        order = list(dict.fromkeys(n // 3 for n in nodes))
        assert nodes == [n for router in order for n in idle[router]]
        first[order[0]] += 1
    assert sum((n - draws / 6) ** 2 / (draws / 6) for n in first) < 20.5, "beyond the 99.9 % quantile of 5 degrees"


def test_random_groups_are_whole_and_full_ones_are_never_drawn():
    """RDG: in label order inside a group; group 1 of 4 is full."""
    shape = Shape(4, 2, 2)
    orders = set()
    for seed in range(60):
        nodes = place("RDG", shape, 12, busy="4-7", seed=seed).nodes
        order = [nodes[0] // 4, nodes[4] // 4, nodes[8] // 4]
        assert nodes == [n for group in order for n in range(4 * group, 4 * group + 4)]
        orders.add(tuple(order))
    assert len(orders) == 6, "all orders of groups 0, 2 and 3"


def test_random_nodes_are_those_of_random():
    assert place("RDN", SMALL, 20, seed=5).nodes == place("random", SMALL, 20, seed=5).nodes


def test_draws_are_what_they_always_were():
    """Golden values: a layout drawn years ago must not change."""
    assert place("RDN", SMALL, 6, busy="0-99", seed=7).nodes == [243, 134, 148, 254, 186, 112]
    assert place("RDR", SMALL, 6, busy="0-99", seed=7).nodes == [156, 157, 158, 159, 200, 201]
    assert place("RDG", SMALL, 6, busy="0-99", seed=7).nodes == [128, 129, 130, 131, 132, 133]


def test_what_is_refused():
    with pytest.raises(InputError, match="`start`: unknown value `frist`"):
        place("RRN", HAND, 2, start="frist")
    with pytest.raises(InputError, match="`fall_through`: expected true or false, found `1`"):
        place("jokanovic", HAND, 2, fall_through=1)
