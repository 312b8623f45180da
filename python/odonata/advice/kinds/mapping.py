"""Other nodes of the job for each of its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odonata.scenario.apps.mapping import MAPPINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.advice.space import Space


def changes(space: Space) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Changes of the `mapping` of a program, in the job or in its app, wherever it stands."""
    for job in space.programs():
        key = f"job.{job}.mapping"
        if getattr(space.tables[job].app, "mapping", None) is not None:
            key = f"job.{job}.app.mapping"
        for name in MAPPINGS:
            if name != "file":
                yield ((key, name),)
