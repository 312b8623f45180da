"""A study: what is simulated, what it is compared with, and the page that says so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from odonata.reproduce.grid import models, read_cases
from odonata.reproduce.rows import by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.rows import Row
    from odonata.reproduce.simulated import Simulated

    Read = Callable[[str, str, bool], Sequence[Simulated[Any]]]
    """Text and name of a study's file, and whether the reduced form is wanted, to its cases."""


@dataclass(frozen=True)
class Study:
    """One entry of `odonata reproduce --list`."""

    name: str
    title: str
    package: str
    """Package with the files of the study."""
    file: str
    """Its cases (grid.py)."""
    compare: Callable[[Any, Sequence[str]], list[Row]]
    """Results (rows.by_name) and models to rows."""
    page: Callable[[Sequence[Row], Any], str]
    """Rows and results to a Markdown page, the same text for the same numbers."""
    picture: Callable[[Sequence[Row], Any], Figure] | None = None
    read: Read | None = None
    """How its file is read, if not as grid.py does."""

    @cached_property
    def _text(self) -> str:
        return (files(self.package) / self.file).read_text(encoding="utf-8")

    def cases(self, *, reduced: bool = False) -> Sequence[Simulated[Any]]:
        """What is simulated; the reduced form is for tests: few messages, few cases."""
        if self.read is not None:
            return self.read(self._text, self.file, reduced)
        return read_cases(self._text, self.file, reduced=reduced)

    def rows(self, outcomes: Mapping[Simulated[Any], Any]) -> list[Row]:
        """Ours over theirs for everything that was simulated."""
        return self.compare(by_name(outcomes), models(self._text))
