"""A remedy: keys of a scenario and their new values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odonata.document.writing import inline
from odonata.study.axis import text

if TYPE_CHECKING:
    from odonata.scenario import Scenario

PRESENT = "as it is"
"""Name of the scenario without any remedy."""


_LIST = re.compile(r'nodes = "([\d,-]+)"')
_SHOWN = 24
"""Characters of a list of nodes that a label has whole (assumed)."""


def _cut(match: re.Match[str]) -> str:
    ids = match[1]
    if len(ids) <= _SHOWN:
        return match[0]
    parts = ids.split(",")
    return f'nodes = "{parts[0]},{parts[1]},...,{parts[-1]}"' if len(parts) > 3 else match[0]


@dataclass(frozen=True)
class Remedy:
    """A change of a scenario."""

    kinds: tuple[str, ...]
    """Kinds of the change: `placement`, `routing`, `mapping`, `start`, `congestion-control`."""
    changes: tuple[tuple[str, Any], ...]
    """Keys as `Scenario.set` takes them, and their values."""

    @property
    def name(self) -> str:
        """The changes in one line, as after `-s`."""
        return "; ".join(f"{key} = {_written(value)}" for key, value in self.changes) or PRESENT

    @property
    def label(self) -> str:
        """Its name with long lists of nodes cut short; `toml` has them whole."""
        return _LIST.sub(_cut, self.name)

    @property
    def toml(self) -> str:
        """The lines of the scenario that change, below the table where they belong."""
        lines: list[str] = []
        tables: dict[str, list[str]] = {}
        for key, value in self.changes:
            parts = key.split(".")
            if parts[0] == "job":
                where, name = f'in [[job]] "{parts[1]}"', ".".join(parts[2:])
            else:
                where, name = "at the top", key
            tables.setdefault(where, []).append(f"{name} = {inline(value)}")
        for where, inside in tables.items():
            lines += [f"# {where}", *inside]
        return "\n".join(lines)

    def applied(self, scenario: Scenario) -> Scenario:
        """The scenario with the changes. Raises InputError for a key that leads nowhere."""
        for key, value in self.changes:
            scenario = scenario.set(key, value)
        return scenario

    def joined(self, other: Remedy) -> Remedy | None:
        """Both together; `None` if they change the same thing."""
        mine = [key for key, _ in self.changes]
        if any(_overlap(ours, key) for ours in mine for key, _ in other.changes):
            return None
        return Remedy((*self.kinds, *other.kinds), (*self.changes, *other.changes))


def _overlap(key: str, other: str) -> bool:
    return key == other or key.startswith(f"{other}.") or other.startswith(f"{key}.")


def _written(value: Any) -> str:
    """A value as tables show it."""
    return text([value])[1:-1]
