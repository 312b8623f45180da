"""Records of runs: one row for each, with the time that it took and what was known when it was submitted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from odonata import reading, units
from odonata.background.simulated import of_study
from odonata.errors import InputError, shortened, unknown
from odonata.iterations.table import TIME, read_iterations
from odonata.study.folder import is_study_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from odonata.iterations.table import Iterations

    Vector = NDArray[np.float64]
    Key = tuple[str, ...]

#: What is known of a run -> the columns that may hold it, the first that is there.
COLUMNS: dict[str, tuple[str, ...]] = {
    "when": ("when", "started", "start", "submitted"),
    "b": ("b", "background"),
    "nodes": ("nodes",),
    "groups": ("groups", "islands"),
    "leaves": ("leaves", "routers", "switches"),
    "neighbours": ("neighbours",),
    "pattern": ("pattern", "collective", "app"),
    "bytes": ("bytes", "size", "message"),
    "job": ("job",),
}
NUMBERS = ("b", "nodes", "groups", "leaves", "neighbours", "bytes")
LEAST = {"b": 0.0, "nodes": 1.0, "groups": 1.0, "leaves": 1.0, "neighbours": 0.0, "bytes": 0.0}
"""Least value of each number."""

OLDEST_S = 600.0
"""Most seconds between a run and the sample of a recording that says its b. Assumed: b on the machine of the paper
varies over hours, and a recording takes a sample every minute or two."""


@dataclass(frozen=True)
class Runs:
    """Runs in the order of time."""

    when: Vector
    """Seconds since 1970, or any number that grows with time (shape `(n,)`)."""
    time_ps: Vector
    numbers: dict[str, Vector]
    """Some of `NUMBERS`, b among them."""
    patterns: list[str] | None
    keys: list[Key]
    """Of each run, what tells its job from others: the history that it belongs to."""
    key_columns: tuple[str, ...]
    """What the parts of a key are: `job`, or `pattern`, `bytes` and `nodes` as far as they are known."""
    source: str
    left_out: dict[str, int]
    """Why rows were left out -> how many."""

    def __len__(self) -> int:
        return len(self.when)

    def take(self, rows: NDArray[Any]) -> Runs:
        """Some of the runs (numbers of rows, ascending)."""
        return replace(
            self,
            when=self.when[rows],
            time_ps=self.time_ps[rows],
            numbers={name: values[rows] for name, values in self.numbers.items()},
            patterns=None if self.patterns is None else [self.patterns[row] for row in rows],
            keys=[self.keys[row] for row in rows],
        )


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How records of runs are read."""

    recorded: str | Path | None = None
    """A folder of `odonata cluster background --watch`, from which b is taken: the last sample before each run."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What is known -> its column, where the column has another name: `{"b": "utilisation"}`."""
    value: str | None = None
    """Column of the times; `None`: the one whose name ends in a unit of time."""
    unit: str | None = None
    """Unit of the times, where the name of the column does not say it."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Column -> value: only the rows with these values."""
    history_of: Sequence[str] | None = None
    """What makes the history of a job, of `job`, `pattern`, `bytes` and `nodes`. `None`: `job`, or the other three as
    far as they are known."""
    nodes_total: int | None = None
    """Of a study: the nodes of its system, so that b is that of the jobs beside the first of each run."""


