"""Models and graphs of topograph, as topologies for selections and for the import of a machine."""

from __future__ import annotations

import json

import pytest

from odonata import cluster
from odonata.cli.main import main
from odonata.errors import InputError
from odonata.queue.topology import read_topology

MODEL = """\
# a model
switches:
  core:
    metadata:
      region: here
    switches: [spine1, spine2]
  spine1:
    switches: [leaf1, leaf2]
  spine2:
    switches: [leaf3]
  leaf1:
    metadata: {group: cb1}
    nodes: ["n[1-2]"]
  leaf2:
    nodes: ["n[3-4]", n9]
  leaf3:
    nodes: [gpu001, "gpu[002-003]"]
nodes:
  n1: {attributes: {nvlink: nvl1}}
capacity_blocks:
  cb1:
    nodes: ["n[1-2]"]
"""
GROUPS = {
    "spine1": {"leaf1": ("n1", "n2"), "leaf2": ("n3", "n4", "n9")},
    "spine2": {"leaf3": ("gpu001", "gpu002", "gpu003")},
}
LISTED = """\
switches:
- name: core
  switches: [leaf1, leaf2]
- name: leaf1
  nodes: [n1, n2]
- name: leaf2
  nodes: ["n[3-4]"]
"""
BLOCKS = """\
capacity_blocks:
  cb1:
    nodes: ["n[1-2]"]
    attributes: {nvlink: nvl1}
  cb2: {}
  cb3: {}
nodes:
  n1: {capacity_block: cb1}
  n3: {capacity_block: cb2}
"""


OLDER = """\
switches:
- name: core
  switches: [a, b]
- name: a
  metadata: {group: cb1}
  capacity_blocks: [cb1, cb2]
- name: b
  capacity_blocks: [cb3]
capacity_blocks:
- name: cb1
  nvlink: nvl1
  nodes: [n1, n2]
- name: cb2
  nodes: [n3]
- name: cb3
  nodes: ["n[4-5]"]
"""
NEWER = """\
switches:
  core:
    switches:
    - spine
    - other
  spine:
    labels: {topology.kubernetes.io/zone: z}
    switches:
    - rack1
    - rack2
    - rack3
  other:
    switches:
    - rack4
  rack4: {labels: {a: b}}
blocks:
- switch: rack1
  nodes:
  - node[01-03]
  labels: {a: b}
- switch: rack3
  nodes: ["node[07-08]"]
- switch: rack4
  nodes: [node9]
- nodes: ["cpu-[01-02]"]
"""


def graph(**changed) -> str:
    layers = {
        name: [leaf, spine, "core"] for spine, leaves in GROUPS.items() for leaf, of in leaves.items() for name in of
    }
    instances = [{"id": name, "type": "H100", "network_layers": of} for name, of in (layers | changed).items()]
    return json.dumps({"instances": instances})


@pytest.mark.parametrize("text", [MODEL, graph()])
def test_switches(tmp_path, text):
    (tmp_path / "t").write_text(text)
    assert read_topology(tmp_path / "t").groups == GROUPS


def test_a_list_of_switches(tmp_path):
    (tmp_path / "t").write_text(LISTED)
    [group] = read_topology(tmp_path / "t").groups.values()
    assert group == {"leaf1": ("n1", "n2"), "leaf2": ("n3", "n4")}


def test_nodes_in_the_blocks_of_a_switch(tmp_path):
    (tmp_path / "t").write_text(OLDER)
    [group] = read_topology(tmp_path / "t").groups.values()
    assert group == {"a": ("n1", "n2", "n3"), "b": ("n4", "n5")}


def test_blocks_that_name_their_switch(tmp_path):
    """Leaves that only a block names, a place without nodes, and nodes without a switch."""
    (tmp_path / "t").write_text(NEWER)
    topology = read_topology(tmp_path / "t")
    assert topology.groups == {
        "spine": {"rack1": ("node01", "node02", "node03"), "rack3": ("node07", "node08")},
        "other": {"rack4": ("node9",)},
        "all": {"no-switch": ("cpu-01", "cpu-02")},
    }
    assert len(topology.fabrics) == 2


def test_blocks_without_switches(tmp_path):
    (tmp_path / "t").write_text("blocks:\n" + NEWER.partition("blocks:\n")[2].partition("- nodes")[0])
    [group] = read_topology(tmp_path / "t").groups.values()
    assert group == {"rack1": ("node01", "node02", "node03"), "rack3": ("node07", "node08"), "rack4": ("node9",)}


def test_blocks_have_their_names(tmp_path):
    (tmp_path / "t").write_text("blocks:\n- {name: a, nodes: [n1]}\n- {name: b, nodes: [n2]}\n- nodes: [n3]\n")
    [group] = read_topology(tmp_path / "t").groups.values()
    assert group == {"a": ("n1",), "b": ("n2",), "block in line 4": ("n3",)}
    (tmp_path / "t").write_text(NEWER.replace('- nodes: ["cpu', '- name: cpus\n  nodes: ["cpu'))
    assert read_topology(tmp_path / "t").groups["all"] == {"cpus": ("cpu-01", "cpu-02")}


