"""Collectives that depend on the GPUs of the nodes, as programs for the core (docs/gpus.md)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.machine.gpu_channels import Channel, chains, chains_from, rings
from odonata.scenario.apps.combining import combining
from odonata.scenario.apps.nccl import PXN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from odonata.machine.gpus import GpuTable
    from odonata.machine.host import HostTable
    from odonata.scenario.apps.app import Program
    from odonata.scenario.apps.mapping import MappingTable


@dataclass(frozen=True)
class Data:
    """What a collective of nodes with GPUs moves."""

    size: int
    """Bytes of the messages that carry the vector of a rank, or with an all-gather its data."""
    work: str = "allreduce"
    """The collective."""
    chunk: int = 0
    """Bytes of a message of a tree."""
    limit: int | None = None
    """Most that a GPU carries to the others of its node, in millionths of a byte per second; None for its links."""


def check_nodes(app: Program, per_node: int, mapping: MappingTable, overhead: HostTable) -> None:
    """Raises InputError (path into the job) if an algorithm needs a rank for each GPU, node by node, and lacks it."""
    algorithm = app.for_each_gpu
    if algorithm is None or overhead.gpu is None:
        return
    count = overhead.gpu.count
    if per_node != count:
        message = f"`{algorithm}` needs a rank for each GPU: found {per_node} on a node of {count} GPUs"
        raise InputError(message, hint=f"ranks_per_node = {count}", path=("ranks_per_node",))
    if mapping.name not in NODE_BY_NODE:
        hint = f"mapping = `{NODE_BY_NODE[0]}` or `{NODE_BY_NODE[1]}`"
        raise InputError(f"`{algorithm}` needs the ranks of a node side by side", hint=hint, path=("mapping",))


def gpus_in_order(per_node: int, mapping: MappingTable, overhead: HostTable) -> bool:
    """Whether each GPU has one rank, and the ranks of a node are side by side."""
    return overhead.gpu is not None and per_node == overhead.gpu.count and mapping.name in NODE_BY_NODE


NODE_BY_NODE = ("linear", "random-nodes")
"""Mappings that give a node ranks with adjacent numbers."""


def gpus_of_a_node(what: str, overhead: HostTable, key: str) -> int:
    """How many a node has. Raises InputError (path `key`) if it has none."""
    if overhead.gpu is None:
        hint = "a system such as `alps-gpu`, or `gpu` in `overhead`; docs/gpus.md"
        raise InputError(f"`{what}` is for nodes with GPUs", hint=hint, path=(key,))
    return overhead.gpu.count


def hierarchical(data: Data, ranks: int, overhead: HostTable) -> dict[str, Any]:
    """A reduce-scatter inside nodes, an all-reduce between the ranks of one number, and an all-gather inside.

    Inside nodes the rings use all links. With one ring there it is three phases, of which the first is a call.
    """
    inside = gpus_of_a_node("hierarchical", overhead, "algorithm")
    block = -(-data.size // inside)
    grid = [inside, ranks // inside]
    assert overhead.gpu is not None
    channels = rings(overhead.gpu, range(inside))
    if len(channels) == 1:
        parts = [("reduce-scatter", data.size, 0), ("allreduce", block, 1), ("allgather", block, 0)]
        phases = [
            {
                "what": {"name": name, "algorithm": "ring", "bytes": part},
                "along": {"grid": grid, "axis": axis},
                "call": place == 0,
            }
            for place, (name, part, axis) in enumerate(parts)
        ]
        rates = [] if data.limit is None else [[0, data.limit]]
        return {"name": "phases", "phases": phases, **({"rates": rates} if rates else {})}
    graph = Graph(overhead)
    after = graph.channels(channels, "reduce-scatter", data.size, [0], data.limit, along={"grid": grid, "axis": 0})
    ring = {"name": "allreduce", "algorithm": "ring", "bytes": block}
    between = graph.add(ring, len(channels), after, along={"grid": grid, "axis": 1})
    graph.channels(channels, "allgather", block, [between], data.limit, along={"grid": grid, "axis": 0})
    return graph.body


MOST_CHUNKS = 1 << 16
"""Most chunks of a tree (assumed)."""


def ring_channels(data: Data, ranks: int, overhead: HostTable) -> dict[str, Any]:
    """Rings side by side, each with a part of the data, and on a CPU of its own.

    On several nodes there is one for each NIC of a node, and on one node as many as use all links of a mesh. On a
    switch that is one, for there all rings would share all ports. Rings that share a port or a link have rates.
    """
    count = gpus_of_a_node("ring-channels", overhead, "algorithm")
    assert overhead.gpu is not None
    laid = rings if ranks == count else chains
    graph = Graph(overhead)
    graph.channels(laid(overhead.gpu, range(count)), data.work, data.size, [0], data.limit)
    return graph.body


def double_binary_tree(data: Data, _: int, overhead: HostTable) -> dict[str, Any]:
    """Two trees for each GPU of a node, side by side: each with a part of the vector, chunk after chunk, and on two
    CPUs of its own, of which one sends chunks up and the other one down.
    """
    count = gpus_of_a_node("double-binary-tree", overhead, "algorithm")
    assert overhead.gpu is not None
    orders = chains_from(overhead.gpu, range(count), range(count))
    graph = Graph(overhead)
    for channel, part in enumerate(parts(data.size, 2 * count)):
        tree = {
            "name": "tree-channel",
            "tree": ("first", "second")[channel % 2],
            "order": list(orders[channel // 2]),
        }
        up, down, chunks = 0, 0, max(1, -(-part // data.chunk))
        if chunks > MOST_CHUNKS:
            message = f"a tree would carry {chunks:,} chunks, expected {MOST_CHUNKS:,} at most"
            raise InputError(message, hint="larger chunks", path=("chunk",))
        for size in parts(part, chunks):
            up = graph.add({**tree, "way": "up", "bytes": size}, 2 * channel, [up])
            down = graph.add({**tree, "way": "down", "bytes": size}, 2 * channel + 1, sorted({up, down}))
    return graph.body


def parts(size: int, count: int) -> list[int]:
    """A size in equal parts, but for rounding."""
    return [size * (place + 1) // count - size * place // count for place in range(count)]


def shares(channels: Sequence[Channel], size: int) -> list[int]:
    """The bytes of each channel."""
    ends = [int(size * sum((of.share for of in channels[:place]), Fraction(0))) for place in range(len(channels) + 1)]
    return [end - begin for begin, end in pairwise(ends)]


def paced(channel: Channel, limit: int | None) -> int | None:
    """The rate of the CPU of a channel of a GPU that carries no more than `limit` in all channels."""
    rates = [*([channel.rate] if channel.rate else []), *([max(1, int(limit * channel.share))] if limit else [])]
    return min(rates, default=None)


def ring_phase(channel: Channel, work: str, size: int) -> dict[str, Any]:
    """The part of a collective that goes around one ring."""
    return {"what": {"name": "ring-channel", "work": work, "order": list(channel.order), "bytes": size}}


def channels_of_group(gpu: GpuTable, count: int, stride: int) -> list[Channel]:
    """The channels of groups of so many ranks, each `stride` after the other, one rank for each GPU.

    One ring in the order of the ranks, if the nodes of a group have other numbers of them, or if groups differ in the
    links between their GPUs.
    """
    plain = [Channel(tuple(range(count)), Fraction(1))]
    try:
        members = members_of_a_node(count, stride, gpu.count)
    except InputError:
        return plain
    if members == 1:
        return plain
    inside, span = members == count, stride * members
    firsts = [block + first for block in range(0, gpu.count, span) for first in range(stride)]
    listed = [(rings if inside else chains)(gpu, [first + stride * k for k in range(members)]) for first in firsts]
    return listed[0] if all(of == listed[0] for of in listed) else plain


class Graph:
    """The collectives of each rank after a call, which is node 0."""

    def __init__(self, overhead: HostTable) -> None:
        self._overhead = overhead
        self._collectives: list[dict[str, Any]] = []
        self._nodes = [{"cpu": 0, "after": [], "what": {"name": "compute", "ps": overhead.call}}]
        self.rates: dict[int, int] = {}
        """CPU -> most that it writes to other GPUs, in millionths of a byte per second."""

    def add(self, what: dict[str, Any], cpu: int, after: list[int], along: dict[str, Any] | None = None) -> int:
        """Appends a collective that waits for these nodes; the number of its node."""
        reduced = what["bytes"] if what.get("work", what["name"]) != "allgather" else 0
        phase = {"what": what} if along is None else {"what": what, "along": along}
        entry = {"phases": [phase], "combine_ps": combining(self._overhead, reduced)}
        if entry not in self._collectives:
            self._collectives.append(entry)
        number = self._collectives.index(entry)
        self._nodes.append({"cpu": cpu, "after": after, "what": {"name": "collective", "number": number}})
        return len(self._nodes) - 1

    def channels(
        self,
        channels: Sequence[Channel],
        work: str,
        size: int,
        after: list[int],
        limit: int | None,
        along: dict[str, Any] | None = None,
    ) -> list[int]:
        """Appends a collective around rings side by side, from CPU 0 on; the numbers of its nodes."""
        made = []
        for cpu, (channel, part) in enumerate(zip(channels, shares(channels, size), strict=True)):
            made.append(self.add(ring_phase(channel, work, part)["what"], cpu, after, along))
            rate = paced(channel, limit)
            if rate is not None:
                self.rates[cpu] = rate
        return made

    @property
    def body(self) -> dict[str, Any]:
        """As the core reads it, and `rates` of CPUs."""
        body: dict[str, Any] = {"name": "stages", "collectives": self._collectives, "stages": [self._nodes]}
        return body | ({"rates": [list(of) for of in self.rates.items()]} if self.rates else {})


def by_rails(per_node: int, size: int) -> dict[str, Any]:
    """The phase of an all-to-all by rails among nodes of so many ranks, of blocks of `size` bytes."""
    return {"what": {"name": "pxn-alltoall", "per_node": per_node, "bytes": size}}


def node_after_node(per_node: int, size: int) -> dict[str, Any]:
    """The phase of a `scattered` all-to-all among nodes of so many ranks, each with a NIC; `size` of a block."""
    return {"what": {"name": "grouped-alltoall", "per_node": per_node, "bytes": size}}


def members_of_a_node(count: int, stride: int, gpus: int) -> int:
    """How many ranks of a group are on each of its nodes, always on the same GPUs.

    Parameters
    ----------
    count
        Ranks of the group.
    stride
        Their distance in the ranks of the job.
    gpus
        Ranks of a node, side by side.

    Raises
    ------
    InputError
        If its nodes have other numbers of them, or on other GPUs (path `algorithm`).
    """
    span = stride * count
    if count == 1 or stride % gpus == 0:
        return 1
    if gpus % span == 0:
        return count
    if gpus % stride == 0 and span % gpus == 0:
        return gpus // stride
    group = f"{count} ranks, each {stride} after the other, on nodes of {gpus}"
    message = (
        f"all-to-alls by rails (`{PXN}`, `nccl`) need groups with ranks on the same GPUs of each node: found {group}"
    )
    raise InputError(message, hint='`alltoall = "scattered"` has no such limit', path=("algorithm",))


GPU_COLLECTIVES: dict[str, Callable[[Data, int, HostTable], dict[str, Any]]] = {
    "hierarchical": hierarchical,
    "ring-channels": ring_channels,
    "double-binary-tree": double_binary_tree,
}
"""Algorithm that depends on the GPUs of a node -> data, ranks and costs to its program. Only `ring-channels` is for
other collectives than all-reduces."""
