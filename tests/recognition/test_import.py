"""The import of a fabric: what was exported comes back, what was taken away has failed, what was added is listed."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.recognition import fabrics

import odonata as od
from odonata import machine
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.graphs.fabric import Fabric, Link
from odonata.recognition import WRITTEN, Recognised, cray, graphml, ibnetdiscover, import_fabric, node_map, slurm
from odonata.recognition.grouped import Grouping, machine_of
from odonata.recognition.recognise import recognise

if TYPE_CHECKING:
    from odonata.machine import System

#: Formats that list every cable, and those that list groups of nodes.
READ = {"graphml": graphml.read, "ibnetdiscover": ibnetdiscover.read}
GROUPS = {"slurm-tree": slurm.read, "slurm-block": slurm.read, "node-map": node_map.read}


def read_cray(text: str) -> Fabric:
    return cray.read_interconnect(text) if cray.is_interconnect(text) else cray.read_point_to_point(text)


COMMENT = re.compile(r"^# odonata: .*\n", re.MULTILINE)


def text(system: System, form: str, *, comments: bool = True) -> str:
    """An exported machine; without comments the file is one that another tool could have written."""
    written = "".join(f"{line}\n" for line in WRITTEN[form].lines(system))
    if comments:
        return written
    return re.sub(r'<data key="g_odonata">[^<]*</data>', "", COMMENT.sub("", written))


def imported(system: System, form: str, *, comments: bool = True, like: str | None = None) -> Recognised:
    readers = {**READ, **GROUPS, "cray": read_cray}
    parsed = readers[form](text(system, form, comments=comments))
    return machine_of(parsed, "file", like) if isinstance(parsed, Grouping) else recognise(parsed, "file", like)


def wiring(system: System) -> list[tuple[int, int, int, int]]:
    wired = system.describe()
    names = ("slot_router", "slot_port", "slot_peer_router", "slot_peer_node")
    return list(zip(*(wired[name].tolist() for name in names), strict=True))


def broken(table: dict[str, Any], links: list[int], nodes: list[int], router: int | None) -> System:
    """A machine that lacks cables, nodes and a router, each given by a number modulo how many there are."""
    whole = machine.load(table)
    slots = [(a, port, b) for a, port, b, _ in wiring(whole) if b > a]
    routers = []
    if router is not None:
        # Without its last router or leaf, the last group would be a smaller one that is whole.
        inside = [r for r in range(slots[-1][2]) if whole.table.group_of_router(r) < whole.shape.groups - 1]
        routers = [inside[router % len(inside)]]
    cut = {slots[n % len(slots)] for n in links}
    failed = {
        "links": [f"{a}:{port}" for a, port, b in sorted(cut) if a not in routers and b not in routers],
        "nodes": sorted({n % whole.shape.nodes for n in nodes}),
        "routers": routers,
    }
    system = machine.load(table | {"failed": failed})
    try:
        system.describe()
    except InputError:
        assume(False)
    return system


@pytest.mark.parametrize("form", [*READ, *GROUPS, "cray"])
@pytest.mark.parametrize("preset", fabrics.PRESETS, ids=lambda p: p if isinstance(p, str) else p["preset"])
def test_every_preset_comes_back(preset, form):
    system = machine.load(preset)
    if form == "cray" and system.table.kind == "dragonfly-plus":
        with pytest.raises(InputError, match="lists of Cray describe dragonflies, and cascades of one NIC a node"):
            text(system, form)
        return
    recognised = imported(system, form)
    again = recognised.system()
    assert again.topology == system.topology
    assert again.fabric == system.fabric
    assert again.table.host == system.table.host
    assert again.name == system.name
    assert not again.failures
    assert not again.unusable_nodes
    assert not recognised.notes
    assert not recognised.assumed


@pytest.mark.parametrize("form", READ)
@pytest.mark.parametrize("preset", ["tiny", "zhang2018-528", {"preset": "theta", "groups": 2}, "marconi100"], ids=str)
def test_the_wiring_is_recognised_without_comments(preset, form):
    """A file of another tool: the same wires, with the numbers of links from a preset of the same kind."""
    system = machine.load(preset)
    recognised = imported(system, form, comments=False)
    assert wiring(recognised.system()) == wiring(system)
    assert {key for key, _, _ in recognised.assumed} >= {"fabric.packet", "fabric.router_delay", "fabric.channels"}
    assert all(source.startswith("assumed: as in ") for _, _, source in recognised.assumed)


def test_numbers_that_the_file_lacks_come_from_the_system_that_is_named():
    recognised = imported(machine.load("zhang2018-272"), "graphml", comments=False, like="zhang2018-544")
    assert recognised.table["fabric"]["packet"] == "1 KiB"
    assert recognised.sources["fabric.packet"].startswith("assumed: as in zhang2018-544: the authors' published SST")
    assert recognised.table["host"]["eager"] == "12 KB"
    assert "host.eager" in {key for key, _, _ in recognised.assumed}
    with pytest.raises(InputError, match="`leonardo` is a dragonfly-plus, but the file describes a dragonfly"):
        imported(machine.load("zhang2018-272"), "graphml", comments=False, like="leonardo")


@settings(max_examples=40)
@given(
    fabrics.tables(),
    st.lists(st.integers(0, 10**6), max_size=3),
    st.lists(st.integers(0, 10**6), max_size=2),
    st.none() | st.integers(0, 10**6),
    st.sampled_from([*READ, *GROUPS, "cray"]),
)
def test_what_is_taken_away_has_failed(table, links, nodes, router, form):
    assume(form != "cray" or table["kind"] != "dragonfly-plus")
    comes_back(broken(table, links, nodes, router), form)


def comes_back(system: System, form: str) -> None:
    again = imported(system, form).system()
    assert again.topology == system.topology
    assert again.failures == system.failures
    assert again.unusable_nodes == system.unusable_nodes
    assert wiring(again) == wiring(system)


#: Machines that lost so much that their cables look like those of another one.
CUT = {
    "groups that hang together by one cable": (
        {"kind": "dragonfly", "groups": 4, "routers": 4, "links_per_pair": 2, "global_links_per_router": 3},
        {"links": [97, 159], "router": 537},
    ),
    "no pair of groups with all cables": (
        {"kind": "dragonfly", "groups": 4, "routers": 4, "links_per_pair": 2, "global_links_per_router": 3},
        {"links": [97, 159], "router": 0},
    ),
    "a spine without leaves": (
        {"kind": "dragonfly-plus", "groups": 4, "leaves": 2, "spines": 3, "global_links_per_spine": 3},
        {"links": [0], "router": 1},
    ),
    "a spine that looks like a core": (
        {"kind": "dragonfly-plus", "groups": 4, "leaves": 2, "spines": 2, "links_per_pair": 4}
        | {"global_links_per_spine": 6},
        {"links": [0], "router": 1},
    ),
    "a spine that looks like a core of a smaller tree": (
        {"kind": "dragonfly-plus", "groups": 4, "leaves": 2, "spines": 2, "global_links_per_spine": 3},
        {"links": [0], "router": 1},
    ),
}


@pytest.mark.parametrize("form", READ)
@pytest.mark.parametrize(("table", "lost"), CUT.values(), ids=CUT)
def test_a_machine_that_has_lost_much_comes_back(table, lost, form):
    each = {"nodes_per_leaf": 2} if table["kind"] == "dragonfly-plus" else {"nodes_per_router": 1}
    system = broken(table | each | {"fabric": fabrics.fabric(table["kind"])}, lost["links"], [], lost["router"])
    comes_back(system, form)


@pytest.mark.parametrize("form", [*READ, "cray"])
def test_a_whole_group_may_have_failed(form):
    table = {"kind": "dragonfly", "groups": 5, "routers": 4, "nodes_per_router": 2, "global_links_per_router": 2}
    table |= {"fabric": fabrics.fabric("dragonfly"), "failed": {"routers": [4, 5, 6, 7]}}
    comes_back(machine.load(table), form)


def test_a_spine_without_leaves_is_known_by_its_name():
    """Without comments: names give its level and its group; before it was left out, and had failed."""
    table = {"kind": "dragonfly-plus", "groups": 4, "leaves": 2, "spines": 3, "nodes_per_leaf": 2}
    table |= {"global_links_per_spine": 3, "links_per_pair": 3, "fabric": fabrics.fabric("dragonfly-plus")}
    system = machine.load(table | {"failed": {"links": ["0-2"], "routers": [1]}})
    recognised = imported(system, "ibnetdiscover", comments=False, like="tiny")
    assert recognised.system().failures == system.failures
    assert wiring(recognised.system()) == wiring(system)
    assert not recognised.notes


def test_groups_of_which_too_few_are_joined_are_named():
    table, lost = CUT["groups that hang together by one cable"]
    table = table | {"nodes_per_router": 1, "fabric": fabrics.fabric("dragonfly")}
    system = broken(table, lost["links"], [], lost["router"])
    words = "in 4 groups, but cables join only 67% of their pairs, not the groups of `g1-r0 and g2-r0`, `g2-r0 and"
    with pytest.raises(InputError, match=words):
        imported(system, "ibnetdiscover", comments=False)


def test_a_cable_more_on_a_machine_that_lacks_some_is_listed():
    """All cables of the machine are in the list, those that are missing have failed."""
    system = machine.load({"preset": "tiny", "failed": {"links": ["2-6", "0-2"], "routers": [5]}})
    fabric = ibnetdiscover.read(text(system, "ibnetdiscover"))
    ends = [number for number, switch in enumerate(fabric.switches) if switch.name in ("g0-spine1", "g2-spine0")]
    fabric.links.append(Link(*(end for number in ends for end in (number, -1)), 0))
    again = recognise(fabric, "file").system()
    expected = between_groups(system)
    expected[3, 10] += 1
    assert between_groups(again) == expected
    assert "global_links" in again.topology
    assert again.failures["routers"] == [5]
    assert len(again.failures["links"]) == 2


def test_names_of_others_leave_the_sizes_to_the_cables():
    """Comments state the sizes, but no switch has a name of Odonata: what the cables show counts."""
    system = machine.load({"preset": "zhang2018-272", "failed": {"links": ["0-1"]}})
    changed = text(system, "ibnetdiscover").replace('"g', '"sw')
    again = recognise(ibnetdiscover.read(changed), "file").system()
    assert again.topology == system.topology
    assert again.failures == system.failures


def between_groups(system: System) -> Counter[tuple[int, int]]:
    """The cables between groups that work."""
    wired = system.describe()
    group = wired["router_group"].tolist()
    dead = wired.get("slot_failed", [False] * len(wired["slot_router"]))
    cables = zip(wiring(system), dead, strict=True)
    return Counter((a, b) for (a, _, b, _), failed in cables if b > a and group[a] != group[b] and not failed)


@settings(max_examples=20)
@given(fabrics.tables(), st.integers(0, 10**6), st.lists(st.integers(0, 10**6), min_size=1, max_size=3))
def test_what_is_added_between_groups_is_listed(table, lost, added):
    """One cable less and some more: all are listed, those inside groups are as they were."""
    system = machine.load(table)
    fabric = graphml.read(text(system, "graphml"))
    group = [system.table.group_of_router(router) for router in range(len(fabric.switches))]
    ends = [r for r in range(len(group)) if system.table.global_ports_of(r)]
    pairs = [(a, b) for a in ends for b in ends if a < b and group[a] != group[b]]
    expected = between_groups(system)
    more = [pairs[n % len(pairs)] for n in added]
    fabric.links += [Link(a, -1, b, -1, 0) for a, b in more]
    between = [at for at, link in enumerate(fabric.links) if group[link.a] != group[link.b] and link.port_a >= 0]
    gone = fabric.links.pop(between[lost % len(between)])
    expected[gone.a, gone.b] -= 1
    expected.update(more)
    recognised = recognise(fabric, "file")
    assert between_groups(recognised.system()) == +expected
    assert ("global_links" in recognised.table) != ("arrangement" in recognised.table)


@pytest.mark.parametrize("old", ["g0-spine1", "g1-leaf0", "node07"])
@pytest.mark.parametrize("new", ["g#-spine1", "#-#", "g9", "1-2-3-4", "-", "spine"])
@pytest.mark.parametrize("form", READ)
def test_names_may_have_any_numbers(old, new, form):
    """Also fewer than the others, where a sign that stands for a number makes them look alike."""
    system = machine.load("tiny")
    changed = text(system, form, comments=False).replace(f"{old}<", f"{new}<").replace(f'"{old}', f'"{new}')
    again = imported_text(changed, form).system()
    assert (again.table.kind, again.shape.nodes) == ("dragonfly-plus", 16)
    assert again.describe()["links"] == system.describe()["links"]


def imported_text(changed: str, form: str) -> Recognised:
    return recognise(READ[form](changed), "file")


@pytest.mark.parametrize("form", READ)
def test_listed_cables_keep_their_ports(form):
    """The list comes back in an order that gives every router the same ports."""
    links = [[6, 0], [1, 7], [2, 8], [3, 11], [4, 9], [5, 10], [0, 9], [6, 10]]
    table = {"kind": "dragonfly", "groups": 3, "routers": 4, "nodes_per_router": 2, "global_links_per_router": 3}
    system = machine.load(table | {"global_links": links, "fabric": fabrics.fabric("dragonfly")})
    again = imported(system, form).system()
    assert again.topology["global_links"] != again.topology.get("arrangement")
    assert wiring(again) == wiring(system)


def test_a_drawn_arrangement_is_found_by_its_seed():
    table = {"preset": "zhang2018-544", "arrangement": "random", "arrangement_seed": 5}
    system = machine.load(table)
    assert imported(system, "ibnetdiscover").system().topology == system.topology
    alone = imported(system, "ibnetdiscover", comments=False)
    assert "global_links" in alone.table
    assert between_groups(alone.system()) == between_groups(system)


def test_a_cable_that_has_no_place_is_left_out_and_named():
    fabric = graphml.read(text(machine.load("tiny"), "graphml"))
    fabric.links.append(Link(0, -1, 6, -1, 0))
    recognised = recognise(fabric, "file")
    assert recognised.notes == ["1 cable that a dragonfly-plus has no place for: `g0-leaf0 to g1-spine0`; left out"]
    assert recognised.system().topology == machine.load("tiny").topology


def test_a_parallel_cable_that_others_lack_is_left_out_and_named():
    fabric = graphml.read(text(machine.load("zhang2018-272"), "graphml"))
    fabric.links.append(Link(0, -1, 1, -1, 0))
    recognised = recognise(fabric, "file")
    assert recognised.notes == ["1 cable more inside groups than between other switches: `g0-r0 to g0-r1`; left out"]


def test_links_of_another_speed_are_said():
    fabric = graphml.read(text(machine.load("tiny"), "graphml"))
    fabric.links[0].bandwidth = 10**15
    (note,) = recognise(fabric, "file").notes
    assert note == "1 link of class `local` with another bandwidth: taken as 5.25 GiB/s"


def test_bandwidths_of_infiniband():
    """Widths and lanes of the architecture: 4xHDR carries 200 Gbit/s, 4xFDR 54.5 and 4xSDR 8."""
    form = '[1] "S-02"[1] # "a" lid 5 {}'
    speeds = {"4xHDR": 200e9, "4xNDR": 400e9, "4xEDR": 100e9, "4xSDR": 8e9, "1xHDR": 50e9, "4xFDR10": 40e9}
    for speed, bits in speeds.items():
        assert ibnetdiscover._bandwidth(form.format(speed)) == round(bits / 8 * 1e6)
    assert ibnetdiscover._bandwidth("4xFDR") == pytest.approx(54.5454e9 / 8 * 1e6, rel=1e-5)
    assert ibnetdiscover._bandwidth("lid 7") is None


def by_hand(**changes: str) -> str:
    """Two groups of two leaves and a spine, names as switches have them in production; hosts with two adapters."""
    cables = [
        ("MF0;ib-{0}-l1:MQM8790/U1", "MF0;ib-{0}-s1:MQM8790/U1"),
        ("MF0;ib-{0}-l2:MQM8790/U1", "MF0;ib-{0}-s1:MQM8790/U1"),
    ]
    named = [(a.format(c), b.format(c)) for c in (1, 2, 3) for a, b in cables]
    named += [("MF0;ib-1-s1:MQM8790/U1", "MF0;ib-2-s1:MQM8790/U1")]
    named += [("MF0;ib-2-s1:MQM8790/U1", "MF0;ib-3-s1:MQM8790/U1")]
    named += [("MF0;ib-1-s1:MQM8790/U1", "MF0;ib-3-s1:MQM8790/U1")]
    hosts = [
        (f"lrdn{c}{leaf}{n} mlx5_{card}", f"MF0;ib-{c}-l{leaf}:MQM8790/U1")
        for c in (1, 2, 3)
        for leaf in (1, 2)
        for n in (1, 2)
        for card in (0, 1)
    ]
    return fabrics.ibnetdiscover(named, hosts)


def test_adapters_of_a_host_on_one_leaf_are_one_link():
    """As in the preset `leonardo`: a Dragonfly+ has nodes of one NIC."""
    recognised = recognise(ibnetdiscover.read(by_hand()), "file")
    assert recognised.nodes == [f"lrdn{c}{leaf}{n}" for c in (1, 2, 3) for leaf in (1, 2) for n in (1, 2)]
    assert recognised.routers[:3] == [f"MF0;ib-1-{name}:MQM8790/U1" for name in ("l1", "l2", "s1")]
    assert machine.load(recognised.table).fabric["links"]["node"]["bandwidth"] == 2 * 25 * 10**15
    assert "assumed: the 2 links of a host are one link with the bandwidth of all" in recognised.notes
    assert recognised.table["radix"] == 40


def test_the_node_name_map_gives_names():
    names = ibnetdiscover.read_names(
        '# a comment\n0x0000000000000100 "leaf 1"\n0x10000 "first mlx5_0"\n0x10001 first\n'
    )
    recognised = recognise(ibnetdiscover.read(by_hand(), names), "file")
    assert "leaf 1" in recognised.routers
    assert "first" in recognised.nodes


def test_what_is_no_machine_of_this_kind_is_refused_with_what_it_is():
    for fabric, words in (
        (fabrics.torus(4, 4), "this looks like a torus, a mesh or a hypercube: 16 switches with hosts, joined to 4"),
        (fabrics.torus(4, 4, 4), "this looks like a torus, a mesh or a hypercube: 64 switches with hosts, joined to 6"),
        (fabrics.torus(3, 5), "neither a dragonfly nor a cascade: 15 switches with hosts, joined to 4 others each"),
        (fabrics.ibnetdiscover([("a", "b"), ("c", "d")], [("n", "a"), ("m", "c")]), "the fabric has 2 parts"),
        (fabrics.ibnetdiscover([("a", "b")], []), "no switch has a host"),
    ):
        with pytest.raises(InputError, match=words.replace("(", r"\(")):
            recognise(ibnetdiscover.read(fabric), "file")


def test_a_single_group_needs_to_be_told_from_a_fat_tree():
    system = machine.load({"preset": "tiny", "groups": 1})
    assert imported(system, "graphml").system().shape == system.shape
    tree = imported(system, "graphml", comments=False).system()
    assert (tree.table.kind, tree.shape.nodes) == ("fat-tree", system.shape.nodes)
    again = imported(system, "graphml", comments=False, like="tiny").system()
    assert again.shape == system.shape


RTR = """\
c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l00(0:0:1)
c0-0c0s0a0l01(0:0:0) blue -> unused
c0-0c0s0a0l50(0:0:0) ptile -> processor
c0-0c0s0a0l51(0:0:0) ptile -> processor
c0-0c0s1a0l00(0:0:1) green -> c0-0c0s0a0l00(0:0:0)
"""


def test_tiles_of_an_aries_by_hand():
    fabric = cray.read_interconnect(RTR)
    assert [(s.name, s.position) for s in fabric.switches] == [("c0-0c0s0a0", (0, 0)), ("c0-0c0s1a0", (0, 1))]
    (link,) = fabric.links
    assert (link.a, link.port_a, link.b, link.port_b, link.class_) == (0, 0, 1, 0, "chassis")
    assert [nic.host for nic in fabric.nics] == ["c0-0c0s0n0"], "two tiles are one NIC"
    alone = cray.read_interconnect("\n".join(row for row in RTR.splitlines() if "ptile" not in row))
    assert len(alone.nics) == 8
    assert alone.notes == ["assumed: 4 nodes on every router, as on an Aries; the file has no ptiles"]


P2P = """\
"#\tdate run: \tTue",,,,,,
cable_id,src_conn_a,src_conn_b,dst_conn_a,dst_conn_b,link_type,src_group,dst_group
1,x1000c0r1j3,none,x1000.c0.r3.j4,none,local,0,0
2,x1000c0r1j100,none,x1000c0s0b0n0h0,x1000c0s0b0n1h0,edge,0,n/a
3,x1000c0r1j5p1,none,x1001c0r1j5p0,none,global,0,1
"""


def test_cables_of_slingshot_by_hand():
    """A cable between jacks is two links, an edge cable one for each NIC."""
    fabric = cray.read_point_to_point(P2P)
    assert [(s.name, s.group) for s in fabric.switches] == [
        ("x1000c0r1", "0"),
        ("x1000c0r3", "0"),
        ("x1001c0r1", "1"),
    ]
    assert [(x.a, x.port_a, x.b, x.port_b) for x in fabric.links] == [(0, 6, 1, 8), (0, 7, 1, 9), (0, 11, 2, 10)]
    assert [(nic.host, nic.switch, nic.port) for nic in fabric.nics] == [
        ("x1000c0s0b0n0", 0, 200),
        ("x1000c0s0b0n1", 0, 201),
    ]


TREE = """\
SwitchName=l1 Nodes=n[1-2]
SwitchName=l2 Nodes=n[3-4]
SwitchName=l3 Nodes=n[5-6]
SwitchName=l4 Nodes=n[7-8]
SwitchName=isl1 Switches=l[1-2]
SwitchName=isl2 Switches=l[3-4]
SwitchName=top Switches=isl[1-2]
"""


def test_a_topology_in_yaml_is_that_of_the_lines(tmp_path: Path) -> None:
    """Catches a `topology.yaml` that is not recognised, and switches or nodes that its reader loses."""
    switches = [dict(pair.split("=") for pair in line.split()) for line in TREE.splitlines() if "SwitchName" in line]
    names = {"SwitchName": "- switch", "Nodes": "  nodes", "Switches": "  children"}
    rows = [f"      {names[key]}: {value}" for switch in switches for key, value in switch.items()]
    path = tmp_path / "topology.yaml"
    path.write_text("\n".join(["- topology: default", "  tree:", "    switches:", *rows]) + "\n")
    (tmp_path / "topology.conf").write_text(TREE)
    found, expected = (import_fabric(file, like="tiny") for file in (path, tmp_path / "topology.conf"))
    assert found.system().topology == expected.system().topology
    assert wiring(found.system()) == wiring(expected.system())


def test_a_tree_needs_a_system_that_gives_its_cables():
    with pytest.raises(InputError, match=r"2 groups, 4 leaf switches, 8 nodes\), but not how switches are joined"):
        machine_of(slurm.read(TREE), "file")
    recognised = machine_of(slurm.read(TREE), "file", "tiny")
    assert recognised.nodes == [f"n{number}" for number in range(1, 9)]
    assert (recognised.table["groups"], recognised.table["leaves"], recognised.table["spines"]) == (2, 2, 2)
    assert recognised.sources["groups"] == "recognised in file (confidence: high)"
    usual = "assumed: as in tiny, where it is assumed: the smallest machine with a choice at every turn"
    assert recognised.sources["spines"] == usual


@pytest.mark.parametrize(
    ("like", "routers", "note"),
    [
        ("lumi", 16, "4 leaf switches of the file are 16 routers, because lumi has 4 NICs a node on different routers"),
        ("polaris", 8, "4 leaf switches of the file are 8 routers, because polaris has 2 NICs a node on different"),
        ("summit", 8, "4 leaf switches of the file are 8 leaves, because summit has 2 NICs a node on different leaves"),
        ("zhang2018-272", 4, None),
        ("tiny", 4, None),
    ],
)
def test_leaf_switches_that_become_more_are_said(like, routers, note):
    """A system with NICs on different routers makes several of each line of the file."""
    recognised = machine_of(slurm.read(TREE), "file", like)
    table = recognised.system().table
    assert sum(bool(table.nodes_of_router(router)) for router in range(table.routers_in_all())) == routers
    assert [text.partition(";")[0].startswith(note or "") for text in recognised.notes] == [True] * (note is not None)
    alone = machine_of(slurm.read(TREE), "file", like, rails=1)
    table = alone.system().table
    assert sum(bool(table.nodes_of_router(router)) for router in range(table.routers_in_all())) == 4
    assert alone.notes == []
    assert "rails" not in alone.table
    assert note is None or recognised.notes[0].endswith("; --rails 1 keeps 4")


def test_the_number_of_nics_may_be_given(tmp_path):
    two = machine_of(slurm.read(TREE), "file", "lumi", rails=2)
    assert (two.table["rails"], two.sources["rails"]) == (2, "given: --rails")
    assert two.notes == [
        "4 leaf switches of the file are 8 routers, because --rails gives 2 NICs a node on different routers; "
        "--rails 1 keeps 4"
    ]
    file = tmp_path / "file"
    file.write_text(text(machine.load("tiny"), "ibnetdiscover"))
    with pytest.raises(InputError, match="the file lists the NICs of every host"):
        import_fabric(file, rails=1)
    with pytest.raises(InputError, match="comments of Odonata in the file give the NICs of a node"):
        machine_of(slurm.read(text(machine.load("tiny"), "slurm-tree")), "file", rails=1)


def test_fabrics_that_no_switch_joins_are_said():
    """Slurm would start no job on both; a machine joins them."""
    two = TREE.replace("SwitchName=top Switches=isl[1-2]\n", "")
    recognised = machine_of(slurm.read(two), "file", "tiny")
    assert recognised.notes == ["assumed: the 2 fabrics of the file, which no switch joins, are one machine"]
    assert machine_of(slurm.read(TREE), "file", "tiny").notes == []
    leaves = "SwitchName=s1 Nodes=n[1-4]\nSwitchName=s2 Nodes=n[5-8]\n"
    said = "assumed: the 2 fabrics of the file, which no switch joins, are one machine"
    assert said in machine_of(slurm.read(leaves), "file", "summit").notes
    assert said not in machine_of(slurm.read(leaves + "SwitchName=top Switches=s[1-2]\n"), "file", "summit").notes
    assert said not in machine_of(slurm.read(leaves.splitlines()[0]), "file", "summit").notes


def test_nodes_of_a_switch_that_joins_others_are_kept_or_refused():
    """They were dropped. In a tree nodes are on leaf switches; in a list of all switches a spine may have hosts."""
    above = TREE.replace("SwitchName=isl2 ", "SwitchName=isl2 Nodes=gw[1-2] ")
    with pytest.raises(InputError, match="the switch `isl2` has both `Switches=` and nodes that are on no leaf switch"):
        slurm.read(above)
    listed = "SwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\nSwitchName=s1 Switches=l[1-2] Nodes=gw,n[1-2]\n"
    fabric = slurm.read(listed + "SwitchName=s2 Switches=l[1-2]\n")
    assert isinstance(fabric, Fabric)
    assert {nic.host: fabric.switches[nic.switch].name for nic in fabric.nics} == {"n1": "l1", "n2": "l2", "gw": "s1"}


def test_groups_of_different_sizes_have_places_without_nodes():
    """As the cells of Leonardo that hold two partitions: the largest leaf and the largest group count."""
    rows = ["node,rack,cell,switch", "a1,9,1,10", "a2,9,1,10", "a3,9,1,10", "b1,9,1,11", "c1,9,2,20", "c2,9,2,20"]
    rows += ["d1,9,3,30", "e1,9,3,31"]
    recognised = machine_of(node_map.read("\n".join(rows)), "file")
    assert recognised.nodes == [
        "a1",
        "a2",
        "a3",
        "b1",
        None,
        None,
        "c1",
        "c2",
        *[None] * 4,
        "d1",
        None,
        None,
        "e1",
        None,
        None,
    ]
    assert recognised.table["failed"] == {"routers": [21], "nodes": ["4-5", 8, "13-14", "16-17"]}
    assert recognised.routers[:2] == ["10", "11"]


def test_every_switch_of_an_infiniband_fabric_in_a_topology_of_slurm():
    """What `slurmibtopology` writes: switches without nodes list all their neighbours, so a cable may stand twice."""
    rows = [f"SwitchName=l{g}{leaf} Nodes=n{g}{leaf}[0-1]" for g in range(3) for leaf in range(2)]
    for g in range(3):
        others = ",".join(f"s{other}" for other in range(3) if other != g)
        rows.append(f"SwitchName=s{g} Switches=l{g}[0-1],{others}")
        rows.append(f"SwitchName=t{g} Switches=l{g}[0-1]")
    fabric = slurm.read("\n".join(rows))
    assert isinstance(fabric, Fabric)
    recognised = recognise(fabric, "file")
    sizes = {key: recognised.table[key] for key in ("groups", "leaves", "spines", "nodes_per_leaf")}
    assert sizes == {"groups": 3, "leaves": 2, "spines": 2, "nodes_per_leaf": 2}
    assert recognised.system().describe()["links"] == {"node": 12, "local": 12, "global": 3}


SCENARIO = """\
system = "{system}"
routing = "{routing}"
fabric = {{ channels = 6 }}
[[job]]
name = "a"
nodes = 12
place = "random"
app = {{ pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 10 }}
[run]
seed = 3
[measure]
latency = "every-message"
"""


@pytest.mark.parametrize(("preset", "routing"), [("tiny", "fpar"), ("zhang2018-272", "ugal-l")])
def test_a_run_on_the_imported_machine_gives_the_same_bytes(preset, routing, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("given.toml").write_text(
        f'system = {{ preset = "{preset}", failed = {{ links = ["0-2"], nodes = [5] }} }}\n'
        + SCENARIO.format(system="", routing=routing).partition("\n")[2]
    )
    assert main(["export", "given.toml", "-o", "fabric.ibnetdiscover"]) == 0
    assert main(["cluster", "import", "fabric.ibnetdiscover", "-o", "mine.toml", "--names", "names.csv"]) == 0
    out = capsys.readouterr().out
    assert "missing         1 cable, 1 place for nodes" in out.replace("missing            ", "missing         ")
    Path("mine-run.toml").write_text(SCENARIO.format(system="mine.toml", routing=routing))
    given, two = od.run("given.toml"), od.run("mine-run.toml")
    assert given.messages.equals(two.messages)
    assert given.jobs.equals(two.jobs)
    assert "node,5,\n" in Path("names.csv").read_text()


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.graphml").write_text(text(machine.load("tiny"), "graphml", comments=False))
    assert main(["cluster", "import", "a.graphml", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["topology"], told["nodes"], told["routers"], told["groups"]) == ("dragonfly-plus", 16, 16, 4)
    assert told["links"] == {"node": 16, "local": 16, "global": 12}
    assert told["failed"] == {"links": [], "routers": [], "nodes": []}
    assert {row["key"] for row in told["assumed"]} >= {"fabric.packet", "fabric.links.node.buffer"}
    assert main(["cluster", "import", "a.graphml"]) == 0
    out = capsys.readouterr().out
    assert "between groups  arrangement `linear`, 2 cables between every two groups" in out
    assert re.search(r"fabric.packet +4 KiB +assumed|fabric.packet +4 KiB +as in leonardo, where it is assumed", out)
    assert out.endswith("nothing is written; -o FILE.toml writes the system file\n")
    assert main(["cluster", "import", "a.graphml", "-o", "a.toml"]) == 0
    assert main(["cluster", "import", "a.graphml", "-o", "a.toml"]) == 0, "the same again"
    Path("a.toml").write_text("name = 'mine'\n")
    assert main(["cluster", "import", "a.graphml", "-o", "a.toml"]) == 2
    assert main(["cluster", "import", "a.graphml", "-o", "a.toml", "--force"]) == 0
    assert main(["cluster", "import", "a.graphml", "-o", "a.txt"]) == 2
    assert main(["export", "tiny", "-o", "a.xyz"]) == 2
    assert main(["export", "tiny", "-o", "a.xyz", "--format", "graphlm"]) == 2
    assert "did you mean `graphml`" in capsys.readouterr().err
    assert main(["export", "tiny", "-o", "a.xyz", "--format", "graphml"]) == 0


def test_a_large_fabric_takes_seconds():
    """Growth, not time: twice the machine takes at most three times the steps of the recogniser."""
    import sys

    def steps(groups: int) -> int:
        fabric: Fabric = graphml.read(text(machine.load({"preset": "zhang2018-544", "groups": groups}), "graphml"))
        counted = 0

        def count(*_: object) -> None:
            nonlocal counted
            counted += 1

        sys.setprofile(count)
        try:
            recognise(fabric, "file")
        finally:
            sys.setprofile(None)
        return counted

    assert steps(16) < 3 * steps(8)
