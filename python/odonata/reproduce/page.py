"""The text of a study: a template with two kinds of values, those of its rows and those of its runs.

What comes from rows (verdicts, counts, reasons, numbers in sentences) can be computed again from the rows' table. What
comes from runs (tables of latencies) is kept in `NAME.json` beside the page. So a page can be made again without its
runs, with the words and verdicts of today and the numbers of the run that made them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING, Any

from odonata.reproduce.links import linked
from odonata.reproduce.markdown import number, wrapped

if TYPE_CHECKING:
    from odonata.reproduce.reproduction import Runs
    from odonata.reproduce.rows import Row

Texts = Mapping[str, Any]
"""Name of a placeholder -> its text; other JSON values are for `of_rows`."""


@dataclass(frozen=True)
class Page:
    """How the section of a study is written, below its heading."""

    template: Callable[[], str]
    """The text, with placeholders (`$name`) and quoted rows (below)."""
    of_rows: Callable[[Sequence[Row], Texts], Texts]
    """What comes from rows, which may lay it out with kept values."""
    of_runs: Callable[[Sequence[Row], Runs], Texts]
    """What comes from runs: values that JSON can hold."""

    def render(
        self,
        rows: Sequence[Row],
        texts: Texts,
        page: str = "",
    ) -> str:
        """The text below the heading of its section of a page."""
        text = quoted(self.template(), rows)
        plain = {name: value for name, value in texts.items() if isinstance(value, str)}
        text = linked(Template(text).substitute(plain, **self.of_rows(rows, texts)), page)
        check_filled(text)
        return wrapped(text.strip())


_QUOTED = re.compile(
    r"\{(?:([a-z0-9-]+)/([^:{}/]+)|([a-z0-9.-]+)):\s+([^{}|]+?)(?:\s+\|\s+(theirs|low|high|verdict))?\}"
)
_UNFILLED = re.compile(r"\{[^{}=\n]*:\s[^{}]*\}|\$\{?[a-z_]+")
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


def check_filled(page: str) -> None:
    """Raises ValueError for a placeholder or a quoted row that no value took the place of; code is left alone."""
    left = _UNFILLED.search(_CODE.sub("", page))
    if left is not None:
        raise ValueError(f"found `{' '.join(left[0].split())}` in the page, expected the value it stands for")


def quoted(text: str, rows: Sequence[Row], of: Mapping[str, Sequence[Row]] | None = None) -> str:
    """The text with `{MODEL: WHAT}` as the value of the row of this model whose `what` begins so, with its unit.

    `{MODEL: WHAT | theirs}` is the published value, and `low`, `high` and `verdict` are others of the row.
    `{STUDY/MODEL: WHAT}` is a row of another study, `of` these. Raises ValueError if no row or several rows begin so.
    """

    def value(which: re.Match[str]) -> str:
        study, model = which[1], " ".join((which[2] or which[3]).split())
        what, part = " ".join(which[4].split()), which[5] or "ours"
        mine = [row for row in ((of or {}).get(study, ()) if study else rows) if row.model == model]
        chosen = [row for row in mine if row.what == what] or [row for row in mine if row.what.startswith(what)]
        if len(chosen) != 1:
            of_study = f"{study}/" if study else ""
            raise ValueError(f"{len(chosen)} rows of `{of_study}{model}` begin with `{what}`, expected one")
        (row,) = chosen
        if part == "verdict":
            return row.verdict
        low, high = row.interval or (row.ours, row.ours)
        shown = {"ours": row.ours, "theirs": row.theirs, "low": low, "high": high}[part]
        return f"{number(shown, row.unit)} {row.unit}".removesuffix(" rho")

    return _QUOTED.sub(value, text)
