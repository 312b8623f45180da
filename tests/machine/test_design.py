"""Machines for the same NICs, switches and taper: against textbooks, and by counting the load of their links."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import odonata as od
from odonata.errors import InputError
from odonata.machine.cost import cost
from odonata.machine.design import Wanted, designs
from odonata.machine.design.machine import SEARCHES

RATE = "400 Gbit/s"


def shapes(nics, radix, taper=1, nics_per_node=1):
    wanted = Wanted(nics, radix, Fraction(taper), nics_per_node)
    return {of.kind: of for of in designs(wanted, RATE)}


def test_two_levels_of_a_fat_tree():
    # A tree of switches of k ports has k^2/2 NICs at most, on k leaves and k/2 spines.
    of = shapes(2048, 64)["fat-tree"]
    assert (of.design.shape["leaves"], of.design.shape["spines"], of.design.nics) == (64, 32, 2048)


@pytest.mark.parametrize("ports", [4, 8, 16])
def test_three_levels_of_a_fat_tree(ports):
    # k^3/4 NICs at most, with 5 k^2/4 switches (Al-Fares 2008).
    of = shapes(ports**3 // 4, ports)["fat-tree"]
    assert (of.design.nics, of.design.switches) == (ports**3 // 4, 5 * ports**2 // 4)
    assert cost(of.system).bisection == cost(of.system).sent


@pytest.mark.parametrize(("nics", "radix", "groups", "routers", "per_router"), [(72, 7, 9, 4, 2), (1056, 15, 33, 8, 4)])
def test_balanced_dragonflies(nics, radix, groups, routers, per_router):
    # a = 2 p = 2 h, with a h + 1 groups (Kim 2008, section 3; the second is that of Zhang 2018).
    shape = shapes(nics, radix)["dragonfly"].design.shape
    assert (shape["groups"], shape["routers"], shape["nodes_per_router"]) == (groups, routers, per_router)
    assert (shape["global_links_per_router"], shape["links_per_pair"]) == (per_router, 1)


def test_a_hyperx():
    # S = T in each dimension: half of the bisection (Ahn 2009).
    of = shapes(4096, 46)["hyperx"]
    assert of.design.shape["dimensions"] == [16, 16]
    assert of.design.shape["nodes_per_router"] == 16
    assert cost(of.system).bisection * 2 == cost(of.system).sent


WANTED = [
    (64, 12, "1", 1),
    (64, 12, "2", 1),
    (200, 16, "1", 1),
    (200, 16, "3/2", 2),
    (96, 20, "3", 4),
    (512, 32, "1", 8),
]


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_links_carry_uniform_traffic(wanted, kind):
    nics, radix, taper, nics_per_node = wanted
    of = shapes(nics, radix, taper, nics_per_node)[kind]
    needs = cost(of.system)
    assert needs.nodes * nics_per_node == of.design.nics >= nics
    assert needs.switches_in_all == of.design.switches
    assert needs.cables_in_all - of.design.nics == of.design.links
    assert max(kind.ports[1] for kind in needs.switches) <= radix
    if kind != "dragonfly":  # whose shortest paths may have two links between groups, and minimal ones have one
        for name, load in loads(of.system).items():
            assert load <= float(Fraction(taper)) + 1e-9, name


@pytest.mark.parametrize("kind", SEARCHES)
def test_minimal_paths_carry_uniform_traffic(kind):
    assert not saturated(shapes(64, 12)[kind], 85)


def test_half_of_the_links_carry_half():
    of = shapes(96, 12, 2)["dragonfly"]
    assert not saturated(of, 42)
    assert saturated(of, 85)


def saturated(of, percent):
    """Whether minimal paths cannot carry uniform random traffic of so many percent of what NICs can send."""
    app = {"pattern": "uniform-random", "message": "2 KiB", "load": f"{percent} %"}
    data = {
        "system": of.table,
        "routing": "up-down" if of.kind == "fat-tree" else "minimal",
        "job": [{"name": "all", "nodes": of.system.shape.nodes, "app": app}],
        "run": {"until": "30 us"},
        "measure": {"latency": "histogram"},
    }
    return od.run(od.Scenario.of(data)).jobs["saturated"][0]


def loads(system):
    """Mean load of the links of each class, relative to that of a NIC, if every NIC sends to all others alike and every
    shortest path carries the same.
    """
    wired = system.describe()
    routers = wired["routers"]
    slot, to = np.asarray(wired["slot_router"]), np.asarray(wired["slot_peer_router"])
    cable = to >= 0
    links = np.zeros((routers, routers))
    np.add.at(links, (slot[cable], to[cable]), 1)
    nics = np.bincount(slot[np.asarray(wired["endpoint_slot"])], minlength=routers)
    distance = np.where(np.eye(routers, dtype=bool), 0, np.inf)
    paths = np.eye(routers)
    step, reach = 0, np.eye(routers)
    while np.isinf(distance).any():
        step += 1
        reach = (reach @ links) * np.isinf(distance)
        distance[reach > 0] = step
        paths += reach
    assert step < routers
    traffic = np.outer(nics, nics) / nics.sum()
    classes = np.asarray(wired["slot_class"])
    result = {}
    for number, name in enumerate(wired["classes"]):
        of_class = cable & (classes == number)
        if not of_class.any():
            continue
        flow = 0.0
        for a, b in zip(slot[of_class], to[of_class], strict=True):
            on_path = distance[:, [a]] + 1 + distance[[b], :] == distance
            flow += (traffic * np.outer(paths[:, a], paths[b, :]) / paths)[on_path].sum()
        result[name] = flow / of_class.sum()
    return result


def test_more_taper_needs_fewer_switches():
    for kind in SEARCHES:
        counts = [shapes(400, 24, taper)[kind].design.switches for taper in (1, 2, 3)]
        assert all(after < before for before, after in pairwise(counts)), kind


def test_a_kind_without_such_a_machine_is_left_out():
    assert "fat-tree" not in shapes(1056, 15)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ((30, 64), "one switch of 64 ports"),
        ((10**7, 8), "no machine of kind"),
        ((100, 16, 1, 8), "not a whole number of nodes"),
        ((1000, 300), "at most 256 ports"),
    ],
)
def test_what_cannot_be(wanted, message):
    with pytest.raises(InputError, match=message):
        shapes(*wanted)
