"""Sizes, links and ports of all kinds of machines: our arithmetic against the wired machine, and what does not fit."""

import numpy as np
import pytest
import tomlkit
from hypothesis import example, given
from hypothesis import strategies as st

from odonata import machine, scenario
from odonata.errors import InputError
from odonata.machine import core

SMALL = st.integers(1, 5)
SPEEDS = {
    "dragonfly-plus": ("node", "local", "global"),
    "dragonfly": ("node", "local", "global"),
    "cascade": ("node", "chassis", "group", "optical"),
}

DRAGONFLY = {
    "kind": "dragonfly",
    "groups": 9,
    "routers": 4,
    "nodes_per_router": 2,
    "global_links_per_router": 2,
}
CASCADE = {
    "kind": "cascade",
    "groups": 3,
    "rows": 2,
    "columns": 3,
    "nodes_per_router": 2,
    "global_links_per_router": 2,
}


def whole(table):
    """The table with links of some speed."""
    links = {name: {"bandwidth": "1 GB/s"} for name in SPEEDS[table["kind"]]}
    return {"fabric": {"links": links}, **table}


def agree(table):
    """Either both refuse the machine, or its sizes, groups and links are the same."""
    completed = {k: v for k, v in table.items() if v is not None}
    if completed["kind"] != "dragonfly-plus":
        completed = {"column_links": 3, **completed} if completed["kind"] == "cascade" else completed
    given = {k: v for k, v in table.items() if v is not None}
    try:
        wired = core.describe(completed)
    except InputError as e:
        refusal = e.code
    else:
        refusal = ""
    if refusal == "leaves-cut-apart":  # which only the wired machine shows
        system = machine.load(whole(given))
        with pytest.raises(InputError) as caught:
            system.describe()
        assert caught.value.code == refusal
        return
    if refusal:
        with pytest.raises(InputError):
            machine.load(whole(given))
        return
    system = machine.load(whole(given))
    assert core.describe(system.topology)["links"] == wired["links"], "filling in the defaults changes nothing"
    shape = system.shape
    assert (shape.nodes, system.table.routers_in_all(), shape.groups) == (
        wired["nodes"],
        wired["routers"],
        wired["groups"],
    )
    assert [shape.group_of(n) for n in range(shape.nodes)] == list(wired["node_group"])
    assert [system.table.group_of_router(r) for r in range(wired["routers"])] == list(wired["router_group"])
    assert system.links_per_pair == wired["links_per_pair"]
    pairs = system.table.pairs()
    between = sum(pairs.of_group(g) for g in range(shape.groups)) // 2
    assert between == wired["links"][system.table.between_groups]
    for half in range(1, shape.groups):
        across = sum(pairs.between(a, b) for a in range(half) for b in range(half, shape.groups))
        assert pairs.across(half) == across
    counts = [pairs.between(a, b) for b in range(shape.groups) for a in range(b)]
    assert pairs.range == (min(counts, default=0), max(counts, default=0))
    nics = {}
    for router, node in zip(wired["slot_router"], wired["slot_peer_node"], strict=True):
        if node >= 0:
            nics.setdefault(int(router), set()).add(int(node))
    for router in range(wired["routers"]):
        assert set(system.table.nodes_of_router(router)) == nics.get(router, set())
    for router in range(shape.routers):
        assert len(shape.nodes_on(router)) == shape.nodes_per_router
    assert [n for g in range(shape.groups) for n in shape.nodes_in(g)] == list(range(shape.nodes))
    assert [r for g in range(shape.groups) for r in shape.routers_in(g)] == list(range(shape.routers))


PAIR = st.none() | st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 6)).filter(lambda p: p[0] != p[1])


@given(
    groups=SMALL,
    routers=SMALL,
    nodes=st.integers(1, 6),
    ports=st.integers(1, 6),
    arrangement=st.sampled_from(["absolute", "relative", "circulant", "palmtree"]),
    spread=st.sampled_from(["consecutive", "round-robin"]),
    links=st.none() | SMALL,
    pair=PAIR,
    last=st.none() | SMALL,
    local=st.integers(1, 2),
    rails=st.integers(1, 3),
    different=st.booleans(),
)
def test_dragonfly(groups, routers, nodes, ports, arrangement, spread, links, pair, last, local, rails, different):
    agree(
        {
            "kind": "dragonfly",
            "groups": groups,
            "routers": routers,
            "nodes_per_router": nodes,
            "global_links_per_router": ports,
            "arrangement": arrangement,
            "spread": spread,
            "links_per_pair": links,
            "pair_links": None if pair is None else [list(pair)],
            "last_group_routers": last,
            "local_links": local,
            "rails": rails,
            "rails_on": None if rails == 1 else "different-routers" if different else "one-router",
        }
    )


