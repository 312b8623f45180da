"""Applications and routings in a few words, for tables and headings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def routing(table: Mapping[str, Any]) -> str:
    """A routing of a scenario in a word: its name; of one's own the file."""
    return str(table.get("python") or table.get("library") or table["name"])


def application(app: Mapping[str, Any]) -> str:
    """An application in a few words, such as `alltoall of 16 KiB`."""
    phases = app.get("phases")
    if isinstance(phases, list) and phases:
        return ", ".join(dict.fromkeys(application(phase) for phase in phases))
    for key in ("collective", "motif", "pattern"):
        if isinstance(app.get(key), str):
            size = app.get("message")
            return f"{app[key]} of {size}" if isinstance(size, str) else str(app[key])
    return next(iter(app), "")
