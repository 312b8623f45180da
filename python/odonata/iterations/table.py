"""Reads tables of iterations: one row for each, with a column of times."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import compressed, reading, units
from odonata.errors import InputError, shortened, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

#: Most bytes of a table. Assumed: a hundred million iterations as Parquet.
MOST_BYTES = 1 << 30

TIMES = ("time", "latency", "duration", "elapsed")
"""Names of columns, without the unit, that are taken for the times if several have a unit of time."""

KEYS = ("machine", "job", "run", "test", "collective", "pattern", "algorithm", "nodes", "ranks", "bytes", "size")
"""Columns that distinguish series by default, in addition to those with text."""

NOT_KEPT = ("-discarded", "-incomplete")
"""Ends of the names of runs of the probe that do not count."""

TIME = "_time_ps"
"""Column of the times that are read, in picoseconds."""

_UNIT = re.compile(r"(?P<stem>.+?)(?:[ _]*[(\[]|[ _])(?P<unit>ps|ns|us|µs|μs|ms|s)[)\]]?")
_MONTH = "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DATE = (
    r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}/\d{1,2}/(\d{2}|\d{4})|\d{1,2}\.\d{1,2}\.\d{4}|\d{8}|"
    rf"((Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +)?({_MONTH} +\d{{1,2}}|\d{{1,2}}[ -]{_MONTH})(,?[ -]\d{{4}})?"
)
_CLOCK = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?|\d{6}"
_ZONE = r" ?(Z|[A-Z]{3,4}|[+-]\d{2}:?(\d{2})?)"
_MOMENT = re.compile(rf"(({_DATE})([T _]+({_CLOCK}))?|({_CLOCK}))({_ZONE})?( \d{{4}})?")
"""A moment as ISO 8601, `date` or a logger writes it; a date, or a time of day."""


@dataclass(frozen=True)
class Iterations:
    """A table of iterations."""

    table: pl.DataFrame
    """Its columns, and `TIME`. Other columns are text if the file is CSV."""
    value: str
    """Column that the times come from."""
    keys: tuple[str, ...]
    """Columns that distinguish series; all have several values."""
    unfinished: int
    """Rows of a table of Odonata that were left out because nothing arrived before the end of the run."""
    file: str | None
    """Where it was read; `None` for a frame."""
    slowest: bool = False
    """Whether a row is the slowest rank of an iteration."""

    def line(self, row: int) -> str:
        """Where a row of the table as read stands, for a message."""
        return _where(self.file, row)

    def numbers(self, column: str) -> pl.Series:
        """A column as numbers. Raises InputError if it is missing, or holds something else."""
        if column not in self.table.columns:
            raise unknown("column", column, self.names()).at(self.file)
        return _numbers(self.table, column, self.file)

    def names(self) -> list[str]:
        """The columns of the file."""
        return [name for name in self.table.columns if name not in (TIME, _ROW)]


_ROW = "_row"

_OF_RANK = ("rank", "node", "host")
"""Columns that differ between the ranks of an iteration, beside the time."""


def read_iterations(
    source: str | Path | pl.DataFrame,
    *,
    value: str | None = None,
    unit: str | None = None,
    by: Sequence[str] | None = None,
    where: Mapping[str, str] | None = None,
    skip: int = 0,
    keep: Sequence[str] = (),
    prefers: str | None = None,
) -> Iterations:
    """Reads a table: CSV (commas, semicolons or tabs, with a header), Parquet, a folder of `odonata cluster probe`
    (its runs that were kept), or a frame of polars.

    Of a table with the columns `iteration` and `rank`, the slowest rank of each iteration is taken, which is what an
    application waits for; not if `by` or `where` names `rank`. `where` keeps the rows with these values; `skip` leaves
    out the first rows of each series; columns in `keep` do not distinguish series unless `by` names them. Without
    `value`, the first column whose name the regular expression `prefers` matches has the times. Rows keep their order,
    which must be the order in time.

    Raises InputError, with file and line, if the file cannot be read, a column is missing or not of numbers, and for a
    time that is missing, negative or not finite.
    """
    import polars as pl

    file = None if isinstance(source, pl.DataFrame) else str(source)
    table = source if isinstance(source, pl.DataFrame) else _read(Path(source))
    if not table.height:
        raise InputError("the table has no rows", file=file)
    table = table.with_row_index(_ROW)
    names = [name for name in table.columns if name != _ROW]
    if value is None and prefers is not None:
        value = next((name for name in names if re.fullmatch(prefers, name)), None)
    chosen, factor = _time_column(names, value, unit, file)
    for name in (*(by or ()), *(where or ()), *keep):
        if name not in names:
            raise unknown("column", name, names).at(file)
    for name, wanted in (where or {}).items():
        texts = table[name].cast(pl.String)
        if wanted not in texts.unique():
            distinct = sorted(str(text) for text in texts.unique().drop_nulls())
            raise unknown(f"value of `{name}`", wanted, distinct[:1000]).at(file)
        table = table.filter(texts == wanted)
    unfinished = 0
    if chosen in ("latency_ps", "time_ps") and "job" in names and table[chosen].dtype.is_numeric():
        before = table.height
        table = table.filter(pl.col(chosen).is_not_null())
        unfinished = before - table.height
        if not table.height:
            raise InputError(f"`{chosen}` is absent in all rows: nothing arrived before the end of the run", file=file)
    times = _numbers(table, chosen, file)
    _check(times, table, chosen, file)
    table = table.with_columns((times * factor).alias(TIME))
    slowest = {"iteration", "rank"} <= set(names) and "rank" not in (*(by or ()), *(where or ()), *keep)
    if slowest:
        table = _slowest(table, chosen)
        names = [name for name in names if name not in _OF_RANK]
    keys = [name for name in names if name != chosen and name not in keep] if by is None else list(by)
    if by is None:
        keys = [name for name in keys if table[name].dtype in (pl.String, pl.Categorical, pl.Enum) or name in KEYS]
        # All columns of a CSV file are text as read; those of numbers count only if their name is known.
        keys = [name for name in keys if name in KEYS or not (_is_number(table[name]) or _is_moments(table[name]))]
    keys = [name for name in keys if table[name].n_unique() > 1]
    if skip:
        number = pl.int_range(pl.len()).over(keys) if keys else pl.int_range(pl.len())
        table = table.filter(number >= skip)
        if not table.height:
            raise InputError(f"no series has more than {skip} rows", file=file, hint="skip fewer")
    return Iterations(table, chosen, tuple(keys), unfinished, file, slowest)


def _slowest(table: pl.DataFrame, value: str) -> pl.DataFrame:
    """The row of the slowest rank of each iteration, in the order of the iterations."""
    import polars as pl

    keys = [name for name in table.columns if name not in (TIME, value, _ROW, *_OF_RANK)]
    return table.group_by(keys, maintain_order=True).agg(pl.all().sort_by(TIME).last()).select(table.columns)


def _read_folder(folder: Path) -> pl.DataFrame:
    import polars as pl

    runs = [path for path in sorted(folder.glob("probe-*.parquet")) if not path.stem.endswith(NOT_KEPT)]
    if not runs:
        hint = "give the table `messages.parquet` or `iterations.parquet` in it, or a folder of `odonata cluster probe`"
        raise InputError("it is a folder without kept runs of the probe", file=folder, hint=hint)
    if (size := sum(path.stat().st_size for path in runs)) > MOST_BYTES:
        raise InputError(f"its runs have {size:,} bytes, more than {MOST_BYTES:,}", file=folder)
    tables = [_read_file(path) for path in runs]
    if other := next(
        (path for path, table in zip(runs, tables, strict=True) if table.schema != tables[0].schema), None
    ):
        raise InputError(f"expected the columns of `{runs[0].name}`", file=other)
    return pl.concat(tables)


def _read(path: Path) -> pl.DataFrame:
    return _read_folder(path) if path.is_dir() else _read_file(path)


def _read_file(path: Path) -> pl.DataFrame:
    import polars as pl

    try:
        data = reading.read_bytes(path, MOST_BYTES)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read it: {reading.why(e)}", file=path) from None
    data = compressed.unpacked(path, data, MOST_BYTES)
    if not data.strip():
        raise InputError("the file is empty", file=path)
    if data.startswith(b"PAR1"):
        return reading.read_parquet(path, data)
    try:
        head = data[:100_000].decode("utf-8-sig", "strict" if len(data) <= 100_000 else "ignore").partition("\n")[0]
        separator = max(",;\t", key=head.count)
        last = data.rstrip(b"\r\n").rpartition(b"\n")[2]
        if last.count(separator.encode()) < head.count(separator) and b'"' not in last and '"' not in head:
            raise InputError(
                "the last row has not as many columns as the header: the file may be cut",
                file=path,
                line=data.rstrip(b"\r\n").count(b"\n") + 1,
            )
        return reading.read_csv(path, data.removeprefix(b"\xef\xbb\xbf"), separator)
    except UnicodeDecodeError as e:
        raise InputError(f"neither Parquet nor text: byte {e.start} is not UTF-8", file=path) from None
    except pl.exceptions.PolarsError as e:
        line, problem = _bad_row(data, separator) or (None, _first_line(e))
        raise InputError(f"not a table in CSV: {problem}", file=path, line=line) from None


def _bad_row(data: bytes, separator: str) -> tuple[int, str] | None:
    """The line of the first row with more fields than the header or with an open quotation mark, and what it is."""
    import csv
    import io

    rows = csv.reader(io.StringIO(data.decode(errors="replace"), newline=""), delimiter=separator, strict=True)
    begins, header = 1, 0
    try:
        for row in rows:
            header = header or len(row)
            if len(row) > header:
                return begins, f"expected {header} fields as in the header, found {len(row)}"
            begins = rows.line_num + 1
    except csv.Error as e:
        return begins, "a quotation mark is not closed" if "end of data" in str(e) else str(e)
    return None


def _time_column(names: list[str], value: str | None, unit: str | None, file: str | None) -> tuple[str, float]:
    """The column of times, and its picoseconds."""
    if unit is not None and unit not in units.TIME:
        raise unknown("unit of time", unit, units.TIME)
    of = {name: match for name in names if (match := _UNIT.fullmatch(name))}
    if value is not None:
        if value not in names:
            raise unknown("column", value, names).at(file)
        said = of[value]["unit"] if value in of else None
        if said is not None and unit is not None and units.TIME[said] != units.TIME[unit]:
            raise InputError(f"`{value}` says that its unit is {said}, --unit says {unit}", file=file)
        if (unit or said) is None:
            hint = "say it with --unit us, or in the name of the column: `time_us`"
            raise InputError(f"the unit of `{value}` is not known", file=file, hint=hint)
        return value, float(units.TIME[unit or said or ""])
    likely = [name for name, match in of.items() if match["stem"].lower() in TIMES] or list(of)
    if len(likely) > 1:
        listed = ", ".join(f"`{name}`" for name in likely)
        raise InputError(f"several columns may be the times: {listed}", file=file, hint="choose one with --value")
    if not likely:
        listed = shortened(", ".join(f"`{name}`" for name in names))
        hint = "name it with --value and its unit with --unit"
        raise InputError(f"no column of times such as `time_us`; found {listed}", file=file, hint=hint)
    return _time_column(names, likely[0], unit, file)


def _numbers(table: pl.DataFrame, column: str, file: str | None) -> pl.Series:
    import polars as pl

    values = table[column]
    if values.dtype.is_numeric():
        return values.cast(pl.Float64)
    texts = values.cast(pl.String, strict=False)
    numbers = texts.str.strip_chars().cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & texts.is_not_null()).arg_true()
    if len(wrong):
        row, text = int(table[_ROW][int(wrong[0])]), str(texts[int(wrong[0])])
        hint = None
        if re.fullmatch(r"\s*[\d.]+\s*[a-zµμ]+\s*", text):
            hint = "give all times in one unit, and say it in the name of the column: `time_us`"
        said = f"expected a number in `{column}`, found `{shortened(text)}`"
        raise InputError(f"{_where(file, row)}{said}", hint=hint)
    return numbers


def _check(times: pl.Series, table: pl.DataFrame, column: str, file: str | None) -> None:
    for wrong, what in (
        (times.is_null(), "a time is missing"),
        (~times.is_finite(), "expected a finite time"),
        (times < 0, "a time cannot be negative"),
    ):
        at = wrong.fill_null(value=False).arg_true()
        if len(at):
            wrong_time = times[int(at[0])]
            said = f"{what} in `{column}`" + ("" if wrong_time is None else f", found {wrong_time:g}")
            hint = "leave out such rows; how many there are says something too" if wrong_time is None else None
            raise InputError(f"{_where(file, int(table[_ROW][int(at[0])]))}{said}", hint=hint)


def _where(file: str | None, row: int) -> str:
    if file is None:
        return f"row {row}: "
    if Path(file).is_dir():
        return f"{file}: row {row} of all runs: "
    # The first line of a CSV file is the header; Parquet has rows only. A pipe, which cannot be read again, is CSV.
    return f"{file}: row {row}: " if _is_parquet(Path(file)) else f"{file}:{row + 2}: "


def _is_parquet(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as start:
        return start.read(4) == b"PAR1"


def _is_number(column: pl.Series) -> bool:
    import polars as pl

    return bool(column.cast(pl.String).cast(pl.Float64, strict=False).is_not_null().any())


def _is_moments(column: pl.Series) -> bool:
    """Whether all values of a column are moments, dates or times of day: each row has one of its own."""
    import polars as pl

    texts = column.drop_nulls().cast(pl.String).unique()
    return bool(len(texts)) and all(_MOMENT.fullmatch(text.strip()) for text in texts)


def _first_line(problem: Exception) -> Any:
    return shortened(str(problem).split("\n")[0])