@given(
    groups=SMALL,
    rows=st.integers(1, 3),
    columns=st.integers(1, 4),
    nodes=st.integers(1, 4),
    ports=st.integers(1, 6),
    links=st.none() | SMALL,
    last=st.none() | st.integers(1, 3),
    row_links=st.integers(1, 2),
    column_links=st.integers(1, 3),
    rails=st.integers(1, 2),
    different=st.booleans(),
)
def test_cascade(groups, rows, columns, nodes, ports, links, last, row_links, column_links, rails, different):
    agree(
        {
            "kind": "cascade",
            "groups": groups,
            "rows": rows,
            "columns": columns,
            "nodes_per_router": nodes,
            "global_links_per_router": ports,
            "arrangement": "relative",
            "links_per_pair": links,
            "last_group_rows": last,
            "row_links": row_links,
            "column_links": column_links,
            "rails": rails,
            "rails_on": None if rails == 1 else "different-routers" if different else "one-router",
        }
    )


@given(
    groups=SMALL,
    leaves=SMALL,
    spines=SMALL,
    nodes=SMALL,
    ports=st.integers(1, 8),
    arrangement=st.sampled_from(["linear", "parallel"]),
    links=st.none() | SMALL,
    pair=PAIR,
    last=st.none() | SMALL,
    rails=st.integers(1, 3),
)
@example(
    groups=2, leaves=1, spines=2, nodes=1, ports=1, arrangement="parallel", links=1, pair=(0, 1, 2), last=None, rails=1
)
def test_dragonfly_plus(groups, leaves, spines, nodes, ports, arrangement, links, pair, last, rails):
    agree(
        {
            "kind": "dragonfly-plus",
            "groups": groups,
            "leaves": leaves,
            "spines": spines,
            "nodes_per_leaf": nodes,
            "global_links_per_spine": ports,
            "arrangement": arrangement,
            "links_per_pair": links,
            "pair_links": None if pair is None else [list(pair)],
            "last_group_leaves": last,
            "rails": rails,
        }
    )


@given(st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=12), st.integers(1, 3), st.booleans())
def test_listed_links(cables, ports, plus):
    """Seven routers in three groups, the last one smaller; on a Dragonfly+ only spines have global ports."""
    listed = {"global_links": [list(cable) for cable in cables], "groups": 3}
    if plus:
        dragonfly_plus = {"leaves": 2, "spines": 1, "nodes_per_leaf": 1, "last_group_leaves": 1}
        table = {"kind": "dragonfly-plus", "global_links_per_spine": ports, **dragonfly_plus}
    else:
        dragonfly = {"routers": 3, "nodes_per_router": 1, "last_group_routers": 1, "rails": 1}
        table = {"kind": "dragonfly", "global_links_per_router": ports, **dragonfly}
    agree(table | listed)


def test_defaults_of_a_dragonfly_have_sources():
    system = machine.load(whole(DRAGONFLY))
    sources = {row.key: row for row in system.sources}
    assert system.topology["arrangement"] == sources["arrangement"].value == "absolute"
    for key in ("arrangement", "spread", "rails", "local_links", "fabric.packet"):
        assert sources[key].source.startswith(("default: ", "assumed: ")), key
    assert "rails_on" not in sources
    assert sources["groups"].source == "given in the scenario"


def test_defaults_of_a_cascade_are_those_of_aries():
    """D1: one link in the chassis, three to another chassis."""
    system = machine.load(whole(CASCADE))
    wired = system.describe()
    assert (wired["links"]["chassis"], wired["links"]["group"]) == (3 * 6, 3 * 9)


