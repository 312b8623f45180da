"""The best machine of each kind, as a system file and as a machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.machine.design.dragonfly import dragonflies
from odonata.machine.design.dragonfly_plus import dragonfly_pluses
from odonata.machine.design.fat_tree import fat_trees
from odonata.machine.design.hyperx import hyperxes
from odonata.machine.kinds import KINDS
from odonata.machine.loading import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.machine.design.wanted import Design, Search, Wanted
    from odonata.machine.system import System

SEARCHES: dict[str, Search] = {
    "fat-tree": fat_trees,
    "dragonfly-plus": dragonfly_pluses,
    "dragonfly": dragonflies,
    "hyperx": hyperxes,
}
"""The search of each kind that has one."""

MOST_PORTS = 256
"""Most ports of a switch: more than any has, and few enough to try all machines in seconds."""

#: Latency of a cable: to a node, between switches near each other, and of the last class, between far ones.
_NEAR, _AMONG, _FAR = "10 ns", "25 ns", "100 ns"


@dataclass(frozen=True)
class Designed:
    """The machine of one kind with the fewest switches."""

    design: Design
    table: dict[str, Any]
    """Its system file."""
    system: System

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.design.kind

    @property
    def switches_on_the_way(self) -> int:
        """Switches on a longest minimal path."""
        return len(self.system.table.longest_path()) - 1


def designs(wanted: Wanted, bandwidth: str, kinds: Sequence[str] = ()) -> list[Designed]:
    """The machine of each kind, all if none is named, that has what is wanted with the fewest switches.

    A kind is left out if none of its machines has what is wanted. All links have the `bandwidth`. Raises InputError if
    one switch is enough, no kind has such a machine, or the nodes cannot be counted.
    """
    _check(wanted)
    best = []
    for kind in kinds or SEARCHES:
        design = min(SEARCHES[kind](wanted), key=lambda of: of.rank, default=None)
        if design is not None:
            best.append(_designed(wanted, design, bandwidth))
    if not best:
        message = f"no machine of kind {' or '.join(kinds or SEARCHES)} has {wanted.nics:,} NICs with switches of "
        raise InputError(f"{message}{wanted.radix} ports", hint="more ports, or more taper")
    return best


def _check(wanted: Wanted) -> None:
    if wanted.nics % wanted.nics_per_node:
        message = f"{wanted.nics:,} NICs are not a whole number of nodes of {wanted.nics_per_node} NICs"
        raise InputError(message, hint=f"{-(-wanted.nics // wanted.nics_per_node) * wanted.nics_per_node:,}")
    if wanted.nics <= wanted.radix:
        message = f"one switch of {wanted.radix} ports has room for {wanted.nics:,} NICs: there is nothing to compare"
        raise InputError(message, hint=f"more than {wanted.radix} NICs")
    if wanted.radix > MOST_PORTS:
        raise InputError(f"expected switches of at most {MOST_PORTS} ports, found {wanted.radix:,}")
    if wanted.taper < 1:
        raise InputError(f"expected a taper of at least 1:1, found {wanted.taper}", hint="2:1 halves the links")


def _designed(wanted: Wanted, design: Design, bandwidth: str) -> Designed:
    table = {"kind": design.kind, "name": design.kind, "title": _title(wanted, design), **design.shape}
    table |= {"radix": wanted.radix, "host": "none"}
    classes = KINDS[design.kind].classes_of({**table, "fabric": {}})
    latency = dict.fromkeys(classes, _AMONG) | {classes[-1]: _FAR, "node": _NEAR}
    links = {name: {"bandwidth": bandwidth, "latency": latency[name]} for name in classes}
    table["fabric"] = {"links": links}
    if wanted.nics_per_node > 1:
        table["fabric"]["nic"] = {"rail": "by-rank"}  # a GPU sends by its own NIC
    table["sources"] = {f"fabric.links.{name}.latency": _length(latency[name]) for name in classes}
    return Designed(design, table, load(table))


def _title(wanted: Wanted, design: Design) -> str:
    nodes = design.nics // wanted.nics_per_node
    return f"{nodes:,} nodes of {_counted(wanted.nics_per_node, 'NIC')}, taper {wanted.taper}:1"


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def _length(latency: str) -> str:
    metres = int(latency.split()[0]) // 5
    return f"assumed: {metres} m of cable at 5 ns/m (confidence: low)"
