"""Topology files of ns-3 simulators: HPCC (github.com/alibaba-edu/High-Precision-Congestion-Control) and SimAI.

| file | first line | second line | a link |
|---|---|---|---|
| HPCC | nodes, switches, links | numbers of the switches | source, destination, rate, delay, error rate |
| SimAI | nodes, GPUs per server, NVSwitches, switches, links, type of GPU | NVSwitches, then switches | the same |

`nodes` counts switches too. All vertices that are no switches are nodes of the machine. In a file of SimAI with
NVSwitches each server is a node with the NICs of all its GPUs; NVSwitches and their links are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.graphs.fabric import Fabric, Link, Nic, count
from odonata.graphs.quantities import delay, rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NUMBERS = re.compile(r"\s*[0-9]+(\s+[0-9]+){2}\s*")
_SIMAI = re.compile(r"\s*[0-9]+(\s+[0-9]+){4}(\s+[A-Za-z][\w.-]*)?\s*")


class _Token(NamedTuple):
    text: str
    line: int


class _Header(NamedTuple):
    """The first line."""

    vertices: int
    gpus: int
    nvswitches: int
    switches: int
    links: int


def recognises(text: str) -> bool:
    """Whether the first line has the numbers of such a file."""
    first = next((line for line in reading.lines(text) if line.strip()), "")
    return _NUMBERS.fullmatch(first) is not None or _SIMAI.fullmatch(first) is not None


def read(text: str) -> Fabric:
    """The fabric of a file. Raises InputError with the line."""
    lines = [(number, line) for number, line in enumerate(reading.lines(text), start=1) if line.strip()]
    number, first = lines[0]
    fields = first.split()
    numbers = [_number(field) for field in fields if field[0] in "0123456789"]
    header = _Header(numbers[0], 1, 0, *numbers[1:]) if len(numbers) == 3 else _Header(*numbers)
    _check(header, number)
    tokens = [_Token(token, line) for line, row in lines[1:] for token in row.split()]
    end = lines[-1][0]
    ids, rest = _switches(tokens, header, end)
    fabric = Fabric("topology file of SimAI" if len(numbers) == 5 else "topology file of ns-3")
    # A file with NVSwitches alone is the network inside a server.
    left_out = set(ids[: header.nvswitches]) if header.switches else set()
    numbered = {id_: fabric.add_switch(f"switch{id_}", lines[1][0]) for id_ in ids if id_ not in left_out}
    servers = header.gpus if left_out else 1
    for a, b, bandwidth, latency, line in _links(rest, header, end):
        if a in left_out or b in left_out:
            continue
        if a in numbered and b in numbered:
            fabric.add_link(Link(numbered[a], -1, numbered[b], -1, line, bandwidth, latency))
        elif a in numbered or b in numbered:
            node, switch = (b, a) if a in numbered else (a, b)
            name = f"server{node // servers}" if servers > 1 else f"node{node}"
            fabric.add_nic(Nic(name, numbered[switch], -1, line, bandwidth, latency))
        else:
            raise InputError(
                f"a link joins two nodes, {a} and {b}", line=line, hint="nodes have links to switches only"
            )
    if left_out:
        fabric.notes.append(
            f"{count(len(left_out), 'NVSwitch')} left out: the {header.gpus} GPUs of a server are one node, and its "
            "NICs those of its GPUs; `host.gpu` describes the network inside"
        )
    return fabric


def _number(digits: str) -> int:
    """A number of the first line; one of too many digits counts as more than any file has."""
    number = reading.whole(digits)
    return 10**18 if number is None else number


def _check(header: _Header, line: int) -> None:
    switches = header.nvswitches + header.switches
    if switches >= header.vertices:
        raise InputError(f"{switches} of {header.vertices} nodes are switches, so none is a node", line=line)
    if header.gpus == 0 or (header.nvswitches and (header.vertices - switches) % header.gpus):
        message = f"{header.vertices - switches} GPUs are no whole number of servers with {header.gpus}"
        raise InputError(message, line=line)


def _switches(tokens: Sequence[_Token], header: _Header, end: int) -> tuple[list[int], Sequence[_Token]]:
    """The numbers of NVSwitches and switches, and what follows."""
    switches = header.nvswitches + header.switches
    ids: dict[int, None] = {}
    for token in tokens[:switches]:
        id_ = _vertex(token, header)
        if id_ in ids:
            raise InputError(f"the switch {id_} is listed twice", line=token.line)
        ids[id_] = None
    if len(ids) < switches:
        raise InputError(f"the file ends after {len(ids)} of {switches} numbers of switches", line=end)
    return list(ids), tokens[switches:]


def _links(tokens: Sequence[_Token], header: _Header, end: int) -> Iterator[tuple[int, int, int, int, int]]:
    """The links: two vertices, bandwidth, latency, line."""
    for number in range(header.links):
        part = tokens[5 * number : 5 * number + 5]
        if len(part) < 5:
            message = f"the file ends in link {number + 1} of {header.links}"
            hint = "a link is: source, destination, rate, delay, error rate"
            raise InputError(message, line=part[0].line if part else end, hint=hint)
        a, b = _vertex(part[0], header), _vertex(part[1], header)
        line = part[0].line
        if part[4].line != line:
            message = "expected 5 fields of a link (source, destination, rate, delay, error rate), found fewer"
            raise InputError(message, line=line)
        try:
            error = float(part[4].text)
        except ValueError:
            error = -1.0
        if error != 0:
            message = f"expected the error rate 0, found `{shortened(part[4].text, 60)}`: no link loses packets here"
            raise InputError(message, line=line)
        yield a, b, rate(part[2].text, line), delay(part[3].text, line), line
    more = tokens[5 * header.links :]
    if more and re.fullmatch("[0-9]+", more[0].text):  # words that explain the format may follow
        message = f"`{shortened(more[0].text, 60)}` follows the last of {count(header.links, 'link')}"
        raise InputError(message, line=more[0].line, hint="the first line counts the links")


def _vertex(token: _Token, header: _Header) -> int:
    number = reading.whole(token.text)
    if number is None or number >= header.vertices:
        message = f"expected a number from 0 to {header.vertices - 1}, found `{shortened(token.text, 60)}`"
        raise InputError(message, line=token.line)
    return number
