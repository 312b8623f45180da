"""A graph as a machine: from files, lists and generators; its shape and names; what does not fit; runs of it."""

import pytest
import tomlkit

import odonata
from odonata import machine, runner, scenario
from odonata.errors import InputError

LINKS = {"node": {"bandwidth": "10 GB/s"}, "link": {"bandwidth": "20 GB/s", "latency": "50 ns"}}
#: Three switches, of which one has no nodes; two links between s0 and s2.
CSV = """\
a,b,bandwidth,latency
h0,s0,10 GB/s,5 ns
h1,s0,10 GB/s,5 ns
h2,s1,10 GB/s,5 ns
s0,s2,40 GB/s,100 ns
s0,s2,40 GB/s,100 ns
s1,s2,20 GB/s,100 ns
"""


def whole(links, **more):
    return {"kind": "graph", "links": links, "fabric": {"links": LINKS}, **more}


def generated(nodes_per_router=None, **generator):
    more = {} if nodes_per_router is None else {"nodes_per_router": nodes_per_router}
    return whole(generator, **more)


def test_a_file(tmp_path):
    (tmp_path / "links.csv").write_text(CSV)
    system = machine.load({"kind": "graph", "links": "links.csv", "fabric": {"links": {}}}, folder=tmp_path)
    wired, shape = system.describe(), system.shape
    assert (wired["nodes"], wired["routers"], wired["groups"]) == (3, 3, 1) == (shape.nodes, 3, shape.groups)
    assert wired["links"] == {"node": 3, "link": 2, "link2": 1}
    assert [shape.router_of(node) for node in range(3)] == list(wired["node_router"]) == [0, 0, 1]
    assert [list(shape.nodes_on(router)) for router in range(shape.routers)] == [[0, 1], [2]]
    assert [list(system.table.nodes_of_router(router)) for router in range(3)] == [[0, 1], [2], []]
    assert system.table.router_names == ("s0", "s1", "s2")
    assert system.fabric["channels"] == 4
    links = system.fabric["links"]
    assert [links[name]["latency_ps"] for name in ("node", "link", "link2")] == [5_000, 100_000, 100_000]
    assert links["link2"]["bandwidth"] == 20 * 10**15
    facts = dict(system.table.facts())
    assert facts["routers with nodes"] == "2 of 3"
    assert facts["longest shortest path"] == "2 links between routers"
    sources = {row.key: row.source for row in system.sources}
    assert sources["fabric.links.link.bandwidth"] == sources["links"] == "from links.csv"
    assert sources["shortest"].startswith("default: ")


def test_a_document_of_a_machine_is_the_same_machine(tmp_path):
    (tmp_path / "links.csv").write_text(CSV)
    system = machine.load({"kind": "graph", "links": "links.csv", "fabric": {"links": {}}}, folder=tmp_path)
    again = machine.load(system.document())
    assert (again.topology, again.fabric) == (system.topology, system.fabric)


def test_a_file_beside_the_file_of_the_machine(tmp_path):
    folder = tmp_path / "systems"
    folder.mkdir()
    (folder / "links.csv").write_text(CSV)
    (folder / "mine.toml").write_text('kind = "graph"\nlinks = "links.csv"\nfabric = { links = {} }\n')
    assert machine.load("systems/mine.toml", folder=tmp_path).shape.nodes == 3
    (folder / "links.csv").write_text(CSV + "h3,s1,10 GB/s,5 ns\n")
    assert machine.load("systems/mine.toml", folder=tmp_path).shape.nodes == 4


def test_an_error_in_a_file_has_its_line(tmp_path):
    (tmp_path / "links.csv").write_text(CSV + "s1,s2,fast\n")
    with pytest.raises(InputError) as caught:
        machine.load({"kind": "graph", "links": "links.csv", "fabric": {"links": {}}}, folder=tmp_path)
    assert (caught.value.line, caught.value.file) == (8, str(tmp_path / "links.csv"))


