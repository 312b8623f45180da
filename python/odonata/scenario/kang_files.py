"""Workload and allocation files of the simulator of Kang 2019.

A workload file has one job a line: `nranks name pattern-id interval_ns bytes num_msgs`, where `num_msgs`
counts intervals. An allocation file has, on the same line, the nodes of that job in the order of its
ranks. Both may contain blank lines.

One difference: the paper says that a broadcast (ids 7 and 12) waits for the last message of the previous broadcast. Its
simulator does not wait; ours does (Kang 2019, section 3.4.1).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from odonata import reading
from odonata.errors import InputError

#: Pattern id -> pattern and further keys.
PATTERN_IDS: Mapping[int, tuple[str, Mapping[str, Any]]] = {
    6: ("uniform-random", {}),
    7: ("broadcast", {}),
    9: ("tornado", {}),
    11: ("stencil-3d", {}),
    12: ("broadcast", {"first": "at-zero"}),
    15: ("group-peers", {}),
    18: ("group-peers", {"first": "at-zero"}),
}
#: Ids of traffic over the whole machine, regardless of the job's nodes; Odonata has no such pattern.
WHOLE_MACHINE_IDS = frozenset({1, 2, 3, 4, 5})
#: Ids of the background, which is not recorded message by message.
BACKGROUND_IDS = frozenset({15, 18})

_COLUMNS = "nranks name pattern-id interval_ns bytes num_msgs"


@dataclass(frozen=True)
class ImportedJob:
    """A job of the two files: its table in the form of a scenario, and the positions of its parts."""

    table: dict[str, Any]
    workload: tuple[str, int]
    alloc: tuple[str, int]

    def locate(self, error: InputError) -> InputError:
        """The error with the file and line of the wrong value."""
        about_nodes = error.path[:1] in (("place",), ("nodes",))
        return error.at(*(self.alloc if about_nodes else self.workload))


def read_kang(workload: str | Path, alloc: str | Path) -> list[ImportedJob]:
    """The jobs of a workload file, placed by an allocation file.

    Raises InputError with file and line.
    """
    jobs, placed = _lines(Path(workload)), _lines(Path(alloc))
    if not jobs:
        raise InputError("the workload file has no jobs", file=workload)
    if len(jobs) != len(placed):
        raise InputError(f"{len(placed)} jobs are placed here, but `{workload}` has {len(jobs)}", file=alloc)
    names: set[str] = set()
    result = []
    for (job_line, job), (alloc_line, nodes) in zip(jobs, placed, strict=True):
        try:
            table = _job(job, names)
        except InputError as e:
            raise e.at(workload, job_line) from None
        try:
            table["place"] = {"policy": "explicit", "nodes": _nodes(nodes, table["nodes"])}
        except InputError as e:
            raise e.at(alloc, alloc_line) from None
        result.append(ImportedJob(table, (str(workload), job_line), (str(alloc), alloc_line)))
    return result


def _job(line: str, names: set[str]) -> dict[str, Any]:
    words = line.split()
    if len(words) != 6:
        raise InputError(f"expected six columns (`{_COLUMNS}`), found {len(words)}")
    ranks, name, pattern_id, interval, size, messages = words
    number = _number("pattern-id", pattern_id, 0)
    if number in WHOLE_MACHINE_IDS:
        raise InputError(f"pattern {number} sends to all nodes of the machine, not to those of the job")
    if number not in PATTERN_IDS:
        known = ", ".join(f"{i} ({p})" for i, (p, _) in PATTERN_IDS.items())
        raise InputError(f"unknown pattern-id {number}", hint=f"known: {known}")
    pattern, more = PATTERN_IDS[number]
    own, copies = name, 1
    while own in names:
        copies += 1
        own = f"{name}-{copies}"
    names.add(own)
    return {
        "name": own,
        "nodes": _number("nranks", ranks, 1),
        "app": {
            "pattern": pattern,
            "message": f"{_number('bytes', size, 1)} B",
            "interval": f"{_picoseconds(interval)} ps",
            "messages": _number("num_msgs", messages, 1),
            **more,
        },
        "background": number in BACKGROUND_IDS,
    }


def _nodes(line: str, ranks: int) -> list[int]:
    nodes = [_number("a node", word, 0) for word in line.split()]
    if len(nodes) != ranks:
        raise InputError(f"the job has {ranks} ranks, but {len(nodes)} nodes are listed")
    return nodes


def _number(what: str, word: str, least: int) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", word):
        raise InputError(f"expected {what}, a whole number, found `{word}`")
    value = int(word)
    if value < least:
        raise InputError(f"{what} must be at least {least}, found {value}")
    return value


def _picoseconds(word: str) -> int:
    try:
        if not word.isascii() or len(word) > 40 or len(word.lower().partition("e")[2]) > 4:
            raise ValueError(word)
        exact = Fraction(word) * 1000
    except (ValueError, ZeroDivisionError):
        raise InputError(f"expected interval_ns, a number of nanoseconds, found `{word}`") from None
    if exact <= 0 or exact.denominator != 1:
        raise InputError(f"interval_ns must be a positive whole number of picoseconds, found `{word}`")
    return exact.numerator


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        text = reading.read_text(path)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read it: {reading.why(e)}", file=path) from None
    return [(number, line) for number, line in enumerate(reading.lines(text), 1) if line.strip()]