def test_several_nics_on_one_router_and_on_different_ones():
    system = machine.load(whole(DRAGONFLY | {"rails": 2}))
    assert (system.shape.nodes, system.shape.nodes_per_router) == (36, 1)
    assert system.fabric["nic"] == {"overhead_ps": 0, "order": "fcfs"}, "hash is what the core does anyway"
    assert {row.key: row.value for row in system.sources}["fabric.nic.rail"] == "hash"
    two = machine.load(whole(DRAGONFLY | {"rails": 2, "rails_on": "different-routers"}))
    assert (two.shape.nodes, two.shape.routers_per_group, two.shape.nodes_per_router) == (36, 2, 2)
    assert list(two.table.nodes_of_router(5)) == [4, 5]
    busy = whole(DRAGONFLY | {"rails": 2})
    busy["fabric"] = {**busy["fabric"], "nic": {"rail": "least-busy"}}
    assert machine.load(busy).fabric["nic"]["rail"] == "least-busy"


def test_one_nic_instead_of_several_takes_back_what_belongs_to_them():
    system = machine.load({"preset": "frontier", "rails": 1})
    assert system.shape.nodes == 4 * 9408
    assert "rails_on" not in system.topology


def test_listed_links_replace_the_rules_and_the_other_way_round():
    cables = [[0, 4], [1, 8], [5, 9]]
    system = machine.load({"preset": "zhang2018-272", "groups": 3, "global_links": cables})
    assert system.topology["global_links"] == cables
    assert not {"arrangement", "links_per_pair", "spread"} & system.topology.keys()
    assert system.describe()["links"]["global"] == 3
    again = machine.load(system.document())
    assert again.topology == system.topology
    file_like = {**system.document(), "arrangement": "relative"}
    with pytest.raises(InputError, match="`arrangement` and `global_links` cannot be given together"):
        machine.load(file_like)


def test_a_random_arrangement_has_a_seed():
    system = machine.load(whole(DRAGONFLY | {"arrangement": "random"}))
    assert system.topology["arrangement_seed"] == 0
    other = machine.load(whole(DRAGONFLY | {"arrangement": "random", "arrangement_seed": 7}))
    same = np.array_equal(system.describe()["slot_peer_router"], other.describe()["slot_peer_router"])
    assert not same


@pytest.mark.parametrize("table", [DRAGONFLY, CASCADE])
def test_a_document_describes_the_machine_again(table):
    system = machine.load(whole(table | {"rails": 2}))
    again = machine.load(system.document())
    assert (again.topology, again.fabric) == (system.topology, system.fabric)


