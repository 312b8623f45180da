"""The runs of a study arranged for a picture: a column by one axis, a series for each value of another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from odonata import units
from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray


LOG_FROM = 30.0
"""Ratio of the greatest to the least value above which an axis is logarithmic by default."""


@dataclass(frozen=True)
class Spot:
    """The runs with one value of the axis in one series."""

    label: str
    x: float
    """The value as a number, in the base unit of its kind; if it is not a number, its position."""
    values: NDArray[np.float64]
    """The column of these runs, ascending."""
    saturated: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """Of each value, whether the job of the run is saturated; empty if no run tells."""


@dataclass(frozen=True)
class Series:
    """Runs with the same value of the second axis."""

    name: str
    spots: tuple[Spot, ...]


@dataclass(frozen=True)
class Arranged:
    """All series of a picture."""

    key: str
    column: str
    kind: str
    """What the axis measures: `number`, `share`, `time` (ps), `size` (bytes), `bandwidth` (bytes/s), or `name`."""
    series: tuple[Series, ...]
    series_key: str | None = None
    """The axis of the series; `None` if there is one series of all runs."""


def arrange(rows: pl.DataFrame, key: str, column: str, series: str | None) -> Arranged:
    """Arranges the rows of one job by the axis `key`, in the order in which its values come (numbers ascending).

    Raises InputError if no row has a number in the column.
    """
    present = rows.filter(pl.col(column).is_not_null())
    if not present.height:
        raise InputError(f"no run of the study has a number in `{column}`", hint="choose another with --value")
    labels = present[key].unique(maintain_order=True).to_list()
    kind, numbers = numeric(labels)
    where = dict(zip(labels, numbers, strict=True))
    names = [None] if series is None else present[series].unique(maintain_order=True).to_list()
    made = []
    for name in names:
        of_series = present if series is None else present.filter(pl.col(series) == name)
        spots = [
            Spot(_text(value), where[value], *_sorted(part, column))
            for value in sorted(labels, key=lambda label: where[label])
            if (part := of_series.filter(pl.col(key) == value)).height
        ]
        made.append(Series("" if name is None else _text(name), tuple(spots)))
    return Arranged(key, column, kind, tuple(made), series)


def _sorted(part: pl.DataFrame, column: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The column, ascending, and of each value whether the job is saturated."""
    ordered = part.sort(column)
    told = "saturated" in part.columns
    marks = ordered["saturated"].fill_null(value=False).to_numpy() if told else np.zeros(0, np.bool_)
    return ordered[column].cast(pl.Float64).to_numpy(), marks.astype(np.bool_)


def numeric(labels: Sequence[Any]) -> tuple[str, list[float]]:
    """The kind of the values, and the values as numbers; `name` and positions if they are not all of one kind."""
    if labels and all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels):
        return "number", [float(label) for label in labels]
    readers: list[tuple[str, Callable[[object], int | Fraction], float]] = [
        ("time", units.time_ps, 1.0),
        ("size", units.size_bytes, 1.0),
        ("bandwidth", units.bandwidth_micro, 1e-6),
        ("share", units.fraction, 1.0),
    ]
    for kind, read, factor in readers:
        try:
            return kind, [float(read(label)) * factor for label in labels]
        except InputError:
            continue
    return "name", [float(number) for number in range(len(labels))]


def is_logarithmic(kind: str, numbers: Sequence[float]) -> bool:
    """Whether an axis of quantities is drawn on a logarithmic scale, by its spread."""
    return kind not in ("number", "share", "name") and min(numbers) > 0 and max(numbers) / min(numbers) > LOG_FROM


def usual_axes(axes: Sequence[str], rows: pl.DataFrame, seed: str) -> tuple[str, str | None]:
    """The default axis of a picture, and that of its series.

    The first axis of numbers or quantities with several values, else the first with several; the seed comes last,
    because runs that differ in nothing else are repetitions. The series are those of the next one.
    """
    several = [key for key in axes if key != seed and rows[key].n_unique() > 1]
    numbers = [key for key in several if numeric(rows[key].unique(maintain_order=True).to_list())[0] != "name"]
    ordered = list(dict.fromkeys([*numbers[:1], *several]))
    if not ordered:
        return (seed if seed in axes else axes[0]), None
    return ordered[0], ordered[1] if len(ordered) > 1 else None


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
