"""Counters as commands print them again and again into a file: `perfquery -x`, and the telemetry of Slingshot's NICs.

- `perfquery -x` prints no time, so a line `# time SECONDS` (or an ISO time with its zone) stands before it.
- `grep -H . /sys/class/cxi/cxi*/device/telemetry/hni_*` prints `PATH:VALUE@SECONDS.NANOSECONDS`, which has its time.

The node is the word before `: ` as `pdsh` and `clush` print it, or a line `# node NAME` says it, or else it is the name
of the file without its ending. Sources: perfquery(8); the telemetry as libfabric's provider `cxi` reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odonata import reading
from odonata.counters.series import WORD
from odonata.counters.values import count, second
from odonata.errors import InputError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.counters.series import Sample

_BY_NODE = re.compile(r"([\w.-]+): (.*)")
_NOTE = re.compile(r"#\s*(node|time|timestamp)\s+(\S+)(?:\s+(node|time|timestamp)\s+(\S+))?\s*")
_SECTION = re.compile(r"#\s*Port (extended )?counters: Lid (\w+) port (\w+)\b.*")
_VALUE = re.compile(r"(\w+):\.*(\S+)")
_PORT = {
    "PortXmitData": ("sent", WORD),
    "PortRcvData": ("received", WORD),
    "PortXmitPkts": ("sent_packets", 1),
    "PortRcvPkts": ("received_packets", 1),
}
_TELEMETRY = re.compile(r"(?:\S*/)?(cxi\d+)/device/telemetry/(\w+):(\S*)")
_STAMPED = re.compile(r"(\d+)@(\d+)\.(\d{1,9})")
_OCTETS = {"hni_sts_tx_ok_octets": "sent", "hni_sts_rx_ok_octets": "received"}
_SIZES = ("27", "35", "36_to_63", "64", "65_to_127", "128_to_255", "256_to_511", "512_to_1023", "1024_to_2047")
_PACKETS = {
    kind: [f"hni_{way}_ok_{size}" for size in (*_SIZES, "2048_to_4095", "4096_to_8191", "8192_to_max")]
    for way, kind in (("tx", "sent_packets"), ("rx", "received_packets"))
}
"""Packets by their size; all sizes together are all packets."""
_EPOCH_S = 1e9
"""A smaller time is none since 1970, but since the node was booted."""
_HOW = '`echo "# node $(hostname -s) time $(date +%s)"; perfquery -x`'


@dataclass
class _Node:
    """What was read of a node so far."""

    time: float | None = None
    port: str | None = None
    """The port of the section."""
    line: int = 0
    """Of the section."""
    telemetry: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    """NIC -> counter -> its value and time, of one time that all counters were printed."""


def is_stamped(text: str) -> bool:
    """Whether a text is of one of these forms: one of its first lines shows it."""
    for line in reading.lines(text[:20_000])[:200]:
        _, bare = _node_of(line, "")
        if _SECTION.fullmatch(bare) or _TELEMETRY.fullmatch(bare):
            return True
    return False


def samples(text: str, node: str) -> Iterator[Sample]:
    """The samples of a text; `node` is that of lines that name none. Raises InputError with the line."""
    nodes: dict[str, _Node] = {}
    fields = _Fields()
    here = node
    for number, line in enumerate(reading.lines(text), start=1):
        of, bare = _node_of(line, here)
        try:
            if note := _NOTE.fullmatch(bare):
                said = {note[1]: note[2], note[3]: note[4]}
                here = of = said.get("node", of)
                if (time := said.get("time", said.get("timestamp"))) is not None:
                    nodes[of] = _Node(second(time), telemetry=nodes[of].telemetry if of in nodes else {})
                continue
            known = nodes.setdefault(of, _Node())
            fields.see(of, known, bare, number)
            yield from _of_line(of, known, bare)
        except InputError as e:
            raise InputError(e.message, line=number, hint=e.hint) from None
    for of, known in nodes.items():
        for nic in known.telemetry:
            yield from _flushed(of, known, nic)
    fields.check()


@dataclass
class _Fields:
    """Which fields each NIC has, and where it is first named: one that is never there is an error."""

    names: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    lines: dict[tuple[str, str], int] = field(default_factory=dict)

    def see(self, node: str, known: _Node, bare: str, line: int) -> None:
        if _SECTION.fullmatch(bare):
            known.line = line
        elif telemetry := _TELEMETRY.fullmatch(bare):
            self._add((node, telemetry[1]), telemetry[2], line)
        elif known.port is not None and (value := _VALUE.fullmatch(bare)):
            self._add((node, known.port), value[1], known.line)

    def _add(self, nic: tuple[str, str], name: str, line: int) -> None:
        self.names.setdefault(nic, set()).add(name)
        self.lines.setdefault(nic, line)

    def check(self) -> None:
        """Raises InputError for a NIC without the bytes that it sent or received."""
        for (node, nic), present in self.names.items():
            needed = _OCTETS if nic.startswith("cxi") else [name for name, (_, unit) in _PORT.items() if unit == WORD]
            missing = [name for name in needed if name not in present]
            if missing:
                lacking = " and no ".join(f"`{name}`" for name in missing)
                message = f"`{nic}` of `{shortened(node, 60)}` has no {lacking}"
                hint = "print all counters: bytes sent and bytes received are needed"
                raise InputError(message, line=self.lines[node, nic], hint=hint)


def _node_of(line: str, node: str) -> tuple[str, str]:
    bare = line.strip()
    match = _BY_NODE.fullmatch(bare)
    return (match[1], match[2].strip()) if match else (node, bare)


def _of_line(node: str, known: _Node, bare: str) -> Iterator[Sample]:
    if section := _SECTION.fullmatch(bare):
        if section[1] is None:
            message = "these counters have 32 bits, and stop at their greatest value within seconds"
            raise InputError(message, hint="`perfquery -x` prints those of 64 bits")
        if known.time is None:
            raise InputError("no line says when these counters were read", hint=_HOW)
        known.port = f"lid {section[2]} port {section[3]}"
    elif telemetry := _TELEMETRY.fullmatch(bare):
        yield from _of_telemetry(node, known, *telemetry.groups())
    elif known.port is not None and known.time is not None:
        value = _VALUE.fullmatch(bare)
        if value and value[1] in _PORT:
            kind, unit = _PORT[value[1]]
            yield node, known.port, known.time, kind, unit * count(value[2], value[1])


def _of_telemetry(node: str, known: _Node, nic: str, name: str, text: str) -> Iterator[Sample]:
    if name not in _OCTETS and not any(name in names for names in _PACKETS.values()):
        return
    if not (stamped := _STAMPED.fullmatch(text)):
        raise InputError(f"`{name}`: expected VALUE@SECONDS.NANOSECONDS, found `{shortened(text, 40)}`")
    time = float(f"{stamped[2]}.{stamped[3].zfill(9)}")
    if time < _EPOCH_S:
        if known.time is None:
            message = f"`{name}`: the time {stamped[2]} is not since 1970"
            raise InputError(message, hint="a line `# time SECONDS` before them says when they were read")
        time = known.time
    counters = known.telemetry.setdefault(nic, {})
    if name in counters:
        yield from _flushed(node, known, nic)
        counters = known.telemetry[nic] = {}
    counters[name] = (float(stamped[1]), time)


def _flushed(node: str, known: _Node, nic: str) -> Iterator[Sample]:
    """The counters of a NIC that were printed at one time: files are read one after the other, within milliseconds."""
    counters = known.telemetry[nic]
    times = [counters[name][1] for name in _OCTETS if name in counters]
    if not times:
        return
    for name, kind in _OCTETS.items():
        if name in counters:
            yield node, nic, times[0], kind, counters[name][0]
    for kind, names in _PACKETS.items():
        if all(name in counters for name in names):
            yield node, nic, times[0], kind, sum(counters[name][0] for name in names)
