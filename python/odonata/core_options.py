"""What the core says of its own options: their meanings, ranges and the names of their values.

The lists are written in Rust (`crates/sim/src/spec`). Tables of documents take their limits, choices and descriptions
from here, so a limit is written once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Path of a key in a specification, such as `fabric.nic.overhead_ps` -> what the core says of it.
OPTIONS: Mapping[str, _core.Option] = {
    f"{table}.{option['name']}": option for table, options in _core.options().items() for option in options
}
#: Name -> the greatest value of something that is not a single key.
LIMITS: Mapping[str, int] = _core.limits()
#: Name -> a format of traces that are one file.
TRACE_FORMATS: Mapping[str, _core.TraceFormat] = {of["name"]: of for of in _core.trace_formats()}
#: Name -> a law of congestion control.
CONGESTION_LAWS: Mapping[str, _core.CongestionLaw] = {law["name"]: law for law in _core.congestion_laws()}
#: The units in which names of options end.
UNITS = ("_bytes", "_ps", "_milli", "_ppm")


def most(path: str) -> int:
    """The greatest value of a number of a specification."""
    return bounds(OPTIONS[path])[1]


def bounds(option: _core.Option) -> tuple[int, int]:
    """The least and the greatest value of a number."""
    assert option["range"] is not None, f"`{option['name']}` is no number"
    return option["range"]


def key_of(name: str) -> str:
    """The name of an option in a document: values there have units, so the name has none."""
    return next((name.removesuffix(unit) for unit in UNITS if name.endswith(unit)), name)


def meaning(about: str) -> str:
    """A description of the core as a table of keys has it: it begins small, and has no full stop."""
    small = about[:1].lower() + about[1:] if not about[1:2].isupper() else about
    return small.removesuffix(".")


def choice(names: Mapping[str, str]) -> str:
    """The values of an option with their meanings."""
    return "; ".join(f"`{name}`: {meaning(about.strip())}" for name, about in names.items())
