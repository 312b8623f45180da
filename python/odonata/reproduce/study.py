"""A study: what is simulated, what it is compared with, and the page that says so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING

from odonata.reproduce.grid import models, read_cases
from odonata.reproduce.rows import by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from odonata.reproduce.case import Case
    from odonata.reproduce.outcome import Outcome
    from odonata.reproduce.rows import Results, Row


@dataclass(frozen=True)
class Study:
    """One entry of `odonata reproduce --list`."""

    name: str
    title: str
    package: str
    """Package with the files of the study."""
    file: str
    """Its cases (grid.py)."""
    compare: Callable[[Results, Sequence[str]], list[Row]]
    """Results and models to rows."""
    page: Callable[[Sequence[Row], Results], str]
    """Rows and results to a Markdown page, the same text for the same numbers."""
    picture: Callable[[Sequence[Row], Results], Figure] | None = None

    @cached_property
    def _text(self) -> str:
        return (files(self.package) / self.file).read_text(encoding="utf-8")

    def cases(self, *, reduced: bool = False) -> list[Case]:
        """What is simulated; the reduced form is for tests: few messages, few cases."""
        return read_cases(self._text, self.file, reduced=reduced)

    def rows(self, outcomes: Mapping[Case, Outcome]) -> list[Row]:
        """Ours over theirs for everything that was simulated."""
        return self.compare(by_name(outcomes), models(self._text))
