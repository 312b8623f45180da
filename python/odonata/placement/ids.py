"""Lists of ids, in the form `0-15,40`, or in text files or JSON files."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from odonata import reading
from odonata.errors import InputError, shortened

_PART = re.compile(r"([0-9]{1,20})(?:\s*-\s*([0-9]{1,20}))?")
#: Most ids of a range, above the size of any machine.
_MOST = 2**24


def parse_ids(value: Any, what: str = "ids") -> list[int]:
    """Ids in the order given: from `"0-15,40"`, a list of numbers and ranges, or one number.

    Raises InputError for anything else; whether the ids exist is for the caller to check.
    """
    if isinstance(value, bool):
        raise InputError(f'expected {what} such as "0-15,40", found `{value}`')
    if isinstance(value, int):
        return [_natural(value, what)]
    if isinstance(value, str):
        parts = [part.strip() for part in value.split(",")]
        if value.strip() and not parts[-1]:
            parts.pop()  # a trailing comma is allowed
        return [n for part in parts for n in _part(part, value, what)] if value.strip() else []
    if isinstance(value, Sequence):
        if set(map(type, value)) <= {int} and min(value, default=0) >= 0:
            return [*value]
        return [n for part in value for n in parse_ids(part, what)]
    raise InputError(f'expected {what} such as "0-15,40", found `{value!r}`')


def format_ids(ids: Iterable[int]) -> str:
    """Ids as ranges, in their order: `format_ids([0, 1, 2, 7])` is `"0-2,7"`."""
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs(ids))


def runs(ids: Iterable[int]) -> list[tuple[int, int]]:
    """Runs of consecutive ids as (first, last), in the order of the ids."""
    consecutive: list[tuple[int, int]] = []
    for n in ids:
        if consecutive and consecutive[-1][1] + 1 == n:
            consecutive[-1] = (consecutive[-1][0], n)
        else:
            consecutive.append((n, n))
    return consecutive


def _part(part: str, whole: str, what: str) -> range:
    match = _PART.fullmatch(part)
    if match is None:
        raise InputError(f'expected {what} such as "0-15,40", found `{shortened(whole)}`')
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise InputError(f"the range `{part}` ends before it begins")
    if last - first >= _MOST:
        raise InputError(f"the range `{part}` is longer than any machine")
    return range(first, last + 1)


def _natural(value: int, what: str) -> int:
    if value < 0:
        raise InputError(f"expected {what} from 0 on, found {value}")
    return value


def read_nodes(path: Path) -> list[tuple[int, int | None]]:
    """The ids in a file, in its order, each with its line (None in a JSON file).

    A text file holds ids and ranges (`0-15`), separated by line ends, commas or blanks; `#` begins a
    comment. A JSON file (it begins with `[` or `{`) holds a list of ids and ranges, or an object whose
    `nodes` is such a list, as `odonata place --json` prints it.

    Raises InputError with file and line.
    """
    try:
        text = reading.read_text(path)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read it: {reading.why(e)}", file=path) from None
    nodes = _json(text, path) if text.lstrip()[:1] in ("[", "{") else _lines(text, path)
    if not nodes:
        raise InputError("no nodes are listed", file=path)
    return nodes


def _lines(text: str, path: Path) -> list[tuple[int, int | None]]:
    nodes: list[tuple[int, int | None]] = []
    for number, line in enumerate(reading.lines(text), 1):
        for word in line.partition("#")[0].replace(",", " ").split():
            try:
                nodes += [(node, number) for node in parse_ids(word, "ids or ranges")]
            except InputError as e:
                raise e.at(path, number) from None
    return nodes


def _json(text: str, path: Path) -> list[tuple[int, int | None]]:
    try:
        data = reading.parse_json(text)
    except InputError as e:
        raise e.at(path, e.line) from None
    if isinstance(data, dict):
        if "nodes" not in data:
            raise InputError("the object has no `nodes`", file=path)
        data = data["nodes"]
    if not isinstance(data, list):
        raise InputError("expected a list of nodes", file=path)
    try:
        return [(node, None) for node in parse_ids(data, "ids or ranges")]
    except InputError as e:
        raise e.at(path) from None