@pytest.mark.parametrize(
    ("change", "path", "message", "hint"),
    [
        (
            {"groups": 10},
            "groups",
            "10 groups need at least 9 global links per group, but 4 routers with 2",
            "at most 9",
        ),
        (
            {"links_per_pair": 2},
            "links_per_pair",
            "need 16 global links per group, but",
            "1 links per pair or at most 5",
        ),
        ({"last_group_routers": 5}, "last_group_routers", "5 routers, more than the 4", None),
        ({"last_group_routers": 1}, "groups", "but in the last group 1 routers with 2", "at most 3 groups"),
        ({"arrangement_seed": 3}, "arrangement_seed", "belongs to the arrangement `random`", None),
        ({"arrangement": "palm"}, "arrangement", "found `palm`", "palmtree"),
        ({"rails_on": "one-router"}, "rails_on", "needs nodes with several NICs", "rails = 2"),
        ({"rails": 3}, "nodes_per_router", "2 is not a multiple of 3 NICs per node", None),
        ({"rails": 3, "rails_on": "different-routers"}, "rails", "a group has 4", None),
        ({"radix": 6}, "radix", "needs 7 (2 node, 3 local, 2 global)", None),
        ({"pair_links": [[0, 9, 1]]}, "pair_links", "entry 1: there is no group 9", "0 to 8"),
        ({"pair_links": [[0, 1, 2]]}, "pair_links", "group 0 needs 9 global links", "at most 8"),
        ({"links_per_pair": 2, "pair_links": [[0, 1, 1]]}, "pair_links", "group 0 needs 15 global links", None),
        (
            {"groups": 4, "links_per_pair": 4, "pair_links": [[0, 1, 1], [0, 2, 1], [0, 3, 1]]},
            "pair_links",
            "group 1 needs 9 global links",
            None,
        ),
        (
            {"groups": 4, "links_per_pair": 3, "pair_links": [[0, 3, 1]], "last_group_routers": 4},
            "links_per_pair",
            "need 9 global links per group",
            "at most 2 links",
        ),
        ({"pair_links": [[0, 1, 1], [1, 0, 1]]}, "pair_links", "entry 2: the groups 1 and 0 are listed twice", None),
        ({"pair_links": [[0, 1]]}, "pair_links", "entry 1: expected [group, group, links]", None),
        ({"pair_links": [[0, 0, 1]]}, "pair_links", "group 0 cannot be linked to itself", None),
        ({"global_links": [[0, 99]]}, "global_links", "entry 1: there is no router 99", "0 to 35"),
        ({"global_links": [[0, 3]]}, "global_links", "entry 1: the routers 0 and 3 are both in group 0", None),
        (
            {"global_links": [[0, 4], [0, 8], [0, 12]]},
            "global_links",
            "entry 3: router 0 has only 2 global ports",
            None,
        ),
        ({"global_links": 3}, "global_links", "expected a list of [router, router]", None),
        ({"global_links": [[0, 4]], "links_per_pair": 1}, "links_per_pair", "cannot be given together", None),
        ({"routers": 2**23}, "groups", "more than the 16,777,216", None),
    ],
)
def test_dragonflies_that_cannot_be(change, path, message, hint):
    with pytest.raises(InputError) as caught:
        machine.load(whole(DRAGONFLY | change))
    assert message in caught.value.message
    assert caught.value.path[:2] == ("system", path)
    assert hint is None or hint in caught.value.hint


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        ({"last_group_rows": 3}, "last_group_rows", "3 rows, more than the 2"),
        ({"radix": 8}, "radix", "needs 9 (2 node, 2 chassis, 3 group, 2 optical)"),
        ({"leaves": 3}, "leaves", "unknown key `leaves`"),
        ({"groups": 14}, "groups", "14 groups need at least 13 global links per group, but 6 routers with 2"),
    ],
)
def test_cascades_that_cannot_be(change, path, message):
    with pytest.raises(InputError) as caught:
        machine.load(whole(CASCADE | change))
    assert message in caught.value.message
    assert caught.value.path == ("system", path)


def test_a_leaf_has_no_global_ports():
    table = {"preset": "tiny", "global_links": [[0, 6]]}
    with pytest.raises(InputError, match="entry 1: router 0 has no global ports"):
        machine.load(table)


def test_a_choice_of_nics_needs_several():
    with pytest.raises(InputError, match="needs nodes with several NICs"):
        machine.load("tiny", fabric={"nic": {"rail": "hash"}})
    with pytest.raises(InputError, match="needs nodes with several NICs") as caught:
        machine.load("theta", fabric={"nic": {"rail": "hash"}})
    assert caught.value.path == ("fabric", "nic", "rail")
    with pytest.raises(InputError, match=r"`fabric\.nic\.stripe_above` needs nodes with several NICs") as caught:
        machine.load("tiny", fabric={"nic": {"stripe_above": "64 KiB"}})
    assert caught.value.path == ("fabric", "nic", "stripe_above")


def test_messages_striped_over_all_nics_of_a_node():
    two = machine.load({"preset": "tiny", "rails": 2}, fabric={"nic": {"stripe_above": "64 KiB"}})
    assert two.fabric["nic"]["stripe_bytes"] == 65_536
    assert two.table.fabric.nic_text == "simple; messages from 64 KiB on over all NICs of the node"
    for size in ("0 B", "2 TiB"):
        with pytest.raises(InputError, match="expected a size between 1 B and 1 TiB") as caught:
            machine.load({"preset": "tiny", "rails": 2}, fabric={"nic": {"stripe_above": size}})
        assert caught.value.path == ("fabric", "nic", "stripe_above")

    def time(**nic):
        app = {"motif": "ping-pong", "message": "1 MB"}
        system = {"preset": "tiny", "rails": 2, "fabric": {"nic": {"rail": "least-busy", **nic}}}
        job = {"name": "pair", "nodes": 2, "place": "contiguous", "app": app, "overhead": "none"}
        spec = scenario.parse(tomlkit.dumps({"system": system, "job": [job]})).resolve().spec
        return core.run(spec)["ranks"]["finish_ps"].max()

    assert 1.9 < time() / time(stripe_above="1 MB") < 2
    assert time(stripe_above="1000001 B") == time(), "it is too small"


