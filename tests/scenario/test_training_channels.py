"""Collectives of training on nodes with GPUs: rings over all links and NICs of their groups, as those of NCCL."""

from collections import Counter
from pathlib import Path

import pytest
import tomlkit

from odonata.errors import InputError
from odonata.machine import core
from odonata.scenario import parse

MODEL = {"layers": 2, "hidden": 1_024, "heads": 16, "vocabulary": 128, "sequence": 512}
FREE = {"send": "0 s", "receive": "0 s", "reduce": "none", "call": "0 s", "copy": "none", "eager": "1 GiB"}
GPUS = {"count": 4, "network": "mesh", "bandwidth": "10 GB/s", "latency": "0 s"}


def resolved(train, *, nodes=1, per_node=4, gpu=GPUS, key="train", host=None, **job):
    links = {"bandwidth": "10 GB/s", "latency": "0 s", "buffer": "1 GB"}
    system = {"kind": "dragonfly", "groups": 1, "routers": 1, "global_links_per_router": 1, "nodes_per_router": 8}
    system |= {"rails": 4, "rails_on": "one-router", "host": FREE | {"gpu": gpu} | (host or {})}
    system["fabric"] = {"router_delay": "0 s", "packet": "64 KB"}
    system["fabric"]["links"] = dict.fromkeys(("node", "local", "global"), links)
    fast = {"model": MODEL, "peak": "1000000 Tflop/s", "zero": 0}
    if key == "serve":
        fast = {"model": MODEL, "peak": "1000000 Tflop/s", "memory": "18 TB/s", "prompt": 512, "output": 1}
    jobs = [{"name": "t", "nodes": nodes, "ranks_per_node": per_node, "app": {key: fast | train}, **job}]
    return parse(tomlkit.dumps({"system": system, "job": jobs}), Path("s.toml")).resolve()


def program(*args, **more):
    return resolved(*args, **more).spec["jobs"][0]["program"]


def took(*args, **more):
    return int(core.run(resolved(*args, **more).spec)["ranks"]["finish_ps"].max()) / 1e6


def works(body):
    """How often each collective is a ring in an order, and how many others there are."""
    return Counter(entry["phases"][-1]["what"]["name"] for entry in body["collectives"])


RING = {"allreduce": "ring", "allgather": "ring", "reduce-scatter": "ring"}


def rings(train):
    """Rings for the collectives that a training runs."""
    gradients = set() if train.get("zero", 0) else {"allreduce"}
    others = {"allgather", "reduce-scatter"} if train.get("zero", 0) or train.get("tensor", 1) > 1 else set()
    return {"algorithm": dict.fromkeys(sorted(gradients | others), "ring")}


@pytest.mark.parametrize(
    ("train", "nodes", "faster"),
    [
        # Four GPUs, of which a ring uses one of three links.
        ({"tensor": 4}, 1, 3),
        # Without a tensor group, gradients of the whole node.
        ({"tensor": 1}, 1, 3),
        # A group over two nodes leaves each by four NICs instead of one, and inside nodes by links of their own.
        ({"tensor": 8}, 2, 4),
        ({"tensor": 1, "zero": 3}, 2, 4),
        # Pairs have a link each, and one rank of each node one NIC.
        ({"tensor": 2}, 1, 1),
        ({"tensor": 4}, 2, None),
    ],
)
def test_groups_use_all_links_and_nics(train, nodes, faster):
    """Against rings that are asked for. Catches a ring in the order of the ranks, which uses a link or a NIC of its own
    for each hop and leaves the others idle."""
    channels, plain = took(train, nodes=nodes), took(train | rings(train), nodes=nodes)
    if faster is None:  # a tensor group inside, and gradients between
        assert 1.1 < plain / channels < 3
    else:
        assert plain / channels == pytest.approx(faster, rel=0.15)


def test_streams_have_channels_of_their_own():
    """Six rings of a mesh on six CPUs behind the streams, each with half of a link. Catches streams that share CPUs,
    and rates that hold for other messages of a stream."""
    body = program({"tensor": 4})["body"]
    rates = dict(map(tuple, program({"tensor": 4})["gpus"]["rates"]))
    assert works(body).keys() == {"ring-channel"}
    cpus = {node["cpu"] for node in body["stages"][0] if node["what"]["name"] == "collective"}
    assert cpus == rates.keys() == set(range(5, 11))
    assert set(rates.values()) == {5 * 10**15}
    both = program({"context": 4, "overlap": True})
    assert {cpu for cpu, _ in both["gpus"]["rates"]} == set(range(5, 17))


def test_the_bytes_are_those_of_a_ring():
    """Of each rank and in all: channels divide what a ring carries."""
    for train, nodes in (({"tensor": 4}, 1), ({"tensor": 8, "zero": 1}, 2)):
        sums = []
        for more in ({}, rings(train)):
            body = program(train | more, nodes=nodes)["body"]
            sources, _, sizes, _ = core.traffic(body, 4 * nodes)
            sums.append(Counter())
            for source, size in zip(sources.tolist(), sizes.tolist(), strict=True):
                sums[-1][source] += size
        assert sums[0] == pytest.approx(sums[1], rel=1e-3)


@pytest.mark.parametrize(
    ("per_node", "more"),
    [(2, {}), (4, {"mapping": "round-robin"}), (4, {"mapping": "random-ranks"})],
)
def test_other_places_of_ranks_have_plain_rings(per_node, more):
    """A ring for each GPU is of no use where ranks are elsewhere."""
    body = program({"tensor": 2}, nodes=2, per_node=per_node, **more)["body"]
    assert "ring-channel" not in works(body)
    asked = {"tensor": 2, "algorithm": {"allreduce": "ring-channels"}}
    with pytest.raises(InputError, match="`ring-channels` needs"):
        resolved(asked, nodes=2, per_node=per_node, **more)


def test_a_switch_needs_one_ring_inside_a_node():
    switch = GPUS | {"network": "switch"}
    assert works(program({"tensor": 4}, gpu=switch)["body"]).keys() == {"allgather", "reduce-scatter"}
    assert "ring-channel" in works(program({"tensor": 8}, nodes=2, gpu=switch)["body"])


def test_channels_can_be_asked_for():
    asked = {"tensor": 4, "algorithm": {"allgather": "ring-channels", "reduce-scatter": "ring"}}
    assert works(program(asked)["body"]) == {"ring-channel": 6, "reduce-scatter": 1}
    with pytest.raises(InputError, match="`ring-channels` is for nodes with GPUs"):
        resolved(asked, overhead={"gpu": "none"})


def test_serving_has_channels_too():
    body = program({"tensor": 4}, nodes=2, key="serve")["body"]
    assert works(body)["ring-channel"] >= 6
    plain = took({"tensor": 4, "algorithm": RING}, nodes=2, key="serve")
    assert plain > 1.5 * took({"tensor": 4}, nodes=2, key="serve")
