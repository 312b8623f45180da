"""GPUs of a node: the table, what is refused, what the presets say, and where messages go."""

from pathlib import Path

import pytest
import tomlkit

from odonata import machine, scenario
from odonata.cli.system_text import facts, text
from odonata.document import validate
from odonata.errors import InputError
from odonata.machine import core
from odonata.machine.gpus import GpuTable

SWITCH = {"count": 4, "network": "switch", "bandwidth": "300 GB/s", "latency": "1 us"}
MESH = {**SWITCH, "network": "mesh", "bandwidth": "10 GB/s"}
#: Operations that take no time.
FREE = {"send": "0 s", "receive": "0 s", "call": "0 s", "reduce": "none"}
WITH_GPUS = ("alps-gpu", "frontier-gpu", "leonardo-gpu", "perlmutter-gpu", "superpod-h100-gpu")


def resolved(gpu, app, *, nodes=1, per_node=4, overhead=None, mapping=None):
    host = FREE if gpu is None else {**FREE, "gpu": gpu}
    job = {"name": "a", "nodes": nodes, "ranks_per_node": per_node, "place": "contiguous", "app": app}
    job |= {} if overhead is None else {"overhead": overhead}
    job |= {} if mapping is None else {"mapping": mapping}
    document = {"system": {"preset": "tiny", "host": host}, "job": [job], "run": {"seed": 1}}
    return scenario.parse(tomlkit.dumps(document), Path("s.toml")).resolve()


def ring(message, **more):
    return {"collective": "allreduce", "algorithm": "ring", "message": message} | more


def time(gpu, app, **more):
    return int(core.run(resolved(gpu, app, **more).spec)["ranks"]["finish_ps"].max())


@pytest.mark.parametrize(
    ("gpu", "message", "path", "hint"),
    [
        ({**SWITCH, "network": "swich"}, "found `swich`", ("network",), "did you mean `switch`?"),
        ({**SWITCH, "cuont": 4}, "unknown key `cuont`", ("cuont",), "did you mean `count`?"),
        ({**SWITCH, "count": 65}, "a number of GPUs from 1 to 64, found `65`", ("count",), None),
        ({**SWITCH, "root": "1 GB/s"}, "a `switch` between GPUs has no `root`", ("root",), 'network = "pcie"'),
        ({**SWITCH, "links": [[0, 1]]}, "a `switch` between GPUs has no `links`", ("links",), 'network = "mesh"'),
        ({**SWITCH, "network": "pcie"}, "missing key `root`", (), "the root, which all"),
        ({**MESH, "links": [[0, 4]]}, "there is no GPU 4: a node has 4", ("links", 0), None),
        ({**MESH, "links": [[0, 1], [2, 2]]}, "a link joins two GPUs, found 2 twice", ("links", 1), None),
        ({**MESH, "links": [[0, 1], [1, 0]]}, "GPUs 1 and 0 are joined twice", ("links", 1), "[1, 0, 2] is two links"),
        ({**MESH, "links": [[0]]}, "expected two GPUs and perhaps a number of links", ("links", 0), "[0, 1]"),
        ({**MESH, "links": [[0, 1, 0]]}, "a number of links from 1 to 64, found `0`", ("links", 0), None),
        ({**MESH, "nics": [0, 0]}, "expected a NIC for each of 4 GPUs, found 2", ("nics",), None),
        ("non", "unknown kind of GPUs `non`", (), "count = 4"),
    ],
)
def test_what_is_refused(gpu, message, path, hint):
    with pytest.raises(InputError) as caught:
        machine.load({"preset": "tiny", "host": {"gpu": gpu}})
    assert message in str(caught.value)
    assert caught.value.path == ("system", "host", "gpu", *path)
    assert (caught.value.hint is None) if hint is None else (hint in caught.value.hint)


