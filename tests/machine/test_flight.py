"""What must be in flight: defaults that follow from the machine, and what is said of numbers that are too small."""

import random

import polars as pl
import pytest
import tomlkit

import odonata as od
from odonata import machine, scenario
from odonata.core_options import CONGESTION_LAWS
from odonata.errors import InputError
from odonata.machine import flight

CLASSES = {
    "dragonfly": ("node", "local", "global"),
    "dragonfly-plus": ("node", "local", "global"),
    "cascade": ("node", "chassis", "group", "optical"),
    "fat-tree": ("node", "leaf", "core"),
    "hyperx": ("node", "dim1", "dim2"),
}
SHAPES = {
    "dragonfly": {"groups": 3, "routers": 4, "nodes_per_router": 2, "global_links_per_router": 2},
    "dragonfly-plus": {"groups": 3, "leaves": 2, "spines": 2, "nodes_per_leaf": 2, "global_links_per_spine": 2},
    "cascade": {"groups": 3, "rows": 2, "columns": 2, "nodes_per_router": 2, "global_links_per_router": 2},
    "fat-tree": {"pods": 2, "leaves": 2, "spines": 2, "cores": 4, "nodes_per_leaf": 2},
    "hyperx": {"dimensions": [2, 3], "nodes_per_router": 2},
}
CONTROL = ("none", *CONGESTION_LAWS)


