"""Our own policies: intensity-aware and contention-aware."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.errors import InputError
from odonata.machine import Shape
from odonata.placement import place
from odonata.placement.free import in_turn
from odonata.placement.group_load import Running, background, cost, lighter
from odonata.placement.splitmix import SplitMix64

SMALL = Shape(4, 2, 4)


def by_group(nodes, shape=SMALL):
    return [sum(shape.group_of(n) == g for n in nodes) for g in range(shape.groups)]


@pytest.mark.parametrize("intensity", ["heavy", 0.1, 2])
def test_heavy_jobs_are_spread_over_groups_and_routers(intensity):
    """Even a job that fits on one router."""
    assert place("intensity-aware", SMALL, 4, intensity=intensity).nodes == [0, 8, 16, 24]
    assert place("intensity-aware", SMALL, 9, intensity=intensity).nodes == [0, 8, 16, 24, 4, 12, 20, 28, 1]


@pytest.mark.parametrize("intensity", ["light", 0, 0.09])
def test_light_jobs_are_packed_as_tight_as_possible(intensity):
    """Idle: 4, 3 | 4, 2 | 4, 4 | 2, 1."""
    asked = {"busy": "4,12-13,24-25,29-31", "intensity": intensity}
    assert place("intensity-aware", SMALL, 2, **asked).nodes == [14, 15], "the first of two routers with two idle"
    assert place("intensity-aware", SMALL, 3, **asked).nodes == [5, 6, 7]
    assert place("intensity-aware", SMALL, 5, **asked).nodes == [8, 9, 10, 11, 14], (
        "group 1 has six idle, group 0 seven"
    )
    assert by_group(place("intensity-aware", SMALL, 10, **asked).nodes) == [2, 0, 8, 0], (
        "two groups, the emptiest first"
    )


def test_the_limit_of_heavy_jobs_is_an_option():
    assert place("intensity-aware", SMALL, 4, intensity=0.5, heavy_from=0.6).nodes == [0, 1, 2, 3]
    with pytest.raises(InputError, match="`intensity-aware` needs `intensity`"):
        place("intensity-aware", SMALL, 4)
    with pytest.raises(InputError, match="unknown value `havy`"):
        place("intensity-aware", SMALL, 4, intensity="havy")
    with pytest.raises(InputError, match="expected a fraction of the bandwidth of a node, found `-1`"):
        place("intensity-aware", SMALL, 4, intensity=-1)


def test_a_job_that_fits_uses_no_link_or_no_global_one():
    assert place("contention-aware", SMALL, 3, busy="4").nodes == [5, 6, 7]
    assert place("contention-aware", SMALL, 5, busy="4,12-13").nodes == [8, 14, 9, 15, 10]


def test_on_an_empty_machine_a_large_job_is_spread_evenly():
    assert by_group(place("contention-aware", SMALL, 14).nodes) == [4, 4, 3, 3]


def test_loaded_pairs_of_groups_are_avoided():
    """A job between groups 0 and 1 that sends much: the new one avoids having nodes in both."""
    loud = {"running": [{"nodes": "0-1,8-9", "intensity": 30}], "busy": "0-1,8-9"}
    quiet = {"running": [{"nodes": "0-1,8-9", "intensity": 0}], "busy": "0-1,8-9"}
    shares = by_group(place("contention-aware", SMALL, 12, **loud).nodes)
    assert min(shares[:2]) == 0, shares
    assert min(by_group(place("contention-aware", SMALL, 12, **quiet).nodes)) == 3


def test_what_the_job_itself_sends_counts_against_the_running_ones():
    """The louder it is, the less the others matter, and the more even it is."""
    asked = {"running": [{"nodes": "0-1,8-9", "intensity": 30}], "busy": "0-1,8-9"}
    quiet, loud = (by_group(place("contention-aware", SMALL, 12, intensity=i, **asked).nodes) for i in (1, 10_000))
    assert max(quiet) - min(quiet) > max(loud) - min(loud) == 0
    doubled = {"running": [{"nodes": "0-1,8-9", "intensity": 60}], "busy": "0-1,8-9", "intensity": 2}
    assert by_group(place("contention-aware", SMALL, 12, **doubled).nodes) == quiet, "only the ratio counts"


def test_nodes_of_running_jobs_are_busy():
    asked = {"running": [{"nodes": "5"}, "6-7"], "busy": "4"}
    assert place("contention-aware", SMALL, 3, **asked).nodes == place("contention-aware", SMALL, 3, busy="4-7").nodes


def test_flows_count_beside_uniform_traffic():
    """One flow between groups 2 and 3, both ways of writing it."""
    for flow in ([17, 25, 500], [25, 17, 500]):
        shares = by_group(place("contention-aware", SMALL, 12, running=[{"flows": [flow]}]).nodes)
        assert (min(shares[2:]), sum(shares)) == (0, 12), shares


def test_running_jobs_are_known_from_owners_or_else_busy_nodes_are_one_job():
    """Twelve nodes of groups 0 and 1: as one job they load the pair, as two, one in each group, they do not."""
    busy = [*range(6), *range(8, 14)]
    apart = {node: f"job {node // 8}" for node in busy}
    together = dict.fromkeys(busy, "job")
    alone = place("contention-aware", SMALL, 14, busy=busy).nodes
    assert alone == place("contention-aware", SMALL, 14, busy=busy, owners=together).nodes
    assert alone != place("contention-aware", SMALL, 14, busy=busy, owners=apart).nodes
    assert "of 1 running job:" in place("contention-aware", SMALL, 14, busy=busy).reason
    assert "of 2 running jobs:" in place("contention-aware", SMALL, 14, busy=busy, owners=apart).reason


def test_a_job_that_sends_nothing_is_spread_evenly():
    assert by_group(place("contention-aware", SMALL, 12, busy="0-1,8-9", intensity=0).nodes) == [3, 3, 3, 3]


def test_the_background_between_groups():
    """Two nodes of five in group 0, three in group 1: each sends a quarter to each other: 2 x 2 x 3 / 4 both ways."""
    loads = background(SMALL, [Running([0, 1, 8, 9, 10])], pair=1)
    assert loads[0, 1] == loads[1, 0] == pytest.approx(3)
    assert loads.sum() == pytest.approx(6), "nothing inside a group, nothing elsewhere"


@st.composite
def sharings(draw):
    """Groups with room and loads, and a number of nodes."""
    room = draw(st.lists(st.integers(0, 5), min_size=2, max_size=4).filter(lambda r: sum(r) > 1))
    above = np.triu(np.array([[draw(st.integers(0, 40)) for _ in room] for _ in room], dtype=float), 1)
    return above + above.T, room, draw(st.integers(2, sum(room)))


@given(sharings())
def test_moves_only_help_and_end_where_none_helps(sharing):
    """Against the cost written out: never worse than even, and no single node moved from the worst place saves."""
    loads, room, count = sharing
    start = in_turn(room, count)
    shares = lighter(loads.copy(), room, start)
    assert sum(shares) == count
    assert all(0 <= share <= most for share, most in zip(shares, room, strict=True))
    assert written_out(loads, shares) == pytest.approx(cost(loads, shares))
    assert written_out(loads, shares) <= written_out(loads, start) + 1e-6
    slope = [
        sum((loads[a, b] + shares[a] * shares[b]) * shares[b] for b in range(len(room)) if b != a)
        for a in range(len(room))
    ]
    givers = [a for a, share in enumerate(shares) if share]
    takers = [b for b, share in enumerate(shares) if share < room[b]]
    if takers:
        a, b = max(givers, key=lambda g: slope[g]), min(takers, key=lambda g: slope[g])
        moved = [share - (g == a) + (g == b) for g, share in enumerate(shares)]
        assert written_out(loads, moved) >= written_out(loads, shares) - 1e-6


def written_out(loads, shares):
    pairs = [(a, b) for a, b in product(range(len(shares)), repeat=2) if a < b]
    return sum((loads[a, b] + shares[a] * shares[b]) ** 2 for a, b in pairs)


@pytest.mark.parametrize(
    ("running", "message"),
    [
        ("0-3", "expected a list of jobs, found `'0-3'`"),
        ([{"node": "0-3"}], "unknown key of a running job `node`"),
        ([{"nodes": "0-3", "intensity": -1}], "expected a relative amount of traffic, found `-1`"),
        ([{"flows": [[0, 1]]}], r"expected a flow as \[from node, to node, amount\], found `\[0, 1\]`"),
        ([{"flows": "0-1"}], "expected a list of flows, found `'0-1'`"),
        (["0-x"], "expected nodes such as"),
        ([{"flows": [["0-1", 3, 1]]}], "expected a flow as"),
    ],
)
def test_running_jobs_that_are_wrong(running, message):
    with pytest.raises(InputError, match=f"`running`: {message}"):
        place("contention-aware", SMALL, 12, running=running)


def test_running_jobs_on_nodes_that_do_not_exist():
    for running in (["0-32"], [{"flows": [[0, 32, 1]]}]):
        with pytest.raises(InputError, match="there is no node 32"):
            place("contention-aware", SMALL, 12, running=running)


def test_how_far_from_the_best_sharing():
    """Against every possible sharing of small machines: far less above the best than even."""
    stream, ours, evens = SplitMix64(1), [], []
    while len(ours) < 100:
        room = [stream.below(6) for _ in range(4)]
        if sum(room) <= max(room):
            continue
        count = max(room) + 1 + stream.below(sum(room) - max(room))
        above = np.triu(np.array([[max(0, stream.below(80) - 40) for _ in room] for _ in room], dtype=float), 1)
        loads, nothing = above + above.T, [0] * 4
        all_sharings = [s for s in product(*(range(r + 1) for r in room)) if sum(s) == count]
        best, base = min(cost(loads, s) for s in all_sharings), cost(loads, nothing)
        start = in_turn(room, count)
        ours.append(cost(loads, lighter(loads.copy(), room, start)) / best - 1)
        evens.append(cost(loads, start) / best - 1)
        assert best > base, "it fits in no group, so something is added"
    assert np.mean(ours) < 0.02 < 0.08 < np.mean(evens), (np.mean(ours), np.mean(evens))
    assert np.mean(np.array(ours) < 1e-9) > 0.6
