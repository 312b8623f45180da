"""Kinds of machines: one file each, listed in `KINDS`."""

from collections.abc import Mapping

from odonata.lazy import ByName
from odonata.machine.kinds.kind import MachineTable, WiringTable

#: Name of a kind (`kind = ...` in a machine) -> what such a machine's table may say.
KINDS: Mapping[str, type[MachineTable]] = ByName(
    __name__,
    {
        "dragonfly-plus": "dragonfly_plus.DragonflyPlusTable",
        "dragonfly": "dragonfly.DragonflyTable",
        "cascade": "cascade.CascadeTable",
        "fat-tree": "fat_tree.FatTreeTable",
        "hyperx": "hyperx.HyperXTable",
        "graph": "graph.GraphTable",
    },
)

__all__ = ["KINDS", "MachineTable", "WiringTable"]
