"""Reads the files of users, with a limit on size, and never from a device."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
import tomllib
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from odonata import compressed
from odonata.errors import InputError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

#: Most bytes of a text (scenarios, studies, lists of nodes). Assumed: far more than a person writes.
TEXT_BYTES = 64 << 20

#: Most bytes of what another tool printed. Assumed: twenty times the JSON queue of 10,000 jobs.
OUTPUT_BYTES = 1 << 30

#: Most levels of tables and lists inside each other. Assumed: four times what a scenario needs.
MOST_NESTED = 32

#: Most rows of a table of Parquet, which may be a thousand times smaller on the disk than in memory. Assumed: ten times
#: the largest published table of jobs (M100).
PARQUET_ROWS = 20_000_000

#: Most columns of a table. Assumed: a hundred times those of the widest table of a probe or of Slurm.
TABLE_COLUMNS = 10_000

#: Bytes that are read at once. Assumed: enough for a disk.
_PART = 1 << 24

#: Most digits of a whole number, about; Python itself reads no more than 4,300.
_MOST_DIGITS = 100
MOST_BITS = 4 * _MOST_DIGITS

#: What `recorded` collects, while it does.
_record: ContextVar[dict[str, str] | None] = ContextVar("record", default=None)


def read_bytes(path: str | Path, most: int = TEXT_BYTES, *, pipes: bool = True) -> bytes:
    """The content of a file of at most `most` bytes.

    A larger regular file is not read at all, and a pipe only to one byte beyond the limit. Raises InputError for a file
    that is too large, a device, or a pipe if `pipes` is false; OSError if it cannot be read.
    """
    # A pipe without a writer must not keep the command waiting for one.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(21, "Is a directory")
        if not stat.S_ISREG(status.st_mode):
            if not (pipes and stat.S_ISFIFO(status.st_mode)):
                raise InputError(f"expected a regular file, found {_kind(status.st_mode)}", file=path)
            os.set_blocking(file.fileno(), True)
        elif status.st_size > most:
            raise _too_large(path, f"{status.st_size:,} bytes", most)
        data = _up_to(file, most + 1)
    if len(data) > most:
        raise _too_large(path, "more", most)
    _note(path, data)
    return data


def names_in(folder: Path) -> list[str]:
    """The names in a folder, sorted. Raises OSError."""
    names = sorted(path.name for path in folder.iterdir())
    _note(folder, "\0".join(names).encode("utf-8", "surrogateescape"))
    return names


@contextmanager
def recorded() -> Iterator[dict[str, str]]:
    """Record what the process reads in this block: the absolute path of each file and folder, with its symbolic links
    and `..` as written -> the SHA-256 of what was read.

    That is the content of a file (`read_bytes`) or the names in a folder (`names_in`). Blocks may be nested; both
    record what the inner one reads.
    """
    record: dict[str, str] = {}
    token = _record.set(record)
    try:
        yield record
    finally:
        _record.reset(token)
        outer = _record.get()
        if outer is not None:
            outer.update(record)


def unchanged(record: Mapping[str, str]) -> bool:
    """Whether everything that was `recorded` still exists and is the same."""
    with recorded() as present:
        for name in record:
            path = Path(name)
            try:
                _ = names_in(path) if path.is_dir() else read_bytes(path, path.stat().st_size, pipes=False)
            except (OSError, ValueError, InputError):
                return False
    return present == record


def _note(path: str | Path, read: bytes) -> None:
    record = _record.get()
    if record is not None:
        # The path as written: `..` after a symbolic link follows the link, and a link can change.
        record[str(Path(path).absolute())] = hashlib.sha256(read).hexdigest()


def _up_to(file: IO[bytes], most: int) -> bytes:
    """Read at most this many bytes, in parts, because a single call would allocate memory for all of them."""
    parts, left = [], most
    while left and (part := file.read(min(left, _PART))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def read_text(path: str | Path, most: int = TEXT_BYTES) -> str:
    """The content of a text file in UTF-8, without a byte order mark.

    Raises InputError as `read_bytes`, and if it is not UTF-8; OSError if it cannot be read.
    """
    data = read_bytes(path, most)
    if (error := compressed.refused(path, data)) is not None:
        raise error
    return _decoded(path, data)


def _decoded(path: str | Path, data: bytes) -> str:
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as e:
        raise InputError(f"not a text file: byte {e.start} is not UTF-8", file=path) from None


def read_output(file: str | Path) -> str:
    """The output of another tool in a file, which gzip may have compressed.

    Raises InputError if the file cannot be read or is empty.
    """
    try:
        data = read_bytes(file, OUTPUT_BYTES)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read it: {why(e)}", file=file) from None
    text = _decoded(file, compressed.unpacked(file, data, OUTPUT_BYTES))
    if not text.strip():
        raise InputError("the file is empty", file=file)
    return text


def read_parquet(file: str | Path, data: bytes, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The table of the bytes of a Parquet file, of at most `PARQUET_ROWS` rows; `columns` are all that is read.

    Raises InputError if it is damaged, larger, or lacks a column.
    """
    import io

    import polars as pl

    _check_columns(file, len(parquet_columns(file, data)))
    with _answers(file):
        rows = int(pl.scan_parquet(io.BytesIO(data)).select(pl.len()).collect().item())
        if rows <= PARQUET_ROWS:
            return pl.read_parquet(io.BytesIO(data), columns=None if columns is None else list(columns))
    raise _too_many_rows(file, rows)


