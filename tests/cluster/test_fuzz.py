"""Readers of the files of clusters: whatever a file holds, it is read or answered with an ordinary error.

Each input has a limit on time, and all of them a limit on memory: ten times and more what sound files need.
"""

from __future__ import annotations

import io
import json
import os
import random
import resource
import signal
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.cluster import managers, shapes

from odonata import machine, reading
from odonata.background.history import read_history
from odonata.calibration import measurements
from odonata.cluster import read_nodes, read_queue
from odonata.errors import InputError
from odonata.iterations.table import read_iterations
from odonata.machine import core
from odonata.placement.ids import read_nodes as read_node_file
from odonata.prediction.predictor import read_predictor
from odonata.queue.accounting import read_runs
from odonata.queue.topology import read_topology
from odonata.recognition import WRITTEN, import_fabric
from odonata.scenario.apps.trace import Trace
from odonata.scheduler.cache import FILE, Cache, _checksum
from odonata.scheduler.window import Measured
from odonata.workload.names import read_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MEMORY = 2 << 30
SECONDS = 20
TIMES = "2026-01-01T00:00:00|2026-01-01T01:00:00"
SACCT = "JobID|State|Start|End|NNodes|Timelimit|NodeList\n" + "".join(
    f"{n}|COMPLETED|{TIMES}|2|1-00:00:00|n[{n}-{n + 1}]\n" for n in range(1, 4)
)
SWF = "; MaxNodes: 4\n; MaxProcs: 16\n; UnixStartTime: 1000\n" + "1 0 5 10 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n" * 3
CSV = 'start_time,end_time,nodes,num_nodes_alloc,time_limit\n2026-01-01,2026-01-02,"n1,n2",2.0,90\n1,2,n1,1,2\n'
JSON = """{"jobs": [{"job_id": 1, "job_state": ["RUNNING"], "nodes": "n[1-4]",
"time": {"start": 1000, "end": {"set": true, "number": 2000}, "limit": 90}, "name": "x"}]}"""
TABLE = "collective,bytes,nodes,time_us,run\nallreduce,1024,4,3.5,1\nallreduce,1024,4,3.6,1\nbarrier,0,4,2,1\n"
IB = """Switch 4 "S-01" # "leaf" enhanced port 0 lid 1 lmc 0
[1] "H-01"[1](1) # "n1 HCA-1" lid 2 4xHDR
[2] "H-02"[1](2) # "n2 HCA-1" lid 3 4xHDR

Ca 1 "H-01" # "n1 HCA-1"
[1](1) "S-01"[1] # lid 2 lmc 0 "leaf" lid 1 4xHDR

Ca 1 "H-02" # "n2 HCA-1"
[1](2) "S-01"[2] # lid 3 lmc 0 "leaf" lid 1 4xHDR
"""
XNAMES = "c0-0c0s0a0l00 green -> c0-0c0s1a0l01\nc0-0c0s1a0l01 green -> c0-0c0s0a0l00\n"


def parquet() -> bytes:
    buffer = io.BytesIO()
    columns: dict[str, Any] = {"start_time": [1.0, 2.0], "end_time": [3.0, None], "nodes": [["a"], ["b"]]}
    pl.DataFrame(columns | {"num_nodes_alloc": [2.0, None], "time_limit": [9, 9]}).write_parquet(buffer)
    return buffer.getvalue()


def graphml() -> str:
    return "\n".join(WRITTEN["graphml"].lines(machine.load("tiny")))


Reader = tuple["Callable[[Path], Any]", "list[bytes]"]


def texts(*given: str) -> list[bytes]:
    return [text.encode() for text in given]


GOAL = """num_ranks 2
rank 0 {
l1: calc 1500
l2: recv 4096b from 1 tag 7 cpu 3 nic 1
l2 requires l1
l3: send 70000b to 1 tag 5 cpu 255
l3 irequires l2
}
rank 1 {
l1: recv 70000b from 0 tag 5
l2: send 4096b to 0 tag 7
}
"""
ROWS = "rank,operation,peer,bytes,tag,time\n0,compute,,,,1.5us\n0,isend,1,4096,7,\n0,wait,,,,\n1,recv,0,4096,7,\n"


def binary_goal() -> bytes:
    return core.write_trace({"name": "trace", "goal": GOAL}, 2, "bin")


def trace(name: str) -> Callable[[Path], Any]:
    """Reads a file as a trace of this ending, as a scenario does."""
    return lambda path: Trace(trace=path.name, format=name)._read(path.parent)  # type: ignore[call-arg, arg-type]


def windows() -> bytes:
    """The results of two windows of a schedule."""
    with TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        cache.add("a" * 32, Measured((1e9, None), (0.01, 0.0), 10**9, 1234, 0.5))
        cache.add("b" * 32, Measured((2.5e9,), (None,), 10**10, 5, 0.1))
        return (Path(folder) / FILE).read_bytes()


