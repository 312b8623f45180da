"""Routers, links and NICs of a machine, as a table of a document."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from odonata import units
from odonata.document import Bandwidth, Size, Table, input_error_as_problem
from odonata.errors import InputError

#: Most virtual channels of a link of the core.
MAX_CHANNELS = 16


def _channels(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_CHANNELS:
        raise InputError(f"expected a number of virtual channels from 1 to {MAX_CHANNELS}, found `{value!r}`")
    return value


#: Longest delay of a router, wire or credit of the core: 1 ms.
MAX_DELAY_PS = 10**9


def _delay(value: Any) -> int:
    ps = units.time_ps(value)
    if ps > MAX_DELAY_PS:
        raise InputError(f"`{value}` is longer than the longest delay, 1 ms")
    return ps


Delay = Annotated[
    int,
    BeforeValidator(input_error_as_problem(_delay)),
    PlainSerializer(units.format_time, when_used="json"),
]
Channels = Annotated[int, BeforeValidator(input_error_as_problem(_channels))]


class LinkTable(Table):
    """A class of links, both directions alike."""

    bandwidth: Bandwidth = Field(description="bandwidth of each direction")
    latency: Delay = Field(0, description="time on the wire")
    buffer: Size = Field(8192, description="input buffer at the end of the link, for each virtual channel")
    credit_delay: Delay = Field(0, description="time that a returning credit takes in addition to the wire's latency")


class NicTable(Table):
    """The network interface of every node."""

    overhead: Delay = Field(0, description="idle time of the injection link before the first packet of a message")
    order: Literal["fcfs", "round-robin"] = Field(
        "fcfs", description="which of several waiting messages sends the next packet"
    )
    rail: Literal["hash", "least-busy"] | None = Field(
        None, description="how the NIC of a message is chosen on a node with several NICs (default: hash)"
    )


class FabricTable(Table):
    """Routers, NICs and the classes of links."""

    packet: Size = Field(2048, description="largest packet; messages are cut into such packets")
    router_delay: Delay = Field(100_000, description="time from a packet's arrival at a router to its route decision")
    channels: Channels = Field(2, description="virtual channels of every link between routers")
    nic: NicTable = Field(NicTable(), description="the network interfaces")
    links: dict[str, LinkTable] = Field(description="the classes of links")

    def check(self, classes: tuple[str, ...]) -> None:
        """Raises InputError unless all these classes of links are described, sensibly."""
        for name in classes:
            if name not in self.links:
                raise InputError(
                    f"the link class `{name}` is missing",
                    hint=f'links.{name} = {{ bandwidth = "...", buffer = "..." }}',
                    path=("links",),
                )
        if not 1 <= self.packet <= 65_536:
            message = f"a packet must have between 1 and 65,536 bytes, found {self.packet:,}"
            raise InputError(message, path=("packet",))
        for name, link in self.links.items():
            if not self.packet <= link.buffer <= 2**30:
                raise InputError(
                    f"the buffer of class `{name}` ({link.buffer:,} B) must hold at least one packet "
                    f"({self.packet:,} B) and at most 2^30 bytes",
                    path=("links", name, "buffer"),
                )

    def spec(self) -> dict[str, Any]:
        """The fabric as the core reads it."""
        nic: dict[str, Any] = {"overhead_ps": self.nic.overhead, "order": self.nic.order}
        if self.nic.rail not in (None, "hash"):
            nic["rail"] = self.nic.rail
        return {
            "packet_bytes": self.packet,
            "router_delay_ps": self.router_delay,
            "channels": self.channels,
            "nic": nic,
            "links": {
                name: {
                    "bandwidth": link.bandwidth,
                    "latency_ps": link.latency,
                    "buffer_bytes": link.buffer,
                    "credit_delay_ps": link.credit_delay,
                }
                for name, link in self.links.items()
            },
        }
