"""Switches as a machine, and nodes chosen on it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cluster import shapes

from odonata import cluster, placement
from odonata.allocation.selection import Cluster, choose, policies
from odonata.errors import InputError
from odonata.queue.records import Job
from odonata.queue.topology import Topology, flat, parse_topology

if TYPE_CHECKING:
    from pathlib import Path

BLOCKS = """\
BlockName=b1 Nodes=n[01-02]
BlockName=b2 Nodes=n[03-04]
BlockName=b3 Nodes=n[05-06]
BlockName=b4 Nodes=n[07-08]
"""
AGGREGATED = """\
BlockName=b1 BlockIndex=0 Nodes=n[01-02] BlockSize=2
BlockName=b2 BlockIndex=1 Nodes=n[03-04] BlockSize=2
BlockName=b3 BlockIndex=2 Nodes=n[05-06] BlockSize=2
AggregatedBlock=b[1-2] BlockIndex=3 Nodes=n[01-04] BlockSize=4
"""


def groups(text: str) -> dict[str, dict[str, str]]:
    of_groups = parse_topology(text).groups
    return {group: {leaf: cluster.fold(nodes) for leaf, nodes in leaves.items()} for group, leaves in of_groups.items()}


@pytest.mark.parametrize("text", [shapes.TOPOLOGY, shapes.SCONTROL_TOPOLOGY], ids=["topology.conf", "scontrol"])
def test_trees(text: str) -> None:
    assert groups(text) == {"isla": {"a1": "n[01-03]", "a2": "n[04-05]"}, "islb": {"b1": "n[06-10]"}}


def test_flat_trees_are_one_group() -> None:
    leaves = "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n"
    for text, name in ((leaves, "all"), (leaves + "SwitchName=top Switches=a,b\n", "top")):
        assert groups(text) == {name: {"a": "n[1-2]", "b": "n[3-4]"}}


def test_blocks() -> None:
    assert list(groups(BLOCKS)) == ["all"]
    sized = groups(BLOCKS + "BlockSizes=2,4\n")
    assert sized == {
        "b1 to b2": {"b1": "n[01-02]", "b2": "n[03-04]"},
        "b3 to b4": {"b3": "n[05-06]", "b4": "n[07-08]"},
    }
    joined = groups(AGGREGATED)
    assert joined == {"b[1-2]": {"b1": "n[01-02]", "b2": "n[03-04]"}, "other blocks": {"b3": "n[05-06]"}}


def test_uneven_switches_become_a_regular_machine_with_holes() -> None:
    topology = parse_topology(shapes.TOPOLOGY)
    shape = topology.shape
    assert (shape.groups, shape.routers_per_group, shape.nodes_per_router) == (2, 2, 5)
    assert [topology.ids[name] for name in ("n01", "n03", "n04", "n06", "n10")] == [0, 2, 5, 10, 14]
    assert topology.missing == [3, 4, 7, 8, 9, 15, 16, 17, 18, 19]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[2-3]\n", "the node `n2` is on `a` and on `b`"),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "F:2: the switch `a` is listed twice, first in line 1"),
        ("SwitchName=a Nodes=n1\nSwitchName=t Switches=a,c\n", "F:2: the switch `t` joins `c`, which is not listed"),
        ("SwitchName=a Nodes=n1\nSwitchName=b", "F:2: the switch `b` has neither `Nodes` nor `Switches`"),
        ("SwitchName=a Nodes=n[3-1]\n", "F:1: host list `n[3-1]`, character 3: the range `3-1` ends before"),
        ("SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n", "found switches and blocks"),
        ("NodeName=n1 CPUs=4\n", "F:1: expected `SwitchName=` or `BlockName=`, found `NodeName CPUs`"),
        ("BlockName=b Nodes=n1\nBlockSizes=x\n", "F:2: expected a number of nodes as size of a block"),
        ("- topology: default\n", "F:1: the topology `default` has neither `tree` nor `block`"),
        ("- topology: a\n  flat: true\n", "F:2: the topology `a` has neither `tree` nor `block`"),
        ("- topology: a\n  tree: 3\n", "F:2: expected a table under `tree`"),
        ("- topology: a\n  tree:\n    switches:\n    - nodes: n1\n", "F:4: a switch has no name"),
        ("- topology: a\n  tree:\n    switches:\n    - switch: s\n", "F:4: the switch `s` has neither"),
        ("- topology: a\n  tree: {switches: [{switch: s, children: t}]}\n", "F:2: the switch `s` joins `t`"),
        ("- topology: a\n  tree: [\n", "F:3: "),
        ("- topology: a\n  tree: {}\n- topology: b\n  block: {}\n", "2 topologies, and none is the default"),
        ("---\n" + "[" * 5000, "it is no YAML"),
        ("- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n[4-3]\n", "F:5: host list `n[4-3]`"),
        (
            "- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n1\n      nodes: n2\n",
            "F:6: `nodes` is there twice",
        ),
        ("# nothing\n", "no switch and no block is listed"),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "no switch has nodes"),
        (
            "SwitchName=a Nodes=n[1-2]\nSwitchName=t Switches=a Nodes=n[3-5]\n",
            "F:2: the switch `t` has both `Switches=` and nodes that are on no leaf switch: `n3` and 2 more",
        ),
    ],
)
def test_wrong_topologies(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "topology.conf"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        cluster.read_topology(path)
    assert message in str(raised.value).replace(str(path), "F")


TREE = """\
# Slurm 25.05
---
- topology: racks
  cluster_default: false
  block:
    block_sizes: [2, 4]
    blocks:
      - {block: b1, nodes: "n[1-2]"}
      - {block: b2, nodes: "n[3-4]"}
      - {block: b3, nodes: "n[5-6]"}
