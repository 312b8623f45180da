"""Costs of the host: the time that ranks of a program need to send, receive and reduce."""

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer

from odonata import units
from odonata.core_options import LIMITS
from odonata.document import Table, input_error_as_problem
from odonata.errors import InputError, unknown
from odonata.machine.fabric import Delay
from odonata.machine.gpus import GpuTable

#: Largest control message, and largest header of a message.
MAX_CONTROL_BYTES = LIMITS["packet_bytes"]
#: Largest size of a message with costs of its own.
MAX_MESSAGE_BYTES = LIMITS["message_bytes"]


def _rate(value: Any) -> int:
    if value == "none":
        return 0
    micro = units.bandwidth_micro(value)
    if micro == 0:
        raise InputError(f"at `{value}` it would never end", hint='"none" costs no time')
    if micro >= 2**64:
        raise InputError(f"`{value}` is more than 2^64 millionths of a byte per second (18 TB/s)")
    return micro


def _positive_rate(value: Any) -> int:
    if value == "none":
        raise InputError(
            "a size without a rate is left out of the list", hint='reduce = "none" costs no time at any size'
        )
    return _rate(value)


def _eager(value: Any) -> int:
    size = units.size_bytes(value)
    if size >= 2**63:
        raise InputError(f"`{value}` is more than 2^63 bytes")
    return size


def _sized(value: Any) -> int:
    size = units.size_bytes(value)
    if size > MAX_MESSAGE_BYTES:
        raise InputError(f"a message has at most 2^40 B (1 TiB), found `{value}`")
    return size


def _control(value: Any) -> int:
    size = units.size_bytes(value)
    if not 1 <= size <= MAX_CONTROL_BYTES:
        raise InputError(f"a control message has between 1 B and 64 KiB, found `{value}`")
    return size


def _fetches(value: Any) -> int:
    if value == "any":
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**32:
        raise InputError(f'expected a number of messages from 1 on, or "any", found `{value!r}`')
    return value


def _header(value: Any) -> int:
    size = units.size_bytes(value)
    if size > MAX_CONTROL_BYTES:
        raise InputError(f"the header of a message has at most 64 KiB, found `{value}`")
    return size


def _as_json(write: Any) -> PlainSerializer:
    return PlainSerializer(write, when_used="json")


Rate = Annotated[
    int,
    BeforeValidator(input_error_as_problem(_rate)),
    _as_json(lambda v: units.format_bandwidth(v) if v else "none"),
]
"""A bandwidth in millionths of a byte per second; 0 for `none`, which costs no time."""


class SizedTable(Table):
    """What a message of one size between two nodes costs."""

    size: Annotated[int, BeforeValidator(input_error_as_problem(_sized)), _as_json(units.format_bytes)] = Field(
        description="size of the message"
    )
    send: Delay = Field(description="CPU time of the sender")
    receive: Delay = Field(description="CPU time of the receiver")
    delay: Delay = Field(0, description="time between the network and the rank in which no CPU works")


