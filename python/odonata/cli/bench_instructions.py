"""`odonata bench --instructions`: instructions of the core, which do not depend on the load of the machine.

valgrind counts them in two runs of different length. The difference, divided by that of their packet-hops or of their
messages, leaves out what happens once.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.text import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PACKET_HOP, MESSAGE = "packet-hop", "message"
"""What instructions are counted for."""
_RANKS = 256


@dataclass(frozen=True)
class Case:
    """Two runs, each a change of `bench.toml` or of `bench_program.toml`."""

    per: str
    file: str
    key: str
    """What makes a run longer."""
    lengths: tuple[int, int]
    overrides: tuple[str, ...] = ()
    messages: int = 0
    """Of a program, for each unit of length."""


_MESSAGES = "job.target.app.messages"
_PROGRAM = "bench_program.toml"
CASES = {
    "main": Case(PACKET_HOP, "bench.toml", _MESSAGES, (20, 60)),
    "occupancy": Case(PACKET_HOP, "bench.toml", _MESSAGES, (20, 60), ('sensing="occupancy"',)),
    "all-to-all": Case(MESSAGE, _PROGRAM, "job.target.iterations", (1, 2), messages=_RANKS * (_RANKS - 1)),
    "ring": Case(
        MESSAGE,
        _PROGRAM,
        "job.target.iterations",
        (1, 2),
        ("system=leonardo", 'job.target.app={ collective = "allreduce", algorithm = "ring", message = "1 MB" }'),
        2 * _RANKS * (_RANKS - 1),
    ),
    "ring-channels": Case(
        PACKET_HOP,
        _PROGRAM,
        "job.target.iterations",
        (1, 2),
        (
            "system=leonardo-gpu",
            "job.target.nodes=32",
            "job.target.ranks_per_node=4",
            'job.target.app={ collective = "allreduce", algorithm = "ring-channels", message = "1 MB" }',
        ),
    ),
    "acknowledged": Case(
        PACKET_HOP,
        "bench.toml",
        _MESSAGES,
        (1, 3),
        (
            "job.target.place=random",
            "job.target.nodes=288",
            'system={ preset = "kang2019", fabric = { congestion_control = "nscc", nic = { acknowledge_every = 4 } } }',
            'job.target.app.message="64 KiB"',
            'job.target.app.interval="16 us"',
        ),
    ),
}
"""Name -> case: patterns with the metrics `backlog` and `occupancy`, two programs on 256 random nodes, rings of
GPUs whose operations are computed, and packets that are acknowledged four by four."""


def count(
    cases: Mapping[str, Case],
    spec_of: Callable[[str, list[str]], tuple[str, str]],
    child: Callable[[list[str], str], tuple[dict[str, Any], str]],
    file: str = "_core",
) -> dict[str, float]:
    """Instructions per packet-hop or message of some cases, by their names.

    `spec_of` gives the id and the specification of a file with overrides, `child` runs a specification in a process
    whose command begins with other words, and returns what it measured. `file` is part of the name of the object file
    whose instructions count.

    Raises
    ------
    RunError
        If valgrind is not installed.
    """
    from odonata.errors import RunError

    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise RunError("instructions are counted by valgrind, which is not installed")
    counted = {}
    for name, case in cases.items():
        totals, units = [], []
        for length in case.lengths:
            print(f"{name}: counting instructions, {case.key}={length}", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as scratch:
                out = Path(scratch) / "callgrind"
                words = [valgrind, "--tool=callgrind", f"--callgrind-out-file={out}"]
                printed, _ = child(words, spec_of(case.file, [*case.overrides, f"{case.key}={length}"])[1])
                totals.append(callgrind_total(out.read_text(), file))
            units.append(case.messages * length or int(printed["packet_hops"]))
        counted[name] = (totals[1] - totals[0]) / (units[1] - units[0])
    return counted


def callgrind_total(profile: str, file: str = "_core") -> int:
    """Instructions that a callgrind profile counts in the object files with `file` in their name.

    Those of Python vary by some millions from process to process, because its dictionaries depend on addresses.
    """
    names: dict[str, str] = {}
    total, counts, after_call, in_function = 0, False, False, False
    for line in profile.splitlines():
        if line.startswith(("ob=", "cob=")):
            kind, _, rest = line.partition("=")
            number, _, name = rest.partition(" ")
            if name:
                names[number] = Path(name).name
            if kind == "ob":
                counts = file in names[number]
                in_function = in_function or counts
        elif line.startswith("calls="):
            after_call = True  # the next line counts what is called, which has lines of its own
        elif line[:1] in "0123456789+-*" and line:
            total += int(line.split()[-1]) if counts and not after_call else 0
            after_call = False
    if not in_function:
        raise ValueError(f"the profile has no file {file}")
    return total


def read_limits(file: Path, cases: Mapping[str, Case] = CASES) -> dict[str, float]:
    """The limits in a file of TOML, a number for each case.

    Raises
    ------
    InputError
        For a file that cannot be read, a name that is no case, and what is no positive number; with file and line.
    """
    from odonata.document import read
    from odonata.errors import InputError, unknown

    document = read(file)
    for name, value in document.data.items():
        if name not in cases:
            raise document.locate(unknown("case", name, cases).under(name))
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise document.locate(
                InputError(f"expected a number of instructions above 0, found `{value!r}`", path=(name,))
            )
    if not document.data:
        raise InputError("the file has no limit", file=str(file), hint=f"cases: {', '.join(cases)}")
    return {name: float(value) for name, value in document.data.items()}


def above(counted: Mapping[str, float], limits: Mapping[str, float], cases: Mapping[str, Case] = CASES) -> list[str]:
    """A sentence for each case that takes more instructions than its limit."""
    return [
        f"{name}: {counted[name]:,.0f} instructions per {cases[name].per} are more than {limit:,g}"
        for name, limit in limits.items()
        if counted[name] > limit
    ]


def as_text(counted: Mapping[str, float], cases: Mapping[str, Case] = CASES) -> str:
    """The counts as a table."""
    rows = [[name, f"{value:,.0f}", f"per {cases[name].per}"] for name, value in counted.items()]
    return "\n".join(aligned([["", "instructions", ""], *rows], [False, True, False]))