def test_a_node_twice_on_one_switch(tmp_path):
    text = json.loads(graph())
    text["instances"].append(text["instances"][0])
    (tmp_path / "t").write_text(json.dumps(text))
    with pytest.raises(InputError, match="the node `n1` is listed twice on `leaf1`"):
        read_topology(tmp_path / "t")


def test_blocks(tmp_path):
    (tmp_path / "t").write_text(BLOCKS)
    [group] = read_topology(tmp_path / "t").groups.values()
    assert group == {"cb1": ("n1", "n2"), "cb2": ("n3",)}


@pytest.mark.parametrize("text", [MODEL, graph()])
def test_nodes_are_selected_by_it(tmp_path, text):
    (tmp_path / "t").write_text(text)
    (tmp_path / "q").write_text("JOBID|STATE|NODELIST\n1|R|n[1-2]\n")
    selection = cluster.select(3, queue=tmp_path / "q", topology=tmp_path / "t")
    assert sorted(selection.nodes) in (["n3", "n4", "n9"], ["gpu001", "gpu002", "gpu003"])


@pytest.mark.parametrize("text", [MODEL, graph()])
def test_a_machine_is_imported(tmp_path, monkeypatch, capsys, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").write_text(text)
    assert main(["cluster", "import", "t", "--like", "leonardo", "--rails", "1", "-o", "m.toml"]) == 0
    out = capsys.readouterr().out
    assert "t (topology of topograph)" in out
    assert "nodes           8 on " in out
    assert "groups          2" in out


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (MODEL.replace("[leaf3]", "[leaf4]"), 9, "joins `leaf4`, which is not listed"),
        (MODEL.replace("  leaf3:\n", "  leaf2:\n"), 16, "`leaf2` is there twice"),
        (MODEL.replace("[gpu001,", "{gpu001: 1}  # ["), None, "expected"),
        (LISTED.replace("name: leaf1", "nam: leaf1"), 4, "a switch has no `name`"),
        (OLDER.replace("[cb3]", "[cb4]"), 7, "has the capacity block `cb4`, which is not listed"),
        (OLDER.replace("name: b", "name: a"), 7, "the switch `a` is listed twice"),
        (OLDER.replace("name: cb2", "name: cb1"), 13, "the capacity block `cb1` is listed twice, first in line 10"),
        (OLDER.replace("[cb1, cb2]", "[cb1, cb1]"), 6, "`cb1` is listed twice"),
        (OLDER.replace("[n1, n2]", "[n1, n1]"), 12, "`n1` is listed twice"),
        ("blocks:\n- nodes: [n1, n2, 'n[1-3]']\n", 2, "`n1` is listed twice"),
        ("blocks:\n- {name: a, nodes: [n1]}\n- {name: a, nodes: [n2]}\n", 3, "the block `a` is listed twice"),
        (NEWER.replace('- nodes: ["cpu', '- name: spine\n  nodes: ["cpu'), 25, "`spine` has no `switch`"),
        (LISTED.replace("[leaf1, leaf2]", "[leaf1, leaf1]"), 3, "`leaf1` is listed twice"),
        ("switches:\n  a: 5\n", 2, "expected a switch"),
        ("switches:\n", 1, "expected a table"),
        ("switches:\n  a: {nodes: [}\n", 2, ""),
        (graph(n1=["leaf1", "other"]), None, "`leaf1` is below"),
        (graph(n1=[]), None, "instances[0] (`n1`): expected a list of switches"),
        (graph(n1=["leaf1", "leaf1"]), None, "is twice"),
        ('{"instances": [{"network_layers": ["a"]}]}', None, "expected a text under `id`"),
        ('{"instances": {"network_layers": 1}}', None, "expected a list under `instances`"),
    ],
)
def test_wrong_files(tmp_path, text, line, message):
    (tmp_path / "t").write_text(text)
    with pytest.raises(InputError) as problem:
        read_topology(tmp_path / "t")
    assert message in str(problem.value)
    assert line is None or problem.value.line == line
    assert problem.value.line != 0


def test_mangled_texts_are_answered(tmp_path):
    import random

    chosen = random.Random(3)
    for right in (MODEL, LISTED, BLOCKS, OLDER, NEWER, graph()):
        for _ in range(120):
            text = list(right)
            for _ in range(chosen.randrange(1, 5)):
                at = chosen.randrange(len(text))
                text[at : at + chosen.randrange(0, 20)] = chosen.choice(
                    ["", "\n", ":", "- ", "[", "}", "9", "x", '"', "\t"]
                )
            (tmp_path / "t").write_text("".join(text))
            try:
                read_topology(tmp_path / "t")
            except InputError:
                continue
