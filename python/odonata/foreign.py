"""Recognises files of other tools that were given in the wrong place. The error names the kind of file, and a command
that produces the expected kind. Files are examined only after a reader has refused them.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

#: Bytes of a file that are examined.
_HEAD = 1 << 16

#: A place (kind of input) -> its name in a message.
PLACES = {
    "trace": "a trace in GOAL or CSV",
    "chakra": "a Chakra execution trace",
    "matrix": "a communication matrix",
    "fabric": "a file of a fabric",
    "queue": "a listing of Slurm",
    "history": "a list of past jobs",
    "scenario": "a file in TOML",
}

_OPERATIONS = (
    "an MPI program that is recorded with liballprof becomes GOAL by Schedgen (LogGOPSim, ATLAHS); or {}write its "
    "operations as CSV, one a row (docs/traces.md)"
)
_PAIRS = "{}count the bytes of each pair of ranks as CSV: source,target,bytes (docs/matrices.md)"
_LINK = (
    "`chakra_trace_link` of mlcommons/chakra joins it with the {} of the same rank, and `chakra_converter PyTorch` "
    "makes .et of the result"
)
_SYSTEM = "describe the machine as a [system] (docs/machines.md); `odonata show` lists the kinds"
_QUEUE = (
    "make a table of it with the first line `JOBID STATE NODELIST` and a line for each job, such as "
    "`17 RUNNING node[3-5]`"
)
_HISTORY = (
    "make a table of it as CSV with the columns start_time, end_time and nodes (docs/cluster.md), or a trace in SWF"
)

#: The expected content of these places, for a file without any of it.
_ELSEWHERE = {
    "queue": "give what `squeue`, `sinfo` or `scontrol show` prints (docs/cluster.md)",
    "history": "give what `sacct --parsable2` or `sacct --json` prints, a trace in SWF, a job table (docs/cluster.md)",
    "fabric": "give GraphML, what ibnetdiscover or scontrol show topology prints, topology.conf, a map of nodes (CSV), "
    "or a list of cables of Cray",
}


@dataclass(frozen=True)
class Kind:
    """A kind of file that another tool writes."""

    name: str
    recognises: Callable[[str, bytes], bool]
    """Whether a file is of this kind, by its name in lower case and its first bytes."""
    hints: dict[str, str]
    """Place -> how to get the kind of file that it reads."""


def _ends(*suffixes: str) -> Callable[[str, bytes], bool]:
    return lambda name, _: name.removesuffix(".gz").endswith(suffixes)


def _begins(*starts: bytes) -> Callable[[str, bytes], bool]:
    return lambda _, head: head.startswith(starts)


def _has(pattern: bytes) -> Callable[[str, bytes], bool]:
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda _, head: compiled.search(head) is not None


def _either(*tests: Callable[[str, bytes], bool]) -> Callable[[str, bytes], bool]:
    return lambda name, head: any(test(name, head) for test in tests)


def _of_program(how: str = "") -> dict[str, str]:
    """Hints for recordings of a program; `how` names the tool that converts them."""
    operations = _OPERATIONS.format(how)
    return {"trace": operations, "matrix": _PAIRS.format(how), "chakra": operations}


def _of_jobs(queue: str = "", history: str = "") -> dict[str, str]:
    """Hints for lists of jobs; the commands are those whose output is read."""
    return {
        "queue": f"print it with `{queue}`" if queue else _QUEUE,
        "history": f"give {history}" if history else _HISTORY,
    }


_PBS = ("qstat -f -F json", "an accounting log of PBS")
_LSF = ('bjobs -u all -json -o "jobid jobindex stat user queue job_name exec_host runtimelimit time_left"',)


_START = rb"\A\s*"
_TRAINING = {"trace": "it is of one rank of a training: " + _LINK.format("execution trace of PyTorch")}

#: The first kind that matches a file is used.
KINDS = (
    Kind("a trace in OTF2 (Score-P, TAU, Vampir)", _ends(".otf2"), _of_program("print it with `otf2-print` and ")),
    Kind("a trace in OTF (VampirTrace)", _ends(".otf"), _of_program("print it with `otfprint` and ")),
    Kind(
        "a DUMPI trace (SST)",
        _either(_begins(b"\xff\xaa\xddDUMPI"), lambda name, _: re.match(r"dumpi-.*\.(bin|meta)$", name) is not None),
        _of_program("print it with `dumpi2ascii` and "),
    ),
    Kind("a trace of Paraver (Extrae)", _either(_begins(b"#Paraver"), _ends(".prv")), _of_program()),
    Kind("a trace of the Intel Trace Collector", _ends(".stf"), _of_program()),
    Kind("a trace in Paje (SimGrid, EZTrace)", _has(_START + rb"(#.*\n\s*)*%EventDef"), _of_program()),
    Kind(
        "a time-independent trace of SimGrid",
        _has(
            _START + rb"(#.*\n\s*)*p?\d+ +(?i:init|finalize|comm_size|compute|i?send|i?recv|wait(all)?|barrier|bcast|"
            rb"allreduce|alltoallv?|allgatherv?|reduce|gatherv?|reducescatter)( [-+.\d eE]*)?$"
        ),
        _of_program(),
    ),
    Kind(
        "a platform or a deployment of SimGrid",
        _has(_START + rb"(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*(<!DOCTYPE[^>]*simgrid[^>]*>|<platform\b)"),
        dict.fromkeys(("fabric", "scenario"), _SYSTEM) | _of_program(),
    ),
    Kind(
        "a report of mpiP",
        _has(_START + rb"@ mpiP"),
        _of_program()
        | {
            "matrix": _PAIRS.format(
                "it has bytes of call sites, not of pairs of ranks; with a profiler that sees the peers, "
            )
        },
    ),
    Kind("a report of IPM", _has(_START + rb"(<\?xml[^>]*>\s*)?<ipm"), _of_program()),
    Kind(
        "a profile of Score-P (CUBE)",
        _either(_ends(".cubex", ".cube"), _has(_START + rb"(<\?xml[^>]*>\s*)?<cube ")),
        _of_program(),
    ),
    Kind("a profile of TAU", _has(rb"\A\d+ templated_functions"), _of_program()),
    Kind("a log of Darshan", _ends(".darshan"), _of_program()),
    Kind(
        "a report of Nsight Systems",
        _either(_ends(".nsys-rep", ".qdrep", ".qdstrm"), _begins(b"SQLite format 3\0")),
        {"chakra": "record the training with the profiler of PyTorch: " + _LINK.format("execution trace")}
        | {"trace": "ATLAHS makes GOAL of reports of NCCL programs; or write operations as CSV (docs/traces.md)"}
        | {"matrix": _PAIRS.format("")},
    ),
    Kind(
        "a trace of PyTorch's profiler (Kineto, JSON)",
        _has(rb'"traceEvents"\s*:|"schemaVersion"\s*:'),
        {"chakra": _LINK.format("execution trace of PyTorch"), "matrix": _PAIRS.format("")} | _TRAINING,
    ),
    Kind(
        "an execution trace of PyTorch (JSON)",
        _has(rb'\A\s*\{(?s:.*)"schema"\s*:\s*"[^"]*"(?s:.*)"nodes"\s*:\s*\['),
        {"chakra": _LINK.format("trace of Kineto"), "trace": "it is of one rank: " + _LINK.format("trace of Kineto")}
        | {"matrix": _PAIRS.format("")},
    ),
    Kind(
        "a list of jobs of PBS (qstat)",
        _either(
            _has(rb'"pbs_version"\s*:|"pbs_server"\s*:'),
            _has(_START + rb"(.*\n){0,4}\s*Job [Ii][Dd]:? .*(Name|Username)\b"),
            _has(_START + rb"Job Id: \S+$"),
            _has(_START + rb"(.*\n){0,4}.*Req'd.*Req'd"),
        ),
        _of_jobs(*_PBS),
    ),
    Kind("a list of nodes of PBS (pbsnodes)", _has(rb"^\s+(Mom|ntype|resources_available\.\w+) = "), _of_jobs(*_PBS)),
    Kind("an accounting log of PBS", _has(_START + rb"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Z];"), _of_jobs(*_PBS)),
    Kind(
        "a list of jobs of Grid Engine (qstat)",
        _either(_has(_START + rb"job-ID +prior"), _has(_START + rb"(<\?xml[^>]*>\s*)?<job_info")),
        _of_jobs(),
    ),
    Kind(
        "a list of jobs of LSF (bjobs)",
        _either(_has(_START + rb"JOBID +USER +STAT +QUEUE"), _has(rb'"COMMAND"\s*:\s*"bjobs"')),
        _of_jobs(*_LSF),
    ),
    Kind("a list of jobs of Cobalt (qstat)", _has(_START + rb"JobID +User +WallTime +Nodes"), _of_jobs()),
    Kind("a list of jobs of Flux", _has(_START + rb"JOBID +USER +NAME +ST +NTASKS"), _of_jobs("flux jobs -A --json")),
    Kind("an array of NumPy", _either(_begins(b"\x93NUMPY"), _ends(".npy", ".npz")), {}),
    Kind("a Chakra execution trace", _ends(".et"), {}),
    Kind(
        "a schedule in GOAL",
        _has(_START + rb"(//.*\n\s*|/\*(?s:.*?)\*/\s*)*num_ranks\s+\d+"),
        dict.fromkeys(("matrix", "chakra"), 'write app = { trace = "FILE" }'),
    ),
)


def explained(error: InputError, file: str | Path, place: str) -> InputError:
    """Replace the error of a reader by a better one, if the file is known to come from another tool.

    Parameters
    ----------
    error
        The error of the reader.
    file
        The file that was read.
    place
        One of the keys of `PLACES`.
    """
    if error.file is not None and Path(error.file) != Path(file):
        return error
    return recognised(file, place) or error


def recognised(file: str | Path, place: str) -> InputError | None:
    """The error for a file of another tool in this place; None for an unknown kind of file."""
    kind = kind_of(file)
    hint = None if kind is None else kind.hints.get(place, _ELSEWHERE.get(place))
    if kind is None or hint is None:
        return None
    return InputError(f"this is {kind.name}, not {PLACES[place]}", file=file, hint=hint)


def kind_of(file: str | Path) -> Kind | None:
    """The kind of a file of another tool; None if it is unknown or cannot be read."""
    path = Path(file)
    if path.is_dir() and (path / "traces.otf2").exists():  # an archive of Score-P
        path /= "traces.otf2"
    name, head = path.name.lower(), _head(path)
    return None if head is None else next((kind for kind in KINDS if kind.recognises(name, head)), None)


def _head(file: str | Path) -> bytes | None:
    """Its first bytes, unpacked if gzip has compressed them; None for what is no regular file."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return None
            head = opened.read(_HEAD)
    except (OSError, ValueError):
        return None
    if head.startswith(b"\x1f\x8b"):
        try:
            return zlib.decompressobj(wbits=31).decompress(head, _HEAD)
        except zlib.error:
            return head
    return head.removeprefix(b"\xef\xbb\xbf")
