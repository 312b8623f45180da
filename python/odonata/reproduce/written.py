"""Tables as the text of a scenario, for reproductions of many runs: tomlkit takes longer than some of the runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def toml(table: Mapping[str, Any]) -> str:
    """The table as TOML, a line for each of its keys. Values are those of JSON, without `None`."""
    return "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in table.items())


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {_inline(entry)}' for key, entry in value.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_inline, value))}]"
    return json.dumps(value, ensure_ascii=False)
