"""Kinds of machines: one file each, listed in `KINDS`."""

from odonata.machine.kinds.cascade import CascadeTable
from odonata.machine.kinds.dragonfly import DragonflyTable
from odonata.machine.kinds.dragonfly_plus import DragonflyPlusTable
from odonata.machine.kinds.fat_tree import FatTreeTable
from odonata.machine.kinds.hyperx import HyperXTable
from odonata.machine.kinds.kind import MachineTable, WiringTable

#: Name of a kind (`kind = ...` in a machine) -> what such a machine's table may say.
KINDS: dict[str, type[MachineTable]] = {
    "dragonfly-plus": DragonflyPlusTable,
    "dragonfly": DragonflyTable,
    "cascade": CascadeTable,
    "fat-tree": FatTreeTable,
    "hyperx": HyperXTable,
}

__all__ = ["KINDS", "MachineTable", "WiringTable"]