GRAPHML = """<graphml><key id="t" for="node" attr.name="type"/><key id="f" for="edge" attr.name="failed"/>
<graph edgedefault="undirected">
<node id="s0"><data key="t">switch</data></node><node id="s1"><data key="t">switch</data></node>
<node id="s2"><data key="t">switch</data></node><node id="h0"><data key="t">host</data></node>
<node id="h1"><data key="t">host</data></node>
<edge source="h0" target="s0"/><edge source="h1" target="s1"/><edge source="s0" target="s2"/>
<edge source="s0" target="s1"><data key="f">true</data></edge><edge source="s2" target="s1"/>
</graph></graphml>"""


def test_failures_of_graphml(tmp_path):
    (tmp_path / "g.graphml").write_text(GRAPHML)
    system = machine.load(whole("g.graphml"), folder=tmp_path)
    # Port 0 of s0 leads to its node, port 1 to s2.
    assert system.failures == {"links": [[0, 2]]}
    assert list(system.describe()["slot_failed"].nonzero()[0]) == [2, 4]


def test_a_list_of_links():
    # The form of `graph.edges` of networkx.
    system = machine.load(whole([(at, (at + 1) % 6) for at in range(6)], nodes_per_router=2))
    assert (system.shape.nodes, system.describe()["links"]) == (12, {"node": 12, "link": 6})
    assert system.table.node_names[:3] == ("0-0", "0-1", "1-0")


@pytest.mark.parametrize(
    ("generator", "routers", "nodes", "channels"),
    [
        ({"generator": "torus", "dimensions": [4, 4]}, 16, 16, 8),
        ({"generator": "slim-fly", "q": 5}, 50, 200, 4),
        ({"generator": "polarfly", "q": 5}, 31, 93, 4),
        ({"generator": "folded-clos", "radix": 4, "levels": 3}, 20, 16, 8),
        ({"generator": "switch", "nodes": 5}, 1, 5, 2),
        ({"generator": "random-regular", "routers": 10, "degree": 9}, 10, 10, 2),
        ({"generator": "torus", "dimensions": [9, 9]}, 81, 81, 16),
        ({"generator": "torus", "dimensions": [16, 16]}, 256, 256, 16),
    ],
)
def test_generators(generator, routers, nodes, channels):
    system = machine.load(generated(**generator))
    assert (system.table.routers_in_all(), system.shape.nodes) == (routers, nodes)
    assert system.fabric["channels"] == channels
    described = system.describe()
    assert (described["routers"], described["nodes"]) == (routers, nodes)


def test_nodes_per_router_of_a_generator():
    assert machine.load(generated(generator="torus", dimensions=[3], nodes_per_router=5)).shape.nodes == 15


