"""Counters of NICs: bytes and packets that they have sent and received since some time."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

WORD = 4
"""Bytes of a unit of the data counters of InfiniBand: "octets divided by 4" (InfiniBand Architecture Specification,
section 16.1.3.5; the kernel's ABI of `/sys/class/infiniband`)."""

KINDS = ("sent", "received", "sent_packets", "received_packets")
"""The counters of a NIC; the last two may be missing."""


@dataclass(frozen=True)
class Nic:
    """The counters of one NIC. Arrays have one value for each sample, in the order of time."""

    times: Numbers
    """Seconds since 1970."""
    sent: Numbers
    """Bytes."""
    received: Numbers
    sent_packets: Numbers | None
    received_packets: Numbers | None

    def grown(self, kind: str) -> Numbers:
        """By how much a counter grew from each sample to the next; not a number where it was reset or is missing."""
        values: Numbers | None = getattr(self, kind)
        if values is None:
            return np.full(max(len(self.times) - 1, 0), np.nan)
        steps = np.diff(values)
        steps[steps < 0] = np.nan
        return steps


@dataclass(frozen=True)
class Counters:
    """The counters of a cluster."""

    nics: Mapping[str, tuple[Nic, ...]]
    """Node -> its NICs."""
    source: str
    """Where they come from, for a book."""

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last time."""
        times = [nic.times for nics in self.nics.values() for nic in nics]
        return float(min(of[0] for of in times)), float(max(of[-1] for of in times))


VIRTUAL = re.compile(
    r"(lo|bond|team|br|virbr|docker|cni|flannel|tun|tap|vlan|dummy|ifb)[0-9._-].*|lo|veth.*|.*\.[0-9]+|.*@.*"
)
"""Interfaces whose bytes are those of others too: loopback, bonds, bridges, VLANs, tunnels, containers."""

Sample = tuple[str, str, float, str, float]
"""Node, NIC, time, kind of counter (one of `KINDS`), value."""


def counters(samples: Iterable[Sample], source: str) -> Counters:
    """The counters of samples in any order. Raises InputError if there are none, or no two of a NIC."""
    table: dict[tuple[str, str], dict[float, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for node, nic, time, kind, value in samples:
        row = table[node, nic][time]
        if row.setdefault(kind, value) != value:
            which = f"`{nic}` of `{node}`" if nic else f"`{node}`"
            message = f"two values of `{kind}` at {time:.0f} for {which}: {row[kind]:.0f} and {value:.0f}"
            raise InputError(
                message, file=source, hint="a column `nic`, `device`, `port` or `interface` tells NICs apart"
            )
    result: dict[str, list[Nic]] = defaultdict(list)
    for node, nic in sorted(table):
        made = _nic(table[node, nic])
        if made is not None:
            result[node].append(made)
    if not result:
        message = "no NIC has two samples of bytes sent and bytes received" if table else "it has no counters of NICs"
        kinds = {kind for rows in table.values() for row in rows.values() for kind in row}
        if table and (missing := [kind for kind in ("sent", "received") if kind not in kinds]):
            message += f": there are no bytes {' or '.join(missing)}"
        raise InputError(message, file=source)
    return Counters({node: tuple(nics) for node, nics in result.items()}, source)


def _nic(rows: Mapping[float, Mapping[str, float]]) -> Nic | None:
    """A NIC; None without two samples that have both bytes."""
    times = sorted(time for time, row in rows.items() if "sent" in row and "received" in row)
    if len(times) < 2:
        return None
    columns: dict[str, Any] = {}
    for kind in KINDS:
        there = all(kind in rows[time] for time in times)
        columns[kind] = np.array([rows[time][kind] for time in times], np.float64) if there else None
    return Nic(np.array(times, np.float64), **columns)
