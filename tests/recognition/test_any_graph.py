"""Fabrics of no known kind: refused with an offer, and imported as graphs."""

import json

import pytest

import odonata
from odonata import machine
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.recognition import import_fabric

SIZE = 4


def torus(bandwidth="", failed=""):
    """A torus of switches with a host each, as GraphML; `failed` is a switch."""
    keys = '<key id="failed" for="node" attr.name="failed" attr.type="boolean"/>'
    keys += '<key id="bandwidth" for="edge" attr.name="bandwidth" attr.type="string"/>'
    places = [(x, y) for x in range(SIZE) for y in range(SIZE)]
    down = '<data key="failed">true</data>'
    nodes = [
        f'<node id="s{x}-{y}">{down if failed == f"s{x}-{y}" else ""}</node><node id="h{x}-{y}"/>' for x, y in places
    ]
    cables = [(f"s{x}-{y}", f"s{x2 % SIZE}-{y2 % SIZE}") for x, y in places for x2, y2 in ((x + 1, y), (x, y + 1))]
    cables += [(f"h{x}-{y}", f"s{x}-{y}") for x, y in places]
    value = f'<data key="bandwidth">{bandwidth}</data>' if bandwidth else ""
    edges = [f'<edge source="{a}" target="{b}">{value}</edge>' for a, b in cables]
    return f'<graphml>{keys}<graph edgedefault="undirected">{"".join([*nodes, *edges])}</graph></graphml>'


def test_a_torus_is_refused_with_the_offer_to_take_it_as_a_graph(tmp_path):
    (tmp_path / "torus.graphml").write_text(torus())
    with pytest.raises(InputError, match="looks like a torus") as caught:
        import_fabric(tmp_path / "torus.graphml")
    assert "--graph imports it as a graph machine" in caught.value.hint


def test_a_torus_as_a_graph_has_its_switches_hosts_and_cables(tmp_path, capsys):
    (tmp_path / "torus.graphml").write_text(torus("50 Gbit/s"))
    out = tmp_path / "torus.toml"
    assert main(["cluster", "import", str(tmp_path / "torus.graphml"), "--graph", "-o", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["topology"], told["nodes"], told["routers"]) == ("graph", 16, 16)
    assert told["links"] == {"node": 16, "link": 32}
    assert any("taken as a graph (--graph)" in note for note in told["notes"])
    system = machine.load(str(out))
    assert set(system.table.node_names) == {f"h{x}-{y}" for x in range(SIZE) for y in range(SIZE)}
    assert dict(system.table.facts())["longest shortest path"] == "4 links between routers"
    assert system.fabric["links"]["link"]["bandwidth"] == 6_250_000_000 * 10**6
    sources = {row.key: row.source for row in system.sources}
    assert sources["fabric.links.link.bandwidth"] == "in torus.graphml (confidence: high)"
    assert sources["fabric.links.link.latency"].startswith("assumed: as in summit")
    assert sources["fabric.packet"].startswith("assumed: as in summit, where it is assumed: the largest packet")
    app = {"pattern": "uniform-random", "message": "4 KB", "interval": "10 us", "messages": 2}
    run = odonata.run({"system": system.document(), "job": [{"name": "a", "nodes": 16, "app": app}]})
    assert run.jobs["messages_delivered"][0] == 32


def test_what_has_failed_in_the_file_has_failed_in_the_graph(tmp_path):
    (tmp_path / "torus.graphml").write_text(torus(failed="s1-1"))
    recognised = import_fabric(tmp_path / "torus.graphml", graph=True)
    (router,) = recognised.table["failed"]["routers"]
    assert recognised.routers[router] == "s1-1"
    assert len(recognised.system().unusable_nodes) == 1


def test_another_system_gives_the_numbers(tmp_path):
    (tmp_path / "torus.graphml").write_text(torus())
    like = machine.load("kang2019")
    system = import_fabric(tmp_path / "torus.graphml", like="kang2019", graph=True).system()
    assert system.fabric["packet_bytes"] == like.fabric["packet_bytes"]
    assert system.fabric["links"]["node"]["bandwidth"] == like.fabric["links"]["node"]["bandwidth"]


def test_a_file_without_cables_is_no_graph(tmp_path):
    (tmp_path / "topology.conf").write_text(
        "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=t Switches=s[0-1]\n"
    )
    with pytest.raises(InputError, match="lists no cables, so it is no graph"):
        import_fabric(tmp_path / "topology.conf", graph=True)


def test_hosts_that_differ_are_named(tmp_path):
    text = torus().replace("</graph>", '<edge source="h0-0" target="s1-1"/></graph>')
    typed = text.replace("<graph ", '<key id="type" for="node" attr.name="type" attr.type="string"/><graph ', 1)
    for x in range(SIZE):
        for y in range(SIZE):
            typed = typed.replace(f'<node id="h{x}-{y}"/>', f'<node id="h{x}-{y}"><data key="type">host</data></node>')
            typed = typed.replace(
                f'<node id="s{x}-{y}"></node>', f'<node id="s{x}-{y}"><data key="type">switch</data></node>'
            )
    (tmp_path / "torus.graphml").write_text(typed)
    with pytest.raises(InputError, match="all nodes must have as many NICs"):
        import_fabric(tmp_path / "torus.graphml", graph=True)


@pytest.mark.parametrize("hosts", [2, 3])
def test_a_single_switch_is_a_graph_without_links(tmp_path, capsys, hosts):
    ends = "".join(f'<node id="h{at}"/>' for at in range(hosts))
    cables = "".join(f'<edge source="h{at}" target="s0"/>' for at in range(hosts))
    graph = f'<graph edgedefault="undirected"><node id="s0"/>{ends}{cables}</graph>'
    (tmp_path / "one.graphml").write_text(f"<graphml>{graph}</graphml>")
    out = tmp_path / "one.toml"
    assert main(["cluster", "import", str(tmp_path / "one.graphml"), "--graph", "-o", str(out)]) == 0
    assert "without a check whether it is of a known kind" in " ".join(capsys.readouterr().out.split())
    system = machine.load(str(out))
    assert (system.table.links, system.table.router_names) == ((), ("s0",))
    assert {row.key: row.source for row in system.sources}["nics"] == "in one.graphml (confidence: high)"
    app = {"pattern": "uniform-random", "message": "4 KB", "interval": "10 us", "messages": 2}
    run = odonata.run({"system": str(out), "job": [{"name": "a", "nodes": hosts, "app": app}]})
    assert run.jobs["messages_delivered"][0] == 2 * hosts