@pytest.mark.parametrize(
    ("gpu", "code", "path"),
    [
        ({**MESH, "links": [[0, 1], [2, 3]]}, "gpus-apart", ("links",)),
    ],
)
def test_what_the_core_refuses_is_found_in_the_scenario(gpu, code, path):
    with pytest.raises(InputError) as caught:
        resolved(gpu, ring("4 MB")).check()
    assert (caught.value.code, caught.value.path) == (code, ("job", 0, "overhead", "gpu", *path))


@pytest.mark.parametrize(
    ("count", "rails", "nics"), [(4, 1, [0] * 4), (8, 4, [0, 0, 1, 1, 2, 2, 3, 3]), (2, 4, [0, 2])]
)
def test_gpus_share_the_nics_of_their_node(count, rails, nics):
    table = validate(GpuTable, {**SWITCH, "count": count})
    assert table.on_rails(rails).spec()["nics"] == nics
    given = validate(GpuTable, {**SWITCH, "nics": [0, 3, 0, 3]})
    assert given.on_rails(4).spec()["nics"] == [0, 3, 0, 3]


def test_the_links_of_a_mesh():
    def links(**more):
        return validate(GpuTable, {**MESH, "count": 3, **more}).on_rails(1).spec()["network"]["links"]

    one = 10**16
    assert links() == [[0, 1, one], [0, 2, one], [1, 2, one]]
    assert links(links=[[2, 0, 4], [1, 2]]) == [[2, 0, 4 * one], [1, 2, one]]


def test_only_presets_with_gpus_have_them():
    """So the others give what they gave before."""
    assert [name for name in machine.names() if (host := machine.load(name).table.host) and host.gpu] == [*WITH_GPUS]
    assert "gpus" not in resolved(None, ring("4 MB")).spec["jobs"][0]["program"]


@pytest.mark.parametrize("name", WITH_GPUS)
def test_a_preset_with_gpus_has_the_network_of_the_machine(name):
    """Between nodes it is the machine without GPUs, which Leonardo's second card changes."""
    with_gpus, without = machine.load(name), machine.load(name.removesuffix("-gpu"))
    assert with_gpus.table.host.gpu.count in (4, 8)
    if name != "leonardo-gpu":
        assert (with_gpus.topology, with_gpus.fabric) == (without.topology, without.fabric)
    assert with_gpus.node_bandwidth == (2 if name == "leonardo-gpu" else 1) * without.node_bandwidth


def test_each_gcd_of_frontier_has_seven_links_to_others():
    """Four to the other one of its GPU, two and one to those of two other GPUs."""
    links = machine.load("frontier-gpu").table.host.gpu.links
    of_gcd = [sum([*link, 1][2] for link in links if gcd in link[:2]) for gcd in range(8)]
    assert of_gcd == [7] * 8


def test_show_tells_them():
    system = machine.load({"preset": "tiny", "host": {"gpu": MESH}})
    said = facts(system)
    assert said["gpus"] == "4, joined by a mesh (10 GB/s a link, 1 us)"
    assert "GPUs of a node" in text(said)
    assert "gpus" not in facts(machine.load("tiny"))
    assert {row["key"] for row in said["numbers"]} >= {"host.gpu.count", "host.gpu.bandwidth"}


def test_a_job_has_gpus_of_its_own_or_none():
    six_steps = 6 * (3_333_334 + 1_000_000)
    assert time(SWITCH, ring("4 MB")) == six_steps
    assert time(SWITCH, ring("4 MB"), overhead="none") == six_steps
    assert time(SWITCH, ring("4 MB"), overhead={"gpu": {**SWITCH, "bandwidth": "600 GB/s"}}) == 6 * (1_666_667 + 10**6)
    assert time(None, ring("4 MB")) == 6 * (2 * 100_000_000 + 100_000), "two copies of a message"
    assert time(SWITCH, ring("4 MB"), overhead={"gpu": "none"}) == 6 * 100_000, "GPUs make no copies"


