"""Readers of graphs: what they read, and what they say of files that are wrong."""

import pytest

from odonata import graphs, units
from odonata.errors import InputError
from odonata.graphs import edges
from odonata.graphs.wired import Speed

NONE = {"node": Speed(None, None), "link": Speed(None, None)}
USUAL = {"node": Speed(1_000_000, 5), "link": Speed(2_000_000, 7)}


def wired(text, nodes=None, usual=None, each=None):
    return graphs.wire(graphs.read(text, nodes, routers_only=each is not None), usual or NONE, each)


def gbit(number):
    return units.bandwidth_micro(f"{number} Gbit/s")


STAR = """\
# a b bandwidth latency
h0 s0 100Gbps 500ns
h1 s0 100Gbps 500ns
h2 s1 100Gbps 500ns
s0 s2 400Gbps 1us
s0 s2 400Gbps 1us
s1 s2 200Gbps 1us
"""


@pytest.mark.parametrize("separator", [" ", ",", ";", "\t", ", "])
def test_a_list_of_links(separator):
    lines = [line if line.startswith("#") else separator.join(line.split()) for line in STAR.splitlines()]
    graph = wired("\n".join(lines))
    assert (graph.routers, graph.nodes, graph.nics, graph.rails) == (
        ["s0", "s1", "s2"],
        ["h0", "h1", "h2"],
        [0, 0, 1],
        1,
    )
    assert graph.links == [[0, 2, 1], [0, 2, 1], [1, 2, 2]]
    assert graph.speeds == {
        "node": Speed(gbit(100), 500_000),
        "link": Speed(gbit(400), 1_000_000),
        "link2": Speed(gbit(200), 1_000_000),
    }


def test_a_first_line_names_the_columns():
    graph = wired("latency,Target,Source,rate\n1 us,s1,s0,25 Gb/s\n2 us,h0,s0,10 GB/s\n2 us,h1,s1,10 GBps\n")
    assert graph.links == [[0, 1, 1]]
    assert graph.speeds["node"] == Speed(units.bandwidth_micro("10 GB/s"), 2_000_000)
    assert graph.speeds["link"] == Speed(gbit(25), 1_000_000)


def test_vertices_may_have_names_of_columns():
    assert len(wired("a b\nb to\nto a\n", usual=USUAL, each=1).links) == 3
    assert len(wired("a b\nx y\ny z\n", usual=USUAL, each=1).links) == 2


def test_what_a_file_does_not_say_comes_from_the_machine():
    graph = wired("h0 s0\nh1 s1\ns0 s1 8Gbps\n", usual=USUAL)
    assert graph.speeds == {"node": USUAL["node"], "link": Speed(gbit(8), 7)}


def test_nodes_by_name_and_several_nics():
    text = (
        "".join(f"gpu{gpu} rail{rail} 8Gbps 1us\n" for gpu in range(3) for rail in range(2)) + "rail0 rail1 8Gbps 1us\n"
    )
    graph = wired(text, nodes=("gpu*",))
    assert (graph.rails, graph.nics, graph.nodes) == (2, [0, 1, 0, 1, 0, 1], ["gpu0", "gpu1", "gpu2"])


def test_nodes_follow_their_routers_and_routers_their_nodes():
    graph = wired("x s1 8Gbps\ny s0 8Gbps\nz s1 8Gbps\ns0 s1 8Gbps\ns2 s0 8Gbps\ns2 s1 8Gbps\n")
    assert (graph.routers, graph.nodes, graph.nics) == (["s1", "s0", "s2"], ["x", "z", "y"], [0, 0, 1])


def test_routers_without_nodes_are_last():
    graph = wired("s2 s0 8Gbps\ns2 s1 8Gbps\nx s1 8Gbps\ny s0 8Gbps\n")
    assert (graph.routers, graph.nodes, graph.nics) == (["s1", "s0", "s2"], ["x", "y"], [0, 1])
    assert graph.links == [[2, 1, 1], [2, 0, 1]]


