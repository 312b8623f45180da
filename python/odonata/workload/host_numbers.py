"""Which host is which node of the machine, by the numbers in the names: clusters count from 0, from 1, or from 5000."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.recognition.graph import fields, pattern
from odonata.recognition.names import node_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from odonata.machine import System

HINT = "--names FILE.csv says which host is which node"


def numbered(
    system: System, listed: Collection[str], used: Collection[str], *, leave_out: bool = False
) -> tuple[dict[str, int], list[str]]:
    """Host -> node of the machine, and what is assumed.

    Hosts with the names of Odonata (`node000`) are nodes by their number. If the file of the nodes lists as many hosts
    as the machine has nodes, with numbers in a row, the first of them is node 0, whatever its number and name. A host
    whose number is that of no node (`node128` of 128), where `node000` is not there, says that they count from 1.
    Names may have other leading zeros (`node1`), if no number is there with two spellings.

    Parameters
    ----------
    listed
        The hosts in the list of the nodes; empty without such a list.
    used
        Hosts of running jobs.
    leave_out
        Whether hosts that are no nodes are left out without an error.

    Raises
    ------
    InputError
        If the names do not say from which number they count.
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
    """Host -> its name with as many digits as the nodes of the machine; empty if two hosts would have one name."""
    form = pattern(own[0])
    names = {host: _named(own, row[0]) for host in hosts if pattern(host) == form and len(row := fields(host)) == 1}
    return names if len(set(names.values())) == len(names) else {}


def same_number(host: str, ids: Iterable[str]) -> str | None:
    """Of some hosts the first whose name differs from that of `host` in leading zeros only."""
    form, row = pattern(host), fields(host)
    return next((name for name in ids if row and fields(name) == row and pattern(name) == form), None)


def _numbered(
    system: System, own: list[str], listed: Collection[str], used: Collection[str], *, leave_out: bool
) -> tuple[dict[str, int], list[str]]:
    """Host -> node of the machine, for names with the digits of the machine's."""
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
    """The host with a number, as wide as the names of Odonata."""
    return own[number] if number < len(own) else f"node{number:0{len(own[0]) - len('node')}}"


def _numbers(hosts: list[str], used: Collection[str]) -> dict[str, int] | None:
    """The numbers of the hosts whose names are like most of the used ones; None if no one number tells them apart."""
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