def test_messages_between_nodes_do_not_cross_the_inner_network():
    app = {"motif": "ping-pong", "message": "1 MB"}
    between, inside = ({"nodes": 2, "per_node": 1}, {"nodes": 1, "per_node": 2})
    slow = {**SWITCH, "bandwidth": "1 GB/s"}
    assert time(slow, app, **between) == time(SWITCH, app, **between)
    assert time(slow, app, **inside) > 10 * time(SWITCH, app, **inside)


def test_tensor_groups_of_a_training_cross_the_inner_network():
    shapes = {"layers": 2, "hidden": 256, "heads": 4, "ffn": 512, "vocabulary": 1000, "sequence": 128}
    app = {"train": {"model": shapes, "tensor": 4, "data": 1}}
    spec = resolved(SWITCH, app).spec
    result = core.run(spec)
    [job] = result["jobs"]
    assert (job["intra_node"], job["bytes"]) == (job["issued"], 0)
    slow = core.run(resolved({**SWITCH, "bandwidth": "3 GB/s"}, app).spec)
    assert slow["ranks"]["finish_ps"].max() > result["ranks"]["finish_ps"].max()


def on_ideal_links(nodes, count):
    """Nodes of so many GPUs with a NIC each, and links that add nothing but their bandwidth: the time of a job."""
    gpu = {**SWITCH, "count": count}
    system = {"preset": "tiny", "rails": count, "host": {**FREE, "call": "5 us", "eager": "1 GiB", "gpu": gpu}}
    links = {"bandwidth": "10 GB/s", "latency": "0 s", "buffer": "1 GB"}
    system["fabric"] = {"router_delay": "0 s", "packet": "64 KB"}
    system["fabric"]["links"] = dict.fromkeys(("node", "local", "global"), links)

    def took(app, per_node):
        job = {"name": "a", "nodes": nodes, "ranks_per_node": per_node, "place": "contiguous", "app": app}
        document = {"system": system, "job": [job], "run": {"seed": 1}}
        spec = scenario.parse(tomlkit.dumps(document), Path("s.toml")).resolve().spec
        return int(core.run(spec)["ranks"]["finish_ps"].max())

    return took


CALL = 5_000_000


