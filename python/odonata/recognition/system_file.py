"""A recognised machine as a system file, and the names of its nodes and routers as CSV."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from odonata.recognition.recognise import Recognised
from odonata.document.writing import inline, key, pair


def toml(recognised: Recognised) -> str:
    """The system file, for `system = "FILE.toml"` in a scenario."""
    rows = [f"# Imported from {_line(recognised.file)} ({recognised.format}) by odonata cluster import."]
    rows += [f"# {_line(note)}" for note in recognised.notes]
    rows += _table(recognised.table, ())
    rows += ["", "[sources]", *(pair(of, text) for of, text in recognised.sources.items())]
    return "\n".join(rows) + "\n"


def names(recognised: Recognised) -> str:
    """Router and node numbers with the names in the fabric, as CSV; missing ones have no name."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("what", "number", "name"))
    for what, given in (("router", recognised.routers), ("node", recognised.nodes)):
        rows.writerows((what, number, name or "") for number, name in enumerate(given))
    return text.getvalue()


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    plain = {name: value for name, value in table.items() if not isinstance(value, dict)}
    if path and plain:
        yield ""
        yield f"[{'.'.join(map(key, path))}]"
    for name, value in plain.items():
        yield f"{key(name)} = {_value(value)}"
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _table(value, (*path, name))


def _value(value: Any) -> str:
    """A value of TOML; long lists over several lines of at most 120 columns."""
    if not isinstance(value, list):
        return inline(value)
    parts = [inline(part) for part in value]
    if sum(map(len, parts)) + 2 * len(parts) < 80:
        return f"[{', '.join(parts)}]"
    lines, line = [], "   "
    for part in parts:
        if len(line) + len(part) > 116:
            lines.append(line)
            line = "   "
        line += f" {part},"
    return "\n".join(["[", *lines, line, "]"])


def _line(text: str) -> str:
    """A text on one line, without what a comment of TOML cannot hold."""
    return re.sub("[\x00-\x1f\x7f\ud800-\udfff]", "\ufffd", text)
