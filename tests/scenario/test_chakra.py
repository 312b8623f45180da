"""Chakra execution traces: what becomes of each kind of node, process groups, older schemas, and errors."""

import gzip
import json

import pytest

from odonata.errors import InputError
from odonata.machine import core
from odonata.scenario import parse

from .chakra_encoder import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BARRIER,
    BROADCAST,
    COLLECTIVE,
    COMPUTE,
    GATHER,
    LOAD,
    METADATA,
    RECEIVE,
    REDUCE_SCATTER,
    SEND,
    attribute,
    field,
    node,
    old_node,
    trace,
)

TEXT = """\
system = "tiny"
[[job]]
name = "a"
%s
app = %s
"""
MB = 1_048_576


def resolved(folder, keys='chakra = "x.*.et"', job="", app=None):
    return parse(TEXT % (job, app or f"{{ {keys} }}"), folder / "s.toml").resolve()


def write(folder, *files, name="x"):
    for rank, data in enumerate(files):
        (folder / f"{name}.{rank}.et").write_bytes(data)


def goal(folder, keys='chakra = "x.*.et"', job=""):
    return resolved(folder, keys, job).spec["jobs"][0]["program"]["body"]["goal"]


def lines(text, rank=0):
    """The operations of a rank without their labels, and its dependencies."""
    block = text.split(f"rank {rank} {{")[1].split("}")[0].split("\n")
    rows = [row.strip() for row in block if row.strip()]
    operations = [row.split(": ", 1)[1] for row in rows if ": " in row]
    return operations, {row for row in rows if "requires" in row}


def duration(resolution):
    """When each rank has finished, when the last message arrives, and how much was sent, in picoseconds and bytes."""
    output = core.run(resolution.spec)
    (job,) = output["jobs"]
    return output["ranks"]["finish_ps"].tolist(), job["last_delivery_ps"], job["bytes"], job["delivered"]


def collective(kind, size=MB, number=0, **attributes):
    return node(number, COLLECTIVE, comm_type=kind, comm_size=size, is_cpu_op=False, **attributes)


@pytest.mark.parametrize("name", ["ring", "rabenseifner", "recursive-doubling", "binary", None])
@pytest.mark.parametrize("ranks", [4, 6, 8])
@pytest.mark.parametrize("overhead", ['"none"', '{ send = "190 ns", eager = "12 KB", reduce = "5 GB/s" }'])
def test_an_all_reduce_takes_the_time_of_the_collective(tmp_path, name, ranks, overhead):
    write(tmp_path, *[trace(collective(ALL_REDUCE))] * ranks)
    job = f"overhead = {overhead}"
    chosen = "" if name is None else f', algorithm = {{ allreduce = "{name}" }}'
    of_trace = resolved(tmp_path, f'chakra = "x.*.et"{chosen}', job)
    chosen = "" if name is None else f', algorithm = "{name}"'
    of_collective = resolved(
        tmp_path, app=f'{{ collective = "allreduce", message = "1 MiB"{chosen} }}', job=f"{job}\nnodes = {ranks}"
    )
    assert duration(of_trace) == duration(of_collective)


@pytest.mark.parametrize(
    ("kind", "app"),
    [
        (ALL_GATHER, 'collective = "allgather", message = "1 MiB"'),
        (REDUCE_SCATTER, 'collective = "reduce-scatter", message = "1 MiB"'),
        (ALL_TO_ALL, 'collective = "alltoall", message = "256 KiB"'),
        (BROADCAST, 'collective = "broadcast", message = "1 MiB"'),
        (BARRIER, 'collective = "barrier"'),
    ],
)
def test_collectives_take_their_sizes_as_the_schema_means_them(tmp_path, kind, app):
    write(tmp_path, *[trace(collective(kind))] * 4)
    assert duration(resolved(tmp_path)) == duration(resolved(tmp_path, app=f"{{ {app} }}", job="nodes = 4"))


def test_nodes_compute_for_their_time_or_by_the_roofline(tmp_path):
    nodes = [
        node(0, COMPUTE, micros=3),
        node(1, COMPUTE, runtime=4),
        node(2, COMPUTE, num_ops=10**9, tensor_size=10),
        node(3, COMPUTE, num_ops=10, tensor_size=3_000, types="uint64"),
        node(4, LOAD, tensor_size=2_000),
        node(5, COMPUTE, micros=1, is_cpu_op=True),
        node(6, METADATA, name="## process_group:init ##"),
    ]
    write(tmp_path, trace(*nodes), trace(*nodes))
    operations, _ = lines(goal(tmp_path, 'chakra = "x.*.et", peak = "1 Tflop/s", memory = "1 GB/s"'))
    assert operations == [
        "calc 3000 cpu 1",
        "calc 4000 cpu 1",
        "calc 1000000 cpu 1",
        "calc 3000 cpu 1",
        "calc 2000 cpu 1",
        "calc 1000 cpu 2",
        "calc 0 cpu 3",
    ]


