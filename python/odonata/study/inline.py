"""A scenario in the file of a study, under `[base]`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import tomlkit

from odonata.document import Document, edit, positions

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "base"


@dataclass(frozen=True)
class Inline(Document):
    """The table `base` of a study as a document: errors name lines of the study, `text` is the scenario alone."""

    @cached_property
    def text(self) -> str:
        """The scenario as TOML of its own, without the comments of the study."""
        return tomlkit.dumps(self.data)

    @cached_property
    def _lines(self) -> dict[positions.Path, int]:
        found = positions.lines(self.original)
        return {path[1:]: line for path, line in found.items() if path[:1] == (TABLE,)}

    def set(self, key: str, value: Any) -> Inline:
        """As for any document."""
        data = edit.applied(self.data, key, value)
        return Inline(self.file, self.original, data, (*self.changes, (key, value)))

    def first(self, count: int) -> Inline:
        """As for any document."""
        document = inline(self.original, self.file)
        for key, value in self.changes[:count]:
            document = document.set(key, value)
        return document


def inline(study: str, file: str | Path) -> Inline:
    """The table `base` of the text of a study that has one."""
    import tomllib

    return Inline(str(file), study, tomllib.loads(study)[TABLE])
