"""A machine as GraphML and as JSON: every cable once, and a document that other tools can read."""

import json
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from odonata import machine
from odonata.recognition import WRITTEN

NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"
READ = {"string": str, "int": int, "double": float, "boolean": {"true": True, "false": False}.__getitem__}


def read_graphml(text):
    """Nodes and edges with their attributes, read by the rules of GraphML (as networkx does)."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{NAMESPACE}graphml"
    keys = {
        key.attrib["id"]: (key.attrib["for"], key.attrib["attr.name"], READ[key.attrib["attr.type"]])
        for key in root.iterfind(f"{NAMESPACE}key")
    }
    (graph,) = root.iterfind(f"{NAMESPACE}graph")
    assert graph.attrib["edgedefault"] == "undirected"

    def values(element, owner):
        by_name = {}
        for data in element.iterfind(f"{NAMESPACE}data"):
            of, name, read = keys[data.attrib["key"]]
            assert of == owner
            by_name[name] = read(data.text)
        return by_name

    nodes = {node.attrib["id"]: values(node, "node") for node in graph.iterfind(f"{NAMESPACE}node")}
    edges = [
        (edge.attrib["id"], edge.attrib["source"], edge.attrib["target"], values(edge, "edge"))
        for edge in graph.iterfind(f"{NAMESPACE}edge")
    ]
    assert len({edge[0] for edge in edges}) == len(edges)
    assert all(source in nodes and target in nodes for _, source, target, _ in edges)
    return nodes, edges, values(graph, "graph")


def exported(ending, table):
    system = machine.load(table)
    return system, "\n".join(WRITTEN[ending[1:]].lines(system))


@pytest.mark.parametrize(
    "table",
    ["tiny", "zhang2018-272", {"preset": "theta", "groups": 2}, {"preset": "perlmutter", "groups": 2}],
)
def test_both_forms_hold_every_cable_once(table):
    system, xml = exported(".graphml", table)
    wired = system.describe()
    nodes, edges, about = read_graphml(xml)
    assert about["title"] == system.title
    assert Counter(values["type"] for values in nodes.values()) == {
        "node": wired["nodes"],
        "router": wired["routers"],
    }
    assert Counter(values["class"] for *_, values in edges) == wired["links"]
    assert {values["group"] for values in nodes.values()} == set(range(wired["groups"]))

    _, text = exported(".json", table)
    told = json.loads(text)
    assert (len(told["nodes"]), len(told["routers"])) == (wired["nodes"], wired["routers"])
    assert Counter(link["class"] for link in told["links"]) == wired["links"]
    ends = [
        (f"r{link['router']}", f"r{link['to_router']}" if "to_router" in link else f"n{link['node']}")
        for link in told["links"]
    ]
    assert ends == [(source, target) for _, source, target, _ in edges], "both forms in the same order"


def test_links_have_bandwidth_latency_and_group():
    """L3: 1 GB/s and 40 ns; a link between groups belongs to none."""
    _, xml = exported(".graphml", "zhang2018-272")
    nodes, edges, _ = read_graphml(xml)
    for _, source, target, values in edges:
        assert (values["bandwidth"], values["latency"]) == (1e9, 40.0)
        groups = {nodes[source]["group"], nodes[target]["group"]}
        assert groups == {values["group"]} if values["class"] != "global" else values["group"] == -1
        assert (len(groups) == 2) == (values["class"] == "global")
    _, text = exported(".json", "zhang2018-272")
    assert json.loads(text)["classes"]["local"] == {"bandwidth": 1e9, "latency_ns": 40.0, "buffer": 14_000}


def test_the_graph_of_tiny_by_hand():
    """Two leaves and two spines a group: leaf 0 has nodes 0 and 1, and both spines."""
    _, xml = exported(".graphml", "tiny")
    _, edges, _ = read_graphml(xml)
    assert [target for _, source, target, _ in edges if source == "r0"] == ["n0", "n1", "r2", "r3"]
    assert [values["port"] for _, source, _, values in edges if source == "r0"] == [0, 1, 2, 3]


def test_what_has_failed_is_marked():
    table = {"preset": "zhang2018-272", "failed": {"links": ["0-1"], "routers": [67]}}
    _, xml = exported(".graphml", table)
    nodes, edges, _ = read_graphml(xml)
    assert [name for name, values in nodes.items() if values.get("failed")] == ["r67"]
    dead = {(source, target) for _, source, target, values in edges if values["failed"]}
    assert dead == {("r0", "r1")} | {(s, t) for _, s, t, _ in edges if "r67" in (s, t)}
    assert len(dead) == 1 + 11, "all ports of a router"
    _, text = exported(".json", table)
    told = json.loads(text)
    assert [router["id"] for router in told["routers"] if router.get("failed")] == [67]
    assert sum(link.get("failed", False) for link in told["links"]) == len(dead)


def test_names_that_xml_does_not_like():
    _, xml = exported(".graphml", {"preset": "tiny", "name": 'a<"&b', "title": "1 < 2 & 3"})
    assert read_graphml(xml)[2]["title"] == "1 < 2 & 3"
    _, xml = exported(".graphml", {"preset": "tiny", "name": "a\0b", "title": "bell \x07, \uffff, 龙"})
    assert read_graphml(xml)[2]["title"] == "bell \ufffd, \ufffd, 龙"
