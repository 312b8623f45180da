"""The costs of sending and receiving for the ranks of a job."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer

from odonata import units
from odonata.document import Table, input_error_as_problem, validate
from odonata.errors import InputError, unknown
from odonata.machine.fabric import Delay

#: Largest control message, and largest header of a message, of the core.
MAX_CONTROL_BYTES = 65_536


def _copy(value: Any) -> int:
    if value == "none":
        return 0
    micro = units.bandwidth_micro(value)
    if micro == 0:
        raise InputError(f"a copy at `{value}` would never end", hint='without copies: copy = "none"')
    if micro >= 2**64:
        raise InputError(f"`{value}` is more than 2^64 millionths of a byte per second (18 TB/s)")
    return micro


def _eager(value: Any) -> int:
    size = units.size_bytes(value)
    if size >= 2**63:
        raise InputError(f"`{value}` is more than 2^63 bytes")
    return size


def _control(value: Any) -> int:
    size = units.size_bytes(value)
    if not 1 <= size <= MAX_CONTROL_BYTES:
        raise InputError(f"a control message has between 1 B and 64 KiB, found `{value}`")
    return size


def _header(value: Any) -> int:
    size = units.size_bytes(value)
    if size > MAX_CONTROL_BYTES:
        raise InputError(f"the header of a message has at most 64 KiB, found `{value}`")
    return size


def _as_json(write: Any) -> PlainSerializer:
    return PlainSerializer(write, when_used="json")


class OverheadTable(Table):
    """The costs of sending and receiving for a rank (docs/model.md, section 10).

    The defaults are those of the simulator of Zhang 2018 (SST's firefly as its authors ran it): 130 ns to set up a
    send, 100 ns to match a receive, and 30 ns each to enter and to leave the MPI call; 344 ps to copy a byte; eager up
    to 12,000 bytes. The memory latency and the sizes of control messages and headers are assumed. The minimum time
    between two messages of a NIC (the g of LogGP) is `overhead` in the system's `fabric.nic`.
    """

    send: Delay = Field(190_000, description="CPU time to send a message (the o of LogGP): 130 + 30 + 30 ns (L)")
    receive: Delay = Field(160_000, description="CPU time to receive a message: 100 + 30 + 30 ns (L)")
    copy_: Annotated[
        int,
        BeforeValidator(input_error_as_problem(_copy)),
        _as_json(lambda v: units.format_bandwidth(v) if v else "none"),
    ] = Field(
        2_906_976_744_186_047,
        alias="copy",
        description="bandwidth of the copy that sender and receiver make of an eager message or an intra-node message, "
        "or `none`: 344 ps a byte (L)",
    )
    memory: Delay = Field(100_000, description="time from one rank to another rank of the same node (assumed)")
    eager: Annotated[int, BeforeValidator(input_error_as_problem(_eager)), _as_json(units.format_bytes)] = Field(
        12_000, description="largest message that is sent without asking the receiver (L)"
    )
    control: Annotated[int, BeforeValidator(input_error_as_problem(_control)), _as_json(units.format_bytes)] = Field(
        64,
        description="size of control messages (RTS and CTS), and minimum size of every protocol message (assumed)",
    )
    header: Annotated[int, BeforeValidator(input_error_as_problem(_header)), _as_json(units.format_bytes)] = Field(
        0,
        description="envelope of the message-passing library: bytes that every protocol message has besides (assumed)",
    )

    def spec(self) -> dict[str, Any]:
        """The costs as the core reads them."""
        # What is absent is what the core does anyway; runs without it keep their identity.
        header = {"header_bytes": self.header} if self.header else {}
        return {
            **header,
            "send_ps": self.send,
            "receive_ps": self.receive,
            "copy": self.copy_ or None,
            "memory_ps": self.memory,
            "eager_bytes": self.eager,
            "control_bytes": self.control,
        }


#: No costs, and every message is eager: only the network takes time.
NO_OVERHEAD: dict[str, Any] = {"send": "0 s", "receive": "0 s", "copy": "none", "memory": "0 s", "eager": "1024 TiB"}


def _read(value: Any) -> Any:
    if isinstance(value, OverheadTable):
        return value
    if isinstance(value, str):
        if value != "none":
            error = unknown("overhead", value, ["none"])
            raise InputError(error.message, hint='"none", or a table such as { send = "190 ns", eager = "12 KB" }')
        value = NO_OVERHEAD
    return validate(OverheadTable, value)


#: Costs as a scenario gives them: a table, or "none".
Overhead = Annotated[OverheadTable, BeforeValidator(input_error_as_problem(_read))]
