"""Readers of the files of clusters: whatever a file holds, it is read or answered with an ordinary error.

Each input has a limit on time, and all of them a limit on memory: ten times and more what sound files need.
"""

from __future__ import annotations

import io
import random
import resource
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from odonata import machine
from odonata.calibration import measurements
from odonata.cluster import read_nodes, read_queue
from odonata.cluster.accounting import read_runs
from odonata.cluster.fabric import WRITTEN, import_fabric
from odonata.cluster.history import read_history
from odonata.cluster.iterations import read_iterations
from odonata.cluster.topology import read_topology
from odonata.errors import InputError
from odonata.placement.node_file import read_nodes as read_node_file

from . import shapes

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


def texts(*found: str) -> list[bytes]:
    return [text.encode() for text in found]


READERS: dict[str, Reader] = {
    "queue": (read_queue, texts(*shapes.TABLES.values(), *map(shapes.queue, shapes.RELEASES))),
    "nodes": (read_nodes, texts(*shapes.NODE_TABLES.values(), *map(shapes.nodes, shapes.RELEASES))),
    "runs": (
        read_runs,
        [*texts(SACCT, SWF, CSV, JSON), parquet()],
    ),
    "history": (lambda path: read_history(path, nodes_total=9, every_s=3600), [*texts(SWF, CSV, JSON), parquet()]),
    "topology": (read_topology, texts(shapes.TOPOLOGY, shapes.SCONTROL_TOPOLOGY)),
    "fabric": (import_fabric, texts(graphml(), IB, XNAMES, shapes.TOPOLOGY)),
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


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    def late(*_: object) -> None:
        raise TimeoutError(f"longer than {seconds} s")

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
    read_some = longest = 0
    with limits():
        for number in range(400):
            content = sound[number % len(sound)] if number < len(sound) else mutant(sound[number % len(sound)], draw)
            path.write_bytes(content)
            try:
                with at_most(SECONDS):
                    read(path)
                read_some += 1
            except InputError as e:
                longest = max(longest, len(str(e)))
            except BaseException as e:
                raise AssertionError(f"{type(e).__name__}: {e}\nin mutant {number}: {content[:3000]!r}") from e
    assert read_some, "no sound file was read"
    assert longest < 5_000
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
