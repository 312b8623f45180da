"""Traces: from a file to the specification, and the errors for traces that do not fit."""

import bz2
import gzip
import lzma
import os

import pytest

from odonata.errors import InputError
from odonata.machine import core
from odonata.scenario import parse
from odonata.scenario.apps.trace import Trace

TEXT = """\
system = "tiny"
[[job]]
name = "a"
%s
app = { trace = "%s" }
"""
GOAL = """\
num_ranks 3
rank 0 { send 8b to 1 }
rank 1 { recv 8b from 0 }
rank 2 { calc 5 }
"""
CSV = "rank,operation,peer,bytes\n0,send,1,8\n1,recv,0,8\n2\n"


def resolved(folder, job="", file="x.goal"):
    return parse(TEXT % (job, file), folder / "s.toml").resolve()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "x.goal").write_text(GOAL)
    (tmp_path / "x.csv").write_text(CSV)
    return tmp_path


def test_a_trace_brings_its_ranks_and_its_text_goes_into_the_specification(folder):
    resolution = resolved(folder)
    (job,) = resolution.spec["jobs"]
    assert job["nodes"] == [0, 1, 2]
    body = job["program"]["body"]
    assert body["name"] == "trace"
    assert body["goal"].startswith("num_ranks 3\n")
    assert resolution.document["scenario"]["job"][0]["ranks"] == 3
    (folder / "x.goal").unlink()
    assert resolution.document["spec"] is resolution.spec, "what was read is kept, the file may go"


def test_equal_traces_give_equal_runs(folder):
    """The identity of a run depends on its specification, not on the layout of a file."""
    first = resolved(folder)
    (folder / "x.goal").write_text(f"# the same\n{GOAL}".replace("8b to", "8b  to"))
    assert resolved(folder).id == first.id


def test_a_table_is_a_trace_too(folder):
    assert resolved(folder, file="x.csv").spec["jobs"][0]["nodes"] == [0, 1, 2]
    (folder / "x.txt").write_text(CSV)
    text = TEXT.replace('"%s" }', '"%s", format = "csv" }')
    assert parse(text % ("", "x.txt"), folder / "s.toml").resolve().spec["jobs"][0]["nodes"] == [0, 1, 2]


def goal_of(folder, file="x.goal", more=""):
    text = TEXT.replace('"%s" }', f'"%s"{more} }}')
    return parse(text % ("", file), folder / "s.toml").resolve().spec["jobs"][0]["program"]["body"]["goal"]


def test_binary_goal_is_a_trace_too(folder):
    written = core.write_trace({"name": "trace", "goal": goal_of(folder)}, 3, "bin")
    (folder / "x.bin").write_bytes(written)
    assert goal_of(folder, "x.bin") == goal_of(folder)
    (folder / "x.dat").write_bytes(written)
    assert goal_of(folder, "x.dat", ', format = "bin"') == goal_of(folder)
    (folder / "x.goal").write_bytes(written)
    with pytest.raises(InputError, match="this is binary GOAL") as caught:
        resolved(folder)
    assert caught.value.file == str(folder / "x.goal")
    (folder / "x.bin").write_bytes(written[:100])
    with pytest.raises(InputError, match="byte 22: rank 0 ends at byte") as caught:
        resolved(folder, file="x.bin")
    assert (caught.value.file, caught.value.line) == (str(folder / "x.bin"), None)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (5, "append"),
        (6, "put"),
        (7, "get"),
        (8, "triggered append"),
        (11, "wait for a counter"),
        (18, "reply to a get"),
    ],
)
def test_operations_of_portals_are_named(folder, kind, name):
    """In both layouts; LogGOPSim2 writes the long one."""
    written = core.write_trace({"name": "trace", "goal": "num_ranks 1\nrank 0 {\ncalc 1\n}\n"}, 1, "bin")
    at = 8 + 6 + 16 + 8 + 4  # the jump table, the counts and the root
    short = bytearray(written)
    short[at + 4] = kind
    long = bytearray(short + bytes(65))
    long[22:30] = (len(long) - 8).to_bytes(8, "little")
    for data in (short, long):
        (folder / "x.bin").write_bytes(data)
        with pytest.raises(
            InputError, match=rf"rank 0, operation 1: .* found the Portals 4 operation `{name}`"
        ) as caught:
            resolved(folder, file="x.bin")
        assert (caught.value.file, caught.value.hint) == (
            str(folder / "x.bin"),
            "Odonata simulates no Portals 4; write the trace with sends and recvs",
        )
    short[at + 4] = 99
    (folder / "x.bin").write_bytes(short)
    with pytest.raises(InputError, match="found an operation of kind 99") as caught:
        resolved(folder, file="x.bin")
    assert caught.value.hint is None


def test_nics_of_a_trace_are_kept_or_ignored(folder):
    (folder / "x.goal").write_text(GOAL.replace("send 8b to 1", "send 8b to 1 nic 3"))
    assert "send 8b to 1 tag 0 nic 3\n" in goal_of(folder)
    assert goal_of(folder, more=', nic = "keep"') == goal_of(folder)
    ignored = goal_of(folder, more=', nic = "ignore"')
    (folder / "x.goal").write_text(GOAL)
    assert ignored == goal_of(folder), "as if the file named none"


