"""TOML documents that know the line of each of their values, and the same of data from Python.

A `Document` is the text of a file, its data, and the line of every key. Code that finds a wrong value names the keys
that lead to it and gets an error with file and line. `Data` is a document without a file, whose errors have the path of
the key; nothing writes it as text unless a file is asked for. `Table` is the base of the models of documents.
"""

from typing import TYPE_CHECKING

from odonata.lazy import lazily

if TYPE_CHECKING:
    from odonata.document.data import Data, of
    from odonata.document.document import Document, parse, read
    from odonata.document.quantities import (
        Bandwidth,
        Count,
        CountOrZero,
        PositiveTime,
        Ratio,
        Seed,
        Size,
        Time,
        input_error_as_problem,
    )
    from odonata.document.table import Table, validate

__all__ = [
    "Bandwidth",
    "Count",
    "CountOrZero",
    "Data",
    "Document",
    "PositiveTime",
    "Ratio",
    "Seed",
    "Size",
    "Table",
    "Time",
    "input_error_as_problem",
    "of",
    "parse",
    "read",
    "validate",
]

__getattr__ = lazily(
    __name__,
    {
        "data": ("Data", "of"),
        "document": ("Document", "parse", "read"),
        "quantities": (
            *("Bandwidth", "Count", "CountOrZero", "PositiveTime", "Ratio", "Seed", "Size", "Time"),
            "input_error_as_problem",
        ),
        "table": ("Table", "validate"),
    },
)
