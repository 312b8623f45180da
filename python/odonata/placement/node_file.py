"""Files that list nodes: ids and ranges line by line, or JSON."""

from pathlib import Path

from odonata import reading
from odonata.errors import InputError
from odonata.placement.ids import parse_ids


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