def read_windows(path: Path) -> None:
    """Lines that were changed do not count; what counts has the types of a result."""
    folder = path.parent / "windows"
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_bytes(path.read_bytes())
    cache = Cache(folder)
    assert len(cache) <= 2
    for key in ("a" * 32, "b" * 32):
        if key in cache:
            assert isinstance(cache[key].means_ps, tuple)


def predict(path: Path) -> None:
    """Reads a predictor, and predicts with it what it can."""
    made = read_predictor(path)
    made.predict({"b": 0.5, "groups": 2, "nodes": 16, "job": "job0"})


def names_of(path: Path) -> None:
    read_names(machine.load("tiny"), path)


def names() -> str:
    return "what,number,name\n" + "".join(f"node,{n},n{n:02}\n" for n in range(4)) + "router,1,s1\n"


READERS: dict[str, Reader] = {
    "queue": (
        read_queue,
        texts(*shapes.TABLES.values(), *map(shapes.queue, shapes.RELEASES), *managers.QUEUES),
    ),
    "nodes": (
        read_nodes,
        texts(*shapes.NODE_TABLES.values(), *map(shapes.nodes, shapes.RELEASES), *managers.NODES),
    ),
    "runs": (
        read_runs,
        [*texts(SACCT, SWF, CSV, JSON, *managers.HISTORIES), parquet()],
    ),
    "history": (lambda path: read_history(path, nodes_total=9, every_s=3600), [*texts(SWF, CSV, JSON), parquet()]),
    "topology": (read_topology, texts(shapes.TOPOLOGY, shapes.SCONTROL_TOPOLOGY)),
    "fabric": (import_fabric, texts(graphml(), IB, XNAMES, shapes.TOPOLOGY)),
    "node map": (import_fabric, texts("\n".join(WRITTEN["node-map"].lines(machine.load("tiny"))))),
    "names": (names_of, texts(names())),
    "predictor": (predict, [(Path(__file__).parent / "predictor.json").read_bytes()]),
    "goal": (trace("goal"), texts(GOAL)),
    "binary goal": (trace("bin"), [binary_goal()]),
    "trace table": (trace("csv"), texts(ROWS)),
    "windows": (read_windows, [windows()]),
    "iterations": (read_iterations, texts(TABLE)),
    "measurements": (measurements.read, texts(TABLE)),
    "node file": (read_node_file, texts("0-3\n7, 9 # c\n", "[1, 2, 3]")),
}
PIECES = [
    *(
        b"\n",
        b"\r",
        b"\0",
        b"|",
        b",",
        b'"',
        b"[",
        b"]",
        b"{",
        b"}",
        b"=",
        b"-",
        b"-1",
        b" ",
        b"\t",
        b";",
        b"#",
        b"\\\n",
    ),
    *(b"1e300", b"inf", b"nan", b"2.0", b"9" * 25, b"9" * 400, b"9" * 5000, b"[1-999999999]", b"0x", b"null", b"{}"),
    *("² ½ ٣ \u2028 \x85 \ufeff".encode().split()),
    *(b"\f", b"\v", b"\xff", b"9999-12-31T23:59:59", b"0001-01-01T00:00:00", b"1970-01-01T00:00:00-23:59"),
]


def mutant(sound: bytes, draw: random.Random) -> bytes:
    """A sound file in which a few things are changed."""
    text = bytearray(sound)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(text) + 1)
        how = draw.randrange(4)
        if how == 0:
            text[at : at + draw.randint(0, 6)] = draw.choice(PIECES)
        elif how == 1:  # a whole word
            end = at
            while end < len(text) and chr(text[end]).isalnum():
                end += 1
            text[at:end] = draw.choice(PIECES)
        elif how == 2 and at < len(text):
            text[at] = draw.randrange(256)
        elif draw.random() < 0.3:
            del text[at:]
    return bytes(text)


