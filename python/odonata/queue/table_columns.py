"""Columns of any table of past jobs, by what they are: a mapping that its reader gives."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, shortened, unknown
from odonata.queue.durations import NONE, duration_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FIELDS = {
    "start": "start_time",
    "end": "end_time",
    "nodes": "nodes",
    "count": "num_nodes_alloc",
    "submit": "submit_time",
    "limit": "time_limit",
    "id": "job_id",
    "name": "job_name",
    "user": "user_id",
    "account": "group_id",
    "partition": "partition",
    "cluster": "cluster",
    "state": "job_state",
}
"""What a column may be -> its name in the tables of PM100, which are read without a mapping."""
RUN, LIMIT_S = "run", "limit_s"
"""The run time in place of the end, and the requested time, in seconds or as Slurm writes times."""
NEEDED = (("start",), ("end", RUN), ("nodes", "count"))


def check(columns: Mapping[str, str], names: Iterable[str]) -> None:
    """Raises InputError for what no column is, a column that the table lacks, and if something needed is missing."""
    present = list(names)
    for field, column in columns.items():
        if field not in (*FIELDS, RUN, LIMIT_S):
            raise unknown("what a column of jobs is", field, [*FIELDS, RUN, LIMIT_S])
        if column not in present:
            raise unknown("column", column, present)
    for field, other in (("end", RUN), ("limit", LIMIT_S)):
        if field in columns and other in columns:
            raise InputError(f"`{field}` and `{other}` are both given, and say the same")
    for choice in NEEDED:
        if not any(field in columns or FIELDS.get(field) in present for field in choice):
            either = " or ".join(f"`{field}`" for field in choice)
            raise InputError(f"no column is {either}", hint=f"--column {choice[0]}=COLUMN; columns: {_some(present)}")


def renamed(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """A row with the names of PM100. Raises InputError for a run time that is none."""
    made = dict(row)
    made |= {FIELDS[field]: row[column] for field, column in columns.items() if field in FIELDS}
    for field in FIELDS.values():
        made.setdefault(field, None)
    if RUN in columns:
        made["end_time"] = _end(made["start_time"], row[columns[RUN]])
    if LIMIT_S in columns:
        limit = _seconds(row[columns[LIMIT_S]], "requested time")
        made["time_limit"] = None if limit is None else limit / 60
    return made


def delimiter_of(first: str) -> str:
    """What separates the columns of a table by its first line: the sign that is there most often."""
    return max(",;|\t", key=lambda sign: (len(next(csv.reader([first], delimiter=sign), [])), sign == ","))


def _end(start: Any, run: Any) -> Any:
    from datetime import datetime, timedelta

    seconds = _seconds(run, "run time")
    if seconds is None or start is None or start == "":
        return None
    if isinstance(start, datetime):
        return start + timedelta(seconds=seconds)
    if isinstance(start, int | float):
        return start + seconds
    text = str(start).strip()
    try:
        return float(text) + seconds
    except ValueError:
        pass
    try:
        return (datetime.fromisoformat(text) + timedelta(seconds=seconds)).isoformat()
    except (ValueError, OverflowError):
        return text  # the reader of times says what is wrong with it


def _seconds(value: Any, what: str) -> float | None:
    """Seconds of a number, or of a text as Slurm writes times; None if it is empty, or has no value (`N/A`).

    A requested time may be `UNLIMITED`, which is None too; a run time has no such value.
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in NONE):
        return None
    if hasattr(value, "total_seconds"):
        seconds: float | None = float(value.total_seconds())
    else:
        try:
            seconds = float(value)
        except (TypeError, ValueError):
            seconds = duration_s(str(value), f"a {what}")
            if seconds is None and what == "requested time":
                return None
    if seconds is not None and seconds != seconds:
        return None
    if seconds is None or not 0 <= seconds < 1e10:
        raise InputError(f"expected a {what} in seconds from 0 on, found `{shortened(str(value), 40)}`")
    return seconds


def _some(names: list[str]) -> str:
    return shortened(", ".join(names), 200)
