"""Lists of flows: who sends how many bytes to whom, and when.

| file | first line | a flow |
|---|---|---|
| list (CSV) | may name the columns | source, destination, bytes, start |
| HPCC (`flow.txt` of ns-3) | number of flows | source, destination, priority group, port, bytes, start in seconds |
| htsim (connection matrix) | `Nodes N`, then `Connections N` | `0->1 id 1 start 0 size 2000000`, start in ps |

Times of a file of HPCC count from its first flow, because its simulations begin before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from odonata import reading, units
from odonata.errors import InputError, shortened, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Column -> its names in a first line.
_COLUMNS = {
    "source": ("source", "src", "from"),
    "destination": ("destination", "dst", "dest", "to"),
    "bytes": ("bytes", "size"),
    "start": ("start", "time"),
}
_NAMED = {name: column for column, names in _COLUMNS.items() for name in names}
_CONNECTION = re.compile(r"\s*([0-9]+)\s*->\s*([0-9]+)((?:\s+[a-z_]+\s+\S+)*)\s*")
_NUMBER = re.compile(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?")
#: Most ranks, and most bytes of a flow.
MOST_RANKS = 1_000_000
_MOST_BYTES = 2**40


class Flow(NamedTuple):
    """A message: ranks, bytes, start in picoseconds."""

    source: int
    destination: int
    bytes: int
    start: int


class Flows(NamedTuple):
    """The flows of a file in its order, the number of ranks, and the lines of the flows."""

    flows: list[Flow]
    ranks: int
    lines: list[int]


def read(text: str) -> Flows:
    """The flows in a text. Raises InputError with the line."""
    lines = enumerate(reading.lines(text), start=1)
    rows = [(number, line) for number, line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not rows:
        raise InputError("it lists no flow", hint="a line for each flow: source, destination, bytes, start")
    first = rows[0][1].split()
    if first[0].lower() == "nodes":
        return _htsim(rows)
    if len(first) == 1 and re.fullmatch("[0-9]+", first[0]):
        flows = _hpcc(rows)
        return _of(flows, rows[1 : 1 + len(flows)] or rows)
    flows = _list(rows)
    return _of(flows, rows[-len(flows) :])


def _of(flows: list[Flow], rows: Sequence[tuple[int, str]]) -> Flows:
    if not flows:
        raise InputError("it lists no flow", line=rows[0][0])
    ranks = 1 + max(max(flow.source, flow.destination) for flow in flows)
    return Flows(flows, ranks, [number for number, _ in rows])


def _list(rows: Sequence[tuple[int, str]]) -> list[Flow]:
    columns: list[str] | None = None
    flows = []
    for number, line in rows:
        fields = [field.strip() for field in re.split(r"[,;\t]", line)]
        fields = line.split() if len(fields) == 1 else fields
        if columns is None:
            named = not any(re.match(r"[-+.]?[0-9]", field) for field in fields)
            columns = [_column(field, number) for field in fields] if named else list(_COLUMNS)
            reading.once(columns, fields, number)
            if named:
                missing = [column for column in ("source", "destination", "bytes") if column not in columns]
                if missing:
                    raise InputError(f"the column `{missing[0]}` is missing", line=number)
                continue
        if not 3 <= len(fields) <= len(columns):
            message = f"expected a flow ({', '.join(columns)}), found {len(fields)} fields"
            raise InputError(message, line=number)
        values = dict(zip(columns, fields, strict=False))
        start = values.get("start") or "0 s"
        try:
            flows.append(
                _flow(values["source"], values["destination"], _bytes(values["bytes"]), units.time_ps(start), number)
            )
        except InputError as e:
            raise e.at(None, number) if e.line is not None else e.but(line=number, path=()) from None
    return flows


def _column(field: str, line: int) -> str:
    if field.lower() not in _NAMED:
        raise unknown("column", field.lower(), _NAMED).but(line=line, path=())
    return _NAMED[field.lower()]


def _hpcc(rows: Sequence[tuple[int, str]]) -> list[Flow]:
    count = reading.whole(rows[0][1].strip())
    if count is None:
        raise InputError(f"expected a number of flows, found `{shortened(rows[0][1].strip(), 60)}`", line=rows[0][0])
    flows = []
    for number, line in rows[1 : count + 1]:  # as the simulator, which reads no more
        fields = line.split()
        if len(fields) != 6:
            message = "expected source, destination, priority group, port, bytes and start in seconds"
            raise InputError(f"{message}, found {len(fields)} fields", line=number)
        try:
            start = units.time_ps(f"{fields[5]} s")
        except InputError as e:
            raise e.but(line=number) from None
        flows.append(_flow(fields[0], fields[1], _bytes(fields[4], number), start, number))
    if len(flows) < count:
        raise InputError(f"the first line counts {count} flows, but {len(flows)} follow", line=rows[0][0])
    first = min((flow.start for flow in flows), default=0)
    return [flow._replace(start=flow.start - first) for flow in flows]


def _htsim(rows: Sequence[tuple[int, str]]) -> Flows:
    counts = {}
    for (number, line), key in zip(rows, ("nodes", "connections"), strict=False):
        fields = line.split()
        count = reading.whole(fields[-1])
        if len(fields) != 2 or fields[0].lower() != key or count is None:
            raise InputError(f"expected `{key.capitalize()} N`, found `{shortened(line.strip(), 60)}`", line=number)
        if key == "nodes" and count > MOST_RANKS:
            raise InputError(f"{count:,} nodes are more than {MOST_RANKS:,}", line=number)
        counts[key] = count
    flows = []
    for number, line in rows[2:]:
        match = _CONNECTION.fullmatch(line)
        if match is None:
            message = f"expected `0->1 id 1 start 0 size 1000`, found `{shortened(line.strip(), 60)}`"
            raise InputError(message, line=number)
        words = match[3].split()
        given = dict(zip(words[::2], words[1::2], strict=True))
        reading.once(words[::2], words[::2], number)
        for key in given:
            if key not in ("id", "start", "size"):
                message = f"`{key}` of a connection is not modelled: flows begin at times"
                raise InputError(message, line=number, hint="known: id, start, size")
        if "size" not in given:
            raise InputError("a connection without `size` never ends", line=number)
        start = reading.whole(given.get("start", "0"))
        if start is None:
            message = f"expected a start in picoseconds, found `{shortened(given['start'], 60)}`"
            raise InputError(message, line=number)
        flows.append(_flow(match[1], match[2], _bytes(given["size"], number), start, number))
        if max(flows[-1][:2]) >= counts["nodes"]:
            raise InputError(f"there is no node {max(flows[-1][:2])}: the file has {counts['nodes']}", line=number)
    if len(flows) != counts.get("connections"):
        message = f"the file counts {counts.get('connections', 0)} connections, but {len(flows)} follow"
        raise InputError(message, line=rows[min(1, len(rows) - 1)][0])
    return Flows(flows, counts["nodes"], [number for number, _ in rows[2:]])


def _bytes(text: str, line: int | None = None) -> int:
    whole = reading.whole(text)
    if whole is None and _NUMBER.fullmatch(text):
        message = f"expected a whole number of bytes from 1 to {_MOST_BYTES:,}, found `{shortened(text, 60)}`"
        raise InputError(message, line=line, hint="a size without a unit is bytes: `1500`, or `1.5 kB`")
    try:
        size = units.size_bytes(text) if whole is None else whole
    except InputError as e:
        raise e.but(line=line) from None
    if not 1 <= size <= _MOST_BYTES:
        raise InputError(f"expected a flow of 1 B to 1 TiB, found `{shortened(text, 60)}`", line=line)
    return size


def _flow(source: str, destination: str, size: int, start: int, line: int) -> Flow:
    a, b = _rank(source, line), _rank(destination, line)
    if a == b:
        raise InputError(f"a flow from {a} to itself", line=line)
    return Flow(a, b, size, start)


def _rank(text: str, line: int) -> int:
    rank = reading.whole(text)
    if rank is None or rank >= MOST_RANKS:
        message = f"expected the number of a rank, found `{shortened(text, 60)}`"
        raise InputError(message, line=line)
    return rank