def test_the_shortest_path_by_latency():
    links = [["a", "b", "1 GB/s", "10 us"], ["a", "c", "1 GB/s", "1 us"], ["c", "b", "1 GB/s", "1 us"]]
    by_links = machine.load(whole(links, nodes_per_router=1))
    by_latency = machine.load(whole(links, nodes_per_router=1, shortest="latency"))
    # 2,048 B at 1 GB/s, the latency, and the router delay of 100 ns.
    assert (by_links.topology["weights"], by_latency.topology["weights"]) == ([1, 1], [12_148_000, 3_148_000])
    assert (by_links.fabric["channels"], by_latency.fabric["channels"]) == (2, 4)


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"links": None}, ("links",), "a graph needs `links`"),
        ({"links": 5}, ("links",), "expected a file, a list of links"),
        ({"links": []}, ("links",), "no link is listed"),
        ({"links": [["a"]]}, ("links",), "link 1: expected [a, b, bandwidth, latency]"),
        ({"links": [["a", "b", "fast"]]}, ("links",), "link 1: `fast` is no bandwidth"),
        ({"links": [["a", "b"], ["c", "d"]]}, ("links",), "no path of working links joins the routers 0 and 2"),
        ({"links": {"generator": "ring"}}, ("links", "generator"), "`ring`"),
        ({"nodes": 5}, ("nodes",), "expected patterns of the names of nodes"),
        ({"nodes": "x*"}, ("nodes_per_router",), "cannot be given together"),
        ({"nodes_per_router": 0}, ("nodes_per_router",), "found `0`"),
        ({"shortest": "hops"}, ("shortest",), "`hops`"),
        (
            {"shortest": "latency", "fabric": {"links": {**LINKS, "link": {"bandwidth": "400 kB/s"}}}},
            ("shortest",),
            "longer than 4 ms",
        ),
        ({"nics": [0], "nodes_per_router": 1}, ("nodes_per_router",), "cannot be given together"),
        ({"fabric": {"links": {"node": LINKS["node"]}}}, ("links",), "a link between routers without a bandwidth"),
        ({"fabric": {"links": {**LINKS, "link3": LINKS["link"]}}}, ("fabric", "links", "link3"), "`link3`"),
        (
            {"fabric": {"links": {**LINKS, "link": {"bandwidth": "fast"}}}},
            ("fabric", "links", "link", "bandwidth"),
            "fast",
        ),
        ({"wiring": {"inter": "x"}}, ("wiring",), "CODES has no connection files"),
        ({"failed": {"links": ["0-2"]}}, ("failed", "links", 0), "no cable"),
    ],
)
def test_what_does_not_fit_is_refused(changes, path, message):
    table = {**whole([["a", "b"], ["b", "c"]], nodes_per_router=1), **changes}
    table = {key: value for key, value in table.items() if value is not None}
    with pytest.raises(InputError) as caught:
        machine.load(table)
    assert message in caught.value.message, caught.value.message
    assert caught.value.path == ("system", *path)


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"nics": [99_999_999_999]}, "nics", "`nics[0]`: expected the number of a router, from 0 to 99,999"),
        ({"links": [[0, 1, 1], [0, 4_000_000_000, 1]]}, "links", "`links[1]`: expected the number of a router"),
        ({"links": [[0, 1, 10**30]]}, "links", "`links[0]`: expected a class of links from 1 to 7"),
    ],
)
def test_numbers_that_no_machine_has_are_refused(changes, key, message):
    with pytest.raises(InputError) as caught:
        machine.load({**whole([[0, 1, 1]]), "nics": [0, 1], **changes})
    assert message in str(caught.value)
    assert key in caught.value.path


TRAFFIC = {"pattern": "uniform-random", "load": 0.4, "message": "4 KiB", "messages": 20}


def test_a_path_of_more_than_sixteen_links_is_refused(tmp_path):
    system = generated(generator="mesh", dimensions=[18])
    with pytest.raises(InputError, match="needs 17 virtual channels, the fabric has 16"):
        odonata.run({"system": system, "job": [{"name": "a", "nodes": 2, "app": TRAFFIC}]}, out=tmp_path / "run")


def scenario_of(routing, system):
    return {
        "system": system,
        "routing": routing,
        "job": [
            {"name": "a", "nodes": 20, "place": "random", "app": TRAFFIC},
            {"name": "b", "nodes": 10, "place": "contiguous", "app": {**TRAFFIC, "pattern": "tornado", "offset": 3}},
        ],
        "measure": {"blame": True},
    }


ROUTINGS = ["minimal", "valiant", "ugal-hops", "autonet", {"name": "minimal", "select": "hash"}]


@pytest.mark.parametrize("routing", ROUTINGS)
def test_runs_are_the_same_on_any_number_of_threads(tmp_path, routing):
    system = generated(generator="slim-fly", q=5, nodes_per_router=1)
    made = scenario.load(scenario_of(routing, system))
    outputs = []
    for threads in (1, 2):
        run = runner.run(made, tmp_path / f"{threads}", threads=threads)
        outputs.append((run.links, run.jobs))
    assert outputs[0][0].equals(outputs[1][0])
    assert outputs[0][1].equals(outputs[1][1])
    assert outputs[0][1]["packets"].sum() > 100


@pytest.mark.parametrize(
    "policy", sorted({"contiguous", "random", "level-spread", "random-routers", "same-island", "simple"})
)
def test_placements_on_routers_with_different_numbers_of_nodes(policy):
    system = machine.load(
        whole([["a", "b"], ["b", "c"], *(["b", f"n{at}"] for at in range(5)), ["c", "m"], ["a", "k"]])
    )
    jobs = [{"name": "a", "nodes": 6, "place": policy, "app": TRAFFIC}]
    made = scenario.load({"system": system.document(), "job": jobs})
    nodes = made.resolve().spec["jobs"][0]["nodes"]
    assert len(set(nodes)) == 6


