"""Machines as `odonata show` and `odonata export` print them."""

import json

import pytest

from odonata import machine
from odonata.machine import core

PATHS = {
    "total": 1234,
    "paths": [
        {
            "minimal": True,
            "hops": [
                {"router": 0, "port": 10, "channel": 0, "class": "global", "to_router": 16, "to_node": None},
                {"router": 16, "port": 1, "channel": 0, "class": "node", "to_router": None, "to_node": 65},
            ],
        },
        {
            "minimal": False,
            "hops": [
                {"router": 0, "port": 4, "channel": 0, "class": "local", "to_router": 1, "to_node": None},
                {"router": 1, "port": 9, "channel": 1, "class": "global", "to_router": 16, "to_node": None},
                {"router": 16, "port": 1, "channel": 0, "class": "node", "to_router": None, "to_node": 65},
            ],
        },
    ],
}


@pytest.fixture
def asked(monkeypatch):
    """A core that returns `PATHS`, and the list of its calls."""
    questions = []

    def routes(spec, source, destination, limit):
        questions.append((spec, source, destination, limit))
        return json.loads(json.dumps(PATHS))

    monkeypatch.setattr(core, "routes", routes)
    return questions


def test_the_list_says_how_large_machines_are(odonata):
    _, out, _ = odonata("show", "systems")
    lines = {line.split()[0]: line for line in out.splitlines() if line.startswith("  ")}
    assert set(lines) == set(machine.names())
    assert "9,408 nodes  2,352 routers  74 groups" in lines["frontier"]
    assert "1,056 nodes    264 routers  33 groups" in lines["zhang2018-1056"]


@pytest.mark.parametrize("name", machine.names())
def test_every_machine_has_links_of_all_its_classes(odonata, name):
    status, out, _ = odonata("show", name, "--json")
    shown = json.loads(out)
    assert status == 0
    assert list(shown["links"]) == list(machine.load(name).table.own_classes)
    assert all(count > 0 or (kind == "global" and shown["groups"] == 1) for kind, count in shown["links"].items())


def test_variants_of_a_machine_are_named(odonata):
    _, out, _ = odonata("show", "zhang2018-272")
    assert "  variants                           zhang2018-272-as-published\n" in out
    _, out, _ = odonata("show", "zhang2018-272", "--json")
    assert json.loads(out)["variants"] == ["zhang2018-272-as-published"]
    assert "variants" not in odonata("show", "theta")[1]


def test_confidence_has_a_column_where_sources_tell_it(odonata):
    _, out, _ = odonata("show", "edison")
    row = next(line.split(maxsplit=3) for line in out.splitlines() if line.startswith("  links_per_pair"))
    assert row[:3] == ["links_per_pair", "24", "high"]
    assert "confidence:" not in out
    assert "their confidence" in out
    _, out, _ = odonata("show", "tiny")
    assert "their confidence" not in out
    _, out, _ = odonata("show", "edison", "--json")
    numbers = {n["key"]: n for n in json.loads(out)["numbers"]}
    assert numbers["arrangement"]["confidence"] == "low"
    assert numbers["arrangement"]["source"].startswith("assumed: ")


def test_failures_are_printed(odonata, here):
    (here / "own.toml").write_text(
        'kind = "dragonfly"\ngroups = 3\nrouters = 4\nnodes_per_router = 2\nglobal_links_per_router = 1\n'
        'failed = { links = ["0-1"], routers = [5] }\n[fabric.links]\n'
        + "".join(f'{name} = {{ bandwidth = "1 GB/s" }}\n' for name in ("node", "local", "global"))
    )
    status, out, err = odonata("show", "own.toml")
    assert (status, err) == (0, "")
    assert "1 cable, 1 router; 2 nodes cannot be used; the rows above are of the machine without failures" in out
    _, out, _ = odonata("show", "own.toml", "--json")
    assert json.loads(out)["failed"] == {"links": 1, "routers": 1, "unusable_nodes": [10, 11]}


