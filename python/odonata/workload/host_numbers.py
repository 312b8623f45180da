"""Assigns hosts to nodes of the machine by the numbers in their names. Clusters count from 0, 1, or even 5000."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.graphs.fabric import fields, pattern
from odonata.recognition.names import node_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from odonata.machine import System

HINT = "--names FILE.csv says which host is which node"


def numbered(
    system: System, listed: Collection[str], used: Collection[str], *, leave_out: bool = False
) -> tuple[dict[str, int], list[str]]:
    """Host -> node of the machine, with the assumptions.

    Hosts with the names of Odonata (`node000`) are nodes by their number. If the file of the nodes lists as many hosts
    as the machine has nodes, with numbers in a row, the first of them is node 0, whatever its number and name. If a
    number is too large by one (`node128` of 128) and `node000` is missing, hosts count from 1. Names may have other
    leading zeros (`node1`), unless one number has two spellings.

    Parameters
    ----------
    listed
        The hosts in the list of the nodes; empty without such a list.
    used
        Hosts of running jobs.
    leave_out
        Whether hosts that are not nodes are left out; otherwise they are an error.

    Raises
    ------
    InputError
        If it is ambiguous from which number the names count.
    """
    own = node_names(system)
    padded = _padded(own, dict.fromkeys((*used, *listed)))
    there = set(own)
    renamed = [name for host, name in padded.items() if host != name and name in there]
    if not renamed:
        return _numbered(system, own, listed, used, leave_out=leave_out)
    given = [[padded.get(host, host) for host in hosts] for hosts in (listed, used)]
    ids, notes = _numbered(system, own, given[0], given[1], leave_out=leave_out)
    host = next(host for host, name in padded.items() if name == renamed[0])
    first = f"assumed: names with other leading zeros are those of `{system.name}`: `{host}` is `{renamed[0]}`"
    return ids | {host: ids[name] for host, name in padded.items() if name in ids}, [first, *notes]


def _padded(own: list[str], hosts: Iterable[str]) -> dict[str, str]:
    """Host -> its name with the number of digits of the machine's nodes; empty if two hosts would get the same name."""
    form = pattern(own[0])
    names = {host: _named(own, row[0]) for host in hosts if pattern(host) == form and len(row := fields(host)) == 1}
    return names if len(set(names.values())) == len(names) else {}


def same_number(host: str, ids: Iterable[str]) -> str | None:
    """The first of some hosts whose name differs from `host` only in leading zeros."""
    form, row = pattern(host), fields(host)
    return next((name for name in ids if row and fields(name) == row and pattern(name) == form), None)


def _numbered(
    system: System, own: list[str], listed: Collection[str], used: Collection[str], *, leave_out: bool
) -> tuple[dict[str, int], list[str]]:
    """Host -> node of the machine, for names with the same number of digits as the machine's."""
    exact = {name: node for node, name in enumerate(own)}
    numbers = _numbers([*dict.fromkeys((*used, *listed))], used or listed)
    if numbers is None:
        return exact, []
    total = len(own)
    least, most = min(numbers.values()), max(numbers.values())
    first = next(host for host, number in numbers.items() if number == least)
    there = sum(host in numbers for host in set(listed))
    if there == len(numbers) == total == most - least + 1:
        notes = [] if first == own[0] else [f"assumed: hosts count from {least}: `{first}` is node 0"]
        return {host: number - least for host, number in numbers.items()}, notes
    if pattern(first) != pattern(own[0]) or not any(host in exact for host in numbers):
        return exact, []
    if least == 0:
        return exact, []
    if most == total:
        below = f"`{own[0]}` is not there, and the machine has no node {total}"
        notes = [f"assumed: hosts count from 1, because {below}: `{_named(own, 1)}` is node 0"]
        return {host: number - 1 for host, number in numbers.items()}, notes
    if (listed and least == 1) or (leave_out and most > total):
        neither = f"neither `{own[0]}` nor `{_named(own, total)}`" if most < total else f"`{_named(own, most)}`"
        message = f"nobody can say whether `{_named(own, 1)}` is node 0 or node 1 of `{system.name}`, which has "
        what = "list of the nodes has" if listed else "jobs are on"
        raise InputError(f"{message}{total:,} nodes: the {what} {neither}", hint=HINT)
    if most > total:
        return exact, []
    return exact, [f"assumed: hosts count from 0: `{own[0]}` is node 0, though no file names it"]


def _named(own: list[str], number: int) -> str:
    """The host with a number, in the width of Odonata's names."""
    return own[number] if number < len(own) else f"node{number:0{len(own[0]) - len('node')}}"


def _numbers(hosts: list[str], used: Collection[str]) -> dict[str, int] | None:
    """The numbers of hosts with the most common form of name; None if no single number distinguishes them."""
    if not used:
        return None
    form = Counter(map(pattern, used)).most_common(1)[0][0]
    rows = {host: fields(host) for host in hosts if pattern(host) == form}
    width = len(next(iter(rows.values())))
    varying = [at for at in range(width) if len({row[at] for row in rows.values()}) > 1] or [width - 1]
    if not width or len(varying) > 1:
        return None
    numbers = {host: row[varying[0]] for host, row in rows.items()}
    return numbers if len(set(numbers.values())) == len(numbers) else None