def parquet_columns(file: str | Path, data: bytes) -> list[str]:
    """The names of the columns of the bytes of a Parquet file. Raises InputError if it is damaged."""
    import io

    import polars as pl

    with _answers(file):
        return list(pl.read_parquet_schema(io.BytesIO(data)))


def scan_parquet(file: str | Path) -> pl.LazyFrame:
    """A table of a Parquet file that is read when it is used, of any number of rows.

    Raises InputError if it is damaged, or no regular file.
    """
    import polars as pl

    check_regular(file)
    with _answers(file):
        frame = pl.scan_parquet(file, glob=False)
        frame.collect_schema()
    return frame


def read_csv(file: str | Path, data: bytes, separator: str) -> pl.DataFrame:
    """The table of the bytes of a CSV file, all values as text, of at most `PARQUET_ROWS` rows.

    Raises InputError if it is larger, and polars' own error for what is no table.
    """
    import io

    import polars as pl

    rows = data.count(b"\n")
    if rows > PARQUET_ROWS:
        raise _too_many_rows(file, rows)
    _check_columns(file, 1 + data.partition(b"\n")[0].count(separator.encode()))
    try:
        with _without_backtrace():
            return pl.read_csv(io.BytesIO(data), separator=separator, infer_schema=False)
    except pl.exceptions.PanicException as e:
        raise InputError(f"not a table in CSV: {shortened(str(e).split(chr(10), 1)[0], 100)}", file=file) from None


def check_regular(path: str | Path) -> None:
    """Raises InputError for a directory, a device or a pipe, which would keep the command waiting, or is endless."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read it: {why(e)}", file=path) from None
    if not stat.S_ISREG(mode):
        raise InputError(f"expected a regular file, found {_kind(mode)}", file=path)


def _kind(mode: int) -> str:
    kinds = {stat.S_IFIFO: "a pipe", stat.S_IFDIR: "a folder", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _check_columns(file: str | Path, columns: int) -> None:
    if columns > TABLE_COLUMNS:
        raise InputError(f"expected a table of at most {TABLE_COLUMNS:,} columns, found {columns:,}", file=file)


def _too_many_rows(file: str | Path, rows: int) -> InputError:
    return InputError(f"expected a table of at most {PARQUET_ROWS:,} rows, found {rows:,}", file=file)


@contextmanager
def _answers(file: str | Path) -> Iterator[None]:
    """Turns every error of polars about a Parquet file, with its panics, into an InputError."""
    import polars as pl

    try:
        with _without_backtrace():
            yield
    except MemoryError:
        raise
    except (Exception, pl.exceptions.PanicException) as e:  # a panic is no Exception
        raise _damaged(file, e) from None


def _damaged(file: str | Path, problem: BaseException) -> InputError:
    return InputError(f"not a whole Parquet file: {shortened(str(problem).split(chr(10), 1)[0], 100)}", file=file)


@contextmanager
def _without_backtrace() -> Iterator[None]:
    """Hides the output of a Rust panic on descriptor 2; the error has its message."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def lines(text: str) -> list[str]:
    """The lines of a text, without their ends. A line ends at a line feed, which may follow a carriage return.

    `str.splitlines` also ends lines at form feeds, vertical tabs and separators of Unicode. Names of jobs may contain
    these characters, and part of such a name would become a row.
    """
    split = text.split("\n")
    if not split[-1]:
        del split[-1]
    return [line.removesuffix("\r") for line in split]


