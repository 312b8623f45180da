"""Past jobs with their times, from the accounting files of clusters.

The module reads `sacct --parsable2` (or `--parsable`, `-P`) with its header, `sacct --json`, traces in the Standard
Workload Format (SWF, version 2.2; Chapin et al. 1999), and job tables with the columns of PM100 and M100 (Antici et al.
2023; Borghesi et al. 2023) as Parquet or CSV; and the logs of other managers (`formats`).
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from odonata import foreign, reading
from odonata.errors import InputError, shortened
from odonata.queue import clusters, table_columns
from odonata.queue.durations import NONE, duration_s
from odonata.queue.formats import read_other
from odonata.queue.hosts import MOST_HOSTS, expand
from odonata.queue.records import past_states, unknown_of
from odonata.queue.slurm import json_output, table_output
from odonata.reading import OUTPUT_BYTES, read_output


@dataclass(frozen=True)
class Run:
    """A job that ran. Times are in seconds since 1970 by the clock of the file."""

    start: float
    end: float | None
    """None if it was still running when the file was written."""
    nodes: tuple[str, ...] | None
    """None if the file does not list them; then only `count` is known."""
    count: int
    id: str = ""
    submit: float | None = None
    limit_s: float | None = None
    """The requested time in seconds. None, like `submit`, if the file does not give it."""
    name: str = ""
    user: str = ""
    account: str = ""
    partition: str = ""
    parts: tuple[tuple[float, float], ...] = ()
    """Start and end of each part of an interrupted job."""

    @property
    def spans(self) -> tuple[tuple[float, float | None], ...]:
        """Start and end of each interval in which it ran."""
        return self.parts or ((self.start, self.end),)

    @property
    def work_s(self) -> float:
        """Seconds for which it ran; 0 if it was still running."""
        return 0.0 if self.end is None else sum((end or start) - start for start, end in self.spans)


@dataclass
class _Zone:
    """The time zone of times without one, and whether there were any."""

    zone: tzinfo
    used: bool = False


@dataclass(frozen=True)
class Record:
    """The jobs of a file, and counts of what was left out."""

    runs: list[Run]
    nodes_total: int | None = None
    skipped: int = 0
    """Jobs whose end lies before their start: the clock was set back."""
    unknown_states: Mapping[str, int] = field(default_factory=dict)
    """Unknown state -> number of jobs in it. Such jobs count as not running and are left out."""


#: The columns of PM100 and M100 that are read.
_TABLE = ("start_time", "end_time", "nodes")
#: Further columns of a job table -> the field of `Run` that they fill.
_NAMES = {
    "job_id": "id",
    "name": "name",
    "job_name": "name",
    "user_id": "user",
    "group_id": "account",
    "partition": "partition",
}
#: The others that are read, if they are there.
_MORE = ("submit_time", "time_limit", "num_nodes_alloc", "cluster", "job_state")
#: The first second of the year 10000, which `datetime` cannot represent.
_LAST_S = 253_402_300_800
#: Status of a line of SWF that is a part of an interrupted job: to be continued, or the last of a job that completed
#: or was killed. A job also has a line of status 0 or 1 that sums it up. Source: SWF, version 2.2, usage notes.
_PARTS = (2, 3, 4)
#: Most processors of a job. Assumed: a hundred times those of the largest machine.
_MOST_PROCESSORS = 1e9


_ZONE: ContextVar[_Zone | None] = ContextVar("zone", default=None)


def read_runs(
    file: str | Path,
    cores_per_node: int | None = None,
    cluster: str | None = None,
    zone: tzinfo | None = None,
    columns: Mapping[str, str] | None = None,
) -> Record:
    """Read the past jobs in a file.

    Parameters
    ----------
    file
        A file in one of the formats above, which is recognised by its content.
    cores_per_node
        For SWF, which counts processors: processors of a node. Without it, `MaxProcs` over `MaxNodes` of the header.
    cluster
        The cluster whose jobs are read, for a file of several clusters.
    zone
        The time zone of times that have none (default: UTC).
    columns
        For any table (CSV or Parquet): what a column is -> its name, as in `{"start": "begin", "run": "seconds"}`. What
        it may be: see `odonata.queue.table_columns`.

    Raises
    ------
    InputError
        For a file that cannot be read; with line or row, and the column that is missing. For a `zone`, if all times
        have one or are seconds since 1970.
    """
    if zone is None:
        return _read(file, cores_per_node, cluster, columns or {})
    of = _Zone(zone)
    token = _ZONE.set(of)
    try:
        record = _read(file, cores_per_node, cluster, columns or {})
    finally:
        _ZONE.reset(token)
    if record.runs and not of.used:
        hint = "its times have a zone, or are seconds since 1970"
        raise InputError("a time zone is given, but no time of the file needs one", file=file, hint=hint)
    return record


def _read(file: str | Path, cores_per_node: int | None, cluster: str | None, columns: Mapping[str, str]) -> Record:
    try:
        if _begins_with(file, b"PAR1"):
            return _collect(lambda strange: _from_table(_parquet_rows(file, columns), cluster, strange))
        text = read_output(file)
        if columns:
            _check_table(text)
            return _collect(lambda strange: _from_table(_csv_rows(text, columns), cluster, strange))
    except InputError as e:
        raise foreign.explained(e.at(file, e.line), file, "history") from None
    if (others := read_other(str(file), text, "history", cluster)) is not None:
        return _collect(lambda _: others)
    try:
        if text.lstrip().startswith("{"):
            return _collect(lambda strange: _from_json(text, cluster, strange))
        first = next(line for line in reading.lines(text) if line.strip())
        if _is_swf(first):
            if cluster is not None:
                raise InputError("a trace in SWF is of one cluster", hint="leave out --cluster")
            return _from_swf(text, cores_per_node)
        if "," in first and "|" not in first:
            return _collect(lambda strange: _from_table(_csv_rows(text), cluster, strange))
        return _collect(lambda strange: _from_sacct(text, cluster, strange))
    except InputError as e:
        raise foreign.explained(e.at(file, e.line), file, "history") from None


def counts_processors(file: str | Path) -> bool:
    """Whether a file is in SWF, which counts processors instead of nodes. Raises InputError if it cannot be read."""
    if _begins_with(file, b"PAR1"):
        return False
    return _is_swf(next((line for line in reading.lines(read_output(file)) if line.strip()), ""))


def _is_swf(first: str) -> bool:
    """Whether this is the first line of a file in SWF."""
    return first.lstrip().startswith(";") or bool(re.fullmatch(r"\s*(-?[\d.]+\s+){17}-?[\d.]+\s*", first))


def _begins_with(file: str | Path, magic: bytes) -> bool:
    try:
        if Path(file).exists() and not Path(file).is_file():
            return False  # opening a pipe would wait for its writer
        with Path(file).open("rb") as opened:
            return opened.read(len(magic)) == magic
    except OSError as e:
        raise InputError(f"cannot read it: {reading.why(e)}", file=file) from None


def _collect(read: Callable[[Counter[str]], Iterable[Run]]) -> Record:
    """The jobs that a function reads. It counts the states that are not known in what it is given."""
    strange = Counter[str]()
    kept: list[Run] = []
    skipped = 0
    for run in read(strange):
        if run.end is not None and run.end < run.start:
            skipped += 1
        else:
            kept.append(run)
    return Record(kept, skipped=skipped, unknown_states=dict(strange))


def _strange(states: frozenset[str], strange: Counter[str]) -> bool:
    """Whether a job is in an unknown state; counts the state if so."""
    names = unknown_of(states)
    strange.update(names)
    return bool(names)


def _from_sacct(text: str, cluster: str | None, strange: Counter[str]) -> Iterator[Run]:
    listed = table_output.rows(text, ("id", "start", "end", "hosts"), "sacct")
    for row in table_output.of_cluster(listed, cluster, "jobs"):
        if "." in row["id"]:
            continue  # a step of a job
        try:
            start, end = _span(row["start"], row["end"])
            nodes = table_output.hosts(row)
            if start is None or not nodes:
                continue  # it never ran
            if "state" in row.values and _strange(past_states(row["state"]), strange):
                continue
            table_output.check_count(row, nodes)
            told: dict[str, Any] = {
                key: row.get(key).removeprefix("(null)") for key in ("name", "user", "account", "partition")
            }
            submit, limit = _time(row.get("submit")), _limit(row.get("limit"))
            yield Run(start, end, nodes, len(nodes), row["id"], submit, limit, **told)
        except InputError as e:
            raise InputError(f"job {row['id']}: {e.message}", line=row.line, hint=e.hint) from None


def _from_json(text: str, cluster: str | None, strange: Counter[str]) -> Iterator[Run]:
    for at, record in json_output.records_of_jobs(text, cluster):
        where = f"jobs[{at}] (job {record.get('job_id')})"
        times = record.get("time", {})
        if not isinstance(times, dict):
            shown = shortened(repr(times), 60)
            raise InputError(f"{where}: expected an object under `time`, with `start` and `end`, found `{shown}`")
        try:
            start = _second(times.get("start", record.get("start_time")))
            end = _second(times.get("end", record.get("end_time")))
            states = json_output.states_of(record)
            nodes = tuple(dict.fromkeys(json_output.hosts(record)))
        except InputError as e:
            raise InputError(f"{where}: {e.message}") from None
        if "time" not in record and "start_time" not in record:
            raise InputError(f"{where}: it has neither `time.start` nor `start_time`")
        if start and nodes and not _strange(states, strange):
            # For a running job the queue gives the expected end.
            end_s = None if "RUNNING" in states or not end else end
            yield Run(start, end_s, nodes, len(nodes), **_told_by_json(record, times))


def _second(value: Any) -> float | None:
    """A time of `sacct --json` in seconds; None if it is not known."""
    if isinstance(value, str) or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError(f"expected a time in seconds, found `{shortened(str(value), 40)}`")
    return _time(json_output.number(value))


def _told_by_json(record: dict[str, Any], times: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record that describe the job and not its run; time limits are in minutes."""
    submit = json_output.number(times.get("submission", record.get("submit_time")))
    minutes = json_output.number(times.get("limit", record.get("time_limit")))
    names = {"name": "name", "user": "user_name" if "user_name" in record else "user"}
    names |= {"account": "account", "partition": "partition"}
    told = {key: str(record.get(name) or "") for key, name in names.items()}
    limit = 60.0 * minutes if minutes else None
    return {"id": str(record.get("job_id", "")), "submit": submit or None, "limit_s": limit, **told}


