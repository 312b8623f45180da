"""Placements by distance and by cut: small machines by hand, and what both promise on any machine."""

import sys

import pytest

from odonata import machine
from odonata.errors import InputError
from odonata.machine import Shape
from odonata.placement import place

TREE = {
    "kind": "fat-tree",
    "pods": 4,
    "leaves": 2,
    "spines": 2,
    "cores": 2,
    "nodes_per_leaf": 4,
    "fabric": {"links": {name: {"bandwidth": "10 GB/s"} for name in ("node", "leaf", "core")}},
}
LINKS = {"node": {"bandwidth": "10 GB/s"}, "link": {"bandwidth": "10 GB/s", "latency": "50 ns"}}


def graph(links, **more):
    return machine.load({"kind": "graph", "links": links, "fabric": {"links": LINKS}, "nodes_per_router": 1, **more})


def cliques(size):
    """Two cliques, joined by one link between their last routers. Numbers alternate between them."""
    names = [f"r{number}" for number in range(2 * size)]
    parts = names[::2], names[1::2]
    inside = [[a, b] for part in parts for at, a in enumerate(part) for b in part[:at]]
    chain = sorted(inside, key=lambda link: max(int(name[1:]) for name in link))
    return graph([*chain, [names[-2], names[-1]]])


def part_of(system, node):
    """The clique of a node, by the name of its router."""
    return int(system.table.node_names[node][1:].split("-")[0]) % 2


@pytest.mark.parametrize("size", [3, 4, 8])
@pytest.mark.parametrize("policy", ["nearest", "least-cut"])
def test_half_of_the_nodes_of_two_joined_cliques_are_one_clique(policy, size):
    if policy == "least-cut":
        pytest.importorskip("pymetis")
    system = cliques(size)
    nodes = place(policy, system, size).nodes
    assert len({part_of(system, node) for node in nodes}) == 1
    other = place(policy, system, size, busy=nodes).nodes
    assert {part_of(system, node) for node in other} == {1 - part_of(system, nodes[0])}


def test_a_ring_by_distance():
    """Nodes 3, its neighbours, then theirs; ties to the lowest number. Routers are numbered as their nodes are."""
    ring = graph([[f"r{n}", f"r{(n + 1) % 8}"] for n in range(8)])
    placed = place("nearest", ring, 5, **{"from": 3})
    assert placed.nodes == [3, 2, 4, 1, 5]
    assert placed.reason == "5 nodes anywhere, the nearest to node 3, within 2 links between routers"
    assert place("nearest", ring, 4, busy=[2, 3], **{"from": 3}).nodes == [4, 1, 5, 0]
    assert place("nearest", ring, 3).nodes == [0, 1, 7]


def test_a_ring_by_cut_is_an_arc():
    pytest.importorskip("pymetis")
    ring = graph([[f"r{n}", f"r{(n + 1) % 12}"] for n in range(12)])
    for count in (2, 3, 5, 6, 7, 11):
        nodes = set(place("least-cut", ring, count).nodes)
        assert sum((node in nodes) != ((node + 1) % 12 in nodes) for node in range(12)) == 2, nodes


def test_failed_links_are_no_links():
    ring = graph([[f"r{n}", f"r{(n + 1) % 6}"] for n in range(6)], failed={"links": ["0-1"]})
    assert place("nearest", ring, 3).nodes == [0, 5, 4]


def test_wide_links_are_cut_last():
    """A chain of four pairs: 0-1 and 2-3 are joined by fat links, though METIS sees as many links between."""
    pytest.importorskip("pymetis")
    rows = [["r0", "r1", "100 GB/s"], ["r1", "r2", "1 GB/s"], ["r2", "r3", "100 GB/s"], ["r3", "r0", "1 GB/s"]]
    assert place("least-cut", graph(rows), 2).nodes in ([0, 1], [2, 3])


@pytest.mark.parametrize("policy", ["nearest", "least-cut"])
@pytest.mark.parametrize("system", ["tiny", "zhang2018-272", TREE | {"nodes_per_leaf": 3}])
def test_they_give_distinct_free_nodes_on_any_machine(policy, system):
    if policy == "least-cut":
        pytest.importorskip("pymetis")
    system = machine.load(system)
    busy = set(range(0, system.shape.nodes, 5))
    free = system.shape.nodes - len(busy)
    for count in (1, 2, free // 2, free - 1, free):
        nodes = place(policy, system, count, busy=busy).nodes
        assert len(set(nodes)) == count
        assert not busy & set(nodes)
        assert nodes == place(policy, system, count, busy=busy).nodes
    with pytest.raises(InputError, match="do not fit"):
        place(policy, system, free + 1, busy=busy)


def test_on_a_fat_tree_both_take_a_pod():
    pytest.importorskip("pymetis")
    tree = machine.load(TREE)
    assert place("nearest", tree, 8, **{"from": 9}).nodes[0] == 9
    for policy in ("nearest", "least-cut"):
        nodes = place(policy, tree, 8).nodes
        assert len({tree.shape.group_of(node) for node in nodes}) == 1, (policy, nodes)


def test_what_is_missing_is_said(monkeypatch):
    with pytest.raises(InputError, match="the links of the machine are not known"):
        place("nearest", Shape(2, 2, 2), 2)
    with pytest.raises(InputError, match="99"):
        place("nearest", "tiny", 2, **{"from": 99})
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(InputError, match="`least-cut` needs METIS") as caught:
        place("least-cut", "tiny", 2)
    assert "odonata[all]" in (caught.value.hint or "")
