"""Files with the node of each rank."""

from pathlib import Path

from odonata import reading
from odonata.errors import InputError


def read_mapping(path: Path, placed: list[int], ranks: int, per_node: int, *, ids: bool) -> list[int]:
    """Node of each rank from a text file: one number a rank, separated by blanks or line ends; `#` begins a comment.

    The numbers are positions in `placed`, from 0, or (`ids`) nodes of it; none may have more than `per_node` ranks.
    Raises InputError with file and line.
    """
    found: list[int] = []
    count: dict[int, int] = {}
    known = set(placed)
    for line, text in enumerate(reading.lines(_text(path)), 1):
        for word in text.partition("#")[0].replace(",", " ").split():
            node = _node(word, placed, known, ids, path, line)
            count[node] = count.get(node, 0) + 1
            if count[node] > per_node:
                message = f"rank {len(found)} would be the {_nth(count[node])} on node {node}, with {per_node} a node"
                raise InputError(message, file=path, line=line, hint="`ranks_per_node` is the limit")
            found.append(node)
    if len(found) != ranks:
        raise InputError(f"the file places {len(found):,} ranks, the job has {ranks:,}", file=path)
    return found


def _node(word: str, placed: list[int], known: set[int], ids: bool, path: Path, line: int) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 12):
        what = "the id of a node" if ids else "a position in the list of nodes"
        raise InputError(f"expected {what}, found `{word}`", file=path, line=line)
    number = int(word)
    if ids:
        if number not in known:
            raise InputError(f"node {number} is not one of the job's nodes", file=path, line=line)
        return number
    if number >= len(placed):
        hint = f"positions run from 0 to {len(placed) - 1}"
        hint += '; if these are ids of nodes: mapping = { file = "...", holds = "node-ids" }'
        raise InputError(f"the job has no node number {number}", file=path, line=line, hint=hint)
    return placed[number]


def _text(path: Path) -> str:
    try:
        return reading.read_text(path)
    except (OSError, ValueError) as e:
        why = reading.why(e)
        raise InputError(f"cannot read the mapping `{path}`: {why}", path=("mapping",)) from None


def _nth(number: int) -> str:
    return {2: "2nd", 3: "3rd"}.get(number, f"{number}th")