def _from_swf(text: str, cores_per_node: int | None) -> Record:
    header: dict[str, str] = dict(re.findall(r"^;\s*(\w+):\s*(\S+)", text, re.MULTILINE))
    total = _whole(header.get("MaxNodes"))
    if cores_per_node is None:
        processors = _whole(header.get("MaxProcs"))
        if not total or not processors:
            raise InputError(
                "the trace counts processors, and its header does not say `MaxNodes` and `MaxProcs`",
                hint="give --cores-per-node N",
            )
        cores_per_node = max(1, processors // total)
    since = _whole(header.get("UnixStartTime")) or 0
    return Record(list(_swf_runs(text, since, cores_per_node)), nodes_total=total or None)


def _swf_runs(text: str, since: int, cores_per_node: int) -> Iterator[Run]:
    """The jobs of a trace. An interrupted job is read from its summary line, or else from the lines of its parts."""
    summed: set[str] = set()
    listed: list[tuple[str, list[Run], bool]] = []
    last: dict[str, list[Run]] = {}
    for number, line in enumerate(reading.lines(text), 1):
        words = line.partition(";")[0].split()
        if not words:
            continue
        if len(words) != 18:
            raise InputError(f"expected the 18 columns of SWF, found {len(words)}: the file may be cut", line=number)
        try:
            job, status = words[0], float(words[10])
            before = last.get(job) if status in _PARTS and float(words[1]) < 0 else None
            run = _swf_run(words, since, cores_per_node, before[-1].end if before else None)
        except ValueError:
            raise InputError(f"expected numbers, found `{shortened(line.strip(), 80)}`", line=number) from None
        except InputError as e:
            raise e.but(line=number) from None
        if status not in _PARTS:
            summed.add(job)
        if run is None:
            continue
        if before is not None:
            before.append(run)
            continue
        listed.append((job, [run], status in _PARTS))
        if status in _PARTS:
            last[job] = listed[-1][1]
    for job, parts, interrupted in listed:
        if not interrupted:
            yield parts[0]
        elif job not in summed:
            spans = tuple((part.start, part.end or part.start) for part in parts)
            count = max(part.count for part in parts)
            yield replace(parts[0], end=spans[-1][1], count=count, parts=spans if len(parts) > 1 else ())


def _swf_run(words: list[str], since: int, cores_per_node: int, after: float | None) -> Run | None:
    """A line of SWF; None if the job never ran, or nobody knows when. `after` is the end of the part before it, from
    which its wait counts. Raises ValueError for what is no number, and InputError for a number that cannot be."""
    submit, wait, run, allocated, requested, limit = (float(words[at]) for at in (1, 2, 3, 4, 7, 8))
    if not (
        submit >= -1
        and since + submit + max(wait, 0) + max(run, 0) < _LAST_S
        and -1 <= allocated <= _MOST_PROCESSORS
        and -1 <= requested <= _MOST_PROCESSORS
        and limit < _LAST_S
    ):
        shown = f"submission {words[1]}, wait {words[2]}, run time {words[3]}, "
        shown += f"processors {words[4]} and {words[7]}, requested time {words[8]}"
        shown = shortened(shown, 300)
        raise InputError(f"expected seconds before the year 10000 and a number of processors, found {shown}")
    processors = int(allocated if allocated > 0 else requested)
    if run <= 0 or processors <= 0 or (after is None and (wait < 0 or submit < 0)):
        return None
    start = since + submit + wait if after is None else after + max(wait, 0.0)
    if start + run >= _LAST_S:
        raise InputError(f"expected a time before the year 10000, found a wait of {shortened(words[2], 40)} s")
    user, _, name, _, partition = (text if text != "-1" else "" for text in words[11:16])
    told: dict[str, Any] = {"name": name, "user": user, "partition": partition}
    count, limit_s = -(-processors // cores_per_node), limit if limit > 0 else None
    return Run(start, start + run, None, count, words[0], since + submit, limit_s, **told)


def _whole(text: str | None) -> int:
    return int(text) if text is not None and re.fullmatch("[0-9]{1,15}", text) else 0


def _check_table(text: str) -> None:
    """Raises InputError for a file that is no table with a header."""
    first = next(line for line in reading.lines(text) if line.strip())
    if text.lstrip().startswith(("{", "[")) or _is_swf(first):
        kind = "a trace in SWF" if _is_swf(first) else "JSON"
        raise InputError(f"names of columns are for tables (CSV, Parquet), and this is {kind}", hint="leave them out")


def _csv_rows(text: str, columns: Mapping[str, str] = {}) -> Iterator[tuple[str, dict[str, Any]]]:
    delimiter = table_columns.delimiter_of(text.lstrip().partition("\n")[0]) if columns else ","
    rows = csv.DictReader(io.StringIO(text.lstrip("\n\r") if columns else text), delimiter=delimiter)
    try:
        _need_columns(rows.fieldnames or (), columns)
        for row in rows:
            if None in row or None in row.values():
                raise InputError(
                    "the row has not as many columns as the header: the file may be cut", line=rows.line_num
                )
            yield f"line {rows.line_num}", _renamed(row, columns, f"line {rows.line_num}")
    except csv.Error as e:
        raise InputError(f"not CSV: {e}", line=rows.line_num) from None


def _renamed(row: dict[str, Any], columns: Mapping[str, str], where: str) -> dict[str, Any]:
    if not columns:
        return row
    try:
        return table_columns.renamed(row, columns)
    except InputError as e:
        raise InputError(f"{where}: {e.message}", hint=e.hint) from None


def _parquet_rows(file: str | Path, columns: Mapping[str, str] = {}) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        data = reading.read_bytes(file, OUTPUT_BYTES)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read it: {reading.why(e)}", file=file) from None
    names = reading.parquet_columns(file, data)
    _need_columns(names, columns)
    wanted = dict.fromkeys(name for name in (*_TABLE, *_NAMES, *_MORE, *columns.values()) if name in names)
    frame = reading.read_parquet(file, data, list(wanted))
    for at, row in enumerate(frame.iter_rows(named=True)):
        yield f"row {at}", _renamed(row, columns, f"row {at}")


def _need_columns(names: Iterable[str], columns: Mapping[str, str]) -> None:
    present = list(names)
    if columns:
        table_columns.check(columns, present)
        return
    if missing := [name for name in _TABLE if name not in present]:
        lacking = ", ".join(f"`{name}`" for name in missing)
        raise InputError(
            f"the table of jobs has no {lacking}", hint="expected the columns of PM100: start_time, end_time, nodes"
        )


def _from_table(
    rows: Iterable[tuple[str, dict[str, Any]]], cluster: str | None, strange: Counter[str]
) -> Iterator[Run]:
    for where, row in clusters.of_one([*rows], lambda entry: str(entry[1].get("cluster") or ""), cluster, "jobs"):
        try:
            start, end = _span(row["start_time"], row["end_time"])
            nodes = tuple(dict.fromkeys(_names(row["nodes"])))
        except InputError as e:
            raise InputError(f"{where}: {e.message}") from None
        if start is None:
            continue
        try:
            count = _count(row.get("num_nodes_alloc")) or len(nodes)
        except InputError as e:
            raise InputError(f"{where}: {e.message}") from None
        if not nodes and not count:
            continue
        try:
            if isinstance(state := row.get("job_state"), str) and _strange(past_states(state), strange):
                continue
        except InputError as e:
            raise InputError(f"{where}: {e.message}", hint=e.hint) from None
        told: dict[str, Any] = {of: str(row[name]) for name, of in _NAMES.items() if row.get(name) not in (None, "")}
        try:
            submit, limit = _time(row.get("submit_time")), _limit(row.get("time_limit"))
        except InputError as e:
            raise InputError(f"{where}: {e.message}", hint=e.hint) from None
        number = told.pop("id", "")
        yield Run(start, end, nodes or None, len(nodes) or count, number, submit, limit, **told)


def _count(value: Any) -> int:
    """A number of nodes, which pandas writes with a fraction (`2.0`) where another is missing; 0 if it is not known."""
    if value is None or (isinstance(value, str) and value.strip().lower() in NONE):
        return 0
    try:
        number = float(value)
    except (ValueError, TypeError, OverflowError):
        number = -1.0
    if math.isnan(number) and not isinstance(value, str):
        return 0
    if not 0 <= number <= MOST_HOSTS or number != int(number):
        raise InputError(
            f"expected a number of nodes in `num_nodes_alloc`, up to {MOST_HOSTS:,}, "
            f"found `{shortened(str(value), 40)}`"
        )
    return int(number)


def _names(value: Any) -> list[str]:
    """Nodes as the tables have them: a list, the text of a Python list, or a host list."""
    if value is None:
        return []
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in NONE:
            return []
        if text.startswith(("[", "{", "(")):
            if text[-1] != {"[": "]", "{": "}", "(": ")"}[text[0]]:
                raise InputError(f"the list of nodes `{shortened(text, 40)}` is not closed: it may be cut")
            return [name for part in text[1:-1].split(",") if (name := part.strip().strip("'\""))]
        return expand(text)
    if isinstance(value, Iterable):
        return [str(name) for name in value]
    return [str(value)]


def _limit(value: Any) -> float | None:
    """A requested time in seconds, from minutes or a text of Slurm (`90`, `1-12:00:00`); None if there is none."""
    if value is None:
        return None
    if isinstance(value, int | float):
        if not value > 0:
            return None
        if 60.0 * value < _LAST_S:
            return 60.0 * value
        raise InputError(f"expected a time limit in minutes, found `{shortened(str(value), 40)}`")
    return duration_s(str(value)) or None


def _span(start: Any, end: Any) -> tuple[float | None, float | None]:
    """The times of a run. Raises InputError if only one of them has a time zone: then nobody knows how long it was."""
    span = _time(start), _time(end)
    zones = [_has_zone(value) for value in (start, end)]
    if None not in span and None not in zones and zones[0] != zones[1]:
        raise InputError(f"one of the times `{start}` and `{end}` has a time zone, the other has none")
    return span


def _has_zone(value: Any) -> bool | None:
    """Whether a text has a time zone; None for a number or anything else that is not a text."""
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value.strip()).tzinfo is not None
    except ValueError:
        return None


def _time(value: Any) -> float | None:
    """A time in seconds; None if it is not known. Times without a zone are taken as they stand."""
    seconds = _seconds(value)
    if seconds is not None and not seconds < _LAST_S:
        raise InputError(f"expected a time before the year 10000, found `{shortened(str(value), 40)}`")
    return seconds


def _seconds(value: Any) -> float | None:
    """The same for any year."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, int | float):
        return float(value) if value > 0 else None  # not a number: not known
    text = str(value).strip()
    if text.lower() in NONE:
        return None
    if re.fullmatch(r"[0-9]{1,20}(\.[0-9]+)?", text):
        return float(text) or None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"expected a time such as 2026-05-01T12:00:00, found `{shortened(text, 40)}`",
            hint="unset SLURM_TIME_FORMAT",
        ) from None
    return _moment(moment)


def _moment(value: datetime) -> float:
    if value.tzinfo is None:
        zone = _ZONE.get()
        if zone is not None:
            zone.used = True
        value = value.replace(tzinfo=UTC if zone is None else zone.zone)
    return value.timestamp()
