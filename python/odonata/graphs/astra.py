"""Networks of ASTRA-sim's analytical back end (YAML): dimensions of NPUs, each a ring, a full mesh or a switch.

```yaml
topology: [ Ring, Switch ]
npus_count: [ 4, 2 ]
bandwidth: [ 100.0, 50.0 ]  # GB/s of each link
latency: [ 500.0, 700.0 ]  # ns of each link
```

Each NPU is a node on a router of its own, whose links are those of the file; `fabric.links.node` joins them. In a
dimension of the kind `Switch`, one router more joins the NPUs of a row. Source: astra-sim/astra-network-analytical,
its congestion-aware back end, in which a bandwidth is that of each link.
"""

from __future__ import annotations

import re
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from odonata import reading
from odonata.errors import InputError, shortened, unknown
from odonata.graphs.fabric import MOST_PARTS, Fabric, Link, Nic
from odonata.graphs.quantities import delay, rate

if TYPE_CHECKING:
    from collections.abc import Sequence

_KEYS = ("topology", "npus_count", "bandwidth", "latency")
_KINDS = ("Ring", "FullyConnected", "Switch")
_ROW = re.compile(r"([A-Za-z_]+)\s*:\s*(?:\[(.*)\]|(\S+))")
#: Most NPUs.
_MOST = 100_000


def recognises(text: str) -> bool:
    """Whether a text has the keys of such a file."""
    return re.search(r"^\s*npus_count\s*:", text, re.MULTILINE) is not None


def read(text: str) -> Fabric:
    """The fabric of a file. Raises InputError with the line."""
    rows: dict[str, tuple[int, list[str]]] = {}
    for number, line in enumerate(reading.lines(text), start=1):
        said = line.split("#", 1)[0].strip()
        if not said or said == "---":
            continue
        match = _ROW.fullmatch(said)
        if match is None:
            message = f"expected `key: [ a, b ]`, found `{shortened(said, 60)}`"
            raise InputError(message, line=number, hint=f"keys: {', '.join(_KEYS)}")
        if match[1] not in _KEYS:
            raise unknown("key", match[1], _KEYS).but(line=number, path=())
        if match[1] in rows:
            message = f"the key `{match[1]}` again, first in line {rows[match[1]][0]}"
            raise InputError(message, line=number, hint="leave one of them out")
        values = (match[2] if match[2] is not None else match[3]).split(",")
        rows[match[1]] = number, [value.strip().strip("\"'") for value in values]
    for key in _KEYS:
        if key not in rows:
            raise InputError(f"the key `{key}` is missing", hint="a list with an entry for each dimension")
    dimensions = len(rows["topology"][1])
    for key in _KEYS:
        if len(rows[key][1]) != dimensions:
            message = f"`{key}` has {len(rows[key][1])} entries, but `topology` has {dimensions}"
            raise InputError(message, line=rows[key][0])
    sizes = [_count(value, rows["npus_count"][0]) for value in rows["npus_count"][1]]
    if prod(sizes) > _MOST:
        message = f"{prod(sizes):,} NPUs are more than the {_MOST:,} that can be read"
        raise InputError(message, line=rows["npus_count"][0])
    for kind in rows["topology"][1]:
        if kind not in _KINDS:
            raise unknown("kind of dimension", kind, _KINDS).but(line=rows["topology"][0], path=())
    _check_links(rows["topology"][1], sizes, rows["topology"][0])
    return _fabric(rows, sizes)


def _count(text: str, line: int) -> int:
    count = reading.whole(text)
    if not count:
        message = f"expected a number of NPUs, found `{shortened(text, 60)}`"
        raise InputError(message, line=line)
    return count


def _check_links(kinds: Sequence[str], sizes: Sequence[int], line: int) -> None:
    """Raises InputError for more links than can be read, before they are made."""
    of_row = {
        "Ring": lambda size: size,
        "FullyConnected": lambda size: size * (size - 1) // 2,
        "Switch": lambda size: size,
    }
    npus = prod(sizes)
    links = {
        f"{kind} of {size:,} NPUs": npus // size * of_row[kind](size) for kind, size in zip(kinds, sizes, strict=True)
    }
    if npus + sum(links.values()) > MOST_PARTS // 2:
        listed = ", ".join(f"{name}: {count:,}" for name, count in links.items())
        message = (
            f"{npus + sum(links.values()):,} links are more than the {MOST_PARTS // 2:,} that can be read ({listed})"
        )
        raise InputError(message, line=line)


def _fabric(rows: dict[str, tuple[int, list[str]]], sizes: Sequence[int]) -> Fabric:
    fabric = Fabric("network of ASTRA-sim")
    line = rows["topology"][0]
    places = list(product(*(range(size) for size in reversed(sizes))))
    number = {place[::-1]: npu for npu, place in enumerate(places)}
    for npu in range(len(places)):
        fabric.add_nic(Nic(f"npu{npu}", fabric.add_switch(f"router{npu}", line), -1, line))
    switches = 0
    for dimension, (kind, size) in enumerate(zip(rows["topology"][1], sizes, strict=True)):
        bandwidth = rate(f"{rows['bandwidth'][1][dimension]}GBps", rows["bandwidth"][0])
        latency = delay(f"{rows['latency'][1][dimension]} ns", rows["latency"][0])
        for place in (place for place in number if place[dimension] == 0):
            row = [number[(*place[:dimension], at, *place[dimension + 1 :])] for at in range(size)]
            pairs = []
            if kind == "Switch":
                switch = fabric.add_switch(f"switch{switches}", line)
                switches += 1
                pairs = [(npu, switch) for npu in row]
            elif kind == "Ring":
                pairs = [(row[at], row[(at + 1) % size]) for at in range(size if size > 2 else size - 1)]
            else:
                pairs = [(a, b) for at, a in enumerate(row) for b in row[at + 1 :]]
            for a, b in pairs:
                fabric.add_link(Link(a, -1, b, -1, line, bandwidth, latency))
    return fabric
