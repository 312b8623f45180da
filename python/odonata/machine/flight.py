"""Computes how much data must be in flight for the full bandwidth of a link or a pair of NICs, and finds limits below
that.

A sender may use a link only while there is room for the data in flight: in the buffer behind the link, in the window
towards a destination, or in the window of an Aries NIC. With less room than a round trip needs, only a share of the
bandwidth is used. Sections 1 and 3 of docs/model.md have the times; here they are those of an empty machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from odonata import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.machine.fabric import FabricTable, LinkTable

#: Full packets for which a derived buffer has room in addition to those of a round trip (assumed: a short queue).
QUEUED_PACKETS = 4
#: Largest window over the bytes of a round trip. Source: NSCC of Ultra Ethernet, as in ultraethernet/uet-htsim.
WINDOW_OVER_ROUND_TRIP = Fraction(3, 2)
#: From this share of the bandwidth on there is no warning, because packets are whole.
ENOUGH = 0.99


@dataclass(frozen=True)
class Limit:
    """A limit: a link or window with too little room for its bandwidth."""

    carrier: str
    """What is limited, such as ``class `global` ``."""
    share: float
    """The largest share of its bandwidth that it carries."""
    reason: str
    key: str
    """The key of the machine whose value is too small."""
    enough: str
    """The smallest value of the key that is enough."""

    def __str__(self) -> str:
        """The limit in a sentence."""
        return f"{self.carrier} carries at most {_percent(self.share)} of its bandwidth: {self.reason}"


def serialisation_ps(link: LinkTable, size: int) -> int:
    """Time of so many bytes on a link, rounded up as the core does."""
    return -(-size * 10**18 // link.bandwidth)


def held_ps(fabric: FabricTable, name: str, path: Sequence[str]) -> int:
    """Time for which a full packet occupies the buffer behind a link of a class, until its credit returns.

    It leaves at once. If the links that follow on the path are slower, packets leave over several of them side by side,
    and each holds its room for the time of the slower one.
    """
    link = fabric.links[name]
    following = [fabric.links[after] for before, after in pairwise(path) if before == name]
    leaves = max(serialisation_ps(after, fabric.wire_bytes) for after in [link, *following])
    decided = serialisation_ps(link, fabric.head_bytes) + link.latency + fabric.router_delay
    return decided + leaves + link.latency + link.credit_delay


def buffer_for(fabric: FabricTable, name: str, path: Sequence[str]) -> int:
    """The buffer of a channel behind a link of a class that carries its bandwidth, and a short queue, in B."""
    return (packets_held(fabric, name, path) + QUEUED_PACKETS) * fabric.wire_bytes


def packets_held(fabric: FabricTable, name: str, path: Sequence[str]) -> int:
    """Full packets of a round trip of a link of a class."""
    return -(-held_ps(fabric, name, path) // serialisation_ps(fabric.links[name], fabric.wire_bytes))


def one_way_ps(fabric: FabricTable, links: Sequence[LinkTable], size: int, head: int) -> int:
    """Time of a packet over these links on an empty machine (docs/model.md, "Zero-load latency")."""
    start = 0
    for link, following in pairwise(links):
        end = start + serialisation_ps(link, size)
        decision = start + serialisation_ps(link, head) + link.latency + fabric.router_delay
        start = max(decision, end + link.latency + fabric.router_delay - serialisation_ps(following, size))
    return start + serialisation_ps(links[-1], size) + links[-1].latency


def round_trip_ps(fabric: FabricTable, path: Sequence[str]) -> int:
    """Time from the start of a full packet to its acknowledgement, over links of these classes, without queues."""
    links = [fabric.links[name] for name in path]
    head = (fabric.header or 0) or 1
    head = -(-head // (fabric.flit or 1)) * (fabric.flit or 1)
    there = one_way_ps(fabric, links, fabric.wire_bytes, fabric.head_bytes)
    return there + one_way_ps(fabric, links[::-1], head, head)


def round_trip_bytes(fabric: FabricTable, path: Sequence[str]) -> int:
    """Payload of the full packets that a NIC sends in a round trip."""
    each = serialisation_ps(fabric.links["node"], fabric.wire_bytes)
    return -(-round_trip_ps(fabric, path) // each) * fabric.packet


def limits(fabric: FabricTable, path: Sequence[str]) -> list[Limit]:
    """What carries less than its bandwidth, for a longest minimal path over links of these classes."""
    return [*_of_buffers(fabric, path), *_of_windows(fabric, path)]


def _of_buffers(fabric: FabricTable, path: Sequence[str]) -> list[Limit]:
    limited = []
    for name in dict.fromkeys(path):
        link, room, held = fabric.links[name], fabric.buffer_of(name), held_ps(fabric, name, path)
        share = room // fabric.wire_bytes * serialisation_ps(link, fabric.wire_bytes) / held
        if share >= ENOUGH:
            continue
        need = packets_held(fabric, name, path) * fabric.wire_bytes
        if name != "node" and fabric.traffic_classes:
            need *= len(fabric.traffic_classes)
        carrier = f"a virtual channel of class `{name}`" if name != "node" else "class `node`"
        reason = (
            f"its buffer of {units.format_bytes(room)} is smaller than what is on the way in a round trip of "
            f"{units.format_time(held)}"
        )
        limited.append(Limit(carrier, share, reason, f"fabric.links.{name}.buffer", units.format_bytes(need)))
    return limited


def _of_windows(fabric: FabricTable, path: Sequence[str]) -> list[Limit]:
    control, nic = fabric.congestion_control, fabric.nic
    if fabric.controls_congestion and control is not None and control.window_bytes is not None:
        packets, key = control.window_bytes // fabric.packet, "fabric.congestion_control.window"
        text = units.format_bytes(control.window_bytes)
    elif nic.is_windowed and nic.window is not None:
        packets, key, text = nic.window // fabric.packet, "fabric.nic.window", units.format_bytes(nic.window)
    elif nic.is_aries and nic.window is not None:
        packets = nic.window // -(-fabric.packet // (nic.packet or fabric.packet))
        key, text = "fabric.nic.window", f"{nic.window:,} packets"
    else:
        return []
    trip = round_trip_ps(fabric, path)
    each = serialisation_ps(fabric.links["node"], fabric.wire_bytes)
    share = packets * each / trip
    if share >= ENOUGH:
        return []
    need = -(-trip // each)
    enough = units.format_bytes(need * fabric.packet)
    if nic.is_aries:
        enough = str(need * -(-fabric.packet // (nic.packet or fabric.packet)))
    reason = f"its window of {text} is smaller than what is on the way in a round trip of {units.format_time(trip)}"
    return [Limit("a pair of NICs on a longest path", share, reason, key, enough)]


def _percent(share: float) -> str:
    return f"{share * 100:.2g} %" if share < 0.095 else f"{share * 100:.0f} %"
