"""Machines: presets of real ones as TOML with a source for every number, and any other by table.

`load("kang2019")`, or `load({"preset": "kang2019", "groups": 12})`, or a complete table. What a
machine consists of is written in `kinds/` (one file a kind) and `fabric.py`.
"""

from odonata.machine.load import load, names
from odonata.machine.shape import Shape
from odonata.machine.system import Source, System

__all__ = ["Shape", "Source", "System", "load", "names"]
