"""All-reduces around several rings on nodes with GPUs, as programs for the core (docs/gpus.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from odonata.machine.host import HostTable
    from odonata.scenario.apps.app import Program
    from odonata.scenario.apps.mapping import MappingTable


def check_nodes(app: Program, per_node: int, mapping: MappingTable, overhead: HostTable) -> None:
    """Raises InputError (path into the job) if an algorithm of `OF_NODES` has not a rank for each GPU, node by node."""
    algorithm = getattr(app, "algorithm", None)
    if not isinstance(algorithm, str) or algorithm not in OF_NODES or overhead.gpu is None:
        return  # also a trace, which names algorithms by collective
    count = overhead.gpu.count
    if per_node != count:
        message = f"`{algorithm}` needs a rank for each GPU: found {per_node} on a node of {count} GPUs"
        raise InputError(message, hint=f"ranks_per_node = {count}", path=("ranks_per_node",))
    if mapping.name not in NODE_BY_NODE:
        hint = f"mapping = `{NODE_BY_NODE[0]}` or `{NODE_BY_NODE[1]}`"
        raise InputError(f"`{algorithm}` needs the ranks of a node side by side", hint=hint, path=("mapping",))


NODE_BY_NODE = ("linear", "random-nodes")
"""Mappings that give a node ranks with adjacent numbers."""


def _gpus_of_a_node(algorithm: str, overhead: HostTable) -> int:
    if overhead.gpu is None:
        hint = "a system such as `alps-gpu`, or `gpu` in `overhead`; docs/gpus.md"
        raise InputError(f"`{algorithm}` is for nodes with GPUs", hint=hint, path=("algorithm",))
    return overhead.gpu.count


def hierarchical(size: int, ranks: int, overhead: HostTable) -> dict[str, Any]:
    """Three phases, of which the first is a call: inside nodes, between the ranks of one number, inside."""
    inside = _gpus_of_a_node("hierarchical", overhead)
    block = -(-size // inside)
    parts = [("reduce-scatter", size, 0), ("allreduce", block, 1), ("allgather", block, 0)]
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


def ring_channels(size: int, _: int, overhead: HostTable) -> dict[str, Any]:
    """A ring for each GPU of a node, side by side: each with a part of the vector, and on a CPU of its own."""
    from odonata.scenario.apps.train.collectives import combining

    count = _gpus_of_a_node("ring-channels", overhead)
    parts = [size * (channel + 1) // count - size * channel // count for channel in range(count)]
    rings = [
        {
            "phases": [{"what": {"name": "ring-channel", "per_node": count, "first": channel, "bytes": part}}],
            "combine_ps": combining(overhead, part),
        }
        for channel, part in enumerate(parts)
    ]
    call = {"cpu": 0, "after": [], "what": {"name": "compute", "ps": overhead.call}}
    channels = [
        {"cpu": channel, "after": [0], "what": {"name": "collective", "number": channel}} for channel in range(count)
    ]
    return {"name": "stages", "collectives": rings, "stages": [[call, *channels]]}


OF_NODES: dict[str, Callable[[int, int, HostTable], dict[str, Any]]] = {
    "hierarchical": hierarchical,
    "ring-channels": ring_channels,
}
"""Algorithm of an all-reduce that depends on the GPUs of a node -> bytes, ranks and costs to its program."""