def over_a_port(size):
    """Picoseconds of a transfer between two GPUs of a node."""
    return -(-size * 10**12 // (300 * 10**9)) + 1_000_000


@pytest.mark.parametrize(("nodes", "count"), [(1, 4), (2, 4), (4, 2), (4, 1)])
def test_a_hierarchical_allreduce_takes_its_three_rings(nodes, count):
    """2 (g - 1) steps of a block inside nodes of g GPUs and 2 (n - 1) steps of an n-th of it between n nodes, and one
    call. Catches vectors of other sizes, groups of other ranks, and a call for each phase."""
    took = on_ideal_links(nodes, count)
    inside = 2 * (count - 1) * over_a_port(64_000 * nodes)
    between = took(ring(f"{64_000 * nodes} B"), 1) - CALL if nodes > 1 else 0
    vector = 64_000 * nodes * count
    assert took(ring(f"{vector} B", algorithm="hierarchical"), count) == CALL + inside + between


@pytest.mark.parametrize("count", [2, 4])
def test_channels_of_a_ring_take_their_steps_together_inside_a_node(count):
    """On one node a step of all channels takes a latency and the transfer of their blocks. Catches channels that take
    turns, of which one sends while another waits for its next step, and a whole vector for each."""
    took = on_ideal_links(1, count)
    steps = 2 * (count - 1) * over_a_port(64_000 * count)
    assert took(ring(f"{64_000 * count * count} B", algorithm="ring-channels"), count) == CALL + steps


@pytest.mark.parametrize("nodes", [2, 4])
def test_channels_of_a_ring_leave_nodes_by_all_nics(nodes):
    """Two GPUs a node with a NIC each. Catches rings that all leave a node at its last GPU: one channel alone, which
    carries half of the vector, takes as long as both."""
    took = on_ideal_links(nodes, 2)
    vector = 1_280_000 * 2 * nodes  # blocks of many packets, so that links are busy in each step
    both = took(ring(f"{2 * vector} B", algorithm="ring-channels"), 2)
    half = took(ring(f"{vector} B"), 2)
    whole = took(ring(f"{2 * vector} B"), 2)
    assert half <= both < 1.05 * half
    assert whole > 1.8 * both


@pytest.mark.parametrize(
    ("gpu", "per_node", "more", "message", "path"),
    [
        (None, 4, {}, "is for nodes with GPUs", ("app", "algorithm")),
        *(
            (SWITCH, per_node, {}, f"found {per_node} on a node of 4 GPUs", ("ranks_per_node",))
            for per_node in (1, 3, 8)
        ),
        (SWITCH, 4, {"mapping": "random-ranks"}, "the ranks of a node side by side", ("mapping",)),
        (SWITCH, 4, {"mapping": "round-robin"}, "the ranks of a node side by side", ("mapping",)),
    ],
)
@pytest.mark.parametrize("algorithm", ["hierarchical", "ring-channels"])
def test_some_algorithms_need_a_rank_for_each_gpu(algorithm, gpu, per_node, more, message, path):
    with pytest.raises(InputError, match=message) as caught:
        resolved(gpu, ring("1 MB", algorithm=algorithm), nodes=4, per_node=per_node, **more)
    assert caught.value.path == ("job", 0, *path)
    resolved(SWITCH, ring("1 MB", algorithm=algorithm), nodes=4, mapping="random-nodes")
    phase = {"collective": "allreduce", "algorithm": algorithm, "message": "1 MB"}
    with pytest.raises(InputError, match="depends on the nodes"):
        resolved(SWITCH, {"motif": "phases", "phases": [phase]})


def test_channels_of_a_ring_send_side_by_side():
    """Each channel has a CPU of its own. Catches channels that pay for their messages one after the other."""
    costly = {"send": "100 us", "receive": "100 us"}
    one = time(SWITCH, ring("32 B"), nodes=2, overhead=costly)
    assert one > 14 * 200_000_000
    assert one <= time(SWITCH, ring("128 B", algorithm="ring-channels"), nodes=2, overhead=costly) < one + 10_000_000


TREE = {"kind": "fat-tree", "leaves": 2, "spines": 2, "nodes_per_leaf": 2}
TREE |= {"fabric": {"links": {name: {"bandwidth": "400 Gbit/s"} for name in ("node", "leaf")}}}


@pytest.mark.parametrize("name", WITH_GPUS)
def test_the_host_of_a_preset_needs_the_nics_of_its_gpus(name, tmp_path):
    count = machine.load(name).table.host.gpu.count
    nics = machine.load(name).rails
    said = f'`host = "{name}"`: its {count} GPUs use {nics} NICs of a node, but nodes of this machine have 1'
    with pytest.raises(InputError) as refused:
        machine.load({**TREE, "host": name})
    assert (refused.value.message, refused.value.path) == (said, ("system", "host"))
    assert refused.value.hint.startswith(f"`rails = {nics}` in the system")
    (tmp_path / "own.toml").write_text(f'host = "{name}"\n' + tomlkit.dumps(TREE))
    with pytest.raises(InputError) as refused:
        machine.load("own.toml", folder=tmp_path)
    assert (refused.value.message, refused.value.line) == (said, 1)
    assert machine.load({**TREE, "host": name, "rails": nics}).table.host.gpu.count == count


def test_gpus_of_a_job_need_their_nics_too():
    with pytest.raises(InputError) as refused:
        resolved(None, ring("4 MB"), overhead={"gpu": {**SWITCH, "nics": [0, 0, 0, 1]}})
    assert refused.value.message == "its 4 GPUs use 2 NICs of a node, but nodes of this machine have 1"
    assert refused.value.path == ("job", 0, "overhead", "gpu", "nics")
