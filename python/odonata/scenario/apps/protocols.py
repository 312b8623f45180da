"""Protocols of NCCL: what a message carries besides its data, and what a step costs (docs/gpus.md).

The costs of the host in a preset with GPUs are those of a ring with the protocol Simple. Another protocol, or a tree,
changes them by the difference between two entries of NCCL's own tuning tables.

Source: NCCL, src/graph/tuning.cc (the tables of version 2.23) and
src/include/device.h (lines of LL and LL128, buffers). The tables for machines with NVLink are taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from odonata.machine.fabric import MAX_DELAY_PS
from odonata.machine.host import MAX_MESSAGE_BYTES, HostTable, SizedTable


@dataclass(frozen=True)
class Latencies:
    """Times of a protocol with an algorithm, in nanoseconds."""

    base: int
    """At the start of a collective."""
    inside: int
    """Of a step over NVLink."""
    between: int
    """Of a step over a network."""


@dataclass(frozen=True)
class Protocol:
    """A protocol."""

    about: str
    wire: Fraction
    """Bytes that a message has for each byte of its data."""
    slot: int
    """Bytes of a message that fit into one of the eight parts of a buffer."""
    ring: Latencies
    tree: Latencies

    def carried(self, size: int) -> int:
        """Bytes of messages that carry so many bytes of data."""
        return ceil(size * self.wire)


@dataclass(frozen=True)
class Limits:
    """Most bytes of messages that a GPU and its host carry, in millionths of a byte per second."""

    inside: int | None
    """A GPU to the others of its node; None for all that its links do."""
    between: int | None
    """A CPU of a rank to other nodes; None for all that its NIC does."""
    nic: int | None = None
    """Of messages that their GPU writes while the NIC sends them: what the NIC carries. None if they are written whole
    before."""
    shared: bool = True
    """Whether all CPUs of a GPU share `inside`, as those of trees, or each has a part, as those of rings."""


PROTOCOLS = {
    "simple": Protocol(
        "data alone, and a fence before the receiver may read them",
        wire=Fraction(1),
        slot=2**19,
        ring=Latencies(8_400, 3_400, 14_000),
        tree=Latencies(8_400, 4_000, 14_000),
    ),
    "ll": Protocol(
        "a flag of 4 B after each 4 B of data",
        wire=Fraction(2),
        slot=2**16,
        ring=Latencies(6_600, 600, 2_700),
        tree=Latencies(6_800, 600, 5_000),
    ),
    "ll128": Protocol(
        "a flag of 8 B after each 120 B of data",
        wire=Fraction(128, 120),
        slot=614_400,
        ring=Latencies(14_000, 1_900, 4_000),
        tree=Latencies(14_000, 1_250, 8_500),
    ),
}
"""Name in a scenario -> protocol."""


def with_protocol(host: HostTable, name: str, *, tree: bool) -> HostTable:
    """The costs of the host, which are those of a ring with Simple, for another protocol or for a tree.

    `send` and `receive` change by the difference of a step inside a node, in proportion, `delay` by what is left of the
    difference of a step between nodes, and `call` by that of the base latency. None becomes less than 0. A reduction
    takes as long as before, although it counts the bytes of messages.
    """
    protocol, usual = PROTOCOLS[name], PROTOCOLS["simple"].ring
    wanted = protocol.tree if tree else protocol.ring
    inside, between = (1_000 * (wanted.inside - usual.inside), 1_000 * (wanted.between - usual.between))

    def ends(send: int, receive: int) -> tuple[int, int]:
        work = max(0, send + receive + inside)
        at_sender = work * send // (send + receive) if send + receive else work // 2
        return at_sender, work - at_sender

    def scaled(rate: int) -> int:
        return int(rate * protocol.wire)

    by_size = []
    for entry in host.by_size:
        send, receive = ends(entry.send, entry.receive)
        delay = max(0, entry.delay + between - (send + receive - entry.send - entry.receive))
        by_size.append(entry.model_copy(update={"send": send, "receive": receive, "delay": delay}))
    send, receive = ends(host.send, host.receive)
    reduced = tuple(
        of.model_copy(update={"size": protocol.carried(of.size), "rate": scaled(of.rate)}) for of in host.reduce_by_size
    )
    changes = {
        "send": send,
        "receive": receive,
        "call": max(0, host.call + 1_000 * (wanted.base - usual.base)),
        "by_size": tuple(by_size),
        "reduce": scaled(host.reduce),
        "reduce_by_size": reduced,
    }
    return host.model_copy(update=changes)


def with_limits(host: HostTable, limits: Limits) -> HostTable:
    """The costs of the host with ports and links that carry no more than all CPUs of a GPU together, and with what each
    byte to another node takes beyond its NIC.

    It is work of the sender, if a message is written whole before its NIC sends it. If it is written while the NIC
    sends it, the message arrives so much later. This is 1 ms at most, as all costs of a message.
    """
    assert host.gpu is not None
    if limits.inside is not None and limits.shared and (most := host.gpu.most_of_one()):
        share = min(Fraction(1), Fraction(limits.inside, most))
        gpu = host.gpu.model_copy(update={"bandwidth": int(host.gpu.bandwidth * share)})
        host = host.model_copy(update={"gpu": gpu})
    if limits.between is None:
        return host
    cost = "send" if limits.nic is None else "delay"
    byte = Fraction(10**18, limits.between) - (0 if limits.nic is None else Fraction(10**18, limits.nic))
    if byte <= 0:
        return host
    sizes = host.by_size or _without_sizes(host)
    last = sizes[-1]
    largest = int((MAX_DELAY_PS - getattr(last, cost)) / byte)
    if last.size < largest:
        sizes = (*sizes, last.model_copy(update={"size": min(largest, MAX_MESSAGE_BYTES)}))
    costs = [min(getattr(of, cost) + int(of.size * byte), MAX_DELAY_PS) for of in sizes]
    written = tuple(of.model_copy(update={cost: ps}) for of, ps in zip(sizes, costs, strict=True))
    return host.model_copy(update={"by_size": written})


def _without_sizes(host: HostTable) -> tuple[SizedTable, ...]:
    """The costs of messages between nodes as a list by size, of ranks on GPUs, which do not copy."""
    at = {1: host.send, host.eager: host.send, host.eager + 1: host.send + host.rendezvous}
    return tuple(
        SizedTable.model_construct(size=size, send=send, receive=host.receive, delay=0)
        for size, send in at.items()
        if 1 <= size <= MAX_MESSAGE_BYTES
    )


def without_handshakes(host: HostTable) -> HostTable:
    """The costs of messages that never wait for their receives: channels have buffers at the receiver, which are
    emptied while data come (assumed: also for messages of more than the eight parts of a buffer).
    """
    return host.model_copy(update={"eager": MAX_MESSAGE_BYTES})


def tree_chunk(name: str, size: int, nodes: int, per_node: int) -> int:
    """The bytes of data that a tree of NCCL carries at a time, of `size` bytes over nodes of so many GPUs.

    A chunk fills a part of a buffer. It is halved until there are some chunks for each level of the tree (NCCL,
    src/enqueue.cc). There are two channels for each GPU of a node, of which each has one of the two trees.
    """
    protocol, channels = PROTOCOLS[name], 2 * per_node
    levels = nodes.bit_length() - 1
    depth = per_node - 1 + levels
    limits: dict[str, list[tuple[Fraction | int, int]]] = {
        "simple": [(8 * depth, 2**17), (4 * depth, 2**16), (depth, 2**15)],
        "ll128": [
            (64 * (1 + levels + Fraction(per_node, 10)) / per_node, 2**17),
            (16 * (1 + levels + Fraction(per_node, 10)) / per_node, 2**15),
        ],
    }
    chunk = protocol.slot
    for wanted, smallest in limits.get(name, []):
        while size // (channels * chunk) < wanted and chunk > smallest:
            chunk //= 2
    return int(chunk / protocol.wire)
