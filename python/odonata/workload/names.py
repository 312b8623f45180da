"""Which host is which node, and which switch which router: the CSV that `odonata cluster import --names` writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.reading import read_output

if TYPE_CHECKING:
    from collections.abc import Iterable

    from odonata.machine import System

HEADER = ("what", "number", "name")


@dataclass
class Names:
    """The names of a machine."""

    file: Path
    nodes: dict[str, int] = field(default_factory=dict)
    """Host -> node."""
    routers: dict[int, str] = field(default_factory=dict)
    """Router -> switch."""
    rows: dict[str, int] = field(default_factory=lambda: {"node": 0, "router": 0})
    """How many nodes and routers the file lists, those without a name included."""


def read_names(system: System, file: str | Path) -> Names:
    """Read the names of a machine.

    Parameters
    ----------
    system
        The machine.
    file
        The CSV.

    Returns
    -------
    Names

    Raises
    ------
    InputError
        For a file that is no such CSV, or that of another machine; with its line.
    """
    names = Names(Path(file))
    for line, text in enumerate(reading.lines(read_output(file)), 1):
        try:
            _add(names, reading.csv_row(text), line, system)
        except InputError as e:
            raise e.at(file, line) from None
    if not names.nodes:
        raise InputError("it names no node", file=file)
    return names


def names_beside(system: System, file: Path, hosts: Iterable[str]) -> Path | None:
    """The CSV with the names of a machine that is in the folder of its system file.

    Parameters
    ----------
    system
        The machine.
    file
        Its system file.
    hosts
        Hosts of the queue.

    Returns
    -------
    Path or None
        None if there is no such CSV with as many nodes and routers that names one of these hosts.

    Raises
    ------
    InputError
        If several files fit and say different things.
    """
    fitting: list[Names] = []
    try:
        files = sorted(path for path in file.parent.iterdir() if path.suffix == ".csv" and _begins_as_names(path))
    except OSError:
        return None
    known = set(hosts)
    size = {"node": system.shape.nodes, "router": _routers(system)}
    for path in files:
        try:
            names = read_names(system, path)
        except InputError:
            continue  # of another machine, or none: who names it with --names is told what is wrong
        if names.rows == size and not names.nodes.keys().isdisjoint(known):
            fitting.append(names)
    if not fitting:
        return None
    first = fitting[0]
    for other in fitting[1:]:
        if (other.nodes, other.routers) != (first.nodes, first.routers):
            message = f"`{first.file}` and `{other.file}` both name the nodes of `{file.name}`, and differently"
            raise InputError(message, hint="--names FILE.csv says which of them is right")
    return first.file


def _begins_as_names(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open("rb") as opened:
            return opened.read(64).lstrip(b"\xef\xbb\xbf").startswith(",".join(HEADER).encode())
    except OSError:
        return False


def _routers(system: System) -> int:
    return int(system.table.routers_in_all())


def _add(names: Names, row: list[str], line: int, system: System) -> None:
    """Reads a row. Raises InputError if it is no such row."""
    if line == 1:
        if tuple(value.strip() for value in row) != HEADER:
            text = shortened(",".join(row), 60)
            hint = "`odonata cluster import --names FILE.csv` writes it"
            raise InputError(f"expected the columns what, number and name, found `{text}`", hint=hint)
        return
    number = reading.whole(row[1]) if len(row) == 3 else None
    if number is None:
        text = shortened(",".join(row), 60)
        raise InputError(f"expected what, number and name, found `{text}`", hint="the file may be cut")
    what, name = row[0], row[2]
    if what not in names.rows:
        return
    most = system.shape.nodes if what == "node" else _routers(system)
    if number >= most and (name or what == "router"):
        message = f"the machine `{system.name}` has {what}s 0 to {most - 1}, found {number}"
        raise InputError(message, hint="the names are those of another machine")
    names.rows[what] += 1
    if not name:
        return
    if what == "router":
        names.routers.setdefault(number, name)
    elif names.nodes.setdefault(name, number) != number:
        raise InputError(f"the host `{name}` is listed twice")
