"""Machines: presets in TOML with a source for every number, and machines described by a table.

`load("kang2019")`, or `load({"preset": "kang2019", "groups": 12})`, or a complete table. `kinds/` (one file per kind)
and `fabric.py` define the tables of a machine.

`core.py` gives the machine of the core (`_core.Machine`), which is wired once, with its failures, and serves the
description, the check of a specification, simulations and the list of paths. It keeps the last two by their content,
because the names of failed links are looked up on the whole machine. `failed.py` draws failures and names cables.
"""

from typing import TYPE_CHECKING

from odonata.lazy import lazily

if TYPE_CHECKING:
    from odonata.machine.loading import load, names, variants
    from odonata.machine.shape import Shape
    from odonata.machine.system import Source, System

__all__ = ["Shape", "Source", "System", "load", "names", "variants"]

__getattr__ = lazily(
    __name__,
    {
        "loading": ("load", "names", "variants"),
        "shape": ("Shape",),
        "system": ("Source", "System"),
    },
)