def test_a_file_that_is_too_large_is_refused_before_it_is_read(folder):
    """It is sparse: reading it would take its size in memory."""
    with (folder / "x.goal").open("wb") as file:
        file.truncate(5 << 30)
    with pytest.raises(InputError, match="at most 4,294,967,295 bytes, found 5,368,709,120 bytes") as caught:
        resolved(folder)
    assert caught.value.file == str(folder / "x.goal")


def test_pipes_and_devices_are_refused(folder):
    os.mkfifo(folder / "pipe.goal")
    for name, what in (("pipe.goal", "a pipe"), ("/dev/zero", "a device"), ("/dev/null", "a device")):
        with pytest.raises(InputError, match=f"expected a regular file, found {what}") as caught:
            goal_of(folder, name, ', format = "goal"')
        assert caught.value.file == str(folder / name)


def test_ranks_share_nodes(folder):
    assert resolved(folder, "ranks_per_node = 2").spec["jobs"][0]["nodes"] == [0, 0, 1]
    assert resolved(folder, 'ranks_per_node = 2\nmapping = "round-robin"').spec["jobs"][0]["nodes"] == [0, 1, 0]
    assert resolved(folder, 'place = { nodes = "5,4,9" }').spec["jobs"][0]["nodes"] == [5, 4, 9]


@pytest.mark.parametrize(
    ("job", "line", "message", "hint"),
    [
        ("nodes = 4", 4, "the trace has 3 ranks, and 4 nodes with 1 rank each are 4", "it needs 3 nodes"),
        ("nodes = 2", 4, "the trace has 3 ranks, and 2 nodes with 1 rank each are 2", "it needs 3 nodes"),
        ("nodes = 3\nranks_per_node = 2", 4, "3 nodes with 2 ranks each are 6", "it needs 2 nodes"),
        ('place = { nodes = "0-3" }', 2, "the trace has 3 ranks, and 4 nodes", "it needs 3"),
    ],
)
def test_ranks_that_do_not_fit(folder, job, line, message, hint):
    with pytest.raises(InputError) as caught:
        resolved(folder, job)
    assert message in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(folder / "s.toml"), line)
    assert hint in caught.value.hint


def test_an_error_in_a_trace_names_the_file_and_the_line(folder):
    (folder / "x.goal").write_text(GOAL.replace("send", "sned"))
    with pytest.raises(InputError, match="did you mean `send`") as caught:
        resolved(folder)
    assert (caught.value.file, caught.value.line) == (str(folder / "x.goal"), 2)
    (folder / "x.csv").write_text(CSV.replace("recv", "rcv"))
    with pytest.raises(InputError, match="`recv`") as caught:
        resolved(folder, file="x.csv")
    assert (caught.value.file, caught.value.line) == (str(folder / "x.csv"), 3)


@pytest.mark.parametrize(
    ("file", "message", "hint"),
    [
        ("no.goal", "cannot read the trace", None),
        ("x.txt", "expected a file name that ends in", 'format = "goal"'),
        ("x.goa", "expected a file name that ends in", "x.goal"),
    ],
)
def test_a_file_that_is_no_trace(folder, file, message, hint):
    with pytest.raises(InputError, match=message) as caught:
        resolved(folder, file=file)
    assert (caught.value.file, caught.value.line) == (str(folder / "s.toml"), 5)
    assert hint is None or hint in caught.value.hint


def test_a_trace_that_is_not_text(folder):
    (folder / "x.goal").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="byte 0: expected text in UTF-8") as caught:
        resolved(folder)
    assert caught.value.file == str(folder / "x.goal")


def test_a_chakra_trace_is_named_as_such(folder):
    (folder / "x.et").write_bytes(b"\x08\x01")
    with pytest.raises(InputError, match="a Chakra trace, which has a key of its own") as caught:
        resolved(folder, file="x.et")
    assert 'app = { chakra = "x.et" }' in caught.value.hint


@pytest.mark.parametrize("name", ["x.goal.gz", "x.GOAL.GZ", "y.goal"])
def test_a_trace_that_gzip_has_compressed_is_read(folder, name):
    (folder / name).write_bytes(gzip.compress(GOAL.encode()))
    assert resolved(folder, file=name).spec == resolved(folder).spec


@pytest.mark.parametrize(
    ("name", "data", "tool", "command"),
    [
        ("x.goal.bz2", bz2.compress(b"x"), "bzip2", "bunzip2 -c"),
        ("x.csv.xz", lzma.compress(b"x"), "xz", "unxz -c"),
        ("x.goal", b"\x28\xb5\x2f\xfd\0", "zstd", "unzstd -c"),
        ("x.bin.zip", b"PK\x03\x04", "zip", "unzip -p"),
    ],
)
def test_what_else_has_compressed_a_trace_is_named(folder, name, data, tool, command):
    (folder / name).write_bytes(data)
    with pytest.raises(InputError) as refused:
        Trace(trace=name).own_ranks(folder)
    assert refused.value.message == f"compressed by {tool}; expected text"
    assert refused.value.hint == f"unpack it: {command} {folder / name}"