def test_nodes_on_every_vertex():
    graph = wired("a b 8Gbps\nb c 8Gbps\n", usual=USUAL, each=2)
    assert (graph.routers, graph.nodes) == (["a", "b", "c"], ["a-0", "a-1", "b-0", "b-1", "c-0", "c-1"])
    assert graph.nics == [0, 0, 1, 1, 2, 2]


#: Four nodes, two leaves, a spine; as in the files of HPCC.
HPCC = """\
7 3 6
4 5 6
0 4 100Gbps 1000ns 0
1 4 100Gbps 1000ns 0
2 5 100Gbps 1000ns 0.000000
3 5 100Gbps 1000ns 0
4 6 400Gbps 0.001ms 0
5 6 400Gbps 0.001ms 0
"""


def test_a_topology_file_of_hpcc():
    graph = wired(HPCC)
    assert (graph.routers, graph.nodes) == (["switch4", "switch5", "switch6"], ["node0", "node1", "node2", "node3"])
    assert (graph.nics, graph.links) == ([0, 0, 1, 1], [[0, 2, 1], [1, 2, 1]])
    assert graph.speeds == {"node": Speed(gbit(100), 1_000_000), "link": Speed(gbit(400), 1_000_000)}


#: Two servers of two GPUs each with an NVSwitch, and two leaves, one for each GPU of a server.
SIMAI = """\
9 2 2 3 10 A100
4 5 6 7 8
0 4 2400Gbps 0.000025ms 0
1 4 2400Gbps 0.000025ms 0
2 5 2400Gbps 0.000025ms 0
3 5 2400Gbps 0.000025ms 0
0 6 200Gbps 0.0005ms 0
1 7 200Gbps 0.0005ms 0
2 6 200Gbps 0.0005ms 0
3 7 200Gbps 0.0005ms 0
6 8 200Gbps 0.0005ms 0
7 8 200Gbps 0.0005ms 0
"""


def test_a_topology_file_of_simai():
    graph = wired(SIMAI)
    assert (graph.nodes, graph.rails, graph.nics) == (["server0", "server1"], 2, [0, 1, 0, 1])
    assert graph.links == [[0, 2, 1], [1, 2, 1]]
    assert "2 NVSwitches left out" in graph.notes[0]


def test_words_may_follow_the_links():
    assert wired(HPCC + "\nFirst line: total node #, switch node #, link #\n") == wired(HPCC)


def test_two_planes_of_simai():
    # Each GPU has a NIC in each of two networks.
    text = SIMAI.replace("9 2 2 3 10", "8 2 2 2 12").replace("4 5 6 7 8", "4 5 6 7")
    links = "".join(f"{gpu} {switch} 200Gbps 0.0005ms 0\n" for gpu in range(4) for switch in (6, 7))
    graph = wired("\n".join(text.splitlines()[:6]) + "\n" + links)
    assert (graph.rails, graph.nics, graph.links) == (4, [0, 1, 0, 1, 0, 1, 0, 1], [])
    assert graph.speeds["link"] == graph.speeds["node"] == Speed(gbit(200), 500_000)


def test_nvswitches_alone_are_switches():
    graph = wired("3 2 1 0 2 H100\n2\n0 2 2400Gbps 1us 0\n1 2 2400Gbps 1us 0\n")
    assert (graph.routers, graph.nodes, graph.rails) == (["switch2"], ["node0", "node1"], 1)


GRAPHML = """<graphml><key id="b" for="edge" attr.name="bandwidth"/><key id="l" for="edge" attr.name="latency"/>
<graph edgedefault="undirected">
<node id="s0"/><node id="s1"/><node id="h0"/><node id="h1"/>
<edge source="h0" target="s0"><data key="b">100 Gbit/s</data></edge>
<edge source="h1" target="s1"><data key="b">12.5e9</data></edge>
<edge source="s0" target="s1"><data key="b">400Gbps</data><data key="l">250</data></edge>
<edge source="s1" target="s0"><data key="b">400Gbps</data><data key="l">250 ns</data></edge>
</graph></graphml>"""