- topology: tree
  cluster_default: true
  tree:
    switches:
      - switch: top
        children: s[1-2]
      - switch: s1
        nodes: n[1-3]
      - switch: s2
        nodes: n[4-6]
"""


def test_topology_yaml(tmp_path: Path) -> None:
    """The default of several topologies counts; a tree and blocks say the same as in topology.conf."""
    path = tmp_path / "topology.yaml"
    path.write_text(TREE)
    assert cluster.read_topology(path).groups == {"top": {"s1": ("n1", "n2", "n3"), "s2": ("n4", "n5", "n6")}}
    path.write_text(TREE.replace("cluster_default: false", "cluster_default: true"))
    blocks = cluster.read_topology(path)
    assert blocks.groups == {"b1 to b2": {"b1": ("n1", "n2"), "b2": ("n3", "n4")}, "b3": {"b3": ("n5", "n6")}}
    lines = "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockName=b3 Nodes=n[5-6]\nBlockSizes=2,4\n"
    (tmp_path / "topology.conf").write_text(lines)
    assert cluster.read_topology(tmp_path / "topology.conf") == blocks


FABRICS = """\
SwitchName=fabA Switches=la[1-2]
SwitchName=fabB Switches=lb[1-2]
SwitchName=alone Nodes=x[1-2]
SwitchName=la1 Nodes=a[1-2]
SwitchName=la2 Nodes=a[3-4]
SwitchName=lb1 Nodes=b[1-2]
SwitchName=lb2 Nodes=b[3-4]
"""


def of_fabrics(text: str, *busy: str) -> Cluster:
    topology = parse_topology(text)
    idle = frozenset(topology.nodes) - set(busy)
    jobs = [Job("1", frozenset({"RUNNING"}), busy)] if busy else []
    return Cluster(topology, idle, jobs, frozenset(topology.nodes))


@pytest.mark.parametrize(
    "policy", [name for name in policies() if name not in ("per-leaf", "same-group", "different-islands")]
)
def test_a_job_stays_on_switches_that_are_joined(policy: str) -> None:
    """Slurm starts no job on several fabrics."""
    options = {option.name: 1 for option in placement.get(policy).options if option.default is None}
    for busy, fabric in (((), "a"), (("a1",), "b"), (("b1", "b2"), "a")):
        chosen = choose(of_fabrics(FABRICS, *busy), 3, policy, options).nodes
        assert {name[0] for name in chosen} == {fabric}
    for nodes, most in ((5, 4), (10, 4)):
        with pytest.raises(InputError, match=f"{nodes} nodes do not fit: no fabric has more than {most} idle") as told:
            choose(of_fabrics(FABRICS), nodes, policy, options)
        assert told.value.hint == "no switch joins the 3 fabrics of the topology, and Slurm starts no job on several"


def test_a_policy_that_counts_itself_stays_on_one_fabric_too() -> None:
    cluster_of_three = of_fabrics(FABRICS, "a1")
    for group, nodes in (("2", ["b1", "b3"]), ("1", ["a2", "a3"])):
        assert choose(cluster_of_three, None, "per-leaf", {"per_leaf": 1, "groups": group}).nodes == nodes


@pytest.mark.parametrize(
    ("text", "together"),
    [
        (FABRICS, [["a1", "a2", "a3", "a4"], ["b1", "b2", "b3", "b4"], ["x1", "x2"]]),
        (
            FABRICS + "SwitchName=top Switches=fabA,fabB,alone\n",
            [[*(f"{f}{n}" for f in "ab" for n in "1234"), "x1", "x2"]],
        ),
        ("SwitchName=p Nodes=n[1-2]\nSwitchName=q Nodes=n[3-4]\n", [["n1", "n2"], ["n3", "n4"]]),
        (  # two roots of three levels, as `scontrol show topology` lists them
            "SwitchName=l1 Level=0 Nodes=n[1-2]\nSwitchName=l2 Level=0 Nodes=n[3-4]\nSwitchName=l3 Level=0 Nodes=n5\n"
            "SwitchName=s1 Level=1 Nodes=n[1-2] Switches=l1\nSwitchName=s2 Level=1 Nodes=n[3-4] Switches=l2\n"
            "SwitchName=s3 Level=1 Nodes=n5 Switches=l3\nSwitchName=r1 Level=2 Nodes=n[1-4] Switches=s[1-2]\n"
            "SwitchName=r2 Level=2 Nodes=n5 Switches=s3\n",
            [["n1", "n2", "n3", "n4"], ["n5"]],
        ),
        ("BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\n", [["n1", "n2", "n3", "n4"]]),
    ],
    ids=["two roots and a leaf", "one root", "no root", "three levels", "blocks"],
)
def test_fabrics_are_what_switches_join(text: str, together: list[list[str]]) -> None:
    topology = parse_topology(text)
    names = {number: name for name, number in topology.ids.items()}
    assert sorted(sorted(names[number] for number in part) for part in topology.parts) == together


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {"queue": shapes.queue("24.05"), "nodes_file": shapes.nodes("24.05"), "topology": shapes.TOPOLOGY}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in texts}


def test_only_idle_nodes_are_chosen(files: dict[str, Path]) -> None:
    selection = cluster.select(2, **files)
    assert selection.nodelist == "n[06,10]"
    assert selection.idle == 2
    assert selection.reason == (
        "2 nodes on router 2, the one with the most idle nodes anywhere; group 1 (`islb`) has 2 idle nodes, the most"
    )
    assert (selection.groups, selection.leaves) == (["islb"], 1)


def test_without_states_the_nodes_that_no_job_holds_are_idle(files: dict[str, Path]) -> None:
    del files["nodes_file"]
    selection = cluster.select(3, **files)
    assert selection.nodelist == "n[06-07,10]"


def test_without_switches_there_is_one_group(files: dict[str, Path]) -> None:
    del files["topology"]
    assert cluster.select(2, **files).groups == ["all"]


def test_partitions(files: dict[str, Path]) -> None:
    assert cluster.select(2, partition="all", **files).nodelist == "n[06,10]"
    with pytest.raises(InputError, match="unknown partition `al`"):
        cluster.select(2, partition="al", **files)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": 3}, "3 nodes do not fit: only 2 are idle"),
        ({"nodes": 1, "place": "level-spred"}, "unknown placement policy `level-spred`"),
        ({"nodes": 1, "place": "explicit"}, "`explicit` names nodes by number"),
        ({"nodes": 1, "options": {"grups": "0"}}, "unknown option of `level-spread` `grups`"),
        ({"nodes": 1, "nodes_file": None, "topology": None}, "a queue alone does not say which nodes there are"),
    ],
)
def test_what_cannot_be_chosen(files: dict[str, Path], options: dict, message: str) -> None:
    with pytest.raises(InputError) as raised:
        cluster.select(**(files | options))
    assert message in str(raised.value)


def test_a_topology_of_another_cluster(files: dict[str, Path]) -> None:
    files["topology"].write_text("SwitchName=a Nodes=x[1-9]\n")
    with pytest.raises(InputError, match="the topology has none of the nodes of the cluster"):
        cluster.select(1, **files)


def test_the_host_file_has_a_line_for_each_rank_in_their_order() -> None:
    selection = choose(
        Cluster(flat(["n1", "n2", "n3"]), frozenset({"n1", "n2", "n3"}), [], frozenset()), 2, "random", {"seed": 5}
    )
    assert selection.hostfile(2) == "".join(f"{node}\n{node}\n" for node in selection.nodes)
    assert sorted(selection.nodes) == cluster.expand(selection.nodelist)


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    number = iter(range(10_000))
    sizes = draw(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), min_size=1, max_size=4))
    topology = Topology(
        {
            f"g{g}": {f"l{g}.{at}": tuple(f"n{next(number)}" for _ in range(size)) for at, size in enumerate(leaves)}
            for g, leaves in enumerate(sizes)
        }
    )
    state = draw(st.lists(st.sampled_from(["idle", "a", "b", "down"]), min_size=len(topology.nodes), max_size=80))
    held = {name: [n for n, s in zip(topology.nodes, state, strict=False) if s == name] for name in ("idle", "a", "b")}
    jobs = [Job(name, frozenset({"RUNNING"}), tuple(held[name])) for name in ("a", "b") if held[name]]
    return Cluster(topology, frozenset(held["idle"]), jobs, frozenset())


@pytest.mark.parametrize("policy", [name for name in policies() if name != "per-leaf"])
@settings(max_examples=40)
@given(given_cluster=clusters(), data=st.data())
def test_every_policy_gives_distinct_idle_nodes_or_says_why_not(
    policy: str, given_cluster: Cluster, data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, max(1, len(given_cluster.idle))))
    options = {option.name: 1 for option in placement.get(policy).options if option.default is None}
    try:
        selection = choose(given_cluster, count, policy, options)
    except InputError:
        assert policy in ("same-group", "same-island", "different-islands") or not given_cluster.idle
        return
    assert len(selection.nodes) == len(set(selection.nodes)) == count
    assert set(selection.nodes) <= given_cluster.idle


def test_level_spread_takes_the_smallest_level_that_fits(tmp_path: Path) -> None:
    """Zhang 2018, III-B, on two islands of 3+2 and 5 nodes, all idle."""
    whole = Cluster(parse_topology(shapes.TOPOLOGY), frozenset(f"n{n:02}" for n in range(1, 11)), [], frozenset())
    assert choose(whole, 5, "level-spread").nodelist == "n[06-10]"
    four = Cluster(whole.topology, whole.idle - {"n09", "n10"}, [], frozenset())
    assert choose(four, 5, "level-spread").nodes == ["n01", "n04", "n02", "n05", "n03"]
    assert choose(whole, 7, "level-spread").nodes == ["n01", "n06", "n02", "n07", "n03", "n08", "n04"]


def test_reading_a_queue_loads_no_library(files: dict[str, Path]) -> None:
    import subprocess
    import sys

    code = (
        "import sys\nfrom odonata.cli.main import main\n"
        f"main(['cluster', 'background', '--queue', {str(files['queue'])!r}, '--nodes-total', '10', '--json'])\n"
        "heavy = {'polars', 'matplotlib', 'scipy', 'numpy', 'pydantic', 'odonata._core', 'odonata.scenario'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    answer, loaded = done.stdout.splitlines()
    assert json.loads(answer)["b"] == pytest.approx(1 / 3)
    assert loaded == "[]"


def test_many_blank_lines_before_the_switches(tmp_path: Path) -> None:
    """Catches a pattern whose time doubles with each blank line."""
    path = tmp_path / "topology.conf"
    path.write_text("# a\n\n \n" * 2_000 + "SwitchName=a Nodes=n[1-2]\n")
    assert cluster.read_topology(path).nodes == ["n1", "n2"]


def test_a_queue_whose_nodes_are_not_those_of_the_cluster(tmp_path: Path) -> None:
    """Catches busy nodes that are chosen because the queue names them with their domain."""
    (tmp_path / "queue").write_text("JOBID STATE NODELIST\n17 RUNNING n[1-2].site\n")
    (tmp_path / "topology.conf").write_text("SwitchName=a Nodes=n[1-4]\n")
    with pytest.raises(InputError, match=r"no node of the queue, such as `n1.site`, is among the nodes of the cluster"):
        cluster.select(2, queue=tmp_path / "queue", topology=tmp_path / "topology.conf")
