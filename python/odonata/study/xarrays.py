"""A study as arrays with the axes of the study, for xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from odonata.errors import InputError, unknown
from odonata.store.pandas import HINT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr

    from odonata.study.study import Study

JOB = "job"
"""The dimension of the jobs."""


def to_xarray(study: Study, columns: Sequence[str] | None) -> xr.Dataset:
    """The columns as arrays over jobs and axes; a point that is missing or failed is NaN.

    Keys that vary together (`[zip]`, `[random]`) are one dimension, named after the first of them and numbered where
    its values repeat. Raises InputError if xarray is not installed, and for a column that is no number.
    """
    try:
        import xarray as xr
    except ModuleNotFoundError:
        raise InputError("this needs xarray, which is not installed", hint=HINT) from None
    jobs = study.jobs
    numbers = [name for name in jobs.columns if jobs[name].dtype.is_numeric() and name not in (*study.axes, JOB)]
    chosen = list(columns) if columns is not None else [name for name in study.columns(jobs) if name in numbers]
    for name in chosen:
        if name not in numbers:
            raise unknown("column of numbers", name, numbers)
    names = jobs["name"].unique(maintain_order=True).to_list()
    places = [_places(names, jobs["name"].to_list())]
    coords: dict[str, tuple[str, list[object]]] = {JOB: (JOB, names)}
    dims, shape = [JOB], [len(names)]
    for axis in study.manifest["axes"]:
        keys = axis["keys"]
        settled = study.runs.select(keys).unique(maintain_order=True).rows()
        of_rows = _places(settled, jobs.select(keys).rows())
        first = [row[0] for row in settled]
        dim = keys[0] if len(set(map(str, first))) == len(first) else f"{keys[0]} (number)"
        coords |= {key: (dim, [_plain(row[n]) for row in settled]) for n, key in enumerate(keys)}
        places.append(of_rows)
        dims.append(dim)
        shape.append(len(settled))
    data = {}
    for name in chosen:
        values = np.full(shape, np.nan)
        values[tuple(places)] = jobs[name].cast(float).fill_null(np.nan).to_numpy()
        data[name] = (dims, values)
    return xr.Dataset(data, coords=coords, attrs={"study": study.name})


def _places(of: Sequence[object], values: Sequence[object]) -> list[int]:
    """The place of each value in a list."""
    place = {str(value): number for number, value in enumerate(of)}
    return [place[str(value)] for value in values]


def _plain(value: object) -> object:
    """A value that can be a coordinate: numbers and texts as they are, other values as text."""
    return value if isinstance(value, int | float | str) else str(value)
