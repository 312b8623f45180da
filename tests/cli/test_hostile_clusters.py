"""Hostile files for the commands of schedules, calibration and clusters: each ends with an ordinary error, in time."""

from __future__ import annotations

import os
import random
import re
import signal
from collections.abc import Callable
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest
from tests.cluster import shapes
from tests.prediction.test_predict import records

from odonata import cluster, machine
from odonata.cli.main import main
from odonata.recognition import WRITTEN

from .test_hostile import check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Command = Callable[..., tuple[int, str, str]]

SECONDS = 30
STREAM = """\
system = "tiny"
place = ["contiguous"]
window.contention = false
[stream.synthetic]
jobs = 8
load = "90 %"
largest = 6
"""
SWF = "; MaxNodes: 4\n; MaxProcs: 16\n; UnixStartTime: 1000\n" + "1 0 5 10 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n" * 3
TIMES = "collective,bytes,nodes,time_us,run\n" + "".join(
    f"{of},{8 << n % 4},{2 + n % 3},{3 + n / 8},{n}\n" for of in ("allreduce", "bcast") for n in range(10)
)
IB = "\n".join(WRITTEN["ibnetdiscover"].lines(machine.load("tiny"))) + "\n"
NODE_MAP = "node,cell,switch\n" + "".join(f"n{n},{n // 4},s{n // 2}\n" for n in range(8))
BOOK = '[[rule]]\nname = "x"\napp = { motif = "halo3d", message = "32 KiB" }\ngap = "20 us"\n'
MACHINE = files("odonata.machine").joinpath("presets", "tiny.toml").read_text()
QUEUE, NODES = shapes.TABLES["signs"], shapes.NODE_TABLES["signs"]
NAMES = "what,number,name\n" + "".join(f"node,{n},n{n + 1:02}\n" for n in range(10))
#: Files that are sound, beside the one that is not.
SOUND = {
    "queue": QUEUE,
    "nodes": NODES,
    "topology": shapes.TOPOLOGY,
    "ib": IB,
    "times.csv": TIMES,
    "jobs.swf": SWF,
    "names.csv": NAMES,
    "of_trace.toml": 'system = "tiny"\n'
    'window.contention = false\nplace = ["contiguous"]\n[stream]\ntrace = "given.toml"\n',
    "of_book.toml": STREAM.replace("[stream", 'book = "given.toml"\n[stream'),
}
#: What is read -> a sound content of the file, and the command that reads it as `given.toml`.
INPUTS: dict[str, tuple[str, str]] = {
    "schedule": (STREAM, "schedule given.toml -q -j 1"),
    "trace of a schedule": (SWF, "schedule of_trace.toml -q -j 1"),
    "book of a schedule": (BOOK, "schedule of_book.toml -q -j 1"),
    "calibrate": (TIMES, "calibrate given.toml --system tiny -q -j 1"),
    "system of calibrate": (MACHINE, "calibrate times.csv --system given.toml -q -j 1"),
    "analyse": (TIMES, "cluster analyse given.toml --by collective --no-fit -q"),
    "import": (IB, "cluster import given.toml"),
    "node map": (NODE_MAP, "cluster import given.toml"),
    "topology of import": (shapes.TOPOLOGY, "cluster import given.toml"),
    "node names of import": ('0x01 "leaf"\n', "cluster import ib --node-name-map given.toml"),
    "machine of import": (MACHINE, "cluster import topology --like given.toml"),
    "queue of snapshot": (QUEUE, "cluster snapshot --system tiny --names names.csv --queue given.toml"),
    "nodes of snapshot": (
        NODES,
        "cluster snapshot --system tiny --names names.csv --queue queue --nodes-file given.toml",
    ),
    "names of snapshot": (NAMES, "cluster snapshot --system tiny --queue queue --names given.toml"),
    "book of snapshot": (BOOK, "cluster snapshot --system tiny --queue queue --names names.csv --book given.toml"),
    "machine of snapshot": (MACHINE, "cluster snapshot --system given.toml --queue queue --names names.csv"),
    "nodes of select": (NODES, "cluster select -N 2 --topology topology --nodes-file given.toml"),
    "queue of select": (QUEUE, "cluster select -N 2 --topology topology --queue given.toml"),
    "topology of select": (shapes.TOPOLOGY, "cluster select -N 2 --nodes-file nodes --topology given.toml"),
    "queue of allocations": (QUEUE, "cluster allocations --topology topology --queue given.toml"),
    "topology of allocations": (shapes.TOPOLOGY, "cluster allocations --queue queue --topology given.toml"),
    "queue of background": (QUEUE, "cluster background --nodes-total 10 --queue given.toml"),
    "nodes of background": (NODES, "cluster background --queue queue --nodes-file given.toml"),
    "history": (SWF, "cluster background --nodes-total 9 --history given.toml"),
    "queue of probe": (QUEUE, "cluster probe --launcher false --mpicc mpicc --nodes-total 10 --queue given.toml"),
    "nodes of probe": (NODES, "cluster probe --launcher false --mpicc mpicc --queue queue --nodes-file given.toml"),
    "topology of probe": (
        shapes.TOPOLOGY,
        "cluster probe --launcher false --mpicc mpicc --queue queue --nodes-file nodes --topology given.toml",
    ),
    "records of predict": ("", "cluster train given.toml"),
    "recording of predict": ("", "cluster train records.csv --recorded given.toml"),
    "predictor": ("", "cluster predict given.toml -N 16 --groups 2 --job job0 --background 0.5"),
    "queue of predict": (
        QUEUE,
        "cluster predict model --groups 2 -N 16 --job job0 --nodes-total 10 --queue given.toml",
    ),
    "nodes of predict": (
        NODES,
        "cluster predict model --groups 2 -N 16 --job job0 --queue queue --nodes-file given.toml",
    ),
    "topology of predict": (
        shapes.TOPOLOGY,
        "cluster predict model --place contiguous -N 2 --job job0 --background 0.5 --nodes-file nodes "
        "--topology given.toml",
    ),
    "holds": ("", "cluster holds given.toml"),
}
#: Inputs whose sound file does not fit the other files, which says an error that has nothing to do with reading.
UNFIT = ("topology of import", "machine of import")
#: Inputs for which a file without content is sound: it leaves all as it is.
MAY_BE_EMPTY = ("recording of predict",)


