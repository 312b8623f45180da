"""All-to-alls by rails (PXN): where messages go, when NCCL takes it, groups of a training, and what is refused."""

from collections import Counter
from pathlib import Path

import pytest
import tomlkit

from odonata import scenario
from odonata.errors import InputError
from odonata.machine import core
from odonata.machine.gpus import GpuTable
from odonata.scenario.apps.gpu_collectives import members_of_a_node
from odonata.scenario.apps.nccl import exchange

RAIL_OPTIMISED = {
    "preset": "superpod-h100-gpu",
    "leaves": 8,
    "spines": 4,
    "nodes_per_leaf": 4,
    "leaf_links": 2,
    "rails": 4,
    "host": {"gpu": {"count": 4, "nics": [0, 1, 2, 3]}},
}
"""Two units of four nodes with four GPUs each: NIC k of a node is on leaf k of its unit."""
SHAPES = {"layers": 2, "hidden": 64, "heads": 4, "vocabulary": 128, "sequence": 64}
MOE = {**SHAPES, "ffn": 128, "experts": 16, "active": 2}
SERVE = {"model": MOE, "prompt": 16, "output": 1}


def resolved(app, *, system=None, nodes=4, per_node=4, mapping=None, place="contiguous"):
    job = {"name": "a", "nodes": nodes, "ranks_per_node": per_node, "place": place, "app": app}
    if isinstance(nodes, list):
        job |= {"nodes": len(nodes), "place": {"nodes": ",".join(map(str, nodes))}}
    job |= {} if mapping is None else {"mapping": mapping}
    document = {"system": system or RAIL_OPTIMISED, "job": [job], "run": {"seed": 1}}
    return scenario.parse(tomlkit.dumps(document), Path("s.toml")).resolve()


def alltoall(algorithm="pxn", message="10000 B"):
    return {"collective": "alltoall", "algorithm": algorithm, "message": message}


def totals(app, **more):
    """Of the job, and bytes on links of the classes `node` and `leaf`."""
    result = core.run(resolved(app, **more).spec)
    [job] = result["jobs"]
    return job, result["class_bytes"].tolist()[0]


def between(made, per_node=4):
    """Bytes between nodes, by the GPU of the source and that of the destination, as the core counts them."""
    [job] = made.spec["jobs"]
    sources, targets, sizes, _ = core.traffic(job["program"]["body"], len(job["nodes"]))
    sums = Counter()
    for source, target, size in zip(sources.tolist(), targets.tolist(), sizes.tolist(), strict=True):
        if source // per_node != target // per_node:
            sums[source % per_node, target % per_node] += size
    return sums


def test_no_byte_leaves_its_rail():
    """Nodes of one unit: packets go up to the leaf of their rail and down, and no cable to a spine has a byte. Catches
    data that change rails between nodes, and a rail that carries more than the others."""
    for algorithm, crosses in (("pxn", False), ("scattered", True)):
        job, (_, of_leaves) = totals(alltoall(algorithm))
        assert job["bytes"] == 4 * 3 * 16 * 10_000, "the same bytes between nodes"
        assert (of_leaves > 0) == (job["hops"] > 0) == crosses
        rails = [(s, t) for s in range(4) for t in range(4) if crosses or s == t]
        assert between(resolved(alltoall(algorithm))) == dict.fromkeys(rails, 4 * 3 * 10_000 * (1 if crosses else 4))


def test_messages_keep_their_rail_between_units():
    """Nodes of both units, whose packets cross spines. Catches rails that are those of one unit alone."""
    nodes = [0, 1, 4, 6]
    assert between(resolved(alltoall(), nodes=nodes)) == {(rail, rail): 4 * 3 * 4 * 10_000 for rail in range(4)}
    job, (_, of_leaves) = totals(alltoall(), nodes=nodes)
    assert job["hops"] > 0 < of_leaves


def test_messages_between_nodes_are_fewer_and_larger():
    by_rails, directly = (totals(alltoall(name))[0] for name in ("pxn", "scattered"))
    assert by_rails["issued"] == directly["issued"] == 16 * 15
    assert by_rails["issued"] - by_rails["intra_node"] == 16 * 3
    assert directly["issued"] - directly["intra_node"] == 16 * 12


def test_one_call_is_paid():
    """Catches a collective without the time that a rank needs at its start."""
    phases = resolved(alltoall()).spec["jobs"][0]["program"]["body"]["phases"]
    assert [phase["what"]["name"] for phase in phases] == ["compute", "pxn-alltoall"]