def test_ways_hop_by_hop(odonata, asked):
    status, out, err = odonata("show", "zhang2018-272", "--routes", "0", "65", "--routing", "minimal", "--limit", "2")
    assert (status, err) == (0, "")
    assert out == (
        "zhang2018-272, routing minimal (gateways nearest): from node 0 to node 65\n"
        "1,234 paths, 2 of them shown (--limit shows more)\n"
        "\n"
        "path 1, minimal, 1 link between routers\n"
        "  router 0   group 0  port 10  global  channel 0  to router 16\n"
        "  router 16  group 4  port 1   node    channel 0  to node 65\n"
        "\n"
        "path 2, non-minimal, 2 links between routers\n"
        "  router 0   group 0  port 4   local   channel 0  to router 1\n"
        "  router 1   group 0  port 9   global  channel 1  to router 16\n"
        "  router 16  group 4  port 1   node    channel 0  to node 65\n"
    )
    ((spec, source, destination, limit),) = asked
    assert (source, destination, limit) == (0, 65, 2)
    assert spec["routing"]["name"] == "minimal"
    assert spec["topology"]["groups"] == 17


def test_ways_as_json(odonata, asked):
    _, out, _ = odonata("show", "zhang2018-272", "--routes", "0", "65", "--json")
    told = json.loads(out)
    assert (told["system"], told["from"], told["to"], told["total"]) == ("zhang2018-272", 0, 65, 1234)
    assert [hop["group"] for hop in told["paths"][1]["hops"]] == [0, 0, 4]
    assert asked[0][3] == 10


def test_the_core_finds_ways_that_hang_together(odonata):
    """From the first router to the last node, each hop where the one before led; all within the bound of the model."""
    _, out, _ = odonata("show", "theta", "--routes", "0", "3000", "--routing", "adaptive-0", "--json")
    told = json.loads(out)
    assert told["total"] > len(told["paths"]) > 1
    assert {path["minimal"] for path in told["paths"]} == {True, False}
    for path in told["paths"]:
        hops = path["hops"]
        assert hops[0]["router"] == 0
        assert [hop["to_router"] for hop in hops[:-1]] == [hop["router"] for hop in hops[1:]]
        assert (hops[-1]["to_node"], hops[-1]["class"]) == (3000, "node")
        assert len(hops) - 1 <= (5 if path["minimal"] else 10)


def test_a_huge_limit_shows_all_paths(odonata):
    """Catches a limit that the core's integers cannot hold."""
    status, out, _ = odonata("show", "tiny", "--routes", "0", "15", "--limit", str(10**30), "--json")
    assert status == 0
    told = json.loads(out)
    assert told["total"] == len(told["paths"]) > 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tiny", "--routes", "0", "0"], "does not use the network"),
        (["tiny", "--routes", "0", "16"], "there is no node 16"),
        (["tiny", "--routes", "9" * 26, "1"], f"there is no node {'9' * 26}"),
        (["tiny", "--routes", "1", "9" * 26], f"there is no node {'9' * 26}"),
        (["tiny", "--routes", "\u0663", "1"], "expected the number of a node, found `\u0663`"),
        (["tiny", "--routes", "1", "-2"], "expected the number of a node, found `-2`"),
        (["tiny", "--routes", "0", "5", "--limit", "0"], "`--limit` must be at least 1"),
        (["tiny", "--routes", "0", "5", "--routing", "fparr"], "unknown routing `fparr`"),
        (["tiny", "--routes", "0", "5", "--routing", "{ name = "], "is not TOML"),
        (["theta", "--routes", "0", "5", "--routing", "fpar"], "fpar"),
        (["tinny", "--routes", "0", "5"], "unknown system `tinny`"),
        (["fpar", "--routes", "0", "5"], "unknown system `fpar`"),
        (["--routes", "0", "5"], "`--routes` needs a system"),
        (["tiny", "--routing", "minimal"], "`--routing` belongs to `--routes`"),
        (["tiny", "--limit", "3"], "`--limit` belongs to `--routes`"),
        (["tiny", "--routes", "0"], "--routes"),
        (["none.toml", "--routes", "0", "5"], "none.toml: cannot read it"),
    ],
)
def test_questions_about_ways_that_have_no_answer(odonata, arguments, message):
    status, out, err = odonata("show", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert "odonata show:" not in err, "the made-up scenario is not shown"


@pytest.mark.parametrize("ending", ["graphml", "json"])
def test_export_writes_a_file(odonata, here, ending):
    status, out, err = odonata("export", "tiny", "-o", f"tiny.{ending}")
    assert (status, err) == (0, "")
    assert out == f"tiny.{ending}: tiny, 16 nodes, 16 routers, links: 16 node, 16 local, 12 global\n"
    text = (here / f"tiny.{ending}").read_text()
    assert text.startswith("<?xml" if ending == "graphml" else "{")
    assert sorted(p.name for p in here.iterdir()) == sorted([f"tiny.{ending}", "tiny.toml"]), "nothing else is left"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["tiny", "-o", "tiny.gml"], 2, "ends in .graphml, .json"),
        (["tiny", "-o", "no/tiny.json"], 2, "there is no folder `no`"),
        (["tinny", "-o", "t.json"], 2, "unknown system `tinny`"),
        (["tiny"], 2, "--out"),
    ],
)
def test_export_refuses(odonata, here, arguments, status, message):
    code, out, err = odonata("export", *arguments)
    assert (code, out) == (status, "")
    assert message in err
    assert [p.name for p in here.iterdir()] == ["tiny.toml"]


