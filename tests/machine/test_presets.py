"""The machines that ship: their numbers, and a source for each of them."""

import json

import pytest

from odonata import _core, machine


@pytest.mark.parametrize("name", machine.names())
def test_every_number_of_a_preset_has_a_source(name):
    for row in machine.load(name).sources:
        known = row.source.startswith(("Kang 2019", "computed from Kang 2019", "as kang2019: "))
        assert known or row.source.startswith("assumed: "), row


@pytest.mark.parametrize("name", machine.names())
def test_a_preset_says_itself_what_is_not_its_own_default(name):
    """No number of a preset may hang on a default of the code, which could change."""
    assert not [row for row in machine.load(name).sources if row.source.startswith("default")]


def test_kang_2019_is_the_machine_of_the_paper():
    """K1: 3,456 nodes, 432 routers, 5,184 local and 1,728 global cables, 48 per pair of groups."""
    system = machine.load("kang2019")
    wired = system.describe()
    assert (wired["nodes"], wired["routers"], wired["groups"]) == (3456, 432, 9)
    assert wired["links"] == {"node": 3456, "local": 5184, "global": 1728}
    assert wired["links_per_pair"] == system.links_per_pair == 48
    assert system.topology["arrangement"] == "linear"


def test_kang_2019_has_the_bandwidths_of_the_paper_and_the_decided_rest():
    """K3, K10 and the micro-parameters that the paper does not give."""
    system = machine.load("kang2019")
    links = system.fabric["links"]
    assert {c: link["bandwidth"] for c, link in links.items()} == {
        "node": 17_179_869_184_000_000,
        "local": 5_637_144_576_000_000,
        "global": 4_692_251_770_880_000,
    }
    assert {c: link["buffer_bytes"] for c, link in links.items()} == {"node": 8192, "local": 8192, "global": 16384}
    assert {(link["latency_ps"], link["credit_delay_ps"]) for link in links.values()} == {(0, 0)}
    assert system.fabric["packet_bytes"] == 2048
    assert system.fabric["router_delay_ps"] == 100_000
    assert system.fabric["channels"] == 2
    assert system.fabric["nic"] == {"overhead_ps": 0, "order": "fcfs"}
    assert system.tgll_bandwidth == 4_680_000_000 * 10**6


def test_size_formulas_are_shown():
    """K2, equations 1 and 2."""
    facts = dict(machine.load("kang2019").table.facts())
    assert facts["largest Dragonfly+ of radix 48"] == "332,352 nodes"
    assert facts["largest dragonfly of radix 48"].startswith("90,300 nodes (3.68 times")
    assert facts["ports used"] == "40 of a leaf, 40 of a spine, of 48"


def test_tiny_offers_a_choice_at_every_turn():
    system = machine.load("tiny")
    assert system.shape.nodes == 16
    assert system.links_per_pair == 2
    kang = machine.load("kang2019").fabric
    assert system.fabric == kang, "tiny differs from kang2019 in its size only"


@pytest.mark.parametrize("name", machine.names())
def test_the_core_accepts_a_preset(name):
    system = machine.load(name)
    job = {
        "name": "a",
        "nodes": [0, 1],
        "record": "nothing",
        "traffic": {
            "pattern": {"name": "uniform-random"},
            "message_bytes": 1,
            "interval_ps": 1000,
            "intervals": 1,
            "arrival": {"name": "poisson"},
            "first": "at-zero",
        },
    }
    spec = {
        "version": 1,
        "seed": 0,
        "compat": None,
        "topology": system.topology,
        "fabric": system.fabric,
        "routing": {"name": "minimal", "select": "random"},
        "jobs": [job],
        "stop": {"jobs": [0], "at_ps": None},
        "measure": {"from_ps": 0, "until_ps": None, "arrivals_every_ps": None},
    }
    _core.check(json.dumps(spec))
