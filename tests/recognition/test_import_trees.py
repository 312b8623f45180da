"""The import of fat trees: what was exported comes back, in any order and with any names; others are refused."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.recognition import fabrics
from tests.recognition.test_import import imported, wiring

from odonata import machine
from odonata.errors import InputError
from odonata.graphs.fabric import Fabric, Link, Nic
from odonata.placement import place
from odonata.recognition import graphml, ibnetdiscover, slurm
from odonata.recognition.export import graphml_lines
from odonata.recognition.grouped import machine_of
from odonata.recognition.recognise import Recognised, recognise

if TYPE_CHECKING:
    from odonata.machine import System

FORMS = ("graphml", "ibnetdiscover", "slurm-tree")
HOST = {"send": "500 ns", "receive": "800 ns", "copy": "10 GB/s", "eager": "64 KiB", "rendezvous": "16 us"}


@st.composite
def trees(draw: st.DrawFn, *, least: int = 1) -> dict[str, Any]:
    """Small fat trees of two and three levels, with every way to attach nodes; at least so many switches at a place."""
    spines = draw(st.integers(least, 4))
    table: dict[str, Any] = {"kind": "fat-tree", "leaves": draw(st.integers(max(least, 2), 6)), "spines": spines}
    table |= {"nodes_per_leaf": draw(st.integers(min(least, 2), 4)), "leaf_links": draw(st.integers(1, 2))}
    if draw(st.booleans()):
        table |= {"pods": draw(st.integers(max(least, 2), 5)), "cores": spines * draw(st.integers(1, 3))}
        table["core_links"] = draw(st.integers(1, 2))
    rails = draw(st.sampled_from([1, 1, 2, 3]))
    if rails > 1:
        table |= {"rails": rails, "rails_on": draw(st.sampled_from(["one-leaf", "different-leaves", "planes"]))}
        if table["rails_on"] == "different-leaves":
            table["leaves"] = rails * draw(st.integers(2, 3))
    classes = ("node", "leaf", "core") if "pods" in table else ("node", "leaf")
    table["fabric"] = {"links": {name: {"bandwidth": "200 Gbit/s", "buffer": "16 KiB"} for name in classes}}
    return table


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("preset", ["superpod-h100", {"preset": "summit", "pods": 4}], ids=str)
def test_presets_come_back(preset, form):
    system = machine.load(preset)
    recognised = imported(system, form)
    again = recognised.system()
    assert (again.topology, again.fabric, again.name) == (system.topology, system.fabric, system.name)
    assert again.table.host == system.table.host
    assert not again.failures
    assert not again.unusable_nodes
    assert (recognised.notes, recognised.assumed) == ([], [])


@settings(max_examples=60)
@given(trees())
def test_every_tree_comes_back(table):
    system = machine.load(table)
    for form in FORMS:
        recognised = imported(system, form)
        again = recognised.system()
        assert again.topology == system.topology
        assert again.fabric == system.fabric
        assert wiring(again) == wiring(system)
        assert not again.failures
        assert not again.unusable_nodes
        assert not recognised.notes
        if form != "slurm-tree":
            assert imported(system, form, comments=False).system().topology == system.topology


@settings(max_examples=60)
@given(trees(least=3), st.data())
def test_what_a_tree_lacks_has_failed(table, data):
    """A router, a cable and some nodes. Every leaf keeps its last node, or there would be no place for it."""
    whole = machine.load(table)
    each = whole.shape.nodes_per_router
    slots = [(router, port, far) for router, port, far, _ in wiring(whole) if far > router]
    cut = data.draw(st.sampled_from(slots))
    router = data.draw(st.none() | st.integers(0, whole.table.routers_in_all() - 1))
    nodes = data.draw(st.sets(st.integers(0, whole.shape.nodes - 1).filter(lambda n: n % each < each - 1), max_size=3))
    failed: dict[str, Any] = {"nodes": sorted(nodes), "routers": [] if router is None else [router]}
    failed["links"] = [] if router in (cut[0], cut[2]) else [f"{cut[0]}:{cut[1]}"]
    # Two leaves at least keep all their nodes, so that their number can be seen.
    assume(whole.shape.nodes // each - len({node // each for node in nodes}) - (router is not None) >= 2)
    system = machine.load(table | {"failed": failed})
    try:
        system.describe()
    except InputError:
        assume(False)
    for form in FORMS:
        again = imported(system, form).system()
        assert again.topology == system.topology, form
        assert again.failures == system.failures, form
        assert again.unusable_nodes == system.unusable_nodes, form


def shuffled(fabric: Fabric, seed: int) -> tuple[Fabric, dict[str, str]]:
    """The same network: switches, cables and hosts in another order, with names that say nothing, without ports."""
    draw = random.Random(seed)
    other = Fabric(fabric.format)
    order = list(range(len(fabric.switches)))
    draw.shuffle(order)
    number = {}
    for switch in order:
        number[switch] = other.add_switch(f"{draw.getrandbits(64):x}", 0, group=None)
    links, nics = fabric.links[:], fabric.nics[:]
    draw.shuffle(links)
    draw.shuffle(nics)
    for link in links:
        ends = [number[link.a], number[link.b]]
        draw.shuffle(ends)
        other.add_link(Link(ends[0], -1, ends[1], -1, 0))
    hosts: dict[str, str] = {}
    for nic in nics:
        name = hosts.setdefault(nic.host, f"h{draw.getrandbits(64):x}")
        other.add_nic(Nic(name, number[nic.switch], -1, 0))
    return other, hosts


@settings(max_examples=60)
@given(trees(), st.integers(0, 2**32))
def test_order_and_names_do_not_matter(table, seed):
    system = machine.load(table)
    fabric = graphml.read("\n".join(graphml_lines(system)))
    other, hosts = shuffled(fabric, seed)
    recognised = recognise(other, "file")
    again = recognised.system()
    assert again.topology == system.topology
    assert not again.failures
    assert not again.unusable_nodes
    # Nodes of a leaf (or of a block of leaves) are neighbours, and so are those of a pod.
    node = {name: number for number, name in enumerate(recognised.nodes)}
    old = {hosts[f"node{number:0{len(str(system.shape.nodes - 1))}}"]: number for number in range(system.shape.nodes)}
    for part in (system.shape.router_of, system.shape.group_of):
        assert len({(part(node[name]), part(number)) for name, number in old.items()}) == len(
            set(map(part, node.values()))
        )


def test_placements_follow_the_leaves_of_an_imported_tree():
    """A job that fills a pod gets the nodes below its two leaf switches."""
    recognised = tree_by_hand()
    nodes = place("level-spread", recognised.system().shape, 4).nodes
    assert {recognised.nodes[node][1:3] for node in nodes} == {"00", "01"}


def tree_by_hand(skip: tuple[tuple[str, str], ...] = (), more: tuple[tuple[str, str], ...] = ()) -> Recognised:
    """Three pods of two leaves and two spines, two cores for each spine, two nodes on each leaf."""
    cables = [(f"l{p}{a}", f"m{p}{b}") for p, a, b in product(range(3), range(2), range(2))]
    cables += [(f"m{p}{b}", f"t{b}{c}") for p, b, c in product(range(3), range(2), range(2))]
    hosts = [(f"n{p}{a}{k}", f"l{p}{a}") for p, a, k in product(range(3), range(2), range(2))]
    cables = [pair for pair in cables if pair not in skip] + list(more)
    return recognise(ibnetdiscover.read(fabrics.ibnetdiscover(cables, hosts)), "file")


def test_a_tree_by_hand():
    recognised = tree_by_hand()
    sizes = {key: recognised.table[key] for key in ("kind", "pods", "leaves", "spines", "cores", "nodes_per_leaf")}
    assert sizes == {"kind": "fat-tree", "pods": 3, "leaves": 2, "spines": 2, "cores": 4, "nodes_per_leaf": 2}
    assert recognised.nodes == [f"n{p}{a}{k}" for p, a, k in product(range(3), range(2), range(2))]
    assert recognised.routers[:4] == ["l00", "l01", "m00", "m01"]
    assert recognised.routers[-4:] == ["t00", "t01", "t10", "t11"]
    assert dict(recognised.facts)["pods"] == "3"
    assert dict(recognised.facts)["between pods"] == "4 cores; a spine has 1 cable to each of 2"


def test_a_cable_that_is_missing_has_failed_and_one_too_many_is_named():
    assert tree_by_hand(skip=(("l01", "m00"),)).table["failed"] == {"links": ["1:2"]}
    (note,) = tree_by_hand(more=(("l01", "m00"),)).notes
    assert note == "1 cable more than between other switches: `l01 to m00`; left out"
    (note,) = tree_by_hand(more=(("l01", "l11"),)).notes
    assert note == "1 cable that a fat tree has no place for: `l01 to l11`; left out"


def test_what_is_irregular_is_named():
    for skip, more, words in (
        ((), (("m01", "t00"),), "the spines `m00` and `m01` of a pod are joined to the same core `t00`"),
        ((), (("t00", "u0"), ("t10", "u0")), "the switch `u0` is more than two levels above the switches with hosts"),
        (
            tuple((f"m{p}{b}", f"t{b}{c}") for p in (1, 2) for b, c in product(range(2), range(2))),
            (),
            "the fabric has 3 parts that no cable joins",
        ),
    ):
        with pytest.raises(InputError, match=words):
            tree_by_hand(skip=skip, more=more)


def test_leaves_that_lack_most_spines_are_no_tree():
    cables = [(f"l{a}", f"s{(a + b) % 4}") for a, b in product(range(4), range(2))]
    text = fabrics.ibnetdiscover(cables, [(f"n{a}", f"l{a}") for a in range(4)])
    with pytest.raises(InputError, match="the leaf `l0` is joined to 2 of the 4 spines of its pod; expected all"):
        recognise(ibnetdiscover.read(text), "file", "superpod-h100")


def test_a_spine_without_leaves_is_a_place_without_a_spine():
    recognised = tree_by_hand(skip=(("l10", "m11"), ("l11", "m11")))
    assert recognised.table["failed"] == {"routers": [7]}
    assert "1 switch below cores that is joined to no leaf: left out" in recognised.notes


def test_hosts_with_nics_in_no_order_are_refused():
    cables = [(f"l{a}", f"s{b}") for a, b in product(range(4), range(2))]
    hosts = [
        (f"n{a} mlx5_{k}", f"l{to}")
        for a, two in enumerate(((0, 1), (1, 2), (2, 3), (3, 0)))
        for k, to in enumerate(two)
    ]
    with pytest.raises(InputError, match="not all hosts of a leaf have theirs on the same leaves"):
        recognise(ibnetdiscover.read(fabrics.ibnetdiscover(cables, hosts)), "file")


def test_pods_and_leaves_without_hosts_are_places_without_nodes():
    cables = [(f"l{p}{a}", f"m{p}{b}") for p, a, b in product(range(3), range(2), range(2))]
    cables += [(f"m{p}{b}", f"t{b}") for p, b in product(range(3), range(2))]
    hosts = [(f"n{p}{a}", f"l{p}{a}") for p, a in ((0, 0), (1, 0), (1, 1))]
    recognised = recognise(ibnetdiscover.read(fabrics.ibnetdiscover(cables, hosts)), "file")
    assert recognised.nodes == ["n00", None, "n10", "n11", None, None]
    assert recognised.table["failed"] == {"nodes": [1, "4-5"]}
    assert recognised.notes == ["assumed: 1 switch without hosts below the spines of one pod is a leaf"]


def test_comments_with_sizes_that_the_file_cannot_have_are_refused():
    system = machine.load({"preset": "superpod-h100", "failed": {"routers": [1]}})
    text = "\n".join(ibnetdiscover.lines(system))
    assert recognise(ibnetdiscover.read(text), "file").table["failed"]["routers"] == [1]
    text = text.replace("# odonata: radix = 64\n", "")
    for old, new, words in (
        (
            "leaves = 32",
            "leaves = 3200000000",
            "describe no machine: 12,800,000,000 nodes are more than the 16,777,216",
        ),
        ("spines = 16", "spines = 3200000", "describe a fat-tree of 3,200,032 switches, but the file lists 47"),
        ("leaves = 32", "leaves = -1", "describe no machine: `leaves`: a count must be between 1"),
        ("leaves = 32", 'leaves = "x"', "describe no machine: `leaves`: "),
    ):
        assert f"# odonata: {old}" in text
        with pytest.raises(InputError, match=words):
            recognise(ibnetdiscover.read(text.replace(f"# odonata: {old}", f"# odonata: {new}")), "file")


TREE = "\n".join(
    [f"SwitchName=l{n} Nodes=n[{2 * n}-{2 * n + 1}]" for n in range(4)]
    + ["SwitchName=pod0 Switches=l[0-1]", "SwitchName=pod1 Switches=l[2-3]", "SwitchName=top Switches=pod[0-1]"]
)


def test_a_tree_of_slurm_takes_its_cables_from_the_system_that_it_is_like(tmp_path):
    like = tmp_path / "mine.toml"
    like.write_text(
        'kind = "fat-tree"\npods = 8\nleaves = 8\nspines = 4\ncores = 8\nnodes_per_leaf = 16\n'
        '[fabric.links.node]\nbandwidth = "25 GB/s"\nbuffer = "16 KiB"\n'
        '[fabric.links.leaf]\nbandwidth = "25 GB/s"\nbuffer = "16 KiB"\n'
        '[fabric.links.core]\nbandwidth = "25 GB/s"\nbuffer = "16 KiB"\n'
    )
    recognised = machine_of(slurm.read(TREE), "file", str(like))
    keys = ("pods", "leaves", "spines", "cores", "nodes_per_leaf")
    assert [recognised.table[key] for key in keys] == [2, 2, 4, 8, 2]
    assert recognised.nodes == [f"n{n}" for n in range(8)]
    assert recognised.sources["pods"] == "recognised in file (confidence: high)"
    assert recognised.sources["cores"].startswith("assumed: as in ")
    one_pod = "\n".join([*TREE.splitlines()[:2], "SwitchName=pod0 Switches=l[0-1]"])
    recognised = machine_of(slurm.read(one_pod), "file", str(like))
    assert "cores" not in recognised.table
    assert "core" not in recognised.table["fabric"]["links"]
    with pytest.raises(InputError, match="2 groups of leaf switches, but `superpod-h100` is a fat tree of two levels"):
        machine_of(slurm.read(TREE), "file", "superpod-h100")


def test_the_rails_of_a_system_that_a_tree_of_slurm_is_like():
    """A line of the file is a block of two leaves, as `odonata export` writes it."""
    recognised = machine_of(slurm.read(TREE), "file", "summit")
    assert (recognised.table["pods"], recognised.table["leaves"], recognised.table["nodes_per_leaf"]) == (2, 4, 2)
    assert recognised.system().shape.nodes == 8


def test_a_system_of_another_kind_is_refused():
    system: System = machine.load({"preset": "summit", "pods": 3})
    with pytest.raises(InputError, match="`lumi` is a dragonfly, but the file describes a fat-tree"):
        imported(system, "graphml", comments=False, like="lumi")
