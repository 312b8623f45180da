"""Kinds of remedies: one file each, listed in `KINDS`.

Each is a function from a `Space` to changes of the scenario. A change that cannot be simulated is left out afterwards,
so a kind need not know every rule of the scenario.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.advice.kinds import mapping, placement, routing, start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from odonata.advice.space import Space

KINDS: dict[str, Callable[[Space], Iterator[tuple[tuple[str, Any], ...]]]] = {
    "placement": placement.changes,
    "routing": routing.changes,
    "mapping": mapping.changes,
    "start": start.changes,
}
"""Kind, as `[advise] allow` names it -> its changes."""