def test_graphml():
    graph = wired(GRAPHML)
    assert (graph.routers, graph.nodes, graph.links) == (["s0", "s1"], ["h0", "h1"], [[0, 1, 1], [1, 0, 1]])
    assert graph.speeds == {"node": Speed(gbit(100), None), "link": Speed(gbit(400), 250_000)}
    assert wired(GRAPHML, nodes=("h0", "h1")).links == graph.links
    assert wired(GRAPHML, each=1, usual=USUAL).nodes == ["s0-0", "s1-0", "h0-0", "h1-0"]


#: Eight NPUs: two rings of four, and four switches of two.
ASTRA = """\
# a comment
topology: [ Ring, Switch ]
npus_count: [ 4, 2 ]
bandwidth: [ 100.0, 50.0 ] # GB/s
latency: [ 500.0, 700.0 ] # ns
"""


def test_a_network_of_astra_sim():
    graph = wired(ASTRA, usual=USUAL)
    assert (len(graph.nodes), len(graph.routers), graph.nics) == (8, 12, list(range(8)))
    rings, switched = graph.links[:8], graph.links[8:]
    assert rings[:4] == [[0, 1, 1], [1, 2, 1], [2, 3, 1], [3, 0, 1]]
    assert rings[4:] == [[4, 5, 1], [5, 6, 1], [6, 7, 1], [7, 4, 1]]
    assert sorted(switched) == sorted([npu, 8 + npu % 4, 2] for npu in range(8))
    assert graph.speeds["link"] == Speed(units.bandwidth_micro("100 GB/s"), 500_000)
    assert graph.speeds["link2"] == Speed(units.bandwidth_micro("50 GB/s"), 700_000)
    mesh = wired(ASTRA.replace("Ring", "FullyConnected"), usual=USUAL)
    assert len(mesh.links) == 2 * 6 + 8


