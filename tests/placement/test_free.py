"""The free set, fragmentation, long draws, and the cost of placing."""

import time
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata import placement
from odonata.machine import Shape
from odonata.placement import LAYOUTS, Placer, fragmentation, splitmix
from odonata.placement.free import Free, first_with, in_turn, interleave, most, sites, tightest
from odonata.placement.splitmix import SplitMix64


def test_sites():
    where = sites(Shape(2, 3, 2))
    assert where.routers == tuple(range(n, n + 2) for n in range(0, 12, 2))
    assert where.groups == (range(6), range(6, 12))
    assert where.group_routers == (range(3), range(3, 6))
    smaller = sites(Shape(2, 3, 2, last_group_routers=1))
    assert smaller.routers == where.routers[:4]
    assert (smaller.groups, smaller.group_routers) == ((range(6), range(6, 8)), (range(3), range(3, 4)))


@given(st.sets(st.integers(0, 23)))
def test_free_nodes_are_cut_where_they_sit(free):
    shape = Shape(2, 3, 4)
    view = Free(shape, sorted(free))
    assert view.routers == [[n for n in sorted(free) if n // 4 == router] for router in range(6)]
    assert view.groups == [[n for n in sorted(free) if n // 12 == group] for group in range(2)]
    assert view.routers_of(1) == view.routers[3:]


def test_parts():
    parts = [[1, 2], [], [3, 4, 5], [6, 7]]
    assert list(interleave(parts)) == [1, 3, 6, 2, 4, 7, 5]
    assert most(parts) == 2
    assert [tightest(parts, n) for n in (1, 3, 4)] == [0, 2, None]
    assert [first_with(parts, n) for n in (0, 1, 3, 4)] == [0, 0, 2, None]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.data())
def test_what_parts_give_in_turn(room, data):
    """As counted by taking one by one."""
    count = data.draw(st.integers(0, sum(room)))
    taken = list(islice(interleave([[part] * has for part, has in enumerate(room)]), count))
    assert in_turn(room, count) == [taken.count(part) for part in range(len(room))]


def test_fragmentation():
    """Idle: routers 4 and 1 of group 0, 4 and 4 of group 1, none of group 2."""
    idle = fragmentation(Shape(3, 2, 4), [0, 1, 2, 3, 7, *range(8, 16)])
    assert (idle.free, idle.idle_routers, idle.idle_groups) == (13, 3, 1)
    assert (idle.largest_router, idle.largest_group) == (4, 8)
    assert idle.scattered == pytest.approx(1 / 13)
    assert fragmentation(Shape(1, 1, 1), []).scattered == 0


@given(st.integers(0, 2**64 - 1), st.integers(1, 60), st.data())
def test_long_draws_are_those_of_short_ones(seed, size, data):
    """Whole arrays give the words that one by one give, and leave the stream where it would be."""
    count = data.draw(st.integers(0, size))
    slow, quick = SplitMix64(seed), SplitMix64(seed)
    drawn = slow.sample(range(size), count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitmix, "_MANY", 0)
        assert quick.sample(range(size), count) == drawn
    assert quick.word() == slow.word()


def test_a_long_draw_whose_word_is_refused_goes_the_slow_way():
    """A state whose next word is 2^64 - 1, which is beyond the last multiple of 3."""
    stream = SplitMix64(ONES)
    assert stream._many_steps(3, 1) is None
    assert SplitMix64(ONES)._many_steps(4, 1) == [3], "4 divides 2^64"
    assert stream.word() == 2**64 - 1, "the stream was not moved"


def undone(z, shift):
    """x from x ^ (x >> shift)."""
    x = z
    for _ in range(64 // shift + 1):
        x = z ^ (x >> shift)
    return x


def before_ones():
    """The state before the word 2^64 - 1: the mixing of splitmix64 backwards."""
    z = undone(2**64 - 1, 31)
    z = undone(z * pow(0x94D049BB133111EB, -1, 2**64) % 2**64, 27)
    z = undone(z * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64, 30)
    return (z - 0x9E3779B97F4A7C15) % 2**64


ONES = before_ones()


POLICIES = [name for name in placement.names() if name not in LAYOUTS and not placement.get(name).needs_links]


def asked(policy, shape):
    """Half of the free nodes of a machine of which a third is busy, where the policy has a choice."""
    options = {
        "intensity-aware": {"intensity": "heavy"},
        "per-leaf": {"per_leaf": 1, "groups": "0"},
        "explicit": {"nodes": list(range(1, shape.nodes, 3))},
    }.get(policy, {})
    owners = {node: f"job {node // 5000}" for node in range(0, shape.nodes, 3)}
    owners.pop(0)
    free = [node for node in range(shape.nodes) if node not in owners]
    count = {"per-leaf": None, "explicit": None, "same-group": 2, "same-island": 20}.get(policy, len(free) // 2)
    options |= {"groups": "1"} if policy == "per-leaf" else {}
    return lambda: Placer(shape, owners, owners).place(policy, count, options)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("nodes", [10, 2])
def test_nodes_are_placed_in_linear_time(policy, nodes, lines_of):
    few, many = (lines_of(asked(policy, Shape(groups, 20, nodes))) for groups in (10, 40))
    assert many < 5 * few


@pytest.mark.parametrize("policy", POLICIES)
def test_200_000_nodes_are_placed_in_seconds(policy):
    """A fifth of the million that takes under a second. A list of all nodes for each node would take minutes."""
    place = asked(policy, Shape(500, 100, 4))
    begin = time.process_time()
    place()
    assert time.process_time() - begin < 20
