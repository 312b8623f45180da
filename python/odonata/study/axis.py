"""An axis of a study: the keys that it sets together, and the values of each step."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Where = tuple[str | int, ...]
"""Path of a value in the file of a study."""


@dataclass(frozen=True)
class Axis:
    """One dimension of a study's product.

    A key of `[sweep]` is an axis with one key. Keys that vary together (`[zip]`, `[random]`) are one axis.
    """

    keys: tuple[str, ...]
    """Keys as `Scenario.set` takes them."""
    rows: tuple[tuple[Any, ...], ...]
    """One row per step, a value for each key in it."""
    where: Mapping[str, Where] = field(default_factory=dict)
    """The position of each key in the file of the study, if there is one."""

    def __len__(self) -> int:
        return len(self.rows)


def label(value: Any) -> Any:
    """A value in a result table: numbers, booleans and texts unchanged, tables and lists as TOML."""
    if isinstance(value, bool | int | float | str):
        return value
    return _inline(value)


def text(value: Any) -> str:
    """The label as text."""
    shown = label(value)
    return str(shown).lower() if isinstance(shown, bool) else str(shown)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        pairs = ", ".join(f"{key} = {_inline(inner)}" for key, inner in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)