def _link(path: Path, device: str) -> None:
    path.symlink_to(device)


#: What no command can read.
HOSTILE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "blank": lambda path: path.write_bytes(b" \n\n"),
    "binary": lambda path: path.write_bytes(random.Random(1).randbytes(5000)),
    "zero bytes": lambda path: path.write_bytes(bytes(5000)),
    "not UTF-8": lambda path: path.write_bytes(b"caf\xe9,\xff\xfe\n" * 9),
    "UTF-16": lambda path: path.write_bytes("time_us\n1\n".encode("utf-16")),
    "a Parquet file that is cut": lambda path: path.write_bytes(b"PAR1" + bytes(100)),
    "a Parquet file of noise": lambda path: path.write_bytes(b"PAR1" + b"\xa5" * 100 + b"PAR1"),
    "one long line": lambda path: path.write_bytes(b"x" * 1_000_000),
    "many columns": lambda path: path.write_bytes(b"," * 200_000 + b"\n"),
    "deep JSON": lambda path: path.write_bytes(b"[" * 100_000),
    "JSON of something else": lambda path: path.write_bytes(b'{"jobs": 1, "nodes": 2, "sinfo": 3}'),
    "a folder": lambda path: path.mkdir(),
    "missing": lambda _: None,
    "/dev/zero": lambda path: _link(path, "/dev/zero"),
    "/dev/full": lambda path: _link(path, "/dev/full"),
    "/dev/null": lambda path: _link(path, "/dev/null"),
    "a link to itself": lambda path: _link(path, "given.toml"),
    "a pipe without writer": os.mkfifo,
    "a file of another user": lambda path: (path.write_bytes(b"x"), path.chmod(0)),
}
#: Numbers in the place of those in a sound file.
NUMBERS = ("nan", "inf", "-inf", "1e300", "-1", "9" * 25, "9" * 400, "9" * 5000, "²", "0x1", "1e999999999", "")


