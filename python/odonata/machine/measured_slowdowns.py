"""The measured slowdowns with which simulated ones of a preset were compared, from the file of the same name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

CHANGED = " (changed)"
"""The suffix of a preset's name in a scenario that changes the machine."""


@dataclass(frozen=True)
class MeasuredSlowdown:
    """Measured slowdowns of one operation beside one neighbour."""

    operation: str
    neighbour: str
    nodes: tuple[int, int]
    """Fewest and most nodes of both jobs together."""
    messages: tuple[str, str]
    """Smallest and largest message."""
    placement: str
    error: float
    """Mean factor by which simulated slowdowns miss the measured ones."""
    page: str
    row: str

    def cells(self) -> list[str]:
        """Its row in `odonata show`, with the columns `HEAD`."""
        sizes = self.messages[0] if self.messages[0] == self.messages[1] else " to ".join(self.messages)
        nodes = f"{self.nodes[0]} to {self.nodes[1]}"
        return [self.operation, self.neighbour, nodes, sizes, self.placement, f"x {self.error:.2f}", self.page]


HEAD = ("operation", "beside", "nodes", "messages", "placement", "missed by", "page of validation")


NEVER = "never"
"""The value of `measured` for a preset of a real machine that was never compared with measurements."""


def is_of_a_real_machine(name: str) -> bool:
    """Whether this is a preset of a machine that can be measured. Reads its file only."""
    file = files("odonata.machine") / "presets" / f"{name}.toml"
    said = tomllib.loads(file.read_text(encoding="utf-8")).get("measured", "") if file.is_file() else f"{NEVER}:"
    return not said.startswith(f"{NEVER}:")


def never_measured(name: str) -> bool:
    """Whether this is a preset of a real machine that was never compared with measurements. Reads its file only."""
    file = files("odonata.machine") / "presets" / f"{name}.toml"
    return file.is_file() and tomllib.loads(file.read_text(encoding="utf-8")).get("measured") == NEVER


@lru_cache
def _read() -> dict[str, tuple[MeasuredSlowdown, ...]]:
    table = tomllib.loads((files("odonata.machine") / "measured_slowdowns.toml").read_text(encoding="utf-8"))
    return {
        name: tuple(
            MeasuredSlowdown(**{**of, "nodes": tuple(of["nodes"]), "messages": tuple(of["messages"])}) for of in entries
        )
        for name, entries in table.items()
    }


def measured_slowdowns(name: str) -> tuple[MeasuredSlowdown, ...]:
    """Those of the preset of this name; those of a changed preset are the ones of the preset before the change."""
    return _read().get(name.removesuffix(CHANGED), ())
