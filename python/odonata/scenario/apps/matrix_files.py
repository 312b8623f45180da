"""Files with communication matrices: what each rank sent to each other, as JSON, CSV or an array of NumPy.

`docs/matrices.md` has the forms.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata import compressed, foreign, reading
from odonata.errors import InputError, nearest, shortened
from odonata.scenario.apps.matrix_arrays import of_npy, of_npz
from odonata.scenario.apps.matrix_profile import of_profile
from odonata.scenario.apps.matrix_values import COLUMNS, MOST_RANKS, dense, listed, number, rounded, summed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from odonata.scenario.apps.matrix_values import Array, CommunicationMatrix

#: Ending of a file -> form of the matrix in it.
FORMS = {".json": "json", ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".npz": "npz", ".npy": "npy"}


def read_matrix(path: Path, form: str | None = None) -> CommunicationMatrix:
    """The matrix in a file.

    Parameters
    ----------
    path
        The file.
    form
        One of the values of `FORMS`. Default: by the ending of the file, which `.gz` may follow.

    Returns
    -------
    CommunicationMatrix
        What a rank sent to itself is left out. Bytes with a fraction are rounded.

    Raises
    ------
    InputError
        For a file that cannot be read or is no matrix; with the file, and the line where there is one.
    """
    bare = compressed.bare(path)
    form = form or FORMS.get(bare.suffix.lower())
    if form is None:
        near = nearest(bare.suffix, FORMS)
        meant = f"{bare.with_suffix(near).name}{path.name[len(bare.name) :]}" if near else None
        error = InputError(
            f"`{path.name}`: expected a file name that ends in {', '.join(FORMS)}",
            hint=f"did you mean `{meant}`?" if near else 'rename the file, or set format = "csv"',
        )
        raise foreign.explained(error, path, "matrix")
    try:
        data = reading.read_bytes(path, reading.OUTPUT_BYTES, pipes=False)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read the matrix `{path}`: {reading.why(e)}") from None
    archive = form in ("npz", "npy") and data[:2] == b"PK"  # NumPy's own, which says more if the name is wrong
    if not archive or compressed.is_named(path):
        data = compressed.unpacked(path, data, reading.OUTPUT_BYTES)
    try:
        return _parsed(data, form)
    except InputError as e:
        raise foreign.explained(e.at(path, e.line), path, "matrix") from None
    except MemoryError:
        raise InputError("there is not enough memory to read it", file=path) from None


@lru_cache(maxsize=8)
def _parsed(data: bytes, form: str) -> CommunicationMatrix:
    return _READERS[form](data)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as e:
        raise InputError(f"not a text file: byte {e.start} is not UTF-8") from None


# JSON


def _of_json(data: bytes) -> CommunicationMatrix:
    content = reading.parse_json(_text(data))
    if isinstance(content, list):
        return dense(_rows(content, "the matrix"), None)
    if not isinstance(content, dict):
        raise InputError(
            f"expected a list of rows, or an object with `edges` or `bytes`, found `{shortened(str(content))}`"
        )
    if "edges" in content:
        return of_profile(content)
    if "bytes" not in content:
        near = next((n for key in content if (n := nearest(key, ["edges", "bytes"]))), None)
        hint = f"did you mean `{near}`?" if near else None
        raise InputError(f"expected `edges` or `bytes`, found {listed(content, 'no key')}", hint=hint)
    counts = content.get("messages")
    return dense(_rows(content["bytes"], "`bytes`"), None if counts is None else _rows(counts, "`messages`"))


def _rows(rows: Any, what: str) -> Array:
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == len(rows) for row in rows):
        raise InputError(f"{what}: expected a square list of rows, each a list of as many numbers as there are rows")
    return np.array([[number(value, f"{what}, row {at}") for value in row] for at, row in enumerate(rows)])


# Text


def _of_csv(data: bytes) -> CommunicationMatrix:
    rows: list[tuple[int, list[str]]] = []
    separator: str | None = None
    for line, text in enumerate(reading.lines(_text(data)), 1):
        bare = text.partition("#")[0].strip()
        if not bare:
            continue
        if not rows:
            separator = next((mark for mark in ("\t", ";", ",") if mark in bare), None)
        rows.append((line, [cell.strip().strip('"') for cell in bare.split(separator)]))
    if not rows:
        raise InputError("the file has no row")
    if all(_NUMBER.fullmatch(cell) for cell in rows[0][1]):
        return _of_square(rows)
    return _of_list(rows)


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _cell(cell: str, line: int) -> float:
    if not _NUMBER.fullmatch(cell):
        raise InputError(f"expected a number, found `{shortened(cell)}`", line=line)
    return float(cell)


def _of_square(rows: Sequence[tuple[int, Sequence[str]]]) -> CommunicationMatrix:
    for line, cells in rows:
        if len(cells) != len(rows):
            raise InputError(
                f"expected {len(rows)} numbers, as many as there are rows, found {len(cells)}",
                line=line,
                hint="a list of pairs needs a first line with the names of its columns, such as source,target,bytes",
            )
    return dense(np.array([[_cell(cell, line) for cell in cells] for line, cells in rows]), None)


def _of_list(rows: Sequence[tuple[int, Sequence[str]]]) -> CommunicationMatrix:
    line, header = rows[0]
    at: dict[str, int] = {}
    for place, name in enumerate(header):
        column = next((column for column, names in COLUMNS.items() if name.lower() in names), None)
        if column in at:
            raise InputError(f"two columns say `{column}`: `{header[at[column]]}` and `{name}`", line=line)
        if column is not None:
            at[column] = place
    for column in ("source", "target", "bytes"):
        if column not in at:
            near = next((name for name in header if nearest(name.lower(), COLUMNS[column])), None)
            names = ", ".join(f"`{name}`" for name in COLUMNS[column])
            hint = f"is it `{near}`? " if near else ""
            raise InputError(f"there is no column `{column}`", line=line, hint=f"{hint}names that are known: {names}")
    values: dict[str, list[float]] = {column: [] for column in at}
    lines = []
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            raise InputError(f"expected {len(header)} fields, found {len(cells)}", line=line)
        lines.append(line)
        for column, place in at.items():
            value = _cell(cells[place], line)
            if column in ("source", "target") and not (value.is_integer() and 0 <= value < MOST_RANKS):
                raise InputError(f"expected a rank, from 0 to {MOST_RANKS - 1:,}, found `{cells[place]}`", line=line)
            values[column].append(value)
    if not lines:
        raise InputError("the list has no pair")
    sources, targets = (np.array(values[key], dtype=np.int64) for key in ("source", "target"))

    sizes = rounded(np.array(values["bytes"]), str, lines)
    messages = rounded(np.array(values["messages"]), str, lines) if "messages" in at else None
    return summed(int(max(sources.max(), targets.max())) + 1, sources, targets, sizes, messages)


_READERS: dict[str, Callable[[bytes], CommunicationMatrix]] = {
    "json": _of_json,
    "csv": _of_csv,
    "npz": of_npz,
    "npy": of_npy,
}
