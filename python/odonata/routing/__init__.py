"""Write a routing of one's own: one Python file, compiled to machine code.

A file has one function with the decorator `routing`. At each router but the last, it picks one of the ports from which
the destination can still be reached. `docs/own-routing.md` is the tutorial; `interface.py` has the fields of what a
function sees; `helpers.py` has functions that it may call.

It needs Numba: `pip install "odonata[routing]"`.
"""

from pathlib import Path

from odonata.lazy import lazily

__all__ = ["HEADER", "least", "others", "random", "routing"]

HEADER = Path(__file__).with_name("odonata_routing.h")
"""The interface of a library in C, C++ or Rust."""

__getattr__ = lazily(__name__, {"decorator": ("routing",), "helpers": ("least", "others", "random")})
