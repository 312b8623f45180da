"""Sentences and tables as HTML, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from odonata.errors import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from odonata.text.table import Table


def html(sentences: Iterable[str], tables: Iterable[Table] = (), code: str = "") -> str:
    """A paragraph for each sentence that is not empty, the tables, and lines of code."""
    parts = [f"<p>{escape(visible(sentence))}</p>" for sentence in sentences if sentence]
    parts += [table.html() for table in tables]
    parts += [f"<pre>{escape(visible(code))}</pre>"] * bool(code)
    return f"<div>{''.join(parts)}</div>"