def in_streams(*nodes):
    """Nodes as the converter of MLCommons links them: launchers of the host in order, each with a kernel behind it."""
    made, number = [], 0
    for kind, stream, more in nodes:
        launcher = [number - 2] if number else []
        made.append(node(number, COMPUTE, control=launcher, micros=1, is_cpu_op=True, stream=0))
        values = {"micros": 1_000} if kind == COMPUTE else {"comm_type": ALL_REDUCE, "comm_size": MB}
        made.append(node(number + 1, kind, control=[number], is_cpu_op=False, stream=stream, **(values | more)))
        number += 2
    return trace(*made)


def streamed(tmp_path, *nodes):
    """When a rank has finished, in microseconds, and how long the all-reduce takes alone."""
    write(tmp_path, *[in_streams(*nodes)] * 4)
    alone = '{ collective = "allreduce", message = "1 MiB" }'
    whole = duration(resolved(tmp_path, job='overhead = "none"'))[0][0]
    return whole / 1e6, duration(resolved(tmp_path, app=alone, job='overhead = "none"\nnodes = 4'))[0][0] / 1e6


KERNEL, REDUCTION = (COMPUTE, 7, {}), (COLLECTIVE, 7, {})


@pytest.mark.parametrize("types", ["int64", "int32", "uint64"])
def test_a_stream_runs_in_the_order_of_the_file(tmp_path, types):
    """Two kernels of 1 ms, an all-reduce, a kernel. Catches collectives that run under the kernels of their stream, and
    kernels that begin before the collective has ended."""
    nodes = [KERNEL, KERNEL, REDUCTION, KERNEL]
    whole, alone = streamed(tmp_path, *((kind, stream, {"types": types}) for kind, stream, _ in nodes))
    assert whole == pytest.approx(1 + 3_000 + alone, abs=0.1)


def test_streams_overlap(tmp_path):
    """An all-reduce in a stream of its own runs under the kernels, and so does one without a stream."""
    other = (COLLECTIVE, 20, {})
    assert streamed(tmp_path, KERNEL, KERNEL, other)[0] == pytest.approx(2_001, abs=0.1)
    assert streamed(tmp_path, KERNEL, other, KERNEL)[0] == pytest.approx(2_001, abs=0.1)
    assert streamed(tmp_path, KERNEL, (COLLECTIVE, -1, {}), KERNEL)[0] == pytest.approx(2_001, abs=0.1)
    whole, alone = streamed(tmp_path, other, other)
    assert whole == pytest.approx(1 + 2 * alone, abs=0.1)


def test_the_host_is_in_no_stream(tmp_path):
    """The converter gives nodes of the host the stream 0, and a kernel may be in it too."""
    nodes = [
        node(0, COMPUTE, micros=5, is_cpu_op=True, stream=0),
        node(1, COMPUTE, micros=3, is_cpu_op=False, stream=0),
        node(2, COMPUTE, micros=4, is_cpu_op=True, stream=0),
        node(3, METADATA, is_cpu_op=True, stream=0),
        node(4, LOAD, micros=2, stream=0),
    ]
    write(tmp_path, trace(*nodes), trace(*nodes))
    _, edges = lines(goal(tmp_path))
    assert edges == {"l5 requires l2"}


def test_an_order_that_dependencies_forbid_gives_way(tmp_path):
    """A kernel that waits for a later one of its stream is behind it."""
    nodes = [
        node(0, COMPUTE, data=[2], micros=1, stream=7),
        node(1, COMPUTE, micros=1, stream=7),
        node(2, COMPUTE, micros=1, stream=7),
    ]
    write(tmp_path, trace(*nodes), trace(*nodes))
    _, edges = lines(goal(tmp_path))
    assert edges == {"l1 requires l3", "l3 requires l2"}