SIMGRID = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="zone0" routing="Floyd">
<host id="h0" speed="1Gf"/><host id="h1" speed="1Gf"/><router id="r0"/><router id="r1"/>
<link id="l0" bandwidth="125MBps" latency="50us"/><link id="l1" bandwidth="1GBps" latency="100us"/>
<link id="loop" bandwidth="1GBps" latency="1us"/>
<route src="h0" dst="r0"><link_ctn id="l0"/></route>
<route src="r1" dst="h1"><link_ctn id="l0"/></route>
<route src="r0" dst="r1"><link_ctn id="l1"/></route>
<route src="r1" dst="r0"><link_ctn id="l1"/></route>
<route src="h0" dst="h0"><link_ctn id="loop"/></route>
</zone></platform>"""


def test_a_platform_of_simgrid():
    graph = wired(SIMGRID)
    assert (graph.routers, graph.nodes, graph.links) == (["r0", "r1"], ["h0", "h1"], [[0, 1, 1]])
    assert graph.speeds["node"] == Speed(units.bandwidth_micro("125 MB/s"), 50_000_000)
    assert graph.speeds["link"] == Speed(units.bandwidth_micro("1 GB/s"), 100_000_000)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a b 1Gbps\na\n", 2, "expected a link (two to 4 of a, b, bandwidth, latency), found 1 field"),
        ("a b 1Gbps 1us 0 0\n", 1, "found 6 fields"),
        ("h a 1Gbps\na b 5\n", 2, "`5` is no bandwidth"),
        ("h a 0Gbps\n", 1, "never delivers a packet"),
        ("h a 1Gbps fast\n", 1, "`fast` is no latency"),
        ("h a 1Gbps -1us\n", 1, "`-1us` is no latency"),
        ("a,,1Gbps\n", 1, "a link without end `b`"),
        ("source,target,speed\na,b,1\n", 1, "`speed`"),
        ("source,src\na,b\n", 1, "two columns for `a`: `source` and `src`"),
        ('a,"b\n', 1, "not CSV"),
        ("# nothing\n", None, "it lists no link"),
        ("h0 s0 1Gbps\nh1 s0 2Gbps\n", 2, "the link of node `h1` has 250 MB/s and 0 s"),
        ("s0 s1\nh0 s0 1Gbps\nh1 s1 1Gbps\n", 1, "a link between routers without a bandwidth"),
        ("h0 s0\nh1 s0\n", 1, "a link to a node without a bandwidth"),
        ("x y 1Gbps\n", 1, "a link joins two nodes, `x` and `y`"),
        ("a b 1Gbps\nb c 1Gbps\nc a 1Gbps\n", None, "the graph has no nodes"),
        ("s0 s0 1Gbps\nh s0 1Gbps\n", 1, "joins the switch `s0` to itself"),
        ("7 3 6\n4 5\n", 2, "the file ends after 2 of 3 numbers of switches"),
        ("7 3 6\n4 5 7\n", 2, "expected a number from 0 to 6, found `7`"),
        ("7 3 6\n4 5 5\n", 2, "the switch 5 is listed twice"),
        ("3 3 1\n0 1 2\n0 1 1Gbps 1us 0\n", 1, "so none is a node"),
        (HPCC.replace("5 6 400Gbps 0.001ms 0\n", ""), 7, "the file ends in link 6 of 6"),
        (HPCC + "0 6 400Gbps 0.001ms 0\n", 9, "`0` follows the last of 6 links"),
        (HPCC.replace("0.000000", "0.01"), 5, "expected the error rate 0, found `0.01`"),
        (HPCC.replace("0.000000", ""), 5, "expected 5 fields of a link"),
        (HPCC.replace("1 4 100Gbps", "1 0 100Gbps"), 4, "a link joins two nodes, 1 and 0"),
        (HPCC.replace("1 4 100Gbps", "1 4 100Xbps"), 4, "`100Xbps` is no bandwidth"),
        ("9 3 2 3 10 A100\n4 5 6 7 8\n", 1, "4 GPUs are no whole number of servers with 3"),
        ("<platform version='4'></platform>", None, "the graph has no nodes"),
        ("<platform version='4'><cluster id='c'/></platform>", 1, "`cluster` of SimGrid is a cluster"),
        (
            SIMGRID.replace('<link_ctn id="l1"/></route>', '<link_ctn id="l1"/><link_ctn id="l0"/></route>'),
            10,
            "2 links",
        ),
        (SIMGRID.replace('dst="h1"', 'dst="h7"'), 9, "`h7`"),
        (SIMGRID.replace('src="h0" dst="r0"', 'src="h0" dst="h1"'), 8, "a link joins two hosts"),
        (SIMGRID.replace("125MBps", "fast"), 6, "`fast` is no bandwidth"),
        (SIMGRID.replace("</zone>", ""), 13, "not XML"),
        ("<svg/>", 1, "expected GraphML"),
        ('{"nodes": []}', None, "JSON cannot be read as a graph"),
        ("topology: [ Ring ]\nnpus_count: [ 4 ]\n", None, "the key `bandwidth` is missing"),
        (ASTRA.replace("Ring", "Torus"), 2, "`Torus`"),
        (ASTRA.replace("[ 4, 2 ]", "[ 4 ]"), 3, "`npus_count` has 1 entries, but `topology` has 2"),
        (ASTRA.replace("4, 2", "4, x"), 3, "expected a number of NPUs, found `x`"),
        (ASTRA.replace("50.0", "fast"), 4, "no bandwidth"),
        (ASTRA + "speed: [ 1 ]\n", 6, "`speed`"),
        (ASTRA + "- 4\n", 6, "expected `key: [ a, b ]`"),
        (GRAPHML.replace("12.5e9", "fast"), 5, "`fast` is no bandwidth"),
    ],
)
def test_what_is_wrong_has_its_line(text, line, message):
    with pytest.raises(InputError) as caught:
        wired(text)
    assert message in caught.value.message, caught.value.message
    assert caught.value.line == line


def test_nodes_that_differ_are_refused():
    text = "h0 s0 1Gbps\nh0 s1 1Gbps\nh1 s0 1Gbps\ns0 s1 1Gbps\n"
    with pytest.raises(InputError, match="the node `h1` has 1 link and `h0` has 2") as caught:
        wired(text, nodes=("h*",))
    assert caught.value.line in (1, 3)


def test_links_of_too_many_kinds_are_refused():
    text = "h0 s0 1Gbps\nh1 s1 1Gbps\n" + "".join(f"s0 s1 1Gbps {at}us\n" for at in range(8))
    with pytest.raises(InputError, match="links of more than 7 kinds") as caught:
        wired(text)
    assert caught.value.line == 10
    assert len(wired(text.rsplit("s0", 1)[0]).speeds) == 8


def test_a_pattern_that_matches_nothing_is_refused():
    with pytest.raises(InputError, match="no vertex has a name like `gpu") as caught:
        wired(STAR, nodes=("gpu*",))
    assert caught.value.path == ("nodes",)


@pytest.mark.parametrize(("arguments", "key"), [({"nodes": ("h*",)}, "nodes"), ({"each": 1}, "nodes_per_router")])
def test_a_file_that_says_which_are_nodes_is_not_overruled(arguments, key):
    with pytest.raises(InputError, match="says itself which are its nodes") as caught:
        wired(HPCC, **arguments)
    assert caught.value.path == (key,)


def test_links_that_are_listed_in_both_directions(tmp_path):
    """Each two lines are the directions of one link, and that is said."""
    one = "h0,s0,100 Gbit/s,1 us\nh1,s1,100 Gbit/s,1 us\ns0,s1,100 Gbit/s,1 us\n"
    fields = [line.split(",") for line in one.splitlines()]
    both = one + "".join(",".join([b, a, *more]) + "\n" for a, b, *more in fields)
    once, twice = (edges.read(text, None, routers_only=False) for text in (one, both))
    assert [(link.a, link.b) for link in twice.links] == [(link.a, link.b) for link in once.links]
    assert [nic.host for nic in twice.nics] == ["h0", "h1"]
    assert twice.notes == ["every link is listed in both directions, so these are 3 links"]
    assert once.notes == []


def test_two_links_side_by_side_stay_two():
    text = "h0 s0\nh1 s1\ns0 s1\ns0 s1\n"
    assert len(edges.read(text, None, routers_only=False).links) == 2


def test_directions_that_differ_are_refused():
    with pytest.raises(InputError, match="the two directions between `s1` and `s0` differ, the other is in line 1"):
        edges.read("s0 s1 100Gbit/s\ns1 s0 40Gbit/s\n", None, routers_only=True)


TWICE = [
    ("a,b,bandwidth,rate\nx,y,1 GB/s,2 GB/s\n", 1, "two columns for `bandwidth`: `bandwidth` and `rate`"),
    ("a,b,delay,latency\nx,y,1 us,2 us\n", 1, "two columns for `latency`: `delay` and `latency`"),
    (
        "topology: [Ring]\nnpus_count: [4]\nnpus_count: [8]\nbandwidth: [1]\nlatency: [1]\n",
        3,
        "the key `npus_count` again, first in line 2",
    ),
]


@pytest.mark.parametrize(("text", "line", "message"), TWICE)
def test_what_is_given_twice_is_refused(text, line, message):
    with pytest.raises(InputError) as caught:
        wired(text, usual=USUAL)
    assert (caught.value.line, message in caught.value.message) == (line, True)


@pytest.mark.parametrize("digits", ["²", "٣", "9" * 5_000])
@pytest.mark.parametrize(
    "text",
    [
        "topology: [Ring]\nnpus_count: [N]\nbandwidth: [1]\nlatency: [1]\n",
        "3 1 2\nN\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n",
        "3 1 2\n2\nN 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n",
    ],
    ids=["astra", "switch", "link"],
)
def test_other_digits_and_too_many_are_no_numbers(text, digits):
    with pytest.raises(InputError, match="expected a number") as caught:
        wired(text.replace("[N]", f"[{digits}]").replace("\nN", f"\n{digits}"))
    assert caught.value.line in (2, 3)


def test_a_full_mesh_of_too_many_links_is_refused_before_it_is_made():
    text = "topology: [FullyConnected]\nnpus_count: [100000]\nbandwidth: [1]\nlatency: [1]\n"
    with pytest.raises(InputError, match="FullyConnected of 100,000 NPUs: 4,999,950,000"):
        wired(text)