@contextmanager
def limits() -> Iterator[None]:
    """No more memory than `MEMORY` above what is in use."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


class LateError(BaseException):
    """It took too long. No reader takes this for an error of its library."""


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    def late(*_: object) -> None:
        raise LateError(f"longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", READERS)
def test_mutants_are_read_or_refused(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    read, sound = READERS[name]
    draw = random.Random(name)
    path = tmp_path / "given"
    read_some, longest, said = 0, 0, ""
    with limits():
        for number in range(400):
            content = sound[number % len(sound)] if number < len(sound) else mutant(sound[number % len(sound)], draw)
            path.write_bytes(content)
            try:
                with at_most(SECONDS):
                    read(path)
                read_some += 1
            except InputError as e:
                if len(str(e)) > longest:
                    longest, said = len(str(e)), str(e)
            except BaseException as e:
                raise AssertionError(f"{type(e).__name__}: {e}\nin mutant {number}: {content[:3000]!r}") from e
    assert read_some, "no sound file was read"
    assert longest < 5_000, said[:300] + said[-300:]
    assert capfd.readouterr().err == ""


ROW = "1 0 5 10 {} -1 -1 {} {} -1 1 1 1 1 1 1 -1 -1\n"
SWF_HEADER = "; MaxNodes: 4\n; MaxProcs: 16\n"
LINE = f"1|COMPLETED|{TIMES}|2|LIMIT|n[1-2]\n"
KNOWN = {
    "a requested time": (SWF_HEADER + ROW.format(4, 4, "1e300"), "requested time 1e300"),
    "an endless time": (SWF_HEADER + ROW.format(4, 4, "inf"), "requested time inf"),
    "negative processors": (SWF_HEADER + ROW.format(-5, 4, 1), "processors -5"),
    "no number of processors": (SWF_HEADER + ROW.format("nan", 4, 1), "processors nan"),
    "digits": (SACCT.splitlines()[0] + "\n" + LINE.replace("LIMIT", "9" * 400), "expected a time limit"),
    "a small two": (SACCT.splitlines()[0] + "\n" + LINE.replace("LIMIT", "²"), "expected a time limit"),
    "half a node": (CSV.replace("2.0", "2.5"), "expected a number of nodes"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_numbers_that_cannot_be(name: str, tmp_path: Path) -> None:
    text, message = KNOWN[name]
    (tmp_path / "given").write_text(text)
    with pytest.raises(InputError, match=message):
        read_runs(tmp_path / "given")


def test_numbers_of_nodes_as_pandas_writes_them(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("start_time,end_time,nodes,num_nodes_alloc\n1,2,,2.0\n1,2,,\n")
    assert [run.count for run in read_runs(tmp_path / "given").runs] == [2]


@pytest.mark.parametrize("value", ["inf", "1e300", "nan"])
def test_numbers_that_no_calibration_has(value: str, tmp_path: Path) -> None:
    for column in ("bytes", "nodes"):
        rows = pl.read_csv(io.StringIO(TABLE), infer_schema=False).with_columns(pl.lit(value).alias(column))
        rows.write_csv(tmp_path / "given.csv")
        with pytest.raises(InputError, match="expected a whole number"):
            measurements.read(tmp_path / "given.csv")


def test_tables_with_too_many_rows_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odonata.reading.PARQUET_ROWS", 1)
    (tmp_path / "given").write_bytes(parquet())
    for read in (read_runs, read_iterations):
        with pytest.raises(InputError, match="expected a table of at most 1 rows, found 2"):
            read(tmp_path / "given")


def test_a_wrong_date_makes_no_millions_of_samples(tmp_path: Path) -> None:
    (tmp_path / "given").write_text(CSV.splitlines()[0].rpartition(",num")[0] + "\n1990-01-01,1990-01-02,n1\n")
    read_history(tmp_path / "given", nodes_total=9)
    with (tmp_path / "given").open("a") as file:
        file.write("2026-01-01,2026-01-02,n1\n")
    with pytest.raises(InputError, match=r"2 jobs from 1990-01-01 to 2026-01-02 make 1,8.* samples"):
        read_history(tmp_path / "given", nodes_total=9)


def cached(folder: Path, data: bytes) -> Cache:
    (folder / FILE).write_bytes(data)
    return Cache(folder)


def test_lines_of_windows_that_nobody_wrote(tmp_path: Path) -> None:
    """Deep JSON, and what is no object; the sound line beside it counts."""
    sound_line = windows().splitlines()[0]
    for line in (
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"9" * 5000,
        b"NaN",
        b"null",
        b'{"key": [], "sha256": {}}',
        b"\xff",
    ):
        assert len(cached(tmp_path, line + b"\n" + sound_line + b"\n")) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("means_ps", "x"),
        ("means_ps", ["1", None]),
        ("means_ps", [1.0]),
        ("errors", None),
        ("wall_s", float("nan")),
        ("length_ps", -1),
        ("packet_hops", [1]),
    ],
)
def test_windows_with_a_right_checksum_and_a_wrong_value(tmp_path: Path, name: str, value: object) -> None:
    row = json.loads(windows().splitlines()[0])
    key, _ = row.pop("key"), row.pop("sha256")
    row[name] = value
    assert not len(cached(tmp_path, json.dumps({"key": key, "sha256": _checksum(key, row), **row}).encode() + b"\n"))


def test_windows_that_are_no_file(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(InputError, match=r"windows.jsonl: cannot read it: is a directory"):
        Cache(tmp_path)
    (tmp_path / FILE).rmdir()
    os.mkfifo(tmp_path / FILE)
    with at_most(SECONDS), pytest.raises(InputError, match="expected a regular file, found a pipe"):
        Cache(tmp_path)


@pytest.mark.parametrize("most", [reading.TEXT_BYTES, 1 << 40])
def test_a_limit_reserves_no_memory(tmp_path: Path, most: int) -> None:
    (tmp_path / "given").write_bytes(b"x")
    with limits():
        assert reading.read_bytes(tmp_path / "given", most) == b"x"


def test_a_predictor_from_a_pipe(tmp_path: Path) -> None:
    """It is read once."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(tmp_path / "pipe", os.O_WRONLY)
    os.write(writer, (Path(__file__).parent / "predictor.json").read_bytes())
    os.close(writer)
    with at_most(SECONDS):
        assert read_predictor(tmp_path / "pipe").runs == 200
    os.close(reader)