def test_export_into_a_folder_that_cannot_be_written(odonata, here):
    (here / "t.json").mkdir()
    code, out, err = odonata("export", "tiny", "-o", "t.json")
    assert (code, out) == (1, "")
    assert err.startswith("error: cannot write `t.json`: ")
    assert not list((here / "t.json").iterdir())


GRAPH = """\
kind = "graph"
links = "links.csv"
[fabric.links]
node = { bandwidth = "10 GB/s" }
link = { bandwidth = "10 GB/s" }
"""


def test_routes_of_a_graph_have_the_names_of_its_file(odonata, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.toml").write_text(GRAPH)
    (tmp_path / "links.csv").write_text("gpu7,leafA\ngpu3,leafB\nleafA,spine\nleafB,spine\n")
    status, out, _ = odonata("show", "m.toml", "--routes", "gpu3", "gpu7")
    assert status == 0
    assert "from node 1 (gpu3) to node 0 (gpu7)" in out
    first, middle, last = (line for line in out.splitlines() if line.startswith("  router"))
    assert first.startswith("  router 1 (leafB)")
    assert first.endswith("to router 2 (spine)")
    assert middle.endswith("to router 0 (leafA)")
    assert last.endswith("to node 0 (gpu7)")
    _, out, _ = odonata("show", "m.toml", "--routes", "1", "gpu7", "--json")
    told = json.loads(out)
    assert (told["from"], told["from_name"], told["to_name"]) == (1, "gpu3", "gpu7")
    assert [hop["router_name"] for hop in told["paths"][0]["hops"]] == ["leafB", "spine", "leafA"]
    status, _, err = odonata("show", "m.toml", "--routes", "gpu", "gpu7")
    assert (status, "unknown node `gpu`" in err) == (2, True)
    status, _, err = odonata("show", "tiny", "--routes", "gpu3", "5")
    assert (status, "expected the number of a node, found `gpu3`" in err) == (2, True)


@pytest.mark.parametrize("named", [{"router"}, {"node"}, {"router", "node"}, set()])
def test_routes_have_the_names_that_a_graph_gives(odonata, tmp_path, monkeypatch, named):
    """A graph may name its routers, its nodes, both or neither."""
    monkeypatch.chdir(tmp_path)
    keys = "".join(f'{kind}_names = ["{kind}A", "{kind}B"]\n' for kind in sorted(named))
    graph = GRAPH.replace('links = "links.csv"\n', f"links = [[0, 1, 1]]\nnics = [0, 1]\n{keys}")
    (tmp_path / "m.toml").write_text(graph)
    status, out, err = odonata("show", "m.toml", "--routes", "0", "1")
    assert (status, err) == (0, "")
    a, b = (" (routerA)", " (routerB)") if "router" in named else ("", "")
    n, m = (" (nodeA)", " (nodeB)") if "node" in named else ("", "")
    assert f"from node 0{n} to node 1{m}\n" in out
    hops = [" ".join(line.split()) for line in out.splitlines() if line.startswith("  router")]
    assert [hop.split(" group")[0] for hop in hops] == [f"router 0{a}", f"router 1{b}"]
    assert [hop.split(" to ")[1] for hop in hops] == [f"router 1{b}", f"node 1{m}"]
    _, out, _ = odonata("show", "m.toml", "--routes", "0", "1", "--json")
    told = json.loads(out)
    assert ("from_name" in told) == ("node" in named)
    first, last = told["paths"][0]["hops"]
    assert ("router_name" in last, "to_name" in first, "to_name" in last) == (
        "router" in named, "router" in named, "node" in named
    )  # fmt: skip