def test_messages_of_a_stream_do_not_wait_for_each_other_for_ever(tmp_path):
    """Two ranks that both send and then receive in one stream, more than is sent without asking."""

    def rank(peer):
        send = node(0, SEND, comm_dst=peer, comm_size=MB, stream=20)
        return trace(send, node(1, RECEIVE, comm_src=peer, comm_size=MB, stream=20))

    write(tmp_path, rank(1), rank(0))
    assert max(duration(resolved(tmp_path, job='overhead = { eager = "1 KiB" }'))[0]) > 0


def test_a_stream_is_a_number(tmp_path):
    bad = node(3, COMPUTE, micros=1, stream="default")
    write(tmp_path, trace(bad), trace(bad))
    with pytest.raises(InputError, match=r"node 3 .*`stream`.*whole number.*`default`"):
        resolved(tmp_path)


@pytest.mark.parametrize(
    ("bad", "key"),
    [(node(3, COMPUTE, num_ops=5), "peak"), (node(3, LOAD, tensor_size=5), "memory")],
)
def test_a_rate_that_is_needed_is_asked_for(tmp_path, bad, key):
    write(tmp_path, trace(node(0, COMPUTE, micros=1)), trace(bad))
    with pytest.raises(InputError, match=rf"node 3 \(`node3`\): .* the app needs the key `{key}`") as caught:
        goal(tmp_path)
    assert caught.value.file == str(tmp_path / "x.1.et")
    assert f"{key} = " in caught.value.hint


def test_dependencies_are_those_of_the_file(tmp_path):
    first = [
        node(7, COMPUTE, data=[5], control=[9], micros=1),
        node(5, COMPUTE, micros=2),
        node(9, SEND, comm_dst=1, comm_size=8, comm_tag=3, data=[5]),
    ]
    write(tmp_path, trace(*first), trace(node(1, RECEIVE, comm_src=0, comm_size=8, comm_tag=3, types="int32")))
    operations, waits = lines(goal(tmp_path))
    assert operations == ["calc 1000 cpu 1", "calc 2000 cpu 1", "send 8b to 1 tag 3"]
    assert waits == {"l1 requires l2", "l1 requires l3", "l3 requires l2"}


def test_a_receive_after_a_send_is_posted_with_it(tmp_path):
    """Both ranks send first; they would wait for each other if receives were posted after the ends of large sends."""

    def nodes(peer):
        return [
            node(0, SEND, comm_dst=peer, comm_size=MB),
            node(1, RECEIVE, comm_src=peer, comm_size=MB, data=[0]),
            node(2, COMPUTE, micros=1, data=[1]),
        ]

    write(tmp_path, trace(*nodes(1)), trace(*nodes(0)))
    resolution = resolved(tmp_path, job='overhead = { send = "190 ns", eager = "12 KB" }')
    _, waits = lines(resolution.spec["jobs"][0]["program"]["body"]["goal"])
    assert waits == {"l2 irequires l1", "l3 requires l1", "l3 requires l2"}
    assert duration(resolution)[0]


def test_one_file_is_for_all_ranks(tmp_path):
    (tmp_path / "all.et").write_bytes(trace(node(0, COMPUTE, micros=1), collective(ALL_REDUCE, number=1, data=[0])))
    with pytest.raises(InputError, match="nodes"):
        resolved(tmp_path, 'chakra = "all.et"')
    text = goal(tmp_path, 'chakra = "all.et"', "nodes = 5")
    assert text.startswith("num_ranks 5\n")
    assert lines(text, 4)[0][0] == "calc 1000 cpu 1"


def test_a_folder_has_the_files_of_one_trace(tmp_path):
    (tmp_path / "t").mkdir()
    write(tmp_path / "t", *[trace(collective(ALL_REDUCE))] * 12)
    assert goal(tmp_path, 'chakra = "t"').startswith("num_ranks 12\n")
    write(tmp_path / "t", trace(collective(ALL_REDUCE)), name="y")
    with pytest.raises(InputError, match=r"several traces: x\.\*\.et, y\.\*\.et"):
        goal(tmp_path, 'chakra = "t"')


def test_files_are_ordered_by_the_number_of_the_rank(tmp_path):
    write(tmp_path, *[trace(node(0, COMPUTE, micros=rank)) for rank in range(12)])
    text = goal(tmp_path)
    assert [lines(text, rank)[0] for rank in range(12)] == [[f"calc {rank * 1000} cpu 1"] for rank in range(12)]