def drawn(number: int) -> dict:
    """A random machine with numbers as data sheets have them: 25 to 1,600 Gbit/s, 5 ns to 5 us.

    From 25 on, each class of links has a bandwidth of its own.
    """
    draw = random.Random(number)
    kind = list(SHAPES)[number % len(SHAPES)]
    classes = len(CLASSES[kind])
    rates = draw.choices([25, 50, 100, 200, 400, 800, 1600], k=classes if number >= 25 else 1) * classes
    fabric = {
        "packet": draw.choice(["1 KiB", "2 KiB", "4 KiB"]),
        "router_delay": f"{draw.choice([50, 100, 200, 350, 600])} ns",
        "switching": draw.choice(["cut-through", "store-and-forward"]),
        "header": draw.choice(["0 B", "26 B", "62 B"]),
        "congestion_control": CONTROL[number // len(SHAPES) % len(CONTROL)],
        "links": {
            name: {"bandwidth": f"{rate} Gbit/s", "latency": f"{draw.choice([5, 25, 100, 500, 5000])} ns"}
            for name, rate in zip(CLASSES[kind], rates, strict=False)
        },
    }
    return {"kind": kind, **SHAPES[kind], "host": "none", "fabric": fabric}


@pytest.mark.parametrize("number", range(50))
def test_a_flow_of_its_own_gets_the_bandwidth_of_its_links(number):
    """With buffers of 8 KiB, or windows of 64 KiB, most of these machines carry a half or less."""
    system = drawn(number)
    loaded = machine.load(system)
    assert not loaded.limits
    fabric = loaded.table.fabric
    size = 80_000_000 if fabric.links["node"].bandwidth >= 800 * 10**15 // 8 else 20_000_000
    run = od.run(scenario.parse(text(system, size, loaded.shape.nodes - 1), "flow.toml"))
    took = run.jobs["time_ps"][0] / 1e12
    used = run.links.filter(pl.col("bytes") > size / 20)["class"].unique()
    slowest = min(fabric.links[name].bandwidth for name in used) / 1e6
    way = flight.round_trip_ps(fabric, loaded.table.longest_path()) / 1e12
    assert size * fabric.wire_bytes / fabric.packet / slowest / (took - way) > 0.95, (system, took)


def text(system: dict, size: int, farthest: int) -> str:
    routing = "up-down" if system["kind"] == "fat-tree" else "minimal"
    job = {
        "name": "flow",
        "place": {"policy": "explicit", "nodes": [0, farthest]},
        "app": {"motif": "incast", "message": f"{size} B"},
    }
    return tomlkit.dumps({"system": system, "routing": routing, "job": [job]})


def test_the_bandwidth_of_a_study_of_faster_links_shows():
    """The fat tree of docs/machines.md: 12.5 MB between two pods. With 8 KiB, 800 Gbit/s took 247 us, and 400 309."""
    took = {}
    for rate in (200, 400, 800):
        links = {
            name: {"bandwidth": f"{rate} Gbit/s", "latency": t} for name, t in (("node", "10 ns"), ("leaf", "25 ns"))
        }
        links["core"] = {"bandwidth": f"{rate} Gbit/s", "latency": "100 ns"}
        tree = {"pods": 4, "leaves": 8, "spines": 4, "cores": 16, "nodes_per_leaf": 8, "host": "none"}
        system = {"kind": "fat-tree", **tree, "fabric": {"links": links}}
        took[rate] = od.run(scenario.parse(text(system, 12_500_000, 64), "f.toml")).jobs["time_ps"][0] / 1e6
    assert took == pytest.approx({200: 501.2, 400: 251.2, 800: 126.2}, rel=0.01)


SMALL = {"groups": 3, "routers": 4, "nodes_per_router": 2, "global_links_per_router": 2}


def dragonfly(changes: dict | None = None, **links) -> dict:
    fabric = {"router_delay": "200 ns", **(changes or {})}
    usual = {"bandwidth": "400 Gbit/s", "latency": "250 ns"}
    fabric["links"] = {name: {**usual, **links.get(name, {})} for name in ("node", "local", "global")}
    return {"kind": "dragonfly", **SMALL, "fabric": fabric}


def test_too_small_a_buffer_is_said_once_with_the_share_it_carries():
    """Four packets of a round trip of 19.1: 21 %; measured on the simulator."""
    system = machine.load(dragonfly(**{"global": {"buffer": "8 KiB"}}))
    (limit,) = system.limits
    assert limit.key == "fabric.links.global.buffer"
    said = str(limit)
    assert "a virtual channel of class `global` carries at most 21 % of its bandwidth" in said
    document = dragonfly(**{"global": {"buffer": "8 KiB"}}) | {"host": "none"}
    took = od.run(scenario.parse(text(document, 10_000_000, system.shape.nodes - 1), "f.toml")).jobs["time_ps"][0]
    assert 10_000_000 / 50e9 / (took / 1e12) == pytest.approx(limit.share, rel=0.02)
    enough = machine.load(dragonfly(**{"global": {"buffer": limit.enough}}))
    assert not enough.limits


@pytest.mark.parametrize(
    "change",
    [
        {"congestion_control": {"kind": "slingshot", "window": "32 KiB"}},
        {"congestion_control": {"kind": "ecn-window", "window": "16 KiB"}},
        {"nic": {"window": "24 KiB"}},
        {"nic": {"kind": "aries", "window": 100}, "channels": 8},
    ],
    ids=["slingshot", "ecn-window", "windowed", "aries"],
)
def test_too_small_a_window_is_said_with_the_share_it_carries(change):
    (limit,) = machine.load(dragonfly(change)).limits
    assert "a pair of NICs on a longest path carries at most" in str(limit)
    document = dragonfly(change) | {"host": "none"}
    took = max(  # to the farthest node
        od.run(scenario.parse(text(document, 2_000_000, node), "f.toml")).jobs["time_ps"][0] for node in range(8, 24, 2)
    )
    wire = machine.load(document).table.fabric
    share = 2_000_000 * wire.wire_bytes / wire.packet / 50e9 / (took / 1e12)
    assert share <= limit.share * 1.02
    assert share > 0.8 * limit.share
    key = "window"
    enough = int(limit.enough) if limit.enough.isdigit() else limit.enough
    name = "congestion_control" if "congestion_control" in change else "nic"
    assert not machine.load(dragonfly({**change, name: {**change[name], key: enough}})).limits


def test_traffic_classes_divide_buffers_that_are_large_enough():
    system = dragonfly({"traffic_classes": {"a": {}, "b": {}}})
    loaded = machine.load(system)
    assert not loaded.limits
    plain = machine.load(dragonfly()).table.fabric.links
    assert loaded.table.fabric.links["local"].buffer == 2 * plain["local"].buffer
    assert loaded.table.fabric.links["node"].buffer == plain["node"].buffer


def test_a_node_of_kang_that_holds_four_packets_cannot_send_at_its_rate():
    """A node sends into links that are three times as slow, and each packet holds its room that long."""
    (limit,) = machine.load({"preset": "kang2019", "fabric": {"links": {"node": {"buffer": "8 KiB"}}}}).limits
    assert limit.share == pytest.approx(0.82, abs=0.01)
    assert "class `node` carries at most 82 % of its bandwidth" in str(limit)
    assert limit.enough == "10 KiB"
    assert not machine.load({"preset": "kang2019", "fabric": {"links": {"node": {"buffer": limit.enough}}}}).limits


def test_a_node_of_kang_sends_at_the_rate_of_its_link():
    """K52: "a maximum rate of 16 GiB/s". 119,210 + 100,000 + 363,305 ps are five packets on the link of a node."""
    system = machine.load("kang2019")
    assert not system.limits
    held = 119_210 + 100_000 + 363_305
    assert system.fabric["links"]["node"]["buffer_bytes"] >= -(-held // 119_210) * 2048


@pytest.mark.parametrize(
    ("system", "given"),
    [
        ({"kind": "hyperx", "dimensions": [1], "nodes_per_router": 4}, ("node",)),
        ({"kind": "hyperx", "dimensions": [1, 3], "nodes_per_router": 4}, ("node", "dim2")),
        ({"kind": "fat-tree", "leaves": 1, "spines": 1, "nodes_per_leaf": 4}, ("node",)),
        ({"kind": "dragonfly", **SMALL, "groups": 1}, ("node", "local")),
        ({"kind": "dragonfly", **SMALL, "routers": 1}, ("node", "global")),
        ({"kind": "dragonfly", **SMALL, "groups": 1, "routers": 1}, ("node",)),
        ({"kind": "dragonfly-plus", **SHAPES["dragonfly-plus"], "groups": 1}, ("node", "local")),
        ({"kind": "cascade", **SHAPES["cascade"], "groups": 1, "rows": 1}, ("node", "chassis")),
    ],
)
def test_classes_of_links_that_do_not_exist_need_no_numbers(system, given):
    """A single switch, a single group; classes that exist are still asked for."""
    fabric = {"links": {name: {"bandwidth": "10 GB/s"} for name in given}}
    loaded = machine.load({**system, "fabric": fabric})
    nodes = loaded.shape.nodes
    run = od.run(scenario.parse(text({**system, "host": "none", "fabric": fabric}, 100_000, nodes - 1), "s.toml"))
    assert run.jobs["time_ps"][0] < 100e6
    absent = [row for row in loaded.sources if row.source == "default: no such link exists"]
    assert {row.key.split(".")[2] for row in absent} == set(loaded.table.own_classes) - set(given)
    if len(given) > 1:
        lacking = {"links": {name: table for name, table in fabric["links"].items() if name != given[-1]}}
        with pytest.raises(InputError, match=f"the link class `{given[-1]}` is missing"):
            machine.load({**system, "fabric": lacking})