def test_nodes_of_routers_with_different_numbers_of_nodes():
    system = machine.load(
        whole([["a", "b"], ["b", "c"], ["k", "a"], *(["b", f"n{at}"] for at in range(5)), ["c", "m"]])
    )
    shape, wired = system.shape, system.describe()
    assert [shape.router_of(node) for node in range(7)] == list(wired["node_router"]) == [0, 1, 1, 1, 1, 1, 2]
    assert [len(shape.nodes_on(router)) for router in range(3)] == [1, 5, 1]
    assert (shape.nodes_per_group, shape.routers, shape.nodes) == (7, 3, 7)


def test_a_run_of_a_file(tmp_path):
    (tmp_path / "links.csv").write_text(CSV)
    document = {
        "system": {"kind": "graph", "links": "links.csv", "fabric": {"links": {}}},
        "job": [{"name": "a", "nodes": 3, "app": {"collective": "allreduce", "message": "1 MB"}}],
    }
    (tmp_path / "s.toml").write_text(tomlkit.dumps(document))
    run = odonata.run(tmp_path / "s.toml", out=tmp_path / "run")
    assert set(run.links["class"].unique()) == {"node", "link", "link2"}


NAMED = "a,b\nh0,s0\nh1,s1\nh2,s2\ns0,s1\n"


def test_errors_about_a_graph_have_the_names_of_routers_and_nodes(tmp_path):
    (tmp_path / "links.csv").write_text(NAMED + "s2,s1\ns0,s2\n")
    system = {**whole("links.csv"), "failed": {"links": ["0-1", "0-2"]}}
    with pytest.raises(InputError) as caught:
        machine.load(system, folder=tmp_path).describe()
    assert "joins the routers 1 (`s1`) and 0 (`s0`)" in caught.value.message
    app = {"pattern": "uniform-random", "message": "1 B", "interval": "1 us", "messages": 1}
    job = {"name": "a", "nodes": 2, "app": app}
    with pytest.raises(InputError, match=r"routers 1 \(`s1`\) and 0 \(`s0`\)"):
        scenario.load({"system": system, "job": [job]}, folder=tmp_path).resolve()


def test_a_graph_in_pieces_names_its_routers(tmp_path):
    (tmp_path / "links.csv").write_text(NAMED)
    with pytest.raises(InputError) as caught:
        machine.load(whole("links.csv"), folder=tmp_path)
    assert "`s2`" in caught.value.message, caught.value.message


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ("h0,s0\nh1,s1\ns0,s1\ns1,s2\n", "`s2` has one link and is taken as a node"),
        ("0,4\n1,4\n2,5\n3,5\n4,5\n", "`0`, `1`, `2` and 1 more have one link and are taken as nodes"),
        ("h0,s0\nh1,s1\ns0,s1\n", None),
    ],
)
def test_a_switch_with_one_link_is_a_node_with_a_note(tmp_path, links, said):
    (tmp_path / "links.csv").write_text(links)
    notes = machine.load(whole("links.csv"), folder=tmp_path).table.not_modelled
    assert [said in note for note in notes] == ([] if said is None else [True])
    assert not machine.load(
        whole("links.csv", nodes=["h*" if "h0" in links else "[0-3]"]), folder=tmp_path
    ).table.left_out


def test_a_switch_of_graphml_with_one_link_is_a_node_with_a_note(tmp_path):
    vertices = "".join(f'<node id="{name}"/>' for name in ("h0", "s0", "s1", "s2", "h1"))
    edges = "".join(
        f'<edge source="{a}" target="{b}"/>' for a, b in (("h0", "s0"), ("s0", "s1"), ("s1", "s2"), ("h1", "s1"))
    )
    (tmp_path / "m.graphml").write_text(f'<graphml><graph edgedefault="undirected">{vertices}{edges}</graph></graphml>')
    (note,) = machine.load(whole("m.graphml"), folder=tmp_path).table.not_modelled
    assert "`s2` has one link" in note
