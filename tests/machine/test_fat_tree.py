"""Fat trees: our arithmetic against the wired machine, what does not fit, placements by leaf and pod, tables."""

import polars as pl
import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from odonata import machine, runner, scenario
from odonata.errors import InputError
from odonata.recognition.names import router_names

SMALL = st.integers(1, 4)


def whole(**table):
    """The table with links of some speed."""
    classes = ["node", "leaf", *(["core"] if "cores" in table else [])]
    links = {name: {"bandwidth": "1 GB/s"} for name in classes}
    return {"kind": "fat-tree", "fabric": {"links": links}, **table}


@settings(max_examples=60)
@given(
    pods=SMALL,
    blocks=st.integers(1, 2),
    spines=SMALL,
    each=st.integers(1, 3),
    nodes=SMALL,
    cables=st.tuples(st.integers(1, 2), st.integers(1, 3)),
    rails=st.integers(1, 3),
    rails_on=st.sampled_from(["one-leaf", "different-leaves", "planes"]),
)
def test_sizes_and_numbers_are_those_of_the_wired_machine(pods, blocks, spines, each, nodes, cables, rails, rails_on):
    table = {"leaves": blocks * rails, "spines": spines, "nodes_per_leaf": nodes, "leaf_links": cables[0], "pods": pods}
    if pods > 1:
        table |= {"cores": spines * each, "core_links": cables[1]}
    if rails > 1:
        table |= {"rails": rails, "rails_on": rails_on}
    system = machine.load(whole(**table))
    wired, shape = system.describe(), system.shape
    assert (shape.nodes, system.table.routers_in_all(), shape.groups) == (
        wired["nodes"],
        wired["routers"],
        wired["groups"],
    )
    assert [shape.group_of(n) for n in range(shape.nodes)] == list(wired["node_group"])
    groups = [system.table.group_of_router(r) for r in range(wired["routers"])]
    assert [-1 if group is None else group for group in groups] == list(wired["router_group"])
    on = {}
    for router, node in zip(wired["slot_router"], wired["slot_peer_node"], strict=True):
        if node >= 0:
            on.setdefault(int(router), set()).add(int(node))
    for router in range(wired["routers"]):
        assert set(system.table.nodes_of_router(router)) == on.get(router, set())
        assert (
            system.table.router_name(router).split("-")[-1].rstrip("0123456789")
            == (wired["router_kinds"][wired["router_kind"][router]])
        )
    assert len(set(router_names(system))) == wired["routers"]
    assert system.table.links_out() * pods == wired["links"].get("core", 0)
    assert system.links_per_pair == wired["links_per_pair"] == 0


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"pods": 2}, ("pods",), "2 pods need `cores`"),
        ({"cores": 2}, ("cores",), "a tree with one pod has no cores"),
        ({"pods": 2, "cores": 3}, ("cores",), "3 cores cannot be shared equally by 2 spines"),
        ({"core_links": 2}, ("core_links",), "`core_links` needs cores"),
        ({"rails_on": "planes"}, ("rails_on",), "`rails_on` needs nodes with several NICs"),
        ({"rails": 3, "rails_on": "different-leaves"}, ("rails",), "a multiple of 3 leaves in a pod, but it has 4"),
        ({"radix": 5}, ("radix",), "a router has 5 ports, but needs 6"),
        ({"wiring": {"inter": "x"}}, ("wiring",), "CODES has no connection files"),
    ],
)
def test_what_does_not_fit_is_refused(changes, path, message):
    table = whole(**{"leaves": 4, "spines": 2, "nodes_per_leaf": 4, **changes})
    with pytest.raises(InputError) as caught:
        machine.load(table)
    assert message in caught.value.message
    assert caught.value.path == ("system", *path)


TREE = whole(pods=4, leaves=4, spines=2, cores=4, nodes_per_leaf=4)


def on_tree(job, **tables):
    return scenario.parse(tomlkit.dumps({"system": TREE, "job": [job], **tables}), "a.toml")


def placed(policy, nodes=None, **options):
    text = {"policy": policy, **options} if options else policy
    job = {"name": "a", "place": text, "app": {"pattern": "uniform-random", "message": "1 KB", "interval": "1 us"}}
    job["app"]["messages"] = 1
    if nodes is not None:
        job["nodes"] = nodes
    return on_tree(job).resolve().spec["jobs"][0]["nodes"]


def test_pods_are_groups_and_leaves_are_routers():
    assert placed("contiguous", 6, groups="2") == list(range(32, 38))
    assert placed("per-leaf", per_leaf=1, groups="1-2") == [16, 20, 24, 28, 32, 36, 40, 44]
    assert {node // 16 for node in placed("random", 20, groups="1,3")} <= {1, 3}
    (pod,) = {node // 16 for node in placed("same-island", 10)}
    assert pod == 0


def test_tables_have_no_group_for_cores(tmp_path):
    """Catches a core that is counted in some pod, and links to cores that are taken for links inside one."""
    app = {"pattern": "group-shift", "message": "1 KB", "interval": "1 us", "messages": 3}
    job = {"name": "a", "nodes": 64, "place": "contiguous", "app": app}
    run = runner.run(on_tree(job, measure={"links": {"every": "1 us"}}), out=tmp_path / "run")
    cores = run.links.filter(pl.col("class") == "core")
    assert cores.height == 2 * 16
    assert (cores["from_group"].is_null() ^ cores["to_group"].is_null()).all()
    assert run.links.filter(pl.col("class") != "core").select("from_group", "to_group").null_count().row(0) == (0, 0)
    # 64 ranks send 3 messages of one packet each to the next pod: up and down by four links between routers.
    assert (run.jobs["hops_mean"][0], int(cores["packets"].sum())) == (4.0, 2 * 192)
    assert int(run.counters["packets_in"].sum()) == int(run.counters["packets_out"].sum()) == 192


def test_a_pattern_of_cables_between_groups_is_refused():
    app = {"pattern": "group-peers", "tgll": 0.5, "interval": "1 us", "messages": 1}
    with pytest.raises(InputError, match="`tgll` is about cables between two groups, which a fat-tree has not"):
        on_tree({"name": "a", "nodes": 64, "place": "contiguous", "app": app}).resolve()
