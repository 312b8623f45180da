"""HyperX: our arithmetic against the wired machine, what does not fit, placements by slice, tables, failures."""

import polars as pl
import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from odonata import machine, runner, scenario
from odonata.errors import InputError
from odonata.recognition.names import router_names


def whole(fabric=None, **table):
    """The table with links of some speed."""
    classes = ["node", "dim1", "dim2", "dim3"][: len(table["dimensions"]) + 1]
    links = {name: {"bandwidth": "1 GB/s"} for name in classes}
    return {"kind": "hyperx", "fabric": {"links": links, **(fabric or {})}, **table}


@settings(max_examples=60)
@given(
    sizes=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 3)), min_size=1, max_size=3),
    nodes=st.integers(1, 4),
    rails=st.integers(1, 3),
)
def test_sizes_and_numbers_are_those_of_the_wired_machine(sizes, nodes, rails):
    dimensions, cables = [size for size, _ in sizes], [links for _, links in sizes]
    table = {"dimensions": dimensions, "dimension_links": cables, "nodes_per_router": nodes, "rails": rails}
    system = machine.load(whole(**table))
    wired, shape = system.describe(), system.shape
    assert (shape.nodes, system.table.routers_in_all(), shape.groups) == (
        wired["nodes"],
        wired["routers"],
        wired["groups"],
    )
    assert [shape.group_of(n) for n in range(shape.nodes)] == list(wired["node_group"])
    groups = [system.table.group_of_router(r) for r in range(wired["routers"])]
    assert groups == list(wired["router_group"])
    assert wired["group_name"] == system.table.group_name == "slice"
    on = {}
    for router, node in zip(wired["slot_router"], wired["slot_peer_node"], strict=True):
        if node >= 0:
            on.setdefault(int(router), set()).add(int(node))
    for router in range(wired["routers"]):
        assert set(system.table.nodes_of_router(router)) == on.get(router, set())
    assert len(set(router_names(system))) == wired["routers"]
    last = system.table.between_groups
    assert last == f"dim{len(dimensions)}"
    assert system.table.links_out() * shape.groups == 2 * wired["links"].get(last, 0)
    assert system.table.global_ports_of(0) * wired["routers"] == 2 * wired["links"].get(last, 0)
    assert system.links_per_pair == wired["links_per_pair"]
    assert system.fabric["channels"] == 2 * len(dimensions)


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"dimensions": [2, 2, 2, 2]}, ("dimensions",), "expected one to 3 whole numbers from 1 on"),
        ({"dimensions": []}, ("dimensions",), "one for each dimension, found `[]`"),
        ({"dimensions": [4, 0]}, ("dimensions",), "found `[4, 0]`"),
        ({"dimensions": 4}, ("dimensions",), "found `4`"),
        ({"dimension_links": [1]}, ("dimension_links",), "has 1 numbers, but there are 2 dimensions"),
        ({"radix": 8}, ("radix",), "a router has 8 ports, but needs 9 (3 node, 3 dim1, 3 dim2)"),
        ({"wiring": {"inter": "x"}}, ("wiring",), "CODES has no connection files"),
        ({"dimensions": [5000, 5000]}, ("groups",), "75,000,000 nodes are more than"),
        (
            {"fabric": {"links": {"node": {"bandwidth": "1 GB/s"}, "dim3": {"bandwidth": "1 GB/s"}}}},
            ("fabric", "links", "dim3"),
            "`dim3`",
        ),
    ],
)
def test_what_does_not_fit_is_refused(changes, path, message):
    table = {**whole(dimensions=[4, 4], nodes_per_router=3), **changes}
    with pytest.raises(InputError) as caught:
        machine.load(table)
    assert message in caught.value.message
    assert caught.value.path == ("system", *path)


