"""Routers, links and NICs of a machine, as a table of a document."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from odonata import units
from odonata.core_options import most as limit
from odonata.document import Bandwidth, Size, Table, input_error_as_problem
from odonata.document.quantities import positive_bandwidth
from odonata.errors import InputError
from odonata.machine import classes as traffic
from odonata.machine import flight
from odonata.machine.classes import TrafficClassTable
from odonata.machine.congestion import CongestionTable, Trip

#: The core's limits.
MAX_CHANNELS = limit("fabric.channels")
MAX_PACKET_BYTES = limit("fabric.packet_bytes")
MAX_BUFFER_BYTES = limit("fabric.links.buffer_bytes")
MAX_DELAY_PS = limit("fabric.router_delay_ps")
MAX_WINDOW = limit("fabric.nic.aries.window")
MAX_WINDOW_BYTES = limit("fabric.nic.window_bytes")
MAX_MESSAGE_BYTES = limit("fabric.nic.stripe_bytes")
MAX_ACKNOWLEDGED = limit("fabric.nic.acknowledge_every")
#: Header and flit of packets of Aries.
ARIES_FLIT_BYTES = 16


def _channels(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_CHANNELS:
        raise InputError(f"expected a number of virtual channels from 1 to {MAX_CHANNELS}, found `{value!r}`")
    return value


def _delay(value: Any) -> int:
    ps = units.time_ps(value)
    if ps > MAX_DELAY_PS:
        raise InputError(f"`{value}` is longer than the longest delay, {units.format_time(MAX_DELAY_PS)}")
    return ps


Delay = Annotated[
    int,
    BeforeValidator(input_error_as_problem(_delay)),
    PlainSerializer(units.format_time, when_used="json"),
]
Channels = Annotated[int, BeforeValidator(input_error_as_problem(_channels))]


#: Laws of congestion control that need an acknowledgement of every packet (docs/model.md, section 3).
EACH_ACKNOWLEDGED = ("slingshot", "receiver-credit")


class Packets(int):
    """A window in packets; one in bytes is a plain number."""


#: What a NIC of Aries has, and its defaults; `machine.sources` has their sources.
ARIES: Mapping[str, Any] = {"packet": 64, "window": Packets(1_024), "operation": "put", "cycle": None}


def _window(value: Any) -> int:
    """A number of packets, or a size in bytes with its unit."""
    if isinstance(value, str):
        return units.size_bytes(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(
            f"expected a number of packets, or a size with its unit, found `{value!r}`", hint='window = "64 KiB"'
        )
    return Packets(value)


Window = Annotated[
    Any,
    BeforeValidator(input_error_as_problem(_window)),
    PlainSerializer(
        lambda value: int(value) if isinstance(value, Packets) else units.format_bytes(value), when_used="json"
    ),
]


def _acknowledged(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_ACKNOWLEDGED:
        raise InputError(f"expected a number of packets from 1 to {MAX_ACKNOWLEDGED:,}, found `{value!r}`")
    return value


Acknowledged = Annotated[int, BeforeValidator(input_error_as_problem(_acknowledged))]


class LinkTable(Table):
    """A class of links, both directions alike."""

    bandwidth: Bandwidth = Field(description="bandwidth of each direction")
    latency: Delay = Field(0, description="time on the wire")
    buffer: Size | None = Field(
        None,
        description="input buffer at the end of the link, for each virtual channel (default: derived, what is on the "
        "way in a round trip of the link, and four packets)",
    )
    credit_delay: Delay = Field(0, description="time that a returning credit takes in addition to the wire's latency")


class NicTable(Table):
    """The network interface of every node."""

    overhead: Delay = Field(0, description="idle time of the injection link before the first packet of a message")
    order: Literal["fcfs", "round-robin"] = Field(
        "fcfs", description="which of several waiting messages sends the next packet"
    )
    rail: Literal["hash", "least-busy", "by-rank"] | None = Field(
        None,
        description="how the NIC of a message is chosen on a node with several NICs: `hash`: drawn for each message; "
        "`least-busy`: the one with the least to send; `by-rank`: the ranks of a program on a node take its NICs in "
        "turn, and a message uses the NIC of its rank at each end (traffic: as `hash`) (default: hash)",
    )
    stripe_above: Size | None = Field(
        None,
        description="size on the network from which a message is divided into equal parts over all NICs of its node "
        "(multi-rail in UCX); smaller messages, control messages and those whose trace names NICs follow `rail` "
        "(default: no message is divided)",
    )
    kind: Literal["simple", "aries", "windowed"] | None = Field(
        None,
        description="`simple`: packets go one way; `aries`: every request packet is answered by a response packet, a "
        "window bounds the requests without a response, and the NIC has counters; `windowed`: every packet is "
        "acknowledged, and a window bounds the bytes in flight to each destination (default: simple, or windowed with "
        "a window in bytes)",
    )
    packet: Size | None = Field(
        None,
        description="`aries`: payload of a packet of the NIC; a larger `fabric.packet` is a burst of such packets "
        "(default: 64 B)",
    )
    window: Window | None = Field(
        None,
        description="`aries`: most packets of a NIC that have no response yet (default: 1,024); `windowed`: most bytes "
        "from a NIC to another one without an acknowledgement, at least those of a full packet",
    )
    acknowledge_every: Acknowledged | None = Field(
        None,
        description="NICs that acknowledge packets (`windowed`, or congestion control `ecn-window` or `nscc`): a NIC "
        "acknowledges after so many packets of a sender; at once if a packet is marked, is the last of its message, or "
        "fills the window (default: 1, each packet)",
    )
    operation: Literal["put", "get"] | None = Field(
        None,
        description="`aries`: whether requests (`put`) or responses (`get`) carry the payload of traffic and of a "
        "rendezvous (default: put)",
    )
    cycle: Delay | None = Field(
        None,
        description="`aries`: clock cycle of the NIC, which sends at most one flit in a cycle (default: the time of a "
        "flit on a link of class `node`)",
    )

    delivery: Literal["on-arrival", "in-order"] | None = Field(
        None,
        description="when packets are given to their node: `on-arrival`: as they come; `in-order`: a packet waits at "
        "its NIC until all have come that left the same NIC for it before, and is acknowledged then; not with `aries` "
        "(default: on-arrival)",
    )
    entropy: Literal["fresh", "reps"] | None = Field(
        None,
        description="what the paths of sprayed packets are drawn from: `fresh`: a value of its own for each packet; "
        "`reps`: the value of an earlier packet to the same NIC that was acknowledged without a mark, if there is one "
        "(REPS, Bonato 2025; with `congestion_control` of `nscc` or `ecn-window`) (default: fresh)",
    )

    @property
    def is_aries(self) -> bool:
        """Whether it is a NIC of Aries."""
        return self.kind == "aries"

    @property
    def is_windowed(self) -> bool:
        """Whether it has a window towards each destination."""
        in_bytes = self.window is not None and not isinstance(self.window, Packets)
        return self.kind == "windowed" or (self.kind is None and in_bytes)

    def completed(self, flit: int, node: LinkTable | None) -> Self:
        """The same with a value for every key that its kind has, for flits of so many bytes and links to nodes."""
        if not self.is_aries:
            return self
        defaults = dict(ARIES)
        if node is not None:  # else it is refused later
            defaults["cycle"] = -(-flit * 10**18 // node.bandwidth)
        return self.model_copy(update={k: v for k, v in defaults.items() if getattr(self, k) is None})

    def check(self) -> None:
        """Raises InputError (with a path) for keys that its kind does not have, and for values that none has."""
        kind = "windowed" if self.is_windowed else self.kind or "simple"
        if self.stripe_above is not None and not 1 <= self.stripe_above <= MAX_MESSAGE_BYTES:
            most, size = units.format_bytes(MAX_MESSAGE_BYTES), units.format_bytes(self.stripe_above)
            raise InputError(f"expected a size between 1 B and {most}, found {size}", path=("stripe_above",))
        for key in ARIES:
            if not self.is_aries and getattr(self, key) is not None and not (self.is_windowed and key == "window"):
                raise InputError(f"a `{kind}` NIC has no `{key}`", hint='kind = "aries"', path=(key,))
        if self.is_windowed:
            self._check_bytes()
            return
        if self.window is not None and not isinstance(self.window, Packets):
            raise InputError(
                "the window of a NIC of Aries is a number of packets", hint="window = 1024", path=("window",)
            )
        if self.window is not None and not 1 <= self.window <= MAX_WINDOW:
            message = f"a window must be between 1 and {MAX_WINDOW:,} packets, found {self.window:,}"
            raise InputError(message, path=("window",))
        if self.packet is not None and not 1 <= self.packet <= MAX_PACKET_BYTES:
            message = f"a packet must have between 1 and {MAX_PACKET_BYTES:,} bytes, found {self.packet:,}"
            raise InputError(message, path=("packet",))

    def _check_bytes(self) -> None:
        if self.window is None or isinstance(self.window, Packets):
            given = "no window" if self.window is None else f"{self.window:,} packets"
            message = f"the window of a `windowed` NIC is a size in bytes, found {given}"
            raise InputError(message, hint='window = "64 KiB"', path=("kind" if self.window is None else "window",))
        if not 1 <= self.window <= MAX_WINDOW_BYTES:
            most = units.format_bytes(MAX_WINDOW_BYTES)
            message = f"a window must have between 1 B and {most}, found {units.format_bytes(self.window)}"
            raise InputError(message, path=("window",))

    def spec(self) -> dict[str, Any]:
        """The NIC as the core reads it, from the result of `completed`."""
        nic: dict[str, Any] = {"overhead_ps": self.overhead, "order": self.order}
        if self.rail not in (None, "hash"):
            nic["rail"] = self.rail
        if self.stripe_above is not None:
            nic["stripe_bytes"] = self.stripe_above
        if self.is_windowed:
            nic["window_bytes"] = self.window
        if self.delivery not in (None, "on-arrival"):
            nic["delivery"] = self.delivery
        if self.entropy not in (None, "fresh"):
            nic["entropy"] = self.entropy
        if self.acknowledge_every not in (None, 1):
            nic["acknowledge_every"] = self.acknowledge_every
        if self.is_aries:
            nic["aries"] = {
                "packet_bytes": self.packet,
                "window": None if self.window is None else int(self.window),
                "operation": self.operation,
                "cycle_ps": self.cycle,
            }
        return nic


def _crossbar(value: Any) -> Fraction | int:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str) and value.strip().endswith("x"):
        factor = units.fraction(value.strip().removesuffix("x").strip())
        if factor <= 0:
            raise InputError(f"`{value}`: a crossbar without bandwidth never delivers a packet")
        return factor
    try:
        return positive_bandwidth(value)
    except InputError as e:
        hint = 'as fast as the fastest link: crossbar = "1x"; or a bandwidth: crossbar = "17 GB/s"'
        raise e.but(hint=hint) from None


def _crossbar_text(value: Fraction | int) -> str:
    return f"{units.format_fraction(value)}x" if isinstance(value, Fraction) else units.format_bandwidth(value)


class RouterTable(Table):
    """What a packet crosses inside a router (docs/model.md, section 4).

    Only routers with a crossbar have `crossbar`, `output_buffer` and `arbitration`; they then have a value, given or
    default.
    """

    kind: Literal["ideal", "input-queued", "virtual-output-queued"] = Field(
        description="`ideal`: a packet waits for nothing but its output link; `input-queued`: packets queue at their "
        "input in one FIFO per virtual channel, with head-of-line blocking, and cross a crossbar; "
        "`virtual-output-queued`: the same with a FIFO for each output, without head-of-line blocking",
    )
    crossbar: (
        Annotated[
            Fraction | int,
            BeforeValidator(input_error_as_problem(_crossbar)),
            PlainSerializer(_crossbar_text, when_used="json"),
        ]
        | None
    ) = Field(
        None,
        description="bandwidth of each input and output of the crossbar, or a multiple of the fastest link's bandwidth "
        "(default: 1x)",
    )
    output_buffer: Size | None = Field(
        None, description="buffer of an output port for each virtual channel (default: the largest input buffer)"
    )
    arbitration: Literal["least-recently-served"] | None = Field(
        None, description="which of several waiting FIFOs goes first (default: least-recently-served)"
    )

    def completed(self, links: Mapping[str, LinkTable]) -> Self:
        """The same with a value for every key that its kind has."""
        if self.kind == "ideal":
            return self
        defaults = {
            "crossbar": Fraction(1),
            "output_buffer": max((link.buffer or 0 for link in links.values()), default=None),
            "arbitration": "least-recently-served",
        }
        return self.model_copy(update={k: v for k, v in defaults.items() if getattr(self, k) is None})

    def check(self, wire_bytes: int) -> None:
        """Raises InputError (with a path) if such a router cannot be built for packets of this many bytes on a link."""
        if self.kind == "ideal":
            for key in ("crossbar", "output_buffer", "arbitration"):
                if getattr(self, key) is not None:
                    hint = 'kind = "input-queued" or kind = "virtual-output-queued"'
                    raise InputError(f"an `ideal` router has no `{key}`", hint=hint, path=(key,))
        elif self.output_buffer is not None and not wire_bytes <= self.output_buffer <= MAX_BUFFER_BYTES:
            raise InputError(
                f"the output buffer ({self.output_buffer:,} B) must hold at least one packet "
                f"({wire_bytes:,} B) and at most 2^30 bytes",
                path=("output_buffer",),
            )

    def spec(self, links: Mapping[str, LinkTable]) -> dict[str, Any]:
        """The router as the core reads it, from the result of `completed`. Raises InputError (with a path)."""
        crossbar = self.crossbar
        if isinstance(crossbar, Fraction):
            crossbar = int(crossbar * max(link.bandwidth for link in links.values()))
            if not 0 < crossbar < 2**64:
                message = f"{_crossbar_text(self.crossbar or Fraction())} of the fastest link's bandwidth is not "
                raise InputError(message + "between 0 and 18 TB/s", path=("crossbar",))
        return {
            "kind": self.kind,
            "crossbar": crossbar,
            "output_buffer_bytes": self.output_buffer,
            "arbitration": self.arbitration,
        }


class FabricTable(Table):
    """Routers, NICs and the classes of links."""

    packet: Size = Field(2048, description="largest payload of a packet; messages are cut into such packets")
    header: Size | None = Field(
        None, description="bytes that every packet has on a link and in a buffer beside its payload (default: 0 B)"
    )
    flit: Size | None = Field(
        None, description="size of a flit; packets with their headers are rounded up to whole flits (default: 1 B)"
    )
    switching: Literal["store-and-forward", "cut-through"] | None = Field(
        None,
        description="whether a router forwards a packet when all of it has arrived, or when its header has arrived "
        "(default: store-and-forward)",
    )
    router: RouterTable | None = Field(
        None, description="what a packet crosses inside a router: a kind, or a table with more keys (default: ideal)"
    )
    router_delay: Delay = Field(
        100_000, description="time from the arrival of a packet (with cut-through, of its header) to its route decision"
    )
    channels: Channels = Field(2, description="virtual channels of every link between routers")
    nic: NicTable = Field(
        default={},
        validate_default=True,
        description="the network interfaces: a kind (`simple`, `aries`), or a table with more keys",
    )
    congestion_control: CongestionTable | None = Field(
        None,
        description="what holds senders back when queues are long: a kind, or a table with more keys (default: none)",
    )
    traffic_classes: dict[str, TrafficClassTable] | None = Field(
        None,
        description="jobs with channels, buffers and shares of links of their own, by name: a table for each class, to "
        "which jobs belong by `class` (default: all packets are alike)",
    )
    links: dict[str, LinkTable] = Field(description="the classes of links")

    @model_validator(mode="after")
    def _completed(self) -> Self:
        changes: dict[str, Any] = {}
        if self.nic.is_aries:
            changes |= {key: ARIES_FLIT_BYTES for key in ("header", "flit") if getattr(self, key) is None}
            changes["nic"] = self.nic.completed(changes.get("flit") or self.flit or 1, self.links.get("node"))
        return self.model_copy(update=changes) if changes else self

    def completed(self, path: Sequence[str], classes: Sequence[str]) -> Self:
        """The same with what follows from its links: `path` has the classes of a longest minimal path, node to node,
        and `classes` all those of the machine. Links of the others do not exist, and take the numbers of `node`.
        """
        if any(name not in self.links for name in path):
            return self  # refused later
        links = {name: self.links.get(name, self.links["node"]) for name in classes}
        fabric = self.model_copy(update={"links": links})
        for name, link in links.items():
            if link.buffer is None:
                shared = len(self.traffic_classes or (1,)) if name != "node" else 1
                buffer = min(flight.buffer_for(fabric, name, path) * shared, MAX_BUFFER_BYTES)
                links[name] = link.model_copy(update={"buffer": buffer})
        changes: dict[str, Any] = {}
        if self.router is not None:
            changes["router"] = self.router.completed(links)
        if self.congestion_control is not None:
            trip = Trip(self.packet, flight.round_trip_ps(fabric, path), flight.round_trip_bytes(fabric, path))
            changes["congestion_control"] = self.congestion_control.completed(trip)
        return fabric.model_copy(update=changes)

    @property
    def controls_congestion(self) -> bool:
        """Whether something holds senders back when queues are long."""
        return self.congestion_control is not None and not self.congestion_control.is_none

    @property
    def _answers_none_or_each(self) -> str | None:
        """Why an acknowledgement cannot stand for several packets; None if it can."""
        control = self.congestion_control
        if self.nic.is_aries:
            return "an `aries` NIC answers every packet"
        if control is not None and control.kind in EACH_ACKNOWLEDGED:
            return f"congestion control `{control.kind}` needs an acknowledgement of every packet"
        if not self.controls_congestion and not self.nic.is_windowed:
            return "a `simple` NIC acknowledges no packet"
        return None

    def check(self, classes: tuple[str, ...]) -> None:
        """Raises InputError unless all these classes of links are described, sensibly."""
        for name in classes:
            if name not in self.links:
                raise InputError(
                    f"the link class `{name}` is missing",
                    hint=f'links.{name} = {{ bandwidth = "...", buffer = "..." }}',
                    path=("links",),
                )
        try:
            self.nic.check()
        except InputError as e:
            raise e.under("nic") from None
        if self.nic.acknowledge_every is not None and (of := self._answers_none_or_each) is not None:
            message = f"{of}, so that `acknowledge_every` says nothing"
            raise InputError(message, hint='congestion_control = "nscc"', path=("nic", "acknowledge_every"))
        for key, value, least in (("packet", self.packet, 1), ("header", self.header, 0), ("flit", self.flit, 1)):
            if value is not None and not least <= value <= MAX_PACKET_BYTES:
                message = f"a {key} must have between {least} and {MAX_PACKET_BYTES:,} bytes, found {value:,}"
                raise InputError(message, path=(key,))
        if self.nic.is_windowed and self.nic.window is not None and self.nic.window < self.packet:
            message = f"the window ({self.nic.window:,} B) must hold at least one full packet ({self.packet:,} B)"
            raise InputError(message, path=("nic", "window"))
        wire = self.wire_bytes
        if wire > MAX_PACKET_BYTES:
            message = f"a packet with its header, in whole flits, must have at most {MAX_PACKET_BYTES:,} bytes"
            raise InputError(f"{message}, found {wire:,}", path=("packet",))
        for name, link in self.links.items():
            if link.buffer is None or not wire <= link.buffer <= MAX_BUFFER_BYTES:
                raise InputError(
                    f"the buffer of class `{name}` ({link.buffer or 0:,} B) must hold at least one packet "
                    f"({wire:,} B) and at most 2^30 bytes",
                    path=("links", name, "buffer"),
                )
        if self.traffic_classes is not None:
            self._check_traffic_classes(self.traffic_classes)
        if self.congestion_control is not None:
            try:
                self.congestion_control.check(self.packet)
            except InputError as e:
                raise e.under("congestion_control") from None
        if self.controls_congestion and (self.nic.is_aries or self.nic.is_windowed):
            kind = "aries" if self.nic.is_aries else "windowed"
            raise InputError(
                f"congestion control has windows of its own, and NICs are `{kind}`",
                hint='congestion_control = "none", or nic = "simple"',
                path=("congestion_control",),
            )
        if self.router is not None:
            try:
                self.router.check(wire)
                self.router.spec(self.links)
            except InputError as e:
                raise e.under("router") from None

    def _check_traffic_classes(self, classes: Mapping[str, TrafficClassTable]) -> None:
        try:
            traffic.check(classes)
        except InputError as e:
            raise e.under("traffic_classes") from None
        router = self.router.kind if self.router is not None else "ideal"
        for other, hint in (
            (f"`{router}` routers" if router != "ideal" else None, 'router = "ideal"'),
            ("NICs of kind `aries`" if self.nic.is_aries else None, 'nic = "simple"'),
        ):
            if other is not None:
                message = f"traffic classes are not modelled together with {other}"
                raise InputError(message, hint=hint, path=("traffic_classes",))
        acknowledged = self.controls_congestion or self.nic.is_windowed
        traffic.check_channels(self.channels, len(classes), acknowledged, MAX_CHANNELS)
        for name, link in self.links.items():
            part = self.buffer_of(name)
            if part < self.wire_bytes:
                message = (
                    f"{len(classes)} traffic classes divide the buffer of link class `{name}` "
                    f"({link.buffer or 0:,} B): "
                    f"each part ({part:,} B) must hold at least one packet ({self.wire_bytes:,} B)"
                )
                raise InputError(message, path=("links", name, "buffer"))

    def buffer_of(self, name: str) -> int:
        """The buffer of a channel: traffic classes share those between routers, and a node has one class."""
        buffer = self.links[name].buffer or 0
        return buffer if name == "node" else buffer // len(self.traffic_classes or (1,))

    @property
    def classes_text(self) -> str | None:
        """Its traffic classes, for `odonata show`, if it has any."""
        return traffic.text(self.traffic_classes, self.channels) if self.traffic_classes else None

    @property
    def router_text(self) -> str:
        """A description of its routers, for `odonata show`."""
        kind = self.router.kind if self.router else "ideal"
        return f"{kind} ({self.switching or 'store-and-forward'})"

    @property
    def nic_text(self) -> str | None:
        """What its NICs are, for `odonata show`; nothing if they are simple, share no message, and acknowledge each
        packet or none.
        """
        nic = self.nic
        further: list[str] = []
        if nic.acknowledge_every not in (None, 1):
            further.append(f"one acknowledgement for up to {nic.acknowledge_every:,} packets")
        if nic.stripe_above is not None:
            further.append(f"messages from {units.format_bytes(nic.stripe_above)} on over all NICs of the node")
        if nic.delivery == "in-order":
            further.append("packets are given to the node in order")
        if nic.entropy == "reps":
            further.append("paths that came back without a mark are used again (REPS)")
        kind = self._kind_text(nic)
        return "; ".join([kind or "simple", *further]) if further else kind

    def _kind_text(self, nic: NicTable) -> str | None:
        if nic.is_windowed and nic.window is not None:
            return f"windowed ({units.format_bytes(nic.window)} in flight to each destination)"
        if not nic.is_aries:
            return None
        burst = -(-self.packet // (nic.packet or 1))
        packets = "packets" if burst == 1 else f"bursts of {burst} packets"
        return f"aries ({nic.operation}, window {nic.window:,}, {packets} of {units.format_bytes(nic.packet or 0)})"

    @property
    def congestion_text(self) -> str | None:
        """What holds senders back, for `odonata show`; nothing if only full buffers do."""
        control = self.congestion_control
        return None if control is None or control.is_none else control.text

    @property
    def head_bytes(self) -> int:
        """Bytes of a full packet that must have arrived before a router decides on it."""
        if self.switching != "cut-through":
            return self.wire_bytes
        flit = self.flit or 1
        return max(-(-(self.header or 0) // flit), 1) * flit

    @property
    def wire_bytes(self) -> int:
        """Bytes of a full packet on a link, with its header, in whole flits."""
        flit, unit = self.flit or 1, self.nic.packet or self.packet
        full, rest = divmod(self.packet, max(unit, 1))
        return sum(-(-(size + (self.header or 0)) // flit) * flit for size in [unit] * full + [rest] * (rest > 0))

    def spec(self) -> dict[str, Any]:
        """The fabric as the core reads it."""
        # Defaults of the core are left out, so runs without these keys keep their ids.
        optional: dict[str, Any] = {}
        if self.switching not in (None, "store-and-forward"):
            optional["switching"] = self.switching
        if self.header:
            optional["header_bytes"] = self.header
        if self.flit not in (None, 1):
            optional["flit_bytes"] = self.flit
        if self.router is not None and self.router.kind != "ideal":
            optional["router"] = self.router.spec(self.links)
        if self.congestion_control is not None and not self.congestion_control.is_none:
            optional["congestion_control"] = self.congestion_control.spec()
        if self.traffic_classes:
            optional["traffic_classes"] = traffic.spec(self.traffic_classes)
        return {
            "packet_bytes": self.packet,
            "router_delay_ps": self.router_delay,
            "channels": self.channels,
            **optional,
            "nic": self.nic.spec(),
            "links": {
                name: {
                    "bandwidth": link.bandwidth,
                    "latency_ps": link.latency,
                    "buffer_bytes": self.buffer_of(name),
                    "credit_delay_ps": link.credit_delay,
                }
                for name, link in self.links.items()
            },
        }
