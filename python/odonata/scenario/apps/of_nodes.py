"""Collectives that depend on the GPUs of the nodes, as programs for the core (docs/gpus.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.scenario.apps.nccl import PXN

if TYPE_CHECKING:
    from collections.abc import Callable

    from odonata.machine.host import HostTable
    from odonata.scenario.apps.app import Program
    from odonata.scenario.apps.mapping import MappingTable


@dataclass(frozen=True)
class Vector:
    """What is reduced."""

    size: int
    """Bytes of the messages that carry the vector of a rank."""
    chunk: int
    """Bytes of a message of a tree."""


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


NODE_BY_NODE = ("linear", "random-nodes")
"""Mappings that give a node ranks with adjacent numbers."""


def gpus_of_a_node(what: str, overhead: HostTable, key: str) -> int:
    """How many a node has. Raises InputError (path `key`) if it has none."""
    if overhead.gpu is None:
        hint = "a system such as `alps-gpu`, or `gpu` in `overhead`; docs/gpus.md"
        raise InputError(f"`{what}` is for nodes with GPUs", hint=hint, path=(key,))
    return overhead.gpu.count


def hierarchical(vector: Vector, ranks: int, overhead: HostTable) -> dict[str, Any]:
    """Three phases, of which the first is a call: inside nodes, between the ranks of one number, inside."""
    inside = gpus_of_a_node("hierarchical", overhead, "algorithm")
    block = -(-vector.size // inside)
    parts = [("reduce-scatter", vector.size, 0), ("allreduce", block, 1), ("allgather", block, 0)]
    grid = [inside, ranks // inside]
    phases = [
        {
            "what": {"name": name, "algorithm": "ring", "bytes": part},
            "along": {"grid": grid, "axis": axis},
            "call": place == 0,
        }
        for place, (name, part, axis) in enumerate(parts)
    ]
    return {"name": "phases", "phases": phases}


MOST_CHUNKS = 1 << 16
"""Most chunks of a tree (assumed)."""


def ring_channels(vector: Vector, ranks: int, overhead: HostTable) -> dict[str, Any]:
    """A ring for each GPU of a node, side by side: each with a part of the vector, and on a CPU of its own.

    On one node it is one ring with the whole vector. There all rings would share all ports; those of NCCL take their
    steps together, so none uses a port while another waits for its next step, as rings do here that take turns.
    """
    count = gpus_of_a_node("ring-channels", overhead, "algorithm")
    graph = _Graph(overhead)
    for channel, part in enumerate(_parts(vector.size, 1 if ranks == count else count)):
        graph.add({"name": "ring-channel", "per_node": count, "first": channel, "bytes": part}, channel, [0])
    return graph.body


def double_binary_tree(vector: Vector, _: int, overhead: HostTable) -> dict[str, Any]:
    """Two trees for each GPU of a node, side by side: each with a part of the vector, chunk after chunk, and on two
    CPUs of its own, of which one sends chunks up and the other one down.
    """
    count = gpus_of_a_node("double-binary-tree", overhead, "algorithm")
    graph = _Graph(overhead)
    for channel, part in enumerate(_parts(vector.size, 2 * count)):
        tree = {
            "name": "tree-channel",
            "tree": ("first", "second")[channel % 2],
            "per_node": count,
            "first": channel // 2,
        }
        up, down, chunks = 0, 0, max(1, -(-part // vector.chunk))
        if chunks > MOST_CHUNKS:
            message = f"a tree would carry {chunks:,} chunks, expected {MOST_CHUNKS:,} at most"
            raise InputError(message, hint="larger chunks", path=("chunk",))
        for size in _parts(part, chunks):
            up = graph.add({**tree, "way": "up", "bytes": size}, 2 * channel, [up])
            down = graph.add({**tree, "way": "down", "bytes": size}, 2 * channel + 1, sorted({up, down}))
    return graph.body


def _parts(size: int, count: int) -> list[int]:
    return [size * (place + 1) // count - size * place // count for place in range(count)]


class _Graph:
    """The collectives of each rank after a call, which is node 0."""

    def __init__(self, overhead: HostTable) -> None:
        self._overhead = overhead
        self._collectives: list[dict[str, Any]] = []
        self._nodes = [{"cpu": 0, "after": [], "what": {"name": "compute", "ps": overhead.call}}]

    def add(self, what: dict[str, Any], cpu: int, after: list[int]) -> int:
        """Appends a collective that waits for these nodes; the number of its node."""
        from odonata.scenario.apps.train.collectives import combining

        entry = {"phases": [{"what": what}], "combine_ps": combining(self._overhead, what["bytes"])}
        if entry not in self._collectives:
            self._collectives.append(entry)
        number = self._collectives.index(entry)
        self._nodes.append({"cpu": cpu, "after": after, "what": {"name": "collective", "number": number}})
        return len(self._nodes) - 1

    @property
    def body(self) -> dict[str, Any]:
        return {"name": "stages", "collectives": self._collectives, "stages": [self._nodes]}


def by_rails(per_node: int, size: int) -> dict[str, Any]:
    """The phase of an all-to-all by rails among nodes of so many ranks, of blocks of `size` bytes."""
    return {"what": {"name": "pxn-alltoall", "per_node": per_node, "bytes": size}}


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


OF_NODES: dict[str, Callable[[Vector, int, HostTable], dict[str, Any]]] = {
    "hierarchical": hierarchical,
    "ring-channels": ring_channels,
    "double-binary-tree": double_binary_tree,
}
"""Algorithm of an all-reduce that depends on the GPUs of a node -> vector, ranks and costs to its program."""
