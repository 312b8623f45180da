"""Reads the records of `odonata cluster watch`: each file with its types and values checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata import reading
from odonata.errors import InputError
from odonata.monitor.records import PREDICTIONS, SLOWDOWNS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

MOST_BYTES = 1 << 28
"""Most bytes of a file of records."""
TYPES = {"slowdowns": SLOWDOWNS, "background": {"b": "Float64"}, "predictions": PREDICTIONS}
"""Kind of the files -> the columns that are read besides `time`, and their types."""
_EMPTY = {"low", "high", "by", "share"}
"""Columns that may have no value; so may all of the background but the time, where a sample failed."""
_LEAST: dict[str, tuple[float, str]] = {
    "nodes": (1, "a number of nodes from 1 on"),
    "slowdown": (0, "a slowdown from 0 on"),
    "low": (0, "a slowdown from 0 on"),
    "high": (0, "a slowdown from 0 on"),
    "share": (0, "a share from 0 to 1"),
    "probability": (0, "a probability from 0 to 1"),
    "b": (0, "a utilisation from 0 on"),
    "threshold_s": (0, "a time from 0 on"),
    "median_s": (0, "a time from 0 on"),
}
_MOST = {"share": 1.0 + 1e-9, "probability": 1.0 + 1e-9}


def read(folder: Path, kind: str) -> pl.DataFrame | None:
    """The files of a kind as one table; None without any.

    Raises InputError, with the file, for one that is damaged, has other types, or a value that cannot be.
    """
    import polars as pl

    columns = TYPES[kind]
    tables = []
    for path in sorted(folder.glob(f"{kind}-*.parquet")):
        try:
            data = reading.read_bytes(path, MOST_BYTES)
        except (OSError, ValueError) as problem:
            raise InputError(f"cannot read it: {reading.why(problem)}", file=path) from None
        if not data and kind == "background":
            continue  # a name that was reserved when the process ended
        table = reading.read_parquet(path, data, ["time", *columns]).select("time", *columns)
        _check_types(path, table, columns)
        for column in table.columns:
            _check_values(path, table, column, needed=column not in _EMPTY and (kind, column) != ("background", "b"))
        tables.append(table)
    return pl.concat(tables) if tables else None


def _check_types(path: Path, table: pl.DataFrame, columns: Mapping[str, str]) -> None:
    import polars as pl

    expected = {"time": pl.Datetime("us", "UTC"), **{name: getattr(pl, of)() for name, of in columns.items()}}
    for name, of in expected.items():
        if table.schema[name] != of:
            message = f"the column `{name}` has the type {table.schema[name]}; `odonata cluster watch` writes {of}"
            raise InputError(message, file=path, hint="move the file out of the folder, if `watch` did not write it")


def _check_values(path: Path, table: pl.DataFrame, name: str, *, needed: bool) -> None:
    import polars as pl

    column = pl.col(name)
    if name == "time":
        # Seconds since 1970: times that Python's `datetime` holds, with room for a week on each side.
        what, wrong = "a time from 1970 to 9998", ~column.dt.epoch("s").is_between(0, 253_370_764_799)
    elif name in _LEAST:
        least, what = _LEAST[name]
        wrong = ~(column >= least)
        if table.schema[name].is_float():
            wrong = wrong | ~column.is_finite() | (column > _MOST.get(name, float("inf")))
    else:
        what, wrong = "a value", pl.lit(value=False)
    wrong = wrong.fill_null(value=needed) if name in _LEAST or name == "time" else column.is_null() & needed
    strange = table.with_row_index("row").filter(wrong).head(1)
    if strange.height:
        row, value = strange["row"][0], strange[name].cast(pl.String, strict=False)[0]
        shown = "none" if value is None else f"`{value}`"
        raise InputError(f"row {row + 1}, column `{name}`: expected {what}, found {shown}", file=path)