def read_runs(source: str | Path | pl.DataFrame, how: Reading | None = None) -> Runs:
    """Reads records of runs. Raises InputError as `odonata.cluster.train`."""
    how = how or Reading()
    value = how.value
    file = str(source) if isinstance(source, str | Path) else None
    study = file is not None and is_study_folder(Path(file))
    if how.nodes_total is not None and not study:
        raise InputError("a number of nodes goes with the folder of a study; a record has its own b", file=file)
    table = of_study(file, how.nodes_total) if study and file else source
    if study and value is None:
        value = _time_of_study(table)
    read = replace(read_iterations(table, value=value, unit=how.unit, where=how.where), file=file)
    chosen = _chosen(read.names(), how.columns, file, study=study)
    if "when" not in chosen:
        raise InputError(
            "no column says when a run began, so nothing can be held out in time",
            file=file,
            hint="name it `started`, or say which it is: --column when=COLUMN",
        )
    rows, left_out = _one_row_a_run(read.table, chosen), Counter[str]()
    known: dict[str, Any] = {TIME: rows[TIME].cast(float).to_numpy()}
    once = replace(read, table=rows)
    known["when"] = _moments(rows[chosen["when"]], file, chosen["when"])
    for name in NUMBERS:
        if name in chosen:
            known[name] = (_sizes(once, chosen[name]) if name == "bytes" else once.numbers(chosen[name])).to_numpy()
    for name in ("pattern", "job"):
        if name in chosen:
            known[name] = np.array(rows[chosen[name]].cast(str).to_list(), dtype=object)
    if how.recorded is not None:
        known["b"] = _recorded_b(known["when"], Path(how.recorded))
    if "b" not in known:
        raise InputError(
            "no column says the background utilisation of a run",
            file=file,
            hint="name it `b`, or give the folder of `odonata cluster background --watch` with --recorded",
        )
    keep = np.ones(len(rows), dtype=bool)
    for name, values in list(known.items()):
        missing = np.array([cell is None or cell != cell for cell in values])
        if missing.all() and name not in ("b", "when"):
            del known[name]
            continue
        said = f"no `{name}`" + (" recorded shortly before" if name == "b" and how.recorded is not None else "")
        if many := int((missing & keep).sum()):
            left_out[said] += many
        keep &= ~missing
    known = {name: values[keep] for name, values in known.items()}
    if not keep.any():
        raise InputError("no row has all that is needed: " + _counted(left_out), file=file)
    zero = known[TIME] <= 0
    if zero.any():
        left_out["a time of 0"] += int(zero.sum())
        known = {name: values[~zero] for name, values in known.items()}
    for name in NUMBERS:
        if name in known:
            _check(name, known[name], file)
    order = np.argsort(known["when"], kind="stable")
    known = {name: values[order] for name, values in known.items()}
    parts = _key_columns(known, how.history_of, file)
    texts = [[_word(name, cell) for cell in known[name]] for name in parts]
    return Runs(
        when=known["when"].astype(np.float64),
        time_ps=known[TIME].astype(np.float64),
        numbers={name: known[name].astype(np.float64) for name in NUMBERS if name in known},
        patterns=[str(cell) for cell in known["pattern"]] if "pattern" in known else None,
        keys=list(zip(*texts, strict=True)) if parts else [()] * len(order),
        key_columns=tuple(parts),
        source=file or "a table",
        left_out=dict(left_out),
    )


def _time_of_study(table: Any) -> str:
    """The column of the times: of programs the mean time of an iteration, without what `every` makes them wait."""
    name = "iteration_mean_ps"
    return name if name in table.columns and not table[name].null_count() else "time_ps"


def _chosen(names: list[str], given: Mapping[str, str], file: str | None, *, study: bool) -> dict[str, str]:
    """What is known -> its column."""
    chosen = {}
    for name, column in given.items():
        if name not in COLUMNS:
            raise unknown("quantity", name, COLUMNS)
        if column not in names:
            raise unknown("column", column, names).at(file)
        chosen[name] = column
    for name, likely in COLUMNS.items():
        there = [column for column in likely if column in names]
        if name in chosen or not there:
            continue
        if {"groups", "islands"} <= set(there):
            hint = "islands are called groups here, and groups of one switch leaves: --column groups=islands"
            raise InputError("both `groups` and `islands` are there", file=file, hint=hint)
        chosen[name] = there[0]
    if study:
        # `job` is the number of the job in its scenario, `bytes` all that it sent.
        for name in ("job", "bytes"):
            if chosen.get(name) == name and name not in given:
                del chosen[name]
        if "bytes" not in chosen and "size" in names:
            chosen["bytes"] = "size"
        if "when" not in chosen and "seed" in names:
            chosen["when"] = "seed"
    return chosen


def _sizes(read: Iterations, column: str) -> pl.Series:
    """A column of sizes in bytes: numbers, or texts such as `32 KiB`."""
    import polars as pl

    texts = read.table[column]
    if texts.dtype != pl.String:
        return read.numbers(column)
    sizes = []
    for text in texts:
        number = None if text is None else text.strip() or None
        try:
            sizes.append(None if number is None else float(number))
        except ValueError:
            try:
                sizes.append(float(units.size_bytes(number)))
            except InputError as e:
                raise e.at(read.file) from None
    return pl.Series(column, sizes, dtype=pl.Float64)


