"""Machines by name, by table and by file; what cannot be built."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata import _core, machine
from odonata.errors import InputError
from odonata.machine.kinds.dragonfly_plus import dragonfly_max_nodes, dragonfly_plus_max_nodes

OWN = {
    "kind": "dragonfly-plus",
    "groups": 3,
    "leaves": 2,
    "spines": 2,
    "nodes_per_leaf": 1,
    "global_links_per_spine": 2,
    "fabric": {"links": {name: {"bandwidth": "1 GB/s"} for name in ("node", "local", "global")}},
}


@given(st.integers(2, 200).map(lambda n: 2 * n))
def test_size_formulas_are_those_of_the_core(radix):
    assert dragonfly_plus_max_nodes(radix) == _core.dragonfly_plus_max_nodes(radix)
    assert dragonfly_max_nodes(radix) == _core.dragonfly_max_nodes(radix)


def test_defaults_of_a_machine_without_preset():
    system = machine.load(OWN)
    assert system.name == "custom"
    assert system.fabric["packet_bytes"] == 2048
    assert system.links_per_pair == 2
    assert system.tgll_bandwidth == 10**15, "by default that of the global links"
    sources = {row.key: row.source for row in system.sources}
    assert sources["groups"] == "given in the scenario"
    assert sources["fabric.links.node.buffer"].startswith("derived: 3 packets are on the way")


def test_any_number_of_a_preset_can_be_overridden():
    over = {
        "preset": "tiny",
        "groups": 3,
        "fabric": {"router_delay": "1 ns", "links": {"global": {"bandwidth": "1 GB/s"}}},
    }
    system = machine.load(over, fabric={"packet": "1 KiB", "router_delay": "2 ns"})
    assert system.name == "tiny (changed)"
    assert system.topology["groups"] == 3
    assert system.fabric["packet_bytes"] == 1024
    assert system.fabric["router_delay_ps"] == 2_000, "[fabric] has the last word"
    assert system.fabric["links"]["global"] == {
        "bandwidth": 10**15,
        "latency_ps": 0,
        "buffer_bytes": 16384,
        "credit_delay_ps": 0,
    }
    assert machine.load("tiny").fabric["packet_bytes"] == 2048, "the preset itself must not change"
    sources = {row.key: row.source for row in system.sources}
    assert sources["fabric.links.global.bandwidth"] == "given in the scenario"
    assert sources["fabric.links.global.buffer"].startswith("as kang2019")


def test_a_document_describes_the_machine_again():
    system = machine.load({"preset": "tiny", "groups": 3})
    again = machine.load(system.document())
    assert (again.topology, again.fabric, again.name) == (system.topology, system.fabric, system.name)


def test_a_machine_from_a_file(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(
        'kind = "dragonfly-plus"\ngroups = 3\nleaves = 2\nspines = 2\nnodes_per_leaf = 1\n'
        'global_links_per_spine = 2\n[fabric.links]\nnode = { bandwidth = "1 GB/s" }\n'
        'local = { bandwidth = "1 GB/s" }\nglobal = { bandwidth = "1 GB/s" }\n'
    )
    assert machine.load("own.toml", folder=tmp_path).topology == machine.load(OWN).topology
    assert machine.load("own.toml", folder=tmp_path).name == "own"
    file.write_text(file.read_text().replace("groups = 3", "groups = 30"))
    with pytest.raises(InputError, match=r"own\.toml:2: 30 groups need at least 29 global links per group"):
        machine.load("own.toml", folder=tmp_path)
    with pytest.raises(InputError, match=r"other\.toml: cannot read it"):
        machine.load("other.toml", folder=tmp_path)


def test_a_file_has_no_preset(tmp_path):
    """Catches the advice to name a preset, given to one who did."""
    (tmp_path / "own.toml").write_text('groups = 3\npreset = "tiny"\n')
    with pytest.raises(InputError, match=r"own\.toml:2: a file describes a machine completely") as caught:
        machine.load("own.toml", folder=tmp_path)
    assert "system = { preset" in caught.value.hint


@pytest.mark.parametrize(
    ("table", "path", "message", "hint"),
    [
        ({"preset": "kang2018"}, ("system", "preset"), "unknown system `kang2018`", "kang2019"),
        ({"preset": "tiny", "groupz": 3}, ("system", "groupz"), "unknown key `groupz`", "`groups`"),
        ({"preset": "tiny", "groups": 0}, ("system", "groups"), "between 1 and", None),
        ({"preset": "tiny", "groups": "4"}, ("system", "groups"), "whole number", None),
        ({"preset": "tiny", "groups": 8}, ("system", "groups"), "8 groups need at least 7 global links", "at most 7"),
        ({"preset": "tiny", "links_per_pair": 3}, ("system", "links_per_pair"), "need 9 global links", "2 links"),
        (
            {"preset": "tiny", "links_per_pair": 1, "arrangement": "parallel"},
            ("system", "arrangement"),
            "not a multiple of 2 spines",
            None,
        ),
        ({"preset": "kang2019", "radix": 36}, ("system", "radix"), "a leaf needs 40", None),
        ({"preset": "kang2019", "leaves": 2**21}, ("system", "groups"), "more than the 16,777,216", None),
        ({}, ("system",), "neither a preset nor the kind", "kang2019"),
        ({"kind": "torus"}, ("system", "kind"), "unknown kind of machine `torus`", None),
        ({"kind": "dragonfly-plus"}, ("system",), "missing key", None),
        (
            {"preset": "tiny", "fabric": {"links": {"optical": {}}}},
            ("system", "fabric", "links", "optical"),
            "unknown class of links `optical`",
            None,
        ),
        (
            {"preset": "tiny", "fabric": {"links": {"global": {"buffer": "1 KB"}}}},
            ("system", "fabric", "links", "global", "buffer"),
            "must hold at least one packet",
            None,
        ),
        (
            {"preset": "tiny", "fabric": {"links": {"local": {"bandwidth": "0 B/s"}}}},
            ("system", "fabric", "links", "local", "bandwidth"),
            "never delivers",
            None,
        ),
        ({"preset": "tiny", "fabric": {"links": 5}}, ("system", "fabric", "links"), "expected a table", None),
        ({"preset": "tiny", "fabric": {"packet": "65 KiB"}}, ("system", "fabric", "packet"), "65,536 bytes", None),
        ({"preset": "tiny", "fabric": {"packet": 2048}}, ("system", "fabric", "packet"), "has no unit", '"2048 B"'),
        ({"preset": "tiny", "fabric": {"router_delay": "2 ms"}}, ("system", "fabric", "router_delay"), "1 ms", None),
        ({"preset": "tiny", "fabric": {"channels": 17}}, ("system", "fabric", "channels"), "from 1 to 16", None),
        ({"preset": "tiny", "arrangement": "Linear"}, ("system", "arrangement"), "found `Linear`", "`linear`"),
        ({"preset": 5}, ("system", "preset"), "expected the name of a system", None),
    ],
)
def test_machines_that_cannot_be(table, path, message, hint):
    with pytest.raises(InputError) as caught:
        machine.load(table)
    assert message in caught.value.message
    assert caught.value.path == path
    assert hint is None or hint in caught.value.hint


def test_a_class_of_links_that_is_missing():
    table = OWN | {"fabric": {"links": {"node": {"bandwidth": "1 GB/s"}, "local": {"bandwidth": "1 GB/s"}}}}
    with pytest.raises(InputError, match="the link class `global` is missing"):
        machine.load(table)


def test_an_error_in_the_fabric_of_the_scenario_points_there():
    with pytest.raises(InputError) as caught:
        machine.load("tiny", fabric={"links": {"global": {"bandwidth": "fast"}}})
    assert caught.value.path == ("fabric", "links", "global", "bandwidth")


def test_the_same_question_has_the_same_answer_and_a_file_is_read_anew(tmp_path):
    assert machine.load("tiny") is machine.load("tiny")
    assert machine.load({"preset": "tiny", "groups": 3}) is not machine.load("tiny")
    file = tmp_path / "own.toml"
    text = "\n".join(f"{k} = {v if isinstance(v, int) else chr(34) + v + chr(34)}" for k, v in list(OWN.items())[:-1])
    text += "\n[fabric.links]\n" + "\n".join(f'{c} = {{ bandwidth = "1 GB/s" }}' for c in ("node", "local", "global"))
    file.write_text(text)
    assert machine.load(str(file)).shape.groups == 3
    file.write_text(text.replace("groups = 3", "groups = 2"))
    assert machine.load(str(file)).shape.groups == 2


def test_sources_are_of_numbers_that_the_machine_has(tmp_path):
    links = "".join(f'[fabric.links.{name}]\nbandwidth = "1 GB/s"\n' for name in ("node", "local", "global"))
    numbers = "".join(f"{key} = {value}\n" for key, value in OWN.items() if isinstance(value, int))
    text = f'name = "own"\nkind = "dragonfly-plus"\n{numbers}{links}[sources]\n"fabric.pakcet" = "a manual"\n'
    (tmp_path / "own.toml").write_text(text)
    line = text.splitlines().index('"fabric.pakcet" = "a manual"') + 1
    near = r"unknown number of the machine `fabric\.pakcet`\n  hint: did you mean `fabric\.packet`\?"
    with pytest.raises(InputError, match=rf"own\.toml:{line}: {near}"):
        machine.load("own.toml", folder=tmp_path)
    with pytest.raises(InputError, match=near):
        machine.load({"preset": "tiny", "sources": {"fabric.pakcet": "a manual"}})
    (tmp_path / "own.toml").write_text(text.replace("pakcet", "packet"))
    assert {row.key: row.source for row in machine.load("own.toml", folder=tmp_path).sources}["fabric.packet"]


@pytest.mark.parametrize(("sources", "line"), [("sources = 3", 4), ("[sources]\ngroups = 3", 5)])
def test_sources_of_a_file_are_texts(tmp_path, sources, line):
    (tmp_path / "own.toml").write_text(f'kind = "dragonfly-plus"\n\n\n{sources}\n')
    with pytest.raises(InputError, match=rf"own\.toml:{line}: `sources`: expected a t"):
        machine.load("own.toml", folder=tmp_path)