def test_several_nics_on_a_leaf():
    plain = machine.load("tiny")
    two = machine.load({"preset": "tiny", "rails": 2}, fabric={"nic": {"rail": "by-rank"}})
    assert two.shape == plain.shape, "`nodes_per_leaf` counts nodes"
    assert "rails" not in plain.topology
    assert two.topology == plain.topology | {"rails": 2}
    assert two.fabric["nic"]["rail"] == "by-rank"
    assert machine.load({"preset": "tiny", "rails": 2}).table.fabric.nic.rail == "hash"
    assert dict(two.table.facts())["NICs of a node"] == "2, on its leaf"
    assert two.describe()["rails"] == 2
    ports = plain.table.nodes_per_leaf * 2 + plain.table.spines
    assert dict(two.table.facts())["ports used"].startswith(f"{ports} of a leaf")
    with pytest.raises(InputError, match=f"a leaf needs {ports}"):
        machine.load({"preset": "tiny", "rails": 2, "radix": ports - 1})


def test_facts_of_a_balanced_dragonfly():
    """Kim 2008: a = 2p = 2h; half of the groups' links cross the machine's middle."""
    facts = dict(machine.load("zhang2018-1056").table.facts())
    assert facts["balance"] == "a = 8, p = 4, h = 4: balanced (a = 2p = 2h)"
    assert facts["most groups of such routers"] == "33, with 1,056 nodes"
    assert facts["out of a group"] == "32 GB/s, 100% of what its nodes can send (32 GB/s)"
    assert facts["bisection"] == "272 GB/s each way, 16 of 33 groups against the rest"
    assert dict(machine.load("zhang2018-528").table.facts())["balance"].endswith("not balanced (that is a = 2p = 2h)")


def test_facts_of_aries():
    """D1: 15 + 15 + 10 + 8 ports; the 8 processor tiles count as one port a node here."""
    facts = dict(machine.load("theta").table.facts())
    assert facts["ports used"] == "at most 44 of a router (4 node, 15 chassis, 15 group, 10 optical), of 48"
    assert facts["nodes of a chassis"] == "64"


ONE_GROUP = [
    (DRAGONFLY, "global_links_per_router"),
    (CASCADE, "global_links_per_router"),
    (
        {"kind": "dragonfly-plus", "leaves": 2, "spines": 2, "nodes_per_leaf": 4, "global_links_per_spine": 2},
        "global_links_per_spine",
    ),
]


@pytest.mark.parametrize(("table", "key"), ONE_GROUP)
def test_a_machine_of_one_group_needs_no_counts_of_links_between_groups(table, key):
    several = {**whole(table), "groups": 3}
    without = {name: value for name, value in several.items() if name != key}
    given = machine.load({**several, "groups": 1})
    ports = core.describe(given.topology)
    for alone in (without, {**without, key: 0}, {**without, key: 0, "links_per_pair": 0}):
        made = machine.load({**alone, "groups": 1})
        assert made.topology == {**given.topology, key: 0}
        described = core.describe(made.topology)
        assert described["links"] == ports["links"]
        assert getattr(made.table, key) == 0
    sources = {row.key: row.source for row in machine.load({**without, "groups": 1}).sources}
    assert sources[key] == "default: none, as there is one group"
    with pytest.raises(InputError, match=f"missing key `{key}`"):
        machine.load(without)
    for name in (key, "links_per_pair"):
        with pytest.raises(InputError) as refused:
            machine.load({**several, name: 0})
        assert refused.value.message == f"`{name}` must be at least 1 to join 3 groups, found 0"


def test_a_fat_tree_of_one_pod_may_say_that_it_has_no_cores():
    links = {name: {"bandwidth": "1 GB/s"} for name in ("node", "leaf")}
    tree = {"kind": "fat-tree", "leaves": 2, "spines": 2, "nodes_per_leaf": 2, "fabric": {"links": links}}
    assert machine.load({**tree, "pods": 1, "cores": 0, "core_links": 0}).topology == machine.load(tree).topology
    links["core"] = links["node"]
    for wrong in ({"cores": 0}, {"cores": 2, "core_links": 0}):
        with pytest.raises(InputError, match="must be at least 1 to join 2 groups, found 0"):
            machine.load({**tree, "pods": 2, **wrong})