def test_a_rank_without_a_file_is_named(tmp_path):
    write(tmp_path, *[trace(collective(ALL_REDUCE))] * 4)
    (tmp_path / "x.2.et").unlink()
    with pytest.raises(InputError, match=r"none for rank 2"):
        goal(tmp_path)
    with pytest.raises(InputError, match="no file of the folder") as caught:
        goal(tmp_path, 'chakra = "z.*.et"')
    assert caught.value.hint == "did you mean `x.*.et`?"


def test_process_groups_come_from_a_file_from_the_trace_or_from_dimensions(tmp_path):
    (tmp_path / "groups.json").write_text(json.dumps({"7": [0, 2], "8": [1, 3]}))
    write(tmp_path, *[trace(collective(ALL_REDUCE, pg_name="87"[rank % 2 == 0])) for rank in range(4)])
    by_file = goal(tmp_path, 'chakra = "x.*.et", groups = "groups.json"')
    with pytest.raises(InputError, match="nothing says which ranks are in process group `7`"):
        goal(tmp_path)
    listed = (
        '[["'
        + json.dumps([{"pg_name": "7", "ranks": [0, 2]}, {"pg_name": "8", "ranks": [1, 3]}]).replace('"', '\\"')
        + '"]]'
    )
    described = node(9, METADATA, name="## process_group:init ##", values=listed)
    write(tmp_path, *[trace(collective(ALL_REDUCE, pg_name="87"[r % 2 == 0]), described) for r in range(4)])
    messages = [[row for row in lines(text, 2)[0] if "calc" not in row] for text in (by_file, goal(tmp_path))]
    assert messages[0] == messages[1]
    assert messages[0]
    assert all("to 0 " in row or "from 0 " in row for row in messages[0])
    write(tmp_path, *[trace(collective(ALL_REDUCE, involved_dim=[False, True]))] * 4)
    along = lines(goal(tmp_path, 'chakra = "x.*.et", dimensions = [2, 2]'), 2)[0]
    assert [row for row in along if "calc" not in row] == messages[0]
    with pytest.raises(InputError, match="the app needs the key `dimensions`"):
        goal(tmp_path)