def test_facts_of_a_machine():
    """Bisection by hand: 4 places and 1 cable against 4 nodes are half of what half of the nodes can send."""
    table = whole(dimensions=[4, 8], dimension_links=[1, 2], nodes_per_router=4, radix=24)
    facts = dict(machine.load(table).table.facts())
    assert facts["routers"] == "4 x 8"
    assert facts["cables between two routers"] == "1, 2"
    assert facts["ports used"] == "21 of a router (4 node, 3 dim1, 14 dim2)"
    assert facts["least bisection"] == "50% of what half of the nodes can send (dim1)"


GRID = whole(dimensions=[3, 4], nodes_per_router=2)


def on_grid(job, **tables):
    return scenario.parse(tomlkit.dumps({"system": GRID, "job": [job], **tables}), "a.toml")


def placed(policy, nodes=None, **options):
    text = {"policy": policy, **options} if options else policy
    job = {"name": "a", "place": text, "app": {"pattern": "uniform-random", "message": "1 KB", "interval": "1 us"}}
    job["app"]["messages"] = 1
    if nodes is not None:
        job["nodes"] = nodes
    return on_grid(job).resolve().spec["jobs"][0]["nodes"]


def test_slices_are_groups():
    assert placed("contiguous", 6, groups="2") == list(range(12, 18))
    assert {node // 6 for node in placed("random", 10, groups="1,3")} <= {1, 3}
    (group,) = {node // 6 for node in placed("same-island", 5)}
    assert group == 0


def test_the_default_routing_takes_a_deroute_for_each_dimension():
    job = {"name": "a", "nodes": 4, "place": "contiguous"}
    app = {"pattern": "uniform-random", "message": "1 KB", "interval": "1 us", "messages": 1}
    spec = on_grid({**job, "app": app}).resolve().spec
    assert spec["routing"] == {"name": "omni-war", "deroutes": 2}
    assert spec["fabric"]["channels"] == 4


def test_links_of_the_last_dimension_join_slices(tmp_path):
    """Catches a link that is counted in a slice although it leaves it, and the reverse."""
    app = {"pattern": "group-shift", "message": "1 KB", "interval": "10 us", "messages": 3}
    job = {"name": "a", "nodes": 24, "place": "contiguous", "app": app}
    run = runner.run(on_grid(job, routing="minimal", measure={"links": {"every": "1 us"}}), out=tmp_path / "run")
    between = run.links.filter(pl.col("class") == "dim2")
    assert between.height == 12 * 3
    assert (between["from_group"] != between["to_group"]).all()
    inside = run.links.filter(pl.col("class") == "dim1")
    assert (inside["from_group"] == inside["to_group"]).all()
    # 24 ranks send 3 messages of one packet each to the next slice.
    assert int(between["packets"].sum()) == 72
    assert int(run.counters["packets_in"].sum()) == int(run.counters["packets_out"].sum()) == 72


def test_failures_by_number_of_links_leave_a_machine_that_routes(tmp_path):
    app = {"pattern": "uniform-random", "message": "1 KB", "interval": "1 us", "messages": 20}
    job = {"name": "a", "nodes": 20, "place": "contiguous", "app": app}
    failed = {"fraction": 0.1, "seed": 3, "routers": [11]}
    few = {**GRID, "failed": failed}
    with pytest.raises(InputError, match="needs 5 virtual channels on this machine; the fabric has 4"):
        runner.run(scenario.parse(tomlkit.dumps({"system": few, "job": [job]}), "a.toml"), out=tmp_path / "c")
    table = {**whole(fabric={"channels": 6}, dimensions=[3, 4], nodes_per_router=2), "failed": failed}
    text = tomlkit.dumps({"system": table, "job": [job]})
    run = runner.run(scenario.parse(text, "a.toml"), out=tmp_path / "run")
    assert run.jobs["messages_delivered"][0] == 400
    routing = {"routing": "dimension-order"}
    with pytest.raises(InputError, match="in the order of the dimensions packets cannot avoid what has failed"):
        runner.run(
            scenario.parse(tomlkit.dumps({"system": table, "job": [job], **routing}), "a.toml"), out=tmp_path / "b"
        )
