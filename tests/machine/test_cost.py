"""Switches, cables and ports of machines against counts by hand and published ones."""

from __future__ import annotations

import pytest

from odonata import machine, scenario, units
from odonata.machine.cost import cost

LINKS = "".join(f'{name} = {{ bandwidth = "1 GB/s" }}\n' for name in ("node", "local", "global"))
#: Five groups of two routers with two nodes and two global ports each: one cable between each pair of groups.
DRAGONFLY = f"""\
kind = "dragonfly"
groups = 5
routers = 2
nodes_per_router = 2
global_links_per_router = 2
[fabric.links]
{LINKS}"""
#: Four leaves with three nodes each, two spines, one cable from each leaf to each spine.
FAT_TREE = """\
kind = "fat-tree"
pods = 1
leaves = 4
spines = 2
nodes_per_leaf = 3
radix = 8
[fabric.links]
node = { bandwidth = "1 GB/s" }
leaf = { bandwidth = "2 GB/s" }
"""
#: Three by two routers with two nodes each; two cables in the second dimension.
HYPERX = """\
kind = "hyperx"
dimensions = [3, 2]
dimension_links = [1, 2]
nodes_per_router = 2
[fabric.links]
node = { bandwidth = "1 GB/s" }
dim1 = { bandwidth = "1 GB/s" }
dim2 = { bandwidth = "1 GB/s" }
"""


def counted(text, tmp_path):
    (tmp_path / "own.toml").write_text(text)
    return cost(scenario.system(tmp_path / "own.toml"))


def test_a_dragonfly(tmp_path):
    of = counted(DRAGONFLY, tmp_path)
    assert [(kind.count, kind.ports) for kind in of.switches] == [(10, (5, 5))]  # 2 nodes, 1 local, 2 global
    assert {cable.name: cable.count for cable in of.cables} == {"node": 20, "local": 5, "global": 10}
    assert (of.ports, of.per_node(of.ports), of.cables_in_all) == (50, 2.5, 35)
    # Two groups with three others: six cables. The eight nodes of the two send 8 GB/s.
    assert of.halves == "2 of 5 groups and the rest"
    assert (of.bisection, of.sent) == (6 * 10**15, 8 * 10**15)


def test_failures_do_not_count(tmp_path):
    whole = counted(DRAGONFLY, tmp_path)
    text = DRAGONFLY.replace("[fabric.links]", "failed = { routers = [5] }\n[fabric.links]")
    assert counted(text, tmp_path) == whole


def test_a_fat_tree(tmp_path):
    of = counted(FAT_TREE, tmp_path)
    assert [(kind.kind, kind.count, kind.ports) for kind in of.switches] == [("leaf", 4, (5, 5)), ("spine", 2, (4, 4))]
    assert {cable.name: cable.count for cable in of.cables} == {"node": 12, "leaf": 8}
    assert (of.ports, of.radix, of.switches_in_all) == (12 + 2 * 8, 8, 6)
    # Two leaves send over two cables of 2 GB/s each.
    assert of.halves == "6 of 12 nodes and the rest"
    assert (of.bisection, of.sent) == (8 * 10**15, 6 * 10**15)


def test_a_hyperx(tmp_path):
    of = counted(HYPERX, tmp_path)
    assert {cable.name: cable.count for cable in of.cables} == {"node": 12, "dim1": 6, "dim2": 6}
    assert [(kind.count, kind.ports) for kind in of.switches] == [(6, (6, 6))]  # 2 nodes, 2 and 1 x 2 neighbours
    # Two slices of three routers, joined by three pairs of two cables.
    assert (of.bisection, of.sent) == (6 * 10**15, 6 * 10**15)


def test_one_switch_has_no_halves(tmp_path):
    text = FAT_TREE.replace("leaves = 4", "leaves = 1").replace("spines = 2", "spines = 1")
    of = counted(text, tmp_path)
    assert (of.halves, of.bisection) == ("", None)


def test_a_superpod_has_the_published_counts():
    """NVIDIA 2023, RA-11333: of four units, 32 leaves, 16 spines, and 1,024 cables between them."""
    of = cost(machine.load("superpod-h100"))
    assert {kind.kind: kind.count for kind in of.switches} == {"leaf": 32, "spine": 16}
    assert {cable.name: cable.count for cable in of.cables} == {"node": 1024, "leaf": 1024}
    assert {kind.ports for kind in of.switches} == {(64, 64)}  # switches of 64 ports, all in use
    assert of.bisection == of.sent


@pytest.mark.parametrize("name", machine.names())
def test_every_preset_has_its_ports_and_the_bisection_that_show_gives(name):
    system = machine.load(name)
    of, facts = cost(system), dict(system.table.facts())
    wired = system.describe()
    assert of.ports == sum(((wired["slot_peer_router"] >= 0) | (wired["slot_peer_node"] >= 0)).tolist())
    assert of.switches_in_all == wired["routers"] == system.table.routers_in_all()
    if "bisection" in facts:
        assert facts["bisection"].startswith(f"{units.format_bandwidth(of.bisection, 3)} each way, ")