def _by_size(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise InputError(f"expected a list of tables with `size`, `send`, `receive` and `delay`, found `{value!r}`")
    return tuple(value)


def _reduce_by_size(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise InputError(f"expected a list of tables with `size` and `rate`, found `{value!r}`")
    return tuple(value)


def _ascending(tables: tuple[Any, ...]) -> tuple[Any, ...]:
    for number, (table, next_table) in enumerate(pairwise(tables), 1):
        if next_table.size <= table.size:
            sizes = f"{units.format_bytes(next_table.size)} after {units.format_bytes(table.size)}"
            raise InputError(f"sizes ascend, found {sizes}", path=(number, "size"))
    return tables


def _gpu(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value != "none":
        error = unknown("kind of GPUs", value, ["none"])
        hint = '"none", or a table such as { count = 4, network = "switch", bandwidth = "450 GB/s", latency = "1 us" }'
        raise InputError(error.message, hint=hint)
    return None


def _checked(gpu: GpuTable | None) -> GpuTable | None:
    return None if gpu is None else gpu.check()


class SizedReduceTable(Table):
    """How fast vectors of one size are combined."""

    size: Annotated[int, BeforeValidator(input_error_as_problem(_sized)), _as_json(units.format_bytes)] = Field(
        description="size of the vector of a rank"
    )
    rate: Annotated[int, BeforeValidator(input_error_as_problem(_positive_rate)), _as_json(units.format_bandwidth)] = (
        Field(description="bandwidth at which a reduction combines it")
    )


PLAIN = ("send", "receive", "copy", "rendezvous")
"""The costs that `by_size` stands in place of."""


def overruled_lists(given: Collection[str]) -> set[str]:
    """The costs by size of another table that do not hold beside a table of costs with these keys."""
    lists = {"by_size": PLAIN, "reduce_by_size": ("reduce",)}
    return {key for key, plain in lists.items() if key not in given and not set(plain).isdisjoint(given)}


class HostTable(Table):
    """The costs of messages and reductions for a rank (docs/model.md, section 10).

    The defaults are for tables that leave keys out, and for ranks on processors: assumed, close to the calibration on
    Leonardo (validation/calibration.md). Ranks on GPUs have `GPU_COSTS` in their place, and a machine without `[host]`
    has no costs. No message is faster than a shorter one: two copies of a message of the eager limit take less than
    `rendezvous`. The minimum time between two messages of a NIC (the g of LogGP) is `overhead` in the system's
    `fabric.nic`.
    """

    send: Delay = Field(500_000, description="CPU time to send a message (the o of LogGP)")
    receive: Delay = Field(800_000, description="CPU time to receive a message")
    copy_: Rate = Field(
        10**16,
        alias="copy",
        description="bandwidth of the copy that sender and receiver make of an eager message or an intra-node message, "
        "or `none`",
    )
    eager: Annotated[int, BeforeValidator(input_error_as_problem(_eager)), _as_json(units.format_bytes)] = Field(
        65_536, description="largest message that is sent without asking the receiver"
    )
    rendezvous: Delay = Field(
        16_000_000, description="CPU time of the sender to set up a larger message, before it asks the receiver"
    )
    reduce: Rate = Field(
        9 * 10**15,
        description="bandwidth at which a reduction combines what a rank receives with what it has, or `none`",
    )
    reduce_by_size: Annotated[
        tuple[SizedReduceTable, ...],
        BeforeValidator(input_error_as_problem(_reduce_by_size)),
        AfterValidator(input_error_as_problem(_ascending)),
    ] = Field(
        (),
        description="the same by size of the vector of a rank, in place of `reduce`: times are linear between two "
        "sizes; changes that name `reduce` drop the list of the preset",
    )
    call: Delay = Field(800_000, description="CPU time of a rank at the start of a collective operation")
    memory: Delay = Field(100_000, description="time from one rank to another rank of the same node")
    control: Annotated[int, BeforeValidator(input_error_as_problem(_control)), _as_json(units.format_bytes)] = Field(
        64, description="size of control messages (RTS, CTS, FIN), and minimum size of every protocol message"
    )
    header: Annotated[int, BeforeValidator(input_error_as_problem(_header)), _as_json(units.format_bytes)] = Field(
        0, description="envelope of the message-passing library: bytes that every protocol message has besides"
    )
    fetches: (
        Annotated[int, BeforeValidator(input_error_as_problem(_fetches)), _as_json(lambda v: v or "any")] | None
    ) = Field(
        None,
        description='most messages larger than `eager` whose data a rank asks for at a time, or `"any"`: transports '
        "whose connections share a few queues bound it, as UCX with DC (default: any number)",
    )

    by_size: Annotated[
        tuple[SizedTable, ...],
        BeforeValidator(input_error_as_problem(_by_size)),
        AfterValidator(input_error_as_problem(_ascending)),
    ] = Field(
        (),
        description="costs of messages between nodes by size, in place of `send`, `receive`, `copy` and `rendezvous`: "
        "linear between two sizes (PLogP; Kielmann, Bal and Verstoep 2000); changes that name one of these four drop "
        "those of the preset",
    )

    gpu: Annotated[
        GpuTable | None,
        BeforeValidator(input_error_as_problem(_gpu)),
        AfterValidator(input_error_as_problem(_checked)),
    ] = Field(
        None,
        description="GPUs of a node that ranks run on, and the network between them, or `none`: `count`, `network`, "
        "`bandwidth`, `latency`, `links`, `root`, `nics`, `generation`, `cpu`; with GPUs there is no `copy`",
    )

    def document(self) -> dict[str, Any]:
        """Return all costs, quantities with units, as the table `[host]` of a system."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def on_rails(self, rails: int) -> Self:
        """The same on nodes with so many NICs: GPUs have a NIC each. Raises InputError (path in this table)."""
        if self.gpu is None:
            return self
        try:
            return self.model_copy(update={"gpu": self.gpu.on_rails(rails)})
        except InputError as e:
            raise e.under("gpu") from None

    def gpus(self) -> dict[str, Any]:
        """`gpus` of a program as the core reads it, if there are any, from the result of `on_rails`."""
        return {} if self.gpu is None else {"gpus": self.gpu.spec()}

    def costs(self) -> dict[str, Any]:
        """`costs` and, where they are given, `by_size` and `combine_by_size` of a program as the core reads it."""
        sized = [
            {"bytes": of.size, "send_ps": of.send, "receive_ps": of.receive, "delay_ps": of.delay}
            for of in self.by_size
        ]
        combined = [{"bytes": of.size, "combine": of.rate} for of in self.reduce_by_size]
        return {
            "costs": self.spec(),
            **({"by_size": sized} if sized else {}),
            **({"combine_by_size": combined} if combined else {}),
        }

    def spec(self) -> dict[str, Any]:
        """The costs as the core reads them; `call` is part of the program."""
        # Defaults of the core are left out, so runs without these keys keep their ids.
        optional = {
            "header_bytes": self.header,
            "combine": self.reduce,
            "rendezvous_ps": self.rendezvous,
            "fetches": self.fetches or 0,
        }
        return {
            **{key: value for key, value in optional.items() if value},
            "send_ps": self.send,
            "receive_ps": self.receive,
            "copy": self.copy_ or None,
            "memory_ps": self.memory,
            "eager_bytes": self.eager,
            "control_bytes": self.control,
        }


#: No costs, and every message is eager: only the network takes time.
NO_COSTS: dict[str, Any] = {
    "send": "0 s",
    "receive": "0 s",
    "copy": "none",
    "eager": "1024 TiB",
    "rendezvous": "0 s",
    "reduce": "none",
    "reduce_by_size": [],
    "call": "0 s",
    "memory": "0 s",
    "by_size": [],
}

#: The costs that are the work of a library on a rank: those of MPI and of NCCL differ.
COSTS = ("send", "receive", "copy", "eager", "rendezvous", "reduce", "call")

#: Costs of ranks on GPUs that state no others: those of NCCL's protocol Simple, as the presets with GPUs have them.
GPU_COSTS: dict[str, Any] = {
    "send": "1.4 us",
    "receive": "1.4 us",
    "copy": "none",
    "eager": "512 KiB",
    "rendezvous": "0 ns",
    "reduce": "none",
    "call": "8.4 us",
    "by_size": [{"size": "8 B", "send": "1.4 us", "receive": "1.4 us", "delay": "9 us"}],
}


def gains_gpus(before: Any, changes: Any) -> bool:
    """Whether changes of a table `[host]` put ranks on GPUs that were on processors."""
    return _has_gpus(changes) and not _has_gpus(before)


def with_gpu_costs(given: Mapping[str, Any]) -> dict[str, Any]:
    """A table `[host]` with GPUs and costs for all that it leaves out."""
    lists = overruled_lists(given)
    return {key: value for key, value in GPU_COSTS.items() if key not in lists} | dict(given)


def _has_gpus(table: Any) -> bool:
    return isinstance(table, Mapping) and table.get("gpu") not in (None, "none")
