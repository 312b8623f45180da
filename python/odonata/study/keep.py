"""The user's own columns of `runs`: values that a study computes from any table of each run.

A file names statistics under `[keep]`. In Python it can be any function from a run to named values. Kept values carry a
hash of the statistics or the function. After a change of these, the runs are simulated again.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, OdonataError, RunError, unknown
from odonata.store.columns import TABLES, columns_of

if TYPE_CHECKING:
    from collections.abc import Collection

    import polars as pl

    from odonata.store import Run

    Keep = Callable[[Run], Mapping[str, Any]]
    """From a run to names and values: numbers, texts, truths, and lists of them."""

STATISTICS: dict[str, Callable[[pl.Series], Any]] = {
    "count": lambda values: values.len(),
    "sum": lambda values: values.sum(),
    "mean": lambda values: values.mean(),
    "min": lambda values: values.min(),
    "p25": lambda values: values.quantile(0.25, "lower"),
    "p50": lambda values: values.quantile(0.50, "lower"),
    "p75": lambda values: values.quantile(0.75, "lower"),
    "p90": lambda values: values.quantile(0.90, "lower"),
    "p99": lambda values: values.quantile(0.99, "lower"),
    "max": lambda values: values.max(),
}
"""Name in `[keep]` -> its function of the non-null values. Without values the result is null (`count`, `sum`: 0)."""

KEYS = ("table", "column", "statistic", "where")


@dataclass(frozen=True)
class Statistic:
    """One statistic of a column."""

    table: str
    column: str
    statistic: str
    where: Mapping[str, Any] = field(default_factory=dict)
    """Column -> value: only rows with this value count."""

    def of(self, run: Run) -> Any:
        """Its value in a run."""
        import polars as pl

        rows: pl.DataFrame = getattr(run, self.table)
        for column, wanted in self.where.items():
            rows = rows.filter(pl.col(column) == wanted)
        return STATISTICS[self.statistic](rows[self.column].drop_nulls())


@dataclass(frozen=True)
class Statistics:
    """The statistics of a file."""

    named: Mapping[str, Statistic]

    def __call__(self, run: Run) -> dict[str, Any]:
        """Their values in a run."""
        return {name: statistic.of(run) for name, statistic in self.named.items()}


def without_rows(keep: Keep | None, runs: pl.DataFrame) -> list[str]:
    """A warning for each kept value without a row in any run: its `where` may be wrong."""
    done = runs.filter(runs["status"] == "done")
    if not isinstance(keep, Statistics) or not done.height:
        return []
    empty = {
        name: statistic
        for name, statistic in keep.named.items()
        if statistic.where
        and (done[name].sum() == 0 if statistic.statistic == "count" else done[name].null_count() == done.height)
    }
    return [
        f"`{name}` of [keep] is empty in all runs: no row of `{statistic.table}` has "
        + " and ".join(f"{column} = {json.dumps(wanted)}" for column, wanted in statistic.where.items())
        for name, statistic in empty.items()
    ]


def read_keep(given: Mapping[str, Any], axes: Collection[str], columns: Collection[str]) -> Statistics | None:
    """Reads `[keep]`; `columns` are those that the table `runs` has already. Raises InputError, its path beginning with
    `keep`."""
    for name in given:
        if name in axes or name in columns:
            what = "an axis of the study" if name in axes else "a column of `runs` already"
            raise InputError(f"`{name}` is {what}", hint="choose another name", path=("keep", name))
    return Statistics({name: _statistic(name, table) for name, table in given.items()}) if given else None


def _statistic(name: str, given: object) -> Statistic:
    hint = f'{name} = {{ table = "links", column = "stalled_ps", statistic = "max" }}'
    if not isinstance(given, dict):
        raise InputError(f"`{name}`: expected a table, found `{given!r}`", hint=hint, path=("keep", name))
    for key in given:
        if key not in KEYS:
            raise unknown("key", key, KEYS).under("keep", name, key)
    for key in KEYS[:3]:
        if not isinstance(given.get(key), str):
            raise InputError(f"`{name}`: `{key}` is missing or not a text", hint=hint, path=("keep", name))
    if given["table"] not in TABLES:
        raise unknown("table", given["table"], TABLES).under("keep", name, "table")
    columns = {
        registered.name: registered.dtype for registered in columns_of(given["table"], collective=True, reordering=True)
    }
    numbers = [column for column, kind in columns.items() if kind.startswith(("UInt", "Int", "Float"))]
    if given["column"] not in numbers:
        raise unknown(f"column of numbers in `{given['table']}`", given["column"], numbers).under(
            "keep", name, "column"
        )
    if given["statistic"] not in STATISTICS:
        raise unknown("statistic", given["statistic"], STATISTICS).under("keep", name, "statistic")
    where = given.get("where", {})
    if not isinstance(where, dict):
        raise InputError(f"`where`: expected a table, found `{where!r}`", path=("keep", name, "where"))
    for column, wanted in where.items():
        at = ("keep", name, "where", column)
        if column not in columns:
            raise unknown(f"column in `{given['table']}`", column, columns).under(*at)
        fits = {"String": str, "Boolean": bool}.get(columns[column], (int, float))
        if not isinstance(wanted, fits) or (isinstance(wanted, bool) and columns[column] != "Boolean"):
            raise InputError(f"`{column}`: expected a {columns[column]}, found `{wanted!r}`", path=at)
    return Statistic(given["table"], given["column"], given["statistic"], where)


def mark(keep: Keep | None) -> str | None:
    """Identity of the kept values: a hash of the statistics, or of the function's source.

    Functions that it calls are not part of it.
    """
    if keep is None:
        return None
    source = repr(keep) if isinstance(keep, Statistics) else _source(keep)
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _source(keep: Keep) -> str:
    if not inspect.isfunction(keep):
        raise InputError(f"`keep`: expected a function, found `{keep!r}`")
    try:
        text = inspect.getsource(keep)
    except (OSError, TypeError):  # typed at a prompt
        text = f"{keep.__code__.co_code!r} {keep.__code__.co_consts!r} {keep.__code__.co_names!r}"
    cells = [cell.cell_contents for cell in keep.__closure__ or ()]
    return f"{keep.__module__}.{keep.__qualname__}\n{text}\n{keep.__defaults__!r} {cells!r}"


def kept(keep: Keep, run: Run, taken: Collection[str]) -> dict[str, Any]:
    """The kept values of a run; `taken` are the names of other columns. Raises RunError if the function fails."""
    try:
        values = keep(run)
    except OdonataError:
        raise
    except Exception as problem:
        raise RunError(f"`keep` failed: {type(problem).__name__}: {problem}") from problem
    shown: object = values
    if not isinstance(shown, Mapping) or not all(isinstance(name, str) for name in shown):
        raise RunError(f"`keep` gave `{values!r}`, expected names and values")
    for name in values:
        if name in taken:
            raise RunError(f"`keep` gave `{name}`, which is the name of another column of `runs`")
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    """In types of Python's own."""
    if hasattr(value, "tolist"):  # an array, or a number of NumPy
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value
