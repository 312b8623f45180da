"""Kinds of machines: one file each, listed in `KINDS`."""

from odonata.machine.kinds.dragonfly_plus import DragonflyPlusTable
from odonata.machine.kinds.kind import MachineTable

#: Name of a kind (`kind = ...` in a machine) -> what such a machine's table may say.
KINDS: dict[str, type[MachineTable]] = {
    "dragonfly-plus": DragonflyPlusTable,
}

__all__ = ["KINDS", "MachineTable"]