@pytest.mark.parametrize(
    ("more", "nodes", "expected"),
    [
        ({}, 2, "pxn"),
        ({}, 1, "scattered"),
        ({"count": 1}, 2, "scattered"),
        ({"network": "mesh"}, 2, "pxn"),
        ({"network": "mesh", "links": [[0, 1], [1, 2], [2, 3], [0, 3]]}, 2, "scattered"),
        ({"network": "pcie", "root": "1 GB/s"}, 2, "scattered"),
    ],
)
def test_nccl_takes_it_where_all_pairs_of_a_node_are_joined(more, nodes, expected):
    table = {"count": 4, "network": "switch", "bandwidth": "240 GB/s", "latency": "1 us", "generation": "ampere"}
    assert exchange(GpuTable.model_validate(table | more), nodes) == expected


def test_a_scenario_has_what_nccl_takes():
    made = resolved(alltoall("nccl"))
    assert made.document["scenario"]["job"][0]["app"]["algorithm"] == "pxn"
    assert made.spec == resolved(alltoall()).spec
    assert resolved(alltoall("nccl"), nodes=1).document["scenario"]["job"][0]["app"]["algorithm"] == "scattered"


PHASE = {"motif": "phases", "phases": [{"collective": "alltoall", "algorithm": "pxn", "message": "1 MB"}]}


@pytest.mark.parametrize(
    ("app", "more", "message", "path"),
    [
        (alltoall(), {"per_node": 1}, "`pxn` needs a rank for each GPU: found 1 on a node of 4", ("ranks_per_node",)),
        (alltoall("nccl"), {"per_node": 3}, "`nccl` needs a rank for each GPU", ("ranks_per_node",)),
        (alltoall(), {"mapping": "round-robin"}, "`pxn` needs the ranks of a node side by side", ("mapping",)),
        (alltoall(), {"system": "tiny"}, "`pxn` is for nodes with GPUs", ("app", "algorithm")),
        (alltoall("nccl"), {"system": "tiny"}, "`nccl` is for nodes with GPUs", ("app", "algorithm")),
        (
            alltoall("nccl"),
            {"system": "frontier-gpu", "per_node": 8},
            "`nccl` needs `generation` of the GPUs",
            ("app", "algorithm"),
        ),
        (alltoall("pnx"), {}, "found `pnx`", ("app", "algorithm")),
        (PHASE, {}, "`pxn` depends on the nodes of a job", ("app", "phases", 0, "algorithm")),
    ],
)
def test_what_is_refused(app, more, message, path):
    with pytest.raises(InputError, match=message) as caught:
        resolved(app, **more)
    assert caught.value.path[-len(path) :] == path


def train(expert, algorithm="pxn", **keys):
    return {"train": {"model": MOE, "expert": expert, "algorithm": {"alltoall": algorithm}, **keys}}


def exchanges(app, **more):
    """The all-to-alls of a training or of an inference."""
    body = resolved(app, **more).spec["jobs"][0]["program"]["body"]
    phases = [phase for entry in body["collectives"] for phase in entry["phases"]]
    return [phase for phase in phases if "alltoall" in phase["what"]["name"]]


@pytest.mark.parametrize(
    ("keys", "per_node"),
    [
        ({"expert": 16}, 4),  # four nodes
        ({"expert": 8}, 4),  # two nodes
        ({"expert": 4}, 4),  # one
        ({"expert": 2}, 2),  # half of one
        ({"expert": 8, "tensor": 2}, 2),  # ranks 0, 2, 4, ... of four nodes
        ({"expert": 4, "tensor": 4}, 1),  # a rank of each node
        ({"expert": 4, "pipeline": 2}, 4),  # stages of two nodes
    ],
)
def test_groups_of_experts_exchange_by_rails(keys, per_node):
    """Catches groups that take the ranks of a node for their own, and other bytes than those that go directly."""
    app = train(**keys)
    found = exchanges(app)
    assert {phase["what"]["per_node"] for phase in found} == {per_node}
    directly = exchanges(train(**keys, algorithm="scattered"))
    expected = [(phase["what"]["bytes"], phase["along"]) for phase in directly]
    assert [(phase["what"]["bytes"], phase["along"]) for phase in found] == expected
    assert exchanges(train(**keys, algorithm="nccl")) == found


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"expert": 16}, {("grouped-alltoall", 4)}),
        ({"expert": 8, "tensor": 2}, {("grouped-alltoall", 2)}),
        ({"expert": 4}, {("alltoall", None)}),  # one node
        ({"expert": 4, "tensor": 4}, {("alltoall", None)}),  # a rank of each node
        ({"expert": 8, "skew": 1.5}, {("matrix", 4)}),
    ],
)
def test_direct_messages_of_experts_go_node_after_node(keys, expected):
    """Catches GPUs of a node that all begin with the same GPU of another node."""
    body = resolved(train(**keys, algorithm="scattered")).spec["jobs"][0]["program"]["body"]
    assert exchanges_of(body) == expected


