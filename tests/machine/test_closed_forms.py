"""Closed forms of collectives between GPUs: what links and NICs carry, and latencies, for one to eight NICs.

Machines: one switch, a tree of one leaf, and one of two leaves that does not block. Each time is held against
`latency + bytes / bandwidth`, where both are worked out here by hand from the algorithm.
"""

from pathlib import Path

import pytest
import tomlkit

from odonata import scenario
from odonata.machine import core

NIC, PORT = 25e9, 300e9
"""Bytes a second of a NIC, and of the port of a GPU."""
SEND, RECEIVE, INSIDE, CALL = 1.0, 1.5, 0.6, 5.0
"""Microseconds: work of a sender and of a receiver, from GPU to GPU, and at the start."""
WIRE, ROUTER, PACKET = 0.2, 0.1, 4_096
STEP = SEND + INSIDE + RECEIVE
"""Latency of a step inside a node."""
MACHINES = ("switch", "leaf", "leaves")
SHAPES = [
    (nodes, gpus, nics) for nodes in (2, 4) for gpus, nics in ((1, 1), (2, 2), (4, 4), (8, 8), (8, 4), (8, 2), (8, 1))
]
"""Nodes, GPUs and NICs of a node."""


def way(machine, size, *, far=True):
    """Latency between nodes, behind the NIC: links and routers, each of which stores a packet."""
    switches = 3 if machine == "leaves" and far else 1
    return (switches + 1) * WIRE + switches * (ROUTER + min(size, PACKET) / NIC * 1e6)


def between(machine, size=PACKET):
    """Latency of a step between nodes."""
    return SEND + way(machine, size) + RECEIVE


