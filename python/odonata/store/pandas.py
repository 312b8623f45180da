"""Tables as data frames of pandas, without a library in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

HINT = "pip install 'odonata[notebook]' adds pandas and xarray"
"""How to get the libraries of notebooks."""


def to_pandas(table: pl.DataFrame) -> pd.DataFrame:
    """The table as a data frame; lists become objects, and missing numbers NaN.

    Raises InputError if pandas is not installed.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise InputError("this needs pandas, which is not installed", hint=HINT) from None
    columns = {}
    for series in table.get_columns():
        is_number = series.dtype.is_numeric() or (series.dtype == bool and not series.null_count())
        columns[series.name] = series.to_numpy() if is_number else pd.Series(series.to_list(), dtype=object)
    return pd.DataFrame(columns)
