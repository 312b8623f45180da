"""All-reduces as NCCL does them on GPUs: two trees with chunks, and protocols. Closed forms on one ideal switch."""

from pathlib import Path

import pytest
import tomlkit

from odonata import machine, scenario
from odonata.errors import InputError
from odonata.machine import core
from odonata.scenario.apps.protocols import PROTOCOLS, tree_chunk, with_protocol

CALL, LATENCY = 5_000_000, 1_000_000
PORT, LINK = 300 * 10**9, 10 * 10**9
"""Bytes a second of a GPU and of a NIC."""
PACKET = 64_000
HOST = {"send": "0 s", "receive": "0 s", "reduce": "none", "call": "5 us", "eager": "1 GiB"}


def resolved(app, *, nodes, count, host=None, more=None):
    """A job on nodes of so many GPUs, with a NIC each, on one router without delay."""
    links = {"bandwidth": "10 GB/s", "latency": "0 s", "buffer": "1 GB"}
    gpu = {"count": count, "network": "switch", "bandwidth": "300 GB/s", "latency": "1 us"}
    system = {"kind": "dragonfly", "groups": 1, "routers": 1, "global_links_per_router": 1, "nodes_per_router": 8}
    system |= {"rails_on": "one-router"} if count > 1 else {}
    system |= {"rails": count, "host": HOST | {"gpu": gpu} | (host or {})}
    system["fabric"] = {"router_delay": "0 s", "packet": "64 KB"}
    system["fabric"]["links"] = dict.fromkeys(("node", "local", "global"), links)
    app = {"collective": "allreduce", **app}
    job = {"name": "a", "nodes": nodes, "ranks_per_node": count, "place": "contiguous", "app": app} | (more or {})
    document = {"system": system, "job": [job], "run": {"seed": 1}}
    return scenario.parse(tomlkit.dumps(document), Path("s.toml")).resolve()


def took(app, **where):
    return int(core.run(resolved(app, **where).spec)["ranks"]["finish_ps"].max())


def tree(size, chunk=None, **more):
    chunks = {} if chunk is None else {"chunk": f"{chunk} B"}
    return {"algorithm": "double-binary-tree", "message": f"{size} B"} | chunks | more


def ring(size, **more):
    return {"algorithm": "ring", "message": f"{size} B"} | more