def whole(text: str) -> int | None:
    """A whole number of at most 18 decimal digits; None for anything else, also for digits of other scripts."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


def once(columns: Sequence[str], names: Sequence[str], line: int) -> None:
    """Raises InputError if two of the names in a first line mean the same column."""
    for at, column in enumerate(columns):
        first = columns.index(column)
        if first != at:
            message = f"two columns for `{column}`: `{shortened(names[first], 60)}` and `{shortened(names[at], 60)}`"
            raise InputError(message, line=line, hint="leave one of them out")


def csv_row(line: str) -> list[str]:
    """The values of a line of CSV. Raises InputError for invalid characters, such as a lone carriage return."""
    import csv

    try:
        return next(csv.reader([line]), [])
    except csv.Error as e:
        raise InputError(f"not CSV: {e}: `{shortened(line.strip(), 60)}`") from None


def why(error: OSError | ValueError) -> str:
    """The text of a system error; a path with a zero byte is a ValueError."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def parse_toml(text: str) -> dict[str, Any]:
    """The data of a TOML text.

    Raises `tomllib.TOMLDecodeError` if it is not TOML; InputError with the line for what is nested too deeply and for
    numbers of too many digits.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise _too_deep(text) from None
    except ValueError:
        raise _too_many_digits(text) from None
    _check(data, text)
    return data


def parse_json(text: str) -> Any:
    """The data of a JSON text.

    Raises InputError with the line if it is not JSON, nested too deeply, or has numbers of too many digits.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as e:
        raise InputError(f"not JSON: {e.msg[:1].lower()}{e.msg[1:]}", line=e.lineno) from None
    except RecursionError:
        raise _too_deep(text) from None
    except ValueError:
        raise _too_many_digits(text) from None
    _check(data, text)
    return data


def _check(data: Any, text: str) -> None:
    """Refuses data that is nested too deeply, and numbers that are too long for a message; without recursion."""
    level, depth = [data], 0
    while level:
        if any(isinstance(v, int) and v.bit_length() > MOST_BITS for v in level):
            raise _too_many_digits(text)
        level = [v for v in level if isinstance(v, dict | list)]
        depth += bool(level)
        if depth > MOST_NESTED:
            raise _too_deep(text)
        level = [inner for v in level for inner in (v.values() if isinstance(v, dict) else v)]


def _too_deep(text: str) -> InputError:
    """The first line at which brackets, or the parts of a key, are nested too deeply."""
    depth, line = 0, None
    for number, row in enumerate(lines(text), 1):
        bare = re.sub(r'"(\\.|[^"\\])*"|\'[^\']*\'|#.*', "", row)
        key = bare.partition("=")[0]
        for sign in re.findall(r"[\[\]{}]", bare):
            depth += 1 if sign in "[{" else -1
            if depth > MOST_NESTED:
                line = number
                break
        if line is None and depth + key.count(".") >= MOST_NESTED:
            line = number
        if line is not None:
            break
    return InputError(f"tables or lists are nested too deeply; {MOST_NESTED} levels at most can be read", line=line)


def _too_many_digits(text: str) -> InputError:
    match = re.search(rf"\d[\d_]{{{_MOST_DIGITS},}}", text)
    line = None if match is None else text.count("\n", 0, match.start()) + 1
    return InputError("a number has too many digits", line=line)


def _too_large(path: str | Path, size: str, most: int) -> InputError:
    return InputError(f"expected a file of at most {most:,} bytes, found {size}", file=path)