def took(machine, shape, app):
    """In microseconds."""
    nodes, gpus, nics = shape
    link = {"bandwidth": "25 GB/s", "latency": "200 ns", "buffer": "1 MB"}
    gpu = {"count": gpus, "network": "switch", "bandwidth": "300 GB/s", "latency": "600 ns"}
    costs = {"send": "1 us", "receive": "1500 ns", "call": "5 us", "reduce": "none", "eager": "1 GiB", "copy": "none"}
    system = {"rails": nics, "host": costs | {"gpu": gpu}}
    if machine == "switch":
        system |= {"kind": "dragonfly", "groups": 1, "routers": 1, "global_links_per_router": 1}
        system |= {"nodes_per_router": nodes * nics} | ({"rails_on": "one-router"} if nics > 1 else {})
        classes = ("node", "local", "global")
    else:
        leaves = 1 if machine == "leaf" else 2
        system |= {"kind": "fat-tree", "leaves": 2, "spines": nodes * nics // leaves, "nodes_per_leaf": nodes // leaves}
        classes = ("node", "leaf")
    system["fabric"] = {"router_delay": "100 ns", "packet": "4 KiB", "links": dict.fromkeys(classes, link)}
    job = {"name": "a", "nodes": nodes, "ranks_per_node": gpus, "place": "contiguous", "app": app}
    document = {"system": system, "job": [job], "run": {"seed": 1}}
    if machine != "switch":
        document["routing"] = "up-down"
    spec = scenario.parse(tomlkit.dumps(document), Path("s.toml")).resolve().spec
    return int(core.run(spec)["ranks"]["finish_ps"].max()) / 1e6


def ring(machine, shape, size, steps):
    """The time of rings side by side, one for each NIC with its part of the data, step by step.

    Between nodes a block takes a NIC, inside a node the part of a port that a ring has: all rings leave a port but the
    one that goes on to a NIC. A rank works on its send, then on its receive when the block has come, and goes on when
    both are done and its block has left. This is `latency + bytes / bandwidth` of all hops, until a NIC or a port is
    never idle.
    """
    nodes, gpus, nics = shape
    ranks = nodes * gpus
    block = size / nics / ranks
    port = PORT / max(1, nics if nics < gpus else nics - 1)
    inside = (block / port * 1e6, INSIDE)
    hops = []
    for rank in range(ranks):
        leaves = rank % gpus == gpus - 1
        far = rank // gpus in (nodes // 2 - 1, nodes - 1)  # to the other half of the nodes
        hops.append((block / NIC * 1e6, way(machine, block, far=far)) if leaves else inside)
    ready, free = [CALL] * ranks, [0.0] * ranks
    for _ in range(steps * (ranks - 1)):
        sent = [at + SEND for at in ready]
        free = [max(at, before) + busy for at, before, (busy, _) in zip(sent, free, hops, strict=True)]
        came = [at + latency for at, (_, latency) in zip(free, hops, strict=True)]
        left = [at if rank % gpus < gpus - 1 else 0.0 for rank, at in enumerate(free)]
        ready = [max(max(sent[rank], came[rank - 1]) + RECEIVE, left[rank]) for rank in range(ranks)]
    return max(ready)


def check(machine, shape, app, expected):
    taken = took(machine, shape, app)
    assert 0.98 < taken / expected < 1.02, f"{taken:.1f} us, expected {expected:.1f} us"


@pytest.mark.parametrize("size", [2**16, 2**21, 2**25])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("machine", MACHINES)
def test_rings_take_their_steps(machine, shape, size):
    """All-reduces, from small ones that are all latency to large ones that fill the NICs. Catches rings that take turns
    at the ports of a node, so that one sends while another waits: sizes between were up to 1.7 times as fast."""
    app = {"collective": "allreduce", "algorithm": "ring-channels", "message": f"{size} B"}
    check(machine, shape, app, ring(machine, shape, size, 2))


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
@pytest.mark.parametrize("shape", SHAPES)
def test_gathers_and_scatters_take_half_of_the_steps(shape, collective):
    for size in (2**21, 2**25):
        each = size // (shape[0] * shape[1]) if collective == "allgather" else size
        app = {"collective": collective, "algorithm": "ring-channels", "message": f"{each} B"}
        check("leaf", shape, app, ring("leaf", shape, size, 1))


@pytest.mark.parametrize("size", [2**14, 2**19])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("machine", MACHINES)
def test_exchanges_fill_nics_or_ports(machine, shape, size):
    """A GPU sends a block to each of all others at once. Catches GPUs of a node that all begin with the same GPU of
    another node: eight GPUs with eight NICs then take up to six times as long."""
    nodes, gpus, nics = shape
    app = {"collective": "alltoall", "algorithm": "scattered", "message": f"{size} B"}
    nic = size * (nodes - 1) * gpus * gpus / nics / NIC * 1e6
    port = size * (gpus - 1) / PORT * 1e6
    # A CPU works on each message; the first and the last packet add the way.
    work = (nodes * gpus - 1) * (SEND + RECEIVE)
    least = CALL + max(nic, port, work)
    taken = took(machine, shape, app)
    first = gpus * SEND  # before the first message to another node
    assert least <= taken < least + first + work * 0.6 + between(machine) + 0.1 * nic, f"{taken:.1f}, {least:.1f} us"


@pytest.mark.parametrize("nodes", [2, 4])
@pytest.mark.parametrize("gpus", [2, 4, 8])
@pytest.mark.parametrize("machine", MACHINES)
def test_exchanges_by_rails_take_what_nics_carry(machine, nodes, gpus):
    """A message of g blocks to each other node; the exchange inside before the first one and behind the last one."""
    size = 2**20
    app = {"collective": "alltoall", "algorithm": "pxn", "message": f"{size} B"}
    nic = size * (nodes - 1) * gpus / NIC * 1e6
    inside = (gpus - 1) * (size / PORT * 1e6 + SEND + RECEIVE) + INSIDE
    taken = took(machine, (nodes, gpus, gpus), app)
    assert CALL + nic < taken < CALL + 1.1 * nic + 2 * inside + nodes * between(machine)


@pytest.mark.parametrize(("shape"), [shape for shape in SHAPES if shape[1] == shape[2] or shape[1] == 8])
@pytest.mark.parametrize("machine", MACHINES)
def test_trees_fill_nics(machine, shape):
    """32 MiB in chunks of 64 KiB. On two nodes each byte crosses each NIC once in each direction, on four up to twice:
    a node that is inside a tree sends to its parent and to two children a half each, and in the other tree to its
    parent. Then the way of a chunk up and down."""
    nodes, gpus, nics = shape
    size, chunk = 2**25, 2**16
    app = {"collective": "allreduce", "algorithm": "double-binary-tree", "message": f"{size} B", "chunk": f"{chunk} B"}
    sent = size / nics / NIC * 1e6 * (1 if nodes == 2 else 2)
    hop = (gpus - 1) * (STEP + chunk / PORT * 1e6) + 2 * (between(machine) + chunk / NIC * 1e6)
    taken = took(machine, shape, app)
    work = size / chunk / (2 * gpus) * 4 * (SEND + RECEIVE)
    assert 0.85 * sent < taken < CALL + max(1.2 * sent, work) + 4 * hop, f"{taken:.1f}, {sent:.1f}, {work:.1f} us"


@pytest.mark.parametrize("nodes", [2, 4])
@pytest.mark.parametrize("gpus", [2, 4, 8])
@pytest.mark.parametrize("machine", MACHINES)
def test_hierarchical_reductions_take_their_three_parts(machine, nodes, gpus):
    size = 2**23
    app = {"collective": "allreduce", "algorithm": "hierarchical", "message": f"{size} B"}
    inside = (gpus - 1) * (STEP + size / gpus / PORT * 1e6)
    block = size / gpus / nodes
    outside = 2 * (nodes - 1) * (between(machine, block) + block / NIC * 1e6)
    check(machine, (nodes, gpus, gpus), app, CALL + 2 * inside + outside)