def _one_row_a_run(table: pl.DataFrame, chosen: Mapping[str, str]) -> pl.DataFrame:
    """Of a table with a row for each iteration, the mean time of each run and when its first one began.

    Source: Salimi Beni 2022, section 5.2, figure 4.
    """
    import polars as pl

    if not {"run", "iteration"} <= set(table.columns):
        return table
    keys = list(dict.fromkeys(["run", *(column for name, column in chosen.items() if name != "when")]))
    others = pl.exclude(TIME, *keys).first()
    return table.group_by(keys, maintain_order=True).agg(pl.col(TIME).mean(), others)


def _moments(column: pl.Series, file: str | None, name: str) -> NDArray[Any]:
    """Seconds since 1970 of moments, or numbers as they are; NaN where there is none."""
    import polars as pl

    if column.dtype in (pl.Datetime, pl.Date):
        return column.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).fill_null(float("nan")).to_numpy() / 1e6
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    moments = []
    for row, text in enumerate(column.cast(pl.String)):
        try:
            moments.append(float("nan") if text is None else _moment(text))
        except ValueError:
            said = f"expected a moment such as 2026-05-01T12:00:00 or a number, found `{shortened(text, 60)}`"
            where = "" if file is None else f"{file}: "
            raise InputError(f"{where}row {row} of the runs: {said} in `{name}`") from None
    return np.array(moments)


def _moment(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        moment = datetime.fromisoformat(text.strip())
        # Times without a zone are taken as they stand, as in the history of b.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _recorded_b(when: NDArray[Any], folder: Path) -> Vector:
    """b of the last sample before each moment; NaN where it is older than `OLDEST_S`."""
    import polars as pl

    files = sorted(folder.glob("background-*.parquet")) if folder.is_dir() else [folder]
    if not files:
        raise InputError("it has no recordings of `odonata cluster background --watch`", file=folder)
    try:
        table = pl.concat([reading.read_parquet(part, reading.read_bytes(part), ["time", "b"]) for part in files])
        table = table.with_columns(pl.col("time").cast(pl.Datetime("us")), pl.col("b").cast(pl.Float64))
    except (OSError, InputError, pl.exceptions.PolarsError) as e:
        said = shortened(str(e).split("\n")[0])
        raise InputError(f"not a recording of `odonata cluster background --watch`: {said}", file=folder) from None
    table = table.drop_nulls("b").sort("time")
    at = table["time"].dt.epoch("us").cast(pl.Float64).to_numpy() / 1e6
    b = table["b"].to_numpy()
    last = np.searchsorted(at, when, side="right") - 1
    recorded = np.full(len(when), np.nan)
    fits = (last >= 0) & ~np.isnan(when)
    fits[fits] &= when[fits] - at[last[fits]] <= OLDEST_S
    recorded[fits] = b[last[fits]]
    return recorded


def _check(name: str, values: NDArray[Any], file: str | None) -> None:
    wrong = ~np.isfinite(values.astype(np.float64)) | (values < LEAST[name])
    if name == "b":
        wrong |= values > 1
    if wrong.any():
        between = "from 0 to 1" if name == "b" else f"from {LEAST[name]:g} on"
        wrong_value = float(values[wrong.argmax()])
        hint = "b is a share, not per cent" if name == "b" and wrong_value > 1 else None
        raise InputError(f"expected values of `{name}` {between}, found {wrong_value:g}", file=file, hint=hint)


def _key_columns(known: Mapping[str, Any], asked: Sequence[str] | None, file: str | None) -> list[str]:
    """The parts of a job's key."""
    possible = [name for name in ("job", "pattern", "bytes", "nodes") if name in known]
    if asked is None:
        return ["job"] if "job" in possible else possible
    for name in asked:
        if name not in possible:
            raise unknown("part of the history of a job", name, possible).at(file)
    return list(dict.fromkeys(asked))


def _word(name: str, value: Any) -> str:
    """A part of a key: numbers without a fraction are written without one."""
    return as_word(float(value)) if name in NUMBERS else str(value)


def as_word(value: float) -> str:
    """A number of a key: without a fraction if it has none."""
    return str(int(value)) if value == int(value) else f"{value:g}"


def _counted(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{many:,} with {why}" for why, many in left_out.items())