def test_direct_messages_of_an_inference_go_node_after_node():
    app = {"serve": SERVE | {"expert": 8, "algorithm": {"alltoall": "scattered"}}}
    assert exchanges_of(resolved(app).spec["jobs"][0]["program"]["body"]) == {("grouped-alltoall", 4)}


def exchanges_of(body):
    phases = [phase["what"] for entry in body["collectives"] for phase in entry["phases"]]
    return {
        (what["name"], what.get("per_node"))
        for what in phases
        if what["name"] in ("alltoall", "grouped-alltoall", "matrix")
    }


def test_messages_of_a_training_between_nodes_keep_their_rail():
    """Groups of experts over two nodes, two tensor ranks each: a rank of such a group sends 2 messages, not 4."""
    shapes = {"expert": 4, "tensor": 2, "data": 4}
    one = {key: totals(train(**shapes, algorithm=key), nodes=2)[0] for key in ("pxn", "scattered")}
    assert one["pxn"]["bytes"] <= one["scattered"]["bytes"]
    assert one["pxn"]["issued"] - one["pxn"]["intra_node"] < one["scattered"]["issued"] - one["scattered"]["intra_node"]


def test_experts_of_an_inference_exchange_by_rails():
    app = {"serve": SERVE | {"expert": 8, "algorithm": {"alltoall": "nccl"}}}
    assert {phase["what"]["per_node"] for phase in exchanges(app)} == {4}


@pytest.mark.parametrize(
    ("app", "more", "message", "path"),
    [
        (train(8, skew=1.5), {}, "blocks of one size", ("app", "train", "skew")),
        (train(8), {"per_node": 2, "nodes": 8}, "needs a rank for each GPU", ("ranks_per_node",)),
        (train(8), {"system": "tiny"}, "`pxn` is for nodes with GPUs", ("app", "train", "algorithm")),
        (train(8, "nccl"), {"system": "tiny"}, "`nccl` is for nodes with GPUs", ("app", "train", "algorithm")),
        (train(8, "pnx"), {}, "unknown algorithm `pnx`", ("app", "train", "algorithm", "alltoall")),
        (
            {"train": {"model": MOE, "algorithm": {"allreduce": "pxn"}}},
            {},
            "unknown algorithm `pxn`",
            ("app", "train", "algorithm", "allreduce"),
        ),
        (
            train(2, tensor=1, data=6),
            {"nodes": 2, "per_node": 3, "system": {**RAIL_OPTIMISED, "host": {"gpu": {"count": 3, "nics": [0, 1, 2]}}}},
            "groups with ranks on the same GPUs of each node: found 2 ranks, each 1 after the other, on nodes of 3",
            ("app", "train", "algorithm"),
        ),
    ],
)
def test_what_a_training_refuses(app, more, message, path):
    with pytest.raises(InputError, match=message) as caught:
        resolved(app, **more)
    assert caught.value.path[-len(path) :] == path


def test_the_members_of_a_group_on_a_node():
    """By counting: groups of ranks `count` at a distance, on nodes of some ranks."""
    for gpus in (1, 2, 3, 4, 6, 8):
        for stride in (1, 2, 3, 4, 8, 16):
            for count in (1, 2, 3, 4, 8, 12, 16):
                ranks = range(stride * count * gpus)
                groups = {}
                for rank in ranks:
                    group = (rank // (stride * count), rank % stride)
                    groups.setdefault(group, {}).setdefault(rank // gpus, []).append(rank % gpus)
                numbers = {len(here) for nodes in groups.values() for here in nodes.values()}
                alike = all(here == next(iter(nodes.values())) for nodes in groups.values() for here in nodes.values())
                if len(numbers) == 1 and alike:
                    assert members_of_a_node(count, stride, gpus) == numbers.pop(), (count, stride, gpus)
                else:
                    with pytest.raises(InputError, match="same GPUs of each node"):
                        members_of_a_node(count, stride, gpus)
