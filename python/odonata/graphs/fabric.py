"""A fabric as described by a file: switches, cables between them, and links of hosts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odonata.errors import InputError, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

#: Most switches, cables and hosts of a file. Assumed: ten times the largest machine.
MOST_PARTS = 4_000_000

#: Most names in the list of a message.
_LISTED = 4

_NUMBER = re.compile(r"[0-9]+")


@dataclass(slots=True)
class Switch:
    """A switch, and its place if the file gives it."""

    name: str
    line: int
    ports: int | None = None
    """Number of ports, used or not."""
    group: str | None = None
    """The group, if the file gives it."""
    position: tuple[int, ...] | None = None
    """Its number in the group, or its row and column, if the file gives them."""
    failed: bool = False


@dataclass(slots=True)
class Link:
    """A cable between two switches. Ports are numbered as in the file; -1 if unknown."""

    a: int
    port_a: int
    b: int
    port_b: int
    line: int
    bandwidth: int | None = None
    """Millionths of a byte per second."""
    latency: int | None = None
    """Picoseconds."""
    class_: str | None = None
    failed: bool = False


@dataclass(slots=True)
class Nic:
    """The link of one NIC of a host."""

    host: str
    switch: int
    port: int
    line: int
    bandwidth: int | None = None
    latency: int | None = None


@dataclass
class Fabric:
    """The content of a file about a network."""

    format: str
    """The kind of file, in words."""
    first_port: int = 0
    """The number of the first port of a switch."""
    switches: list[Switch] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    nics: list[Nic] = field(default_factory=list)
    unnamed: list[tuple[int, int]] = field(default_factory=list)
    """Switch and port of links to hosts without a known name."""
    notes: list[str] = field(default_factory=list)
    """Notes on what was left out or assumed."""
    comments: list[tuple[int, str]] = field(default_factory=list)
    """Comments of Odonata, each with its line."""
    remarks: Mapping[str, Any] = field(default_factory=dict)
    """The content of comments of Odonata (`remarks`)."""
    _numbers: dict[str, int] = field(default_factory=dict)
    _ports: dict[tuple[int, int], int] = field(default_factory=dict)

    def add_switch(self, name: str, line: int, **more: Any) -> int:
        """Add a switch; returns its number. Raises InputError with the line for a name that another switch has."""
        if name in self._numbers:
            first = self.switches[self._numbers[name]].line
            raise InputError(f"the switch `{shortened(name, 60)}` is listed twice, first in line {first}", line=line)
        self._check_size(line)
        self._numbers[name] = len(self.switches)
        self.switches.append(Switch(name, line, **more))
        return len(self.switches) - 1

    def switch(self, name: str) -> int | None:
        """The number of a switch."""
        return self._numbers.get(name)

    def add_link(self, link: Link) -> None:
        """Add a cable. Raises InputError with the line for a port that is in use, and for a loop."""
        if link.a == link.b:
            name = shortened(self.switches[link.a].name, 60)
            raise InputError(f"a cable joins the switch `{name}` to itself", line=link.line)
        self._check_size(link.line)
        self._take(link.a, link.port_a, link.line)
        self._take(link.b, link.port_b, link.line)
        self.links.append(link)

    def add_nic(self, nic: Nic) -> None:
        """Add a link of a host. Raises InputError with the line for a port that is in use."""
        self._check_size(nic.line)
        self._take(nic.switch, nic.port, nic.line)
        self.nics.append(nic)

    def edge(self) -> set[int]:
        """The switches with hosts."""
        return {nic.switch for nic in self.nics} | {switch for switch, _ in self.unnamed}

    def _take(self, switch: int, port: int, line: int) -> None:
        if port < 0:
            return
        first = self._ports.setdefault((switch, port), line)
        if first != line:
            name = shortened(self.switches[switch].name, 60)
            message = f"two cables at port {port} of the switch `{name}`, the first in line {first}"
            raise InputError(message, line=line)

    def _check_size(self, line: int) -> None:
        if len(self.links) + len(self.nics) + len(self.switches) >= MOST_PARTS:
            raise InputError(f"more than {MOST_PARTS:,} switches and cables", line=line)


def natural(name: str) -> tuple[tuple[int, str | int, str], ...]:
    """A key that sorts names by the numbers in them: `leaf2` before `leaf10`."""
    key: list[tuple[int, str | int, str]] = []
    at = 0
    for number in _NUMBER.finditer(name):
        key += [(0, name[at : number.start()], "")]
        digits = number[0].lstrip("0")
        # Not `int`: a name may have thousands of digits.
        key += [(1, len(digits), digits)]
        at = number.end()
    return (*key, (0, name[at:], ""))


def fields(name: str) -> tuple[int, ...]:
    """The numbers in a name; those of more than 18 digits count as 0."""
    return tuple(int(number) if len(number) <= 18 else 0 for number in _NUMBER.findall(name))


def pattern(name: str) -> tuple[str, ...]:
    """The text around the numbers of a name. Names with the same pattern have the same number of `fields`."""
    return tuple(_NUMBER.split(name))


def count(number: int, what: str) -> str:
    """`1 cable`, `2 cables`, `2 switches`."""
    plural = "es" if what.endswith(("ch", "s", "x")) else "s"
    return f"{number:,} {what}{'' if number == 1 else plural}"


def listed(names: Sequence[str]) -> str:
    """The first few names of a list, and the number of the others."""
    shown = ", ".join(f"`{shortened(name, 60)}`" for name in names[:_LISTED])
    return shown + (f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else "")