def test_collectives_of_several_groups_do_not_mix(tmp_path):
    """Rank 0 and 1 begin them in a different order than the others; each group has an order of its own."""
    (tmp_path / "groups.json").write_text(json.dumps({"a": [0, 1, 2, 3], "b": [3, 2, 1, 0]}))
    first, second = (
        lambda number: collective(ALL_REDUCE, number=number, pg_name="a"),
        lambda number: collective(ALL_GATHER, number=number, pg_name="b"),
    )
    write(tmp_path, *[trace(first(0), second(1))] * 2, *[trace(second(0), first(1))] * 2)
    assert duration(resolved(tmp_path, 'chakra = "x.*.et", groups = "groups.json"'))[0]


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (trace(collective(ALL_REDUCE), collective(ALL_GATHER, number=1, size=5)), "is ALL_GATHER of 5 bytes here"),
        (trace(collective(ALL_GATHER), collective(ALL_REDUCE, number=1)), "collective 1 of .* is ALL_GATHER"),
        (trace(collective(ALL_REDUCE)), "rank 2 has 1 collective of .*, but this rank has 2"),
        (trace(node(0, COMPUTE)), "rank 2 has 0 collectives of .*, but this rank has 2"),
    ],
)
def test_ranks_of_a_group_run_the_same_collectives(tmp_path, last, message):
    write(tmp_path, *[trace(collective(ALL_REDUCE), collective(ALL_GATHER, number=1))] * 2, last)
    with pytest.raises(InputError, match=message):
        goal(tmp_path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (trace(collective(ALL_REDUCE))[:-3], r"byte 8: message 2: the length before it says \d+ bytes, but \d+ are"),
        (b"\xff" * 12, "message 1 is no message of the schema"),
        (b"\x05ab", "message 1: the length before it says 5 bytes, but 2 are left"),
        (b"\x80", "the file ends inside the length before it"),
        (trace(), "the file has no nodes"),
        (trace(b"\x0a\xff"), "message 2 is no message of the schema"),
        (trace(node(4, 99)), r"node 4 \(`node4`\): unknown type 99"),
        (trace(node(4, COMPUTE, data=[3])), r"node 4 \(`node4`\): it depends on node 3, which the file does not have"),
        (trace(node(4, COMPUTE), node(4, COMPUTE)), "an earlier node has the same id"),
        (
            trace(node(1, COMPUTE, data=[2]), node(2, COMPUTE, control=[1])),
            r"in a cycle: 1 \(node1\) waits for 2 \(node2\) waits for 1 \(node1\)",
        ),
        (trace(node(1, SEND, comm_size=8)), "a node of kind send needs the attribute `comm_dst`"),
        (trace(node(1, SEND, comm_size=8, comm_dst=9)), "there is no rank 9"),
        (trace(node(1, SEND, comm_size=8, comm_dst=-1)), "expected a whole number of at least 0, found `-1`"),
        (trace(node(1, SEND, comm_size=8, comm_dst=1)), "but its peer never receives"),
        (trace(node(1, COLLECTIVE, comm_size=8)), "a node of kind collective needs the attribute `comm_type`"),
        (trace(collective(GATHER)), "there is no algorithm for the collective GATHER"),
        (trace(collective(77)), "there is no algorithm for the collective 77"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_node(tmp_path, data, message):
    write(tmp_path, data, trace(node(0, COMPUTE)))
    with pytest.raises(InputError, match=message) as caught:
        goal(tmp_path)
    assert caught.value.file == str(tmp_path / "x.0.et")


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("version", [None, ""])
def test_older_schemas_are_read(tmp_path, signed, version):
    nodes = [
        old_node(1, COMPUTE, runtime=5, signed=signed),
        # ALL_GATHER is 2 in both; ALL_TO_ALL was 1, which is REDUCE now.
        old_node(2, COLLECTIVE, parents=[1], comm_type=1, comm_size=8, is_cpu_op=False, signed=signed),
    ]
    metadata = [] if version is None else [field(1, field(1, "schema") + field(2, 3) + field(7, "0.0.3"))]
    write(tmp_path, *[trace(*metadata, *nodes, version=None)] * 2)
    old = goal(tmp_path)
    new = trace(node(1, COMPUTE, runtime=5), node(2, COLLECTIVE, data=[1], comm_type=ALL_TO_ALL, comm_size=8))
    write(tmp_path, new, new)
    assert old == goal(tmp_path)


def test_attributes_of_other_tools_change_nothing(tmp_path):
    write(tmp_path, *[trace(collective(ALL_REDUCE))] * 3)
    plain = goal(tmp_path)
    more = {"rf_id": 5, "fw_parent": 0, "op_schema": "aten::x(Tensor a) -> Tensor", "kernel_backend": "nccl", "tid": 1}
    write(tmp_path, *[trace(collective(ALL_REDUCE, **more))] * 3)
    assert goal(tmp_path) == plain


def test_global_metadata_may_have_attributes_only(tmp_path):
    metadata = field(2, attribute("schema", "1.0.2-chakra.0.0.4"))
    write(tmp_path, *[trace(metadata, collective(ALL_REDUCE), version=None)] * 3)
    assert goal(tmp_path).startswith("num_ranks 3")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('peak = "3 TB/s"', "is not a unit of"),
        ('algorithm = { allreduce = "rnig" }', "rnig"),
        ('algorithm = { alreduce = "ring" }', "alreduce"),
        ('algorithm = { alltoall = "bruck" }', "the traces never run `alltoall`\n.*they run `allreduce`"),
        ("dimensions = [3]", "the job has 4"),
        ('groups = "no.json"', "cannot read the process groups"),
    ],
)
def test_keys_are_checked(tmp_path, keys, message):
    write(tmp_path, *[trace(collective(ALL_REDUCE))] * 4)
    with pytest.raises(InputError, match=message):
        goal(tmp_path, f'chakra = "x.*.et", {keys}')


def test_a_trace_is_read_once(tmp_path, monkeypatch):
    write(tmp_path, *[trace(node(0, COMPUTE, micros=77), collective(ALL_REDUCE, number=1))] * 4)
    calls = []
    read = core.read_chakra
    monkeypatch.setattr(core, "read_chakra", lambda *args: calls.append(1) or read(*args))
    text = TEXT % ("", '{ chakra = "x.*.et" }') + '[[job]]\nname = "b"\napp = { chakra = "x.*.et" }\n'
    parse(text, tmp_path / "s.toml").resolve()
    assert len(calls) == 1


def test_traces_that_gzip_has_compressed_are_read(tmp_path):
    write(tmp_path, *[trace(collective(ALL_REDUCE))] * 2)
    plain = goal(tmp_path)
    for file in tmp_path.glob("*.et"):
        (tmp_path / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    assert goal(tmp_path, 'chakra = "x.*.et.gz"') == plain