@contextmanager
def in_time(what: object) -> Iterator[None]:
    """Fails if it takes longer than `SECONDS`, also where it waits for a pipe."""

    def late(*_: object) -> None:
        raise AssertionError(f"longer than {SECONDS} s: {what}")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def model() -> str:
    return cluster.train(records(200)).model_dump_json(indent=1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> Path:
    """The sound files, in the current folder; there is no Slurm."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "mpicc").write_text('#!/bin/sh\n[ "$1" = -show ] || cp /bin/false "$4"\n')  # at the place of -o
    (tmp_path / "mpicc").chmod(0o700)
    for name, text in SOUND.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "model").write_text(model)
    records(200).write_csv(tmp_path / "records.csv")
    return tmp_path


def sound(name: str, folder: Path) -> str:
    """The content of a sound file for an input."""
    written = {"predictor": "model", "records of predict": "records.csv"}
    return (folder / written[name]).read_text() if name in written else INPUTS[name][0]


@pytest.mark.parametrize("name", INPUTS)
def test_files_that_nothing_can_read(odonata: Command, folder: Path, name: str) -> None:
    words = INPUTS[name][1].split()
    given = folder / "given.toml"
    for kind, make in HOSTILE.items():
        make(given)
        with in_time((name, kind)):
            status, out, err = odonata(*words)
        check(status, out, err)
        allowed = kind in ("empty", "blank", "/dev/null") and name in MAY_BE_EMPTY
        assert status == 2 or allowed or "file of another user" in kind, (kind, status, out, err)
        assert "given.toml" in err or status == 0, (kind, err)
        if given.is_dir() and not given.is_symlink():
            given.rmdir()
        given.unlink(missing_ok=True)


@pytest.mark.parametrize("name", [name for name in INPUTS if name not in ("recording of predict", "holds")])
def test_sound_files_with_something_wrong(odonata: Command, folder: Path, name: str) -> None:
    """Other numbers in the place of some, or of all, and a file that is cut: each is answered, or runs."""
    text = sound(name, folder)
    draw = random.Random(name)
    numbers = [number.span() for number in re.finditer(r"\d+(\.\d+)?", text)]
    contents = [re.sub(r"\d+(\.\d+)?", number, text) for number in ("nan", "9" * 400, "²")]
    contents += [text[: int(len(text) * share)] for share in (0.3, 0.6, 0.9)]
    for number in NUMBERS:
        begin, end = draw.choice(numbers)
        contents.append(text[:begin] + number + text[end:])
    for content in contents:
        (folder / "given.toml").write_text(content)
        with in_time((name, content[:2000])):
            check(*odonata(*INPUTS[name][1].split()))


@pytest.mark.parametrize("name", [name for name in INPUTS if name not in UNFIT])
def test_the_commands_read_the_file(name: str, folder: Path) -> None:
    """The command line is right: the sound file is no error."""
    if text := sound(name, folder):
        (folder / "given.toml").write_text(text)
        assert main(INPUTS[name][1].split()) == int("of probe" in name), name


@pytest.mark.parametrize("number", ["²", "٣", "9" * 5000])
def test_a_number_of_nodes_that_is_none(odonata: Command, folder: Path, number: str) -> None:
    """It is not compared with the list, as a number such as `1K` is not."""
    (folder / "given.toml").write_text(f"JOBID,STATE,NODES,NODELIST\n1,RUNNING,{number},n[01-03]\n")
    status, out, err = odonata("cluster", "background", "--nodes-total", "10", "--queue", "given.toml")
    check(status, out, err)
    assert "3 of 10 nodes" in out