def over_a_port(size):
    return -(-size * 10**12 // PORT)


def over_a_link(size):
    return size * 10**12 // LINK


@pytest.mark.parametrize("part", [64_000, 6_400_000])
def test_trees_in_a_node_are_chains(part):
    """Two GPUs, and so four trees of a chunk: the up messages of two leave each GPU first, then the down messages of
    the other two. Catches trees that wait for each other, and a vector that is divided into other parts."""
    port = over_a_port(part)
    free, arrived = 0, []
    for _ in range(2):
        free += port
        arrived.append(free + LATENCY)
    for asks in arrived:
        free = max(free, asks) + port
    assert took(tree(4 * part, chunk=part), nodes=1, count=2) == CALL + free + LATENCY


@pytest.mark.parametrize("nodes", [2, 4, 8])
def test_trees_between_nodes_take_their_depth(nodes):
    """A message crosses two links, and so does each level, up and down. A node with two children gets both messages by
    one link, and sends both by one. Catches trees of another depth, and two trees that share nodes inside."""
    part = PACKET
    depth, link = nodes.bit_length() - 1, over_a_link(part)
    levels = depth * 2 * link + (depth - 1) * link
    assert took(tree(2 * part, chunk=part), nodes=nodes, count=1) == CALL + 2 * levels


@pytest.mark.parametrize("chunks", [3, 4, 9])
def test_chunks_of_a_tree_follow_each_other(chunks):
    """Two nodes: each sends the up chunks of one tree and then the down chunks of the other, without a pause, and the
    last one crosses a second link. Catches a tree that begins a chunk when the one before has come back."""
    link = over_a_link(PACKET)
    assert took(tree(2 * chunks * PACKET, chunk=PACKET), nodes=2, count=1) == CALL + (2 * chunks + 1) * link
    one = took(tree(2 * chunks * PACKET, chunk=chunks * PACKET), nodes=2, count=1)
    assert one == CALL + 2 * (chunks + 1) * link


def test_chains_and_trees_join():
    """Two nodes of two GPUs, one chunk of each tree. A tail sends for two trees, one after the other; the chunk of the
    second one goes from its head to the root and back, and down to its tail. Catches heads without a chain, and heads
    of all trees at one GPU."""
    port, link = over_a_port(PACKET), over_a_link(PACKET)
    up, down = 2 * port + LATENCY + 2 * link, 2 * link + port + LATENCY
    assert took(tree(4 * PACKET, chunk=PACKET), nodes=2, count=2) == CALL + up + down


@pytest.mark.parametrize("protocol", ["ll", "ll128"])
@pytest.mark.parametrize("algorithm", ["ring", "ring-channels", "hierarchical", "double-binary-tree"])
def test_a_protocol_sends_flags_with_the_data(algorithm, protocol):
    """Costs that are 0 stay 0, but LL128 takes 5.6 us more than Simple at the start. Catches sizes and chunks without
    flags, and times that a protocol adds."""
    size, wire = 15 * 2**16, PROTOCOLS[protocol].wire
    app = {"algorithm": algorithm, "message": f"{size} B", "protocol": protocol}
    plain = {"algorithm": algorithm, "message": f"{size * wire} B"}
    if algorithm == "double-binary-tree":
        app["chunk"], plain["chunk"] = "15000 B", f"{15_000 * wire} B"
    more = 5_600_000 if protocol == "ll128" else 0
    free = {"call": "0 s"}
    assert took(app, nodes=2, count=2, host=free) == more + took(plain, nodes=2, count=2, host=free)


@pytest.mark.parametrize("tree_", [False, True])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_steps_of_a_preset_take_what_nccl_reckons_with(name, tree_):
    """Work at both ends and the latency inside a node; the change from Simple between nodes."""
    usual = machine.load("superpod-h100-gpu").table.host
    wanted = PROTOCOLS[name].tree if tree_ else PROTOCOLS[name].ring
    host = with_protocol(usual, name, tree=tree_)
    assert host.send + usual.gpu.latency + host.receive == 1_000 * wanted.inside
    assert abs(host.send - host.receive) <= 1
    assert host.call == 1_000 * wanted.base
    [entry], [before] = host.by_size, usual.by_size
    change = sum((entry.send, entry.receive, entry.delay)) - sum((before.send, before.receive, before.delay))
    assert change == 1_000 * (wanted.between - 14_000)
    assert (entry.send, entry.receive) == (host.send, host.receive)


def test_a_step_of_a_ring_takes_the_latency_of_its_protocol():
    """Six steps in a node of four GPUs."""
    host = {"send": "1.4 us", "receive": "1.4 us", "call": "8.4 us"}
    for name, base, ends in (("simple", 8.4, 2.8), ("ll", 6.6, 0.0), ("ll128", 14.0, 1.3)):
        block = PROTOCOLS[name].carried(4 * 15_000) // 4
        expected = int(base * 1e6) + 6 * (over_a_port(block) + LATENCY + int(ends * 1e6))
        assert took(ring(60_000, protocol=name), nodes=1, count=4, host=host) == expected


def test_a_reduction_combines_data_and_not_flags():
    """With `reduce`, and by size. Catches combining that takes twice as long with LL."""
    slow = {"reduce": "1 GB/s"}
    by_size = {"reduce_by_size": [{"size": "1 KB", "rate": "1 GB/s"}, {"size": "1 MB", "rate": "2 GB/s"}]}
    for reduce in (slow, by_size):
        for algorithm in ("ring", "ring-channels"):

            def added(reduce=reduce, algorithm=algorithm, **more):
                app = {"algorithm": algorithm, "message": "400 KB"} | more
                free = took(app, nodes=1, count=4)
                return took(app, nodes=1, count=4, host=reduce) - free

            assert added(protocol="ll") == pytest.approx(added(), rel=1e-6)
            assert added() > 0


def test_the_chunks_of_nccl():
    """By hand: four nodes of eight GPUs have a depth of 9 and 16 channels."""
    assert tree_chunk("simple", 2**30, 4, 8) == 2**19
    # 2^20 / (16 x 2^19) = 0, so it is halved to the least of all.
    assert tree_chunk("simple", 2**20, 4, 8) == 2**15
    # 2^28 / (16 x 2^18) = 64 is less than 8 x 9.
    assert tree_chunk("simple", 2**28, 4, 8) == 2**17
    # 2^26 / (16 x 2^16) = 64 is at least 4 x 9, and 2^26 / (16 x 2^17) = 32 is not.
    assert tree_chunk("simple", 2**26, 4, 8) == 2**16
    assert tree_chunk("ll", 2**30, 4, 8) == tree_chunk("ll", 2**20, 4, 8) == 2**15
    assert tree_chunk("ll128", 2**30, 4, 8) == 576_000
    # A level of 64 x (1 + 2 + 0.8) / 8 = 30.4 chunks: 2^26 / (16 x 153,600) = 27 is not enough, and 76,800 is less than
    # 128 KiB.
    assert tree_chunk("ll128", 2**26, 4, 8) == 72_000
    assert tree_chunk("ll128", 2**20, 4, 8) == 18_000


def test_the_default_chunk_is_that_of_nccl():
    size = 2 * 3 * 2**16
    assert tree_chunk("simple", size, 2, 1) == 2**16
    assert took(tree(size), nodes=2, count=1) == took(tree(size, chunk=2**16), nodes=2, count=1)
    assert took(tree(size), nodes=2, count=1) != took(tree(size, chunk=2**15), nodes=2, count=1)


def test_what_was_decided_has_the_costs_before_the_protocol():
    """So the document gives the same program again. Catches a protocol that counts twice."""
    host = {"send": "1.4 us", "receive": "1.4 us"}
    made = resolved(ring(60_000, protocol="ll128"), nodes=2, count=2, host=host)
    [job] = made.document["scenario"]["job"]
    assert (job["overhead"]["send"], job["app"]["protocol"]) == ("1.4 us", "ll128")
    assert made.spec["jobs"][0]["program"]["costs"]["send_ps"] == 650_000


@pytest.mark.parametrize(
    ("app", "message", "path"),
    [
        ({"protocol": "ll1"}, "found `ll1`", ("app", "protocol")),
        (
            {"algorithm": "rabenseifner", "protocol": "ll"},
            "`rabenseifner` has no protocol of NCCL",
            ("app", "protocol"),
        ),
        ({"algorithm": "ring", "chunk": "1 KB"}, "`ring` has no chunks", ("app", "chunk")),
        (
            {"algorithm": "double-binary-tree", "message": "1 GB", "chunk": "1 B"},
            "chunks, expected 65,536 at most",
            ("app", "chunk"),
        ),
        ({"algorithm": "double-binary-tree", "chunk": "0 B"}, "between 1 B and 2", ("app", "chunk")),
    ],
)
def test_what_is_refused(app, message, path):
    with pytest.raises(InputError, match=message) as caught:
        resolved({"message": "1 MB"} | app, nodes=2, count=2)
    assert caught.value.path == ("job", 0, *path)


def test_a_protocol_needs_gpus():
    with pytest.raises(InputError, match="`ll` is for nodes with GPUs") as caught:
        resolved(ring(64_000, protocol="ll"), nodes=2, count=2, more={"overhead": {"gpu": "none"}})
    assert caught.value.path == ("job", 0, "app", "protocol")
    phase = {"collective": "allreduce", "algorithm": "ring", "message": "1 MB", "protocol": "ll"}
    document = {"system": {"preset": "superpod-h100-gpu"}}
    document["job"] = [{"name": "a", "nodes": 2, "app": {"motif": "phases", "phases": [phase]}}]
    with pytest.raises(InputError, match="no single phase"):
        scenario.parse(tomlkit.dumps(document), Path("s.toml")).resolve()
