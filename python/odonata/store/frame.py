"""Frames with exactly the columns of the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from odonata.store.columns import columns_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def polars_type(name: str) -> pl.DataType:
    """The polars type that a registered column's `dtype` names."""
    if name.startswith("List("):
        return pl.List(polars_type(name[5:-1]))
    kind: type[pl.DataType] = getattr(pl, name)
    return kind()


def empty(table: str) -> pl.DataFrame:
    """A table without rows."""
    return frame(table, {column.name: [] for column in columns_of(table)})


def frame(table: str, data: Mapping[str, Any], channels: int = 1, **further: bool) -> pl.DataFrame:
    """A table with the columns of the registry, in its order and with its types.

    A missing or an additional column is a bug and stops the run. `further` is that of `columns_of`.
    """
    columns = columns_of(table, channels, **further)
    schema = {column.name: polars_type(column.dtype) for column in columns}
    if set(data) != set(schema):
        raise AssertionError(f"table {table}: columns {sorted(set(data) ^ set(schema))} do not agree with the registry")
    # Polars makes arrays of lists of equal length even if lists are requested; the cast restores the type.
    return pl.DataFrame({name: pl.Series(name, data[name], dtype=dtype).cast(dtype) for name, dtype in schema.items()})
