"""The columns that describe a machine."""

import json

import numpy as np
import pytest

from odonata import _core

COLUMNS = {
    "node_router": (np.uint32, "nodes"),
    "node_group": (np.uint32, "nodes"),
    "router_group": (np.int64, "routers"),
    "router_kind": (np.uint8, "routers"),
    "router_is_leaf": (np.bool_, "routers"),
    "slot_router": (np.uint32, None),
    "slot_port": (np.uint16, None),
    "slot_class": (np.uint8, None),
    "slot_peer_router": (np.int64, None),
    "slot_peer_node": (np.int64, None),
}


@pytest.fixture
def machine(topology):
    """The small machine described: 4 + 4 ports of leaves, 4 + 8 ports of spines in each of 3 groups."""
    return _core.Machine(json.dumps(topology)).describe()


def test_counts(machine):
    assert (machine["nodes"], machine["routers"], machine["groups"]) == (12, 12, 3)
    assert machine["links"] == {"node": 12, "local": 12, "global": 12}
    assert machine["classes"] == ["node", "local", "global"]
    assert machine["links_per_pair"] == 4


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_have_the_agreed_type_and_length(machine, name):
    dtype, rows = COLUMNS[name]
    assert machine[name].dtype == dtype
    assert machine[name].shape == (machine[rows] if rows else 12 + 12 * 2 + 12 * 2,)


def test_ids_run_leaf_by_leaf_and_group_by_group(machine):
    assert machine["node_router"].tolist() == [0, 0, 1, 1, 4, 4, 5, 5, 8, 8, 9, 9]
    assert machine["node_group"].tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert machine["router_group"].tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert machine["router_is_leaf"].tolist() == [True, True, False, False] * 3


def test_each_port_leads_to_a_node_or_to_a_router_and_the_way_back_exists(machine):
    router, node = machine["slot_peer_router"], machine["slot_peer_node"]
    assert ((router == -1) != (node == -1)).all()
    assert np.array_equal(node != -1, machine["slot_class"] == 0)
    assert sorted(node[node != -1]) == list(range(12))
    there = [(int(a), int(b)) for a, b in zip(machine["slot_router"], router, strict=True) if b != -1]
    assert sorted(there) == sorted((b, a) for a, b in there)


def test_ports_count_from_zero_on_each_router(machine):
    for router in range(12):
        ports = machine["slot_port"][machine["slot_router"] == router]
        assert ports.tolist() == list(range(len(ports)))


def test_a_machine_that_cannot_be_wired_is_refused(topology):
    with pytest.raises(_core.CoreError) as caught:
        _core.Machine(json.dumps(topology | {"links_per_pair": 5}))
    assert (caught.value.code, caught.value.path) == ("too-few-global-ports", ("topology", "links_per_pair"))


@pytest.mark.parametrize("text", ["", "{}", '{"kind": "torus"}'])
def test_what_is_no_machine_is_refused(text):
    with pytest.raises(_core.CoreError, match="unreadable-specification"):
        _core.Machine(text)
