"""Rings and chains over the links between GPUs: what all links of a node carry, and which way channels take."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from odonata.machine.gpu_channels import chains, chains_from, rings, rings_carry
from odonata.machine.gpus import GpuTable
from odonata.machine.packing import heaviest

GB = 10**15
FRONTIER = [
    *([0, 1, 4], [2, 3, 4], [4, 5, 4], [6, 7, 4], [0, 6, 2], [2, 4, 2], [1, 5, 2], [3, 7, 2]),
    *([0, 2], [1, 3], [4, 6], [5, 7]),
]
DGX1 = [
    *([0, 1], [0, 2], [0, 3, 2], [0, 4, 2], [1, 2, 2], [1, 3], [1, 5, 2], [2, 3, 2]),
    *([2, 6], [3, 7], [4, 5], [4, 6], [4, 7, 2], [5, 6, 2], [5, 7], [6, 7, 2]),
]


def gpus(count, *, links=None, nics=None, network="mesh", rails=None):
    table = {"count": count, "network": network, "bandwidth": "20 GB/s", "latency": "1 us"}
    table |= {key: value for key, value in (("links", links), ("nics", nics)) if value is not None}
    table |= {"root": "10 GB/s"} if network == "pcie" else {}
    return GpuTable.model_validate(table).on_rails(rails or count)


def filled(channels, *, closed):
    """What the channels send over each direction of each link, in GB/s."""
    load = Counter()
    for channel in channels:
        order = (*channel.order, channel.order[0]) if closed else channel.order
        for hop in pairwise(order):
            load[hop] += channel.rate or 20 * GB
    return load


@pytest.mark.parametrize("count", range(2, 10))
def test_rings_fill_all_links_where_all_pairs_are_joined(count):
    """Each direction of each link carries what it can, so a GPU sends by all its links. Catches a ring that uses one
    link of a GPU, directions that are left out, and links that carry more than they can."""
    gpu = gpus(count)
    channels = rings(gpu, range(count))
    assert all(sorted(channel.order) == list(range(count)) for channel in channels)
    load = filled(channels, closed=True)
    assert load == {(a, b): 20 * GB for a in range(count) for b in range(count) if a != b}
    assert sum(channel.share for channel in channels) == 1
    assert rings_carry(gpu, range(count)) == 20 * GB * (count - 1)
    assert {channel.share / channel.rate for channel in channels} == {Fraction(1, 20 * GB * (count - 1))}


@pytest.mark.parametrize(
    ("count", "links", "units"),
    [
        # Six links of NVLink a GPU, all of which NCCL's rings on a DGX-1 use.
        (8, DGX1, 6),
        # A ring leaves a GPU of Frontier by one of three neighbours: by hand three rings of a link, each both ways.
        (8, FRONTIER, 6),
        # A square whose sides have one link and two.
        (4, [[0, 1, 2], [1, 2], [2, 3, 2], [3, 0]], 2),
        # Two rings of three GPUs, one beside the other by its link.
        (3, [[0, 1, 3], [1, 2, 2], [0, 2]], 2),
    ],
)
def test_rings_carry_what_links_allow(count, links, units):
    gpu = gpus(count, links=links)
    channels = rings(gpu, range(count))
    assert rings_carry(gpu, range(count)) == pytest.approx(units * 20 * GB, rel=1e-15)
    capacity = {}
    for a, b, *beside in links:
        capacity[a, b] = capacity[b, a] = (beside or [1])[0] * 20 * GB
    assert all(carried <= capacity[hop] for hop, carried in filled(channels, closed=True).items())


def test_groups_use_the_links_between_their_gpus():
    """GPUs 0 to 3 of Frontier are a square of 4, 1, 4 and 1 links; 0 and 1 have four, 0 and 3 none."""
    gpu = gpus(8, links=FRONTIER)
    assert {(of.order, of.rate) for of in rings(gpu, range(4))} == {((0, 1, 3, 2), 20 * GB), ((0, 2, 3, 1), 20 * GB)}
    assert [(of.order, of.rate) for of in rings(gpu, [0, 1])] == [((0, 1), 80 * GB)]
    assert [(of.order, of.rate) for of in rings(gpu, [0, 3])] == [((0, 1), None)]


@pytest.mark.parametrize("network", ["switch", "pcie"])
def test_one_ring_uses_all_ports(network):
    assert [(of.order, of.share, of.rate) for of in rings(gpus(4, network=network), range(4))] == [
        ((0, 1, 2, 3), 1, None)
    ]


def test_a_line_has_one_ring_of_the_least_link():
    """Its way back crosses all links the other way."""
    line = gpus(4, links=[[0, 1, 2], [1, 2], [2, 3]])
    assert [(of.order, of.rate) for of in rings(line, range(4))] == [((0, 1, 2, 3), None)]
    assert rings_carry(line, range(4)) == 20 * GB


@pytest.mark.parametrize("count", [2, 4, 6, 8])
def test_chains_of_a_mesh_have_links_of_their_own(count):
    """From each GPU one, which leaves by another NIC; all of them use each direction of each link once."""
    channels = chains(gpus(count), range(count))
    assert [of.order[0] for of in channels] == list(range(count))
    assert sorted(of.order[-1] for of in channels) == list(range(count))
    assert filled(channels, closed=False) == {(a, b): 20 * GB for a in range(count) for b in range(count) if a != b}
    assert {of.rate for of in channels} == {None}


@pytest.mark.parametrize("count", [3, 5, 7])
def test_chains_of_an_odd_mesh_share_links_by_two(count):
    channels = chains(gpus(count), range(count))
    assert {of.rate for of in channels} == {10 * GB}
    assert max(filled(channels, closed=False).values()) == 20 * GB


def test_chains_enter_and_leave_by_the_same_nic_if_it_has_several_gpus():
    """Catches a chain for each GPU where there are fewer NICs, and rails that change at each node."""
    for gpu in (gpus(8, nics=[0, 0, 1, 1, 2, 2, 3, 3], network="switch"), gpus(8, links=FRONTIER, rails=4)):
        channels = chains(gpu, range(8))
        assert [of.order[0] for of in channels] == [1, 3, 5, 7]
        assert [gpu.nics[of.order[-1]] for of in channels] == [0, 1, 2, 3]
        assert all(sorted(of.order) == list(range(8)) for of in channels)
        assert {of.share for of in channels} == {Fraction(1, 4)}
    one = chains(gpus(8, nics=[0] * 8, network="switch"), range(8))
    assert [(of.order, of.rate) for of in one] == [((7, 0, 1, 2, 3, 4, 5, 6), None)]


def test_chains_of_a_switch_have_a_rate_where_they_share_ports():
    """Of four chains three leave each port; the fourth goes to the NIC. A root of PCIe carries all twelve hops."""
    assert {of.rate for of in chains(gpus(4, network="switch"), range(4))} == {20 * GB // 3}
    assert {of.rate for of in chains(gpus(4, network="pcie"), range(4))} == {10 * GB // 12}


def test_chains_follow_links_on_any_mesh():
    """On Frontier no chain of a GPU leaves the links, and no link carries more than two of eight."""
    gpu = gpus(8, links=FRONTIER, nics=[0, 1, 2, 3, 4, 5, 6, 7])
    orders = chains_from(gpu, range(8), range(8))
    joined = {frozenset(link[:2]) for link in FRONTIER}
    assert all(frozenset(hop) in joined for order in orders for hop in pairwise(order))
    assert [order[0] for order in orders] == list(range(8))


def test_a_packing_is_as_heavy_as_any():
    """Against another solver, on random sets. Catches a step that stops too early, and members beyond capacities."""
    draw = np.random.default_rng(7)
    for _ in range(200):
        rows, count = draw.integers(1, 7), draw.integers(1, 12)
        capacities = [int(n) for n in draw.integers(1, 5, rows)]
        sets = [sorted({int(n) for n in draw.integers(0, rows, draw.integers(1, 5))}) for _ in range(count)]
        weights = heaviest(sets, capacities)
        load = [sum(weight for weight, of in zip(weights, sets, strict=True) if row in of) for row in range(rows)]
        assert all(weight >= 0 for weight in weights)
        assert all(carried <= most for carried, most in zip(load, capacities, strict=True))
        table = [[int(row in of) for of in sets] for row in range(rows)]
        best = -linprog([-1] * int(count), A_ub=table, b_ub=capacities).fun
        assert float(sum(weights)) == pytest.approx(best)
