"""Tables with a header from `squeue`, `sinfo` and `sacct`, whose columns are separated by blanks or a character.

The default formats and those of `-o`, `-O` and `--parsable2` are read. Columns are found by the names in the header.
If blanks separate the columns, the name of a job may contain blanks, and the last column may be empty.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.queue import clusters
from odonata.queue.durations import duration_s, moment
from odonata.queue.hosts import expand_field
from odonata.queue.listing import SIGNS
from odonata.queue.records import Job, Listings, Node, is_job_state, job_states, node_states

#: Column -> its names in headers, in small letters. Source: squeue(1), sinfo(1), sacct(1).
_COLUMNS = {
    "id": ("jobid", "job_id", "jobidraw"),
    "state": ("state", "st"),
    "hosts": ("nodelist", "nodelist(reason)", "hostnames", "alloc_nodes"),
    "count": ("nodes", "nnodes", "allocnodes"),
    "partition": ("partition",),
    "available": ("avail",),
    "account": ("account",),
    "user": ("user",),
    "name": ("name", "jobname"),
    "comment": ("comment",),
    "start": ("start", "start_time"),
    "end": ("end", "end_time"),
    "submit": ("submit", "submit_time"),
    "limit": ("timelimit", "time_limit"),
    "ran": ("time",),
    "left": ("time_left", "timeleft"),
    "cluster": ("cluster",),
}
_TOLD = ("partition", "account", "user", "name", "comment")
#: Columns whose values may hold blanks.
_FREE = ("name", "jobname", "comment", "reason", "command", "work_dir", "workdir")
#: Command -> its options for a table that is not cut, with a separator between the columns.
_WHOLE = {
    "squeue": "`squeue -o '%i|%T|%D|%N'` or `squeue --json`",
    "sinfo": "`sinfo -o '%P|%a|%T|%N'` or `sinfo --json`",
    "sacct": "`sacct --parsable2` or `sacct --json`",
}
#: The line above the table of a cluster.
_CLUSTER = re.compile(r"CLUSTER: *(\S+)")
#: What to do about a table without a header.
_HOW = {
    "squeue": "keep the header, give `squeue --json`, or say how it was printed, as in --queue-format '%i|%T|%N'",
    "sinfo": "keep the header, give `sinfo --json`, or say how it was printed, as in --nodes-format '%P|%T|%N'",
    "sacct": "keep the header, or give `sacct --json`",
}


@dataclass(frozen=True)
class Row:
    """A line of a table: its number, the values by the names of `_COLUMNS`, and the command that printed it."""

    line: int
    values: dict[str, str]
    command: str

    def __getitem__(self, column: str) -> str:
        return self.values[column]

    def get(self, column: str) -> str:
        """The value, or an empty text where the table has no such column."""
        return self.values.get(column, "")


def queue(text: str, header: str | None = None, cluster: str | None = None) -> list[Job]:
    """The jobs of one cluster from `squeue`; `header` is for a text without one. Raises InputError with the line."""
    jobs = []
    seen: dict[str, int] = {}
    for row in of_cluster(rows(text, ("state", "hosts"), "squeue", header), cluster, "jobs"):
        try:
            states = job_states(row["state"])
            names = hosts(row)
            told = {key: row.get(key).removeprefix("(null)") for key in _TOLD}
            job = Job(
                row.get("id") or f"line {row.line}",
                states,
                names,
                **told,
                wants=len(names) or reading.whole(row.get("count")) or 0,
                left_s=duration_s(row.get("left"), "the time that is left"),
                limit_s=duration_s(row.get("limit")),
                cluster=row.get("cluster"),
                listed=moment(row.get("start"), row.get("ran")) if names else "",
            )
            if job.running:
                check_count(row, names)
                if seen.setdefault(job.id, row.line) != row.line:
                    raise InputError(f"the running job {job.id} is listed twice, first in line {seen[job.id]}")
        except InputError as e:
            raise InputError(e.message, line=row.line, hint=e.hint) from None
        jobs.append(job)
    return jobs


def nodes(text: str, header: str | None = None, cluster: str | None = None) -> list[Node]:
    """The nodes of `sinfo`, each once; `header` is for a text without one. Raises InputError with the line."""
    listings = Listings()
    listed = list(rows(text, ("state", "hosts"), "sinfo", header))
    if not any(row.get("cluster") for row in listed):
        cluster = None  # one cluster, which need not be named
    for row in of_cluster(listed, cluster, "nodes"):
        try:
            names, states = hosts(row), node_states(row["state"])
        except InputError as e:
            raise InputError(e.message, line=row.line, hint=e.hint) from None
        partition = row.get("partition").rstrip("*")  # the default partition is marked
        listings.add(names, states, [partition] if partition else [], up=row.get("available").lower() in ("up", ""))
    return listings.nodes()


def names_clusters(text: str, command: str, header: str | None = None) -> bool:
    """Whether a table names the cluster of each row. Raises InputError like `rows`."""
    return any(row.get("cluster") for row in rows(text, ("state", "hosts"), command, header))


def of_cluster(listed: Iterable[Row], cluster: str | None, what: str) -> list[Row]:
    """The rows of one cluster. Raises InputError for several clusters if none is selected."""
    return clusters.of_one(list(listed), lambda row: row.get("cluster"), cluster, what)


def hosts(row: Row) -> tuple[str, ...]:
    """The hosts of a row, each once; an empty list for a waiting job, whose field has a reason in brackets.

    Raises InputError, with a remedy, if the list is cut.
    """
    try:
        return expand_field(row["hosts"])
    except InputError as e:
        raise InputError(e.message, hint=_whole(row) if "is cut" in e.message else None) from None


def _whole(row: Row) -> str:
    return f"print the whole list: {_WHOLE[row.command]}"


def check_count(row: Row, names: tuple[str, ...]) -> None:
    """Raises InputError if the number of hosts in the list differs from the number in the row."""
    if not names:
        raise InputError(f"the job runs, but its node list is `{row['hosts']}`", hint=_whole(row))
    count = reading.whole(row.get("count"))
    if count is not None and count != len(names):
        contradiction = f"the job has {count} nodes, but its list names {len(names)}"
        raise InputError(f"{contradiction}: the list is cut", hint=_whole(row))


def rows(text: str, needed: tuple[str, ...], command: str, header: str | None = None) -> Iterator[Row]:
    """The rows of a table that a command (`squeue`, `sinfo` or `sacct`) printed, below its header.

    With `header` the first line may be a row. Raises InputError if the header lacks a required column, and for a row
    that does not fit the header.
    """
    lines = [(number, line) for number, line in enumerate(reading.lines(text), 1) if line.strip()]
    if not lines:
        raise InputError(f"`{command}` printed nothing; expected a header at least")
    for cluster, own in _by_cluster(lines):
        yield from _rows(own, needed, command, header, cluster)


def _by_cluster(lines: list[tuple[int, str]]) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """The lines of each cluster: `squeue -M` and `sinfo -M` print `CLUSTER: name` above a table for each."""
    name, own = "", list[tuple[int, str]]()
    for number, line in lines:
        match = _CLUSTER.fullmatch(line.strip())
        if match is None:
            own.append((number, line))
            continue
        if own:
            yield name, own
        name, own = match[1], []
    if own:
        yield name, own


def _rows(
    lines: list[tuple[int, str]], needed: tuple[str, ...], command: str, header: str | None, cluster: str
) -> Iterator[Row]:
    """The rows of one table."""
    # `squeue -l` and `sinfo -l` begin with the date.
    if len(lines) > 1 and re.match(r"[A-Z][a-z]{2} [A-Z][a-z]{2} .*\d\d:\d\d:\d\d", lines[0][1]):
        lines = lines[1:]
    number = lines[0][0]
    if header is None:
        header = lines[0][1]
        lines = lines[1:]
    sign = next((sign for sign in SIGNS if sign in header), None)
    split = _Split(header, sign, command)
    missing = [column for column in needed if column not in split.known]
    if missing:
        names = " and ".join(f"`{_COLUMNS[column][0].upper()}`" for column in missing)
        raise InputError(
            f"expected the header of `{command}` with {names}, found `{shortened(header.strip(), 80)}`",
            line=number,
            hint=_HOW[command],
        )
    for number, line in lines:
        if line.split() == header.split():
            continue  # output of several calls in one file, or a format was given beside a header
        values = split.row(line, number)
        yield Row(number, values | ({"cluster": cluster} if cluster else {}), command)


class _Split:
    """Cuts the lines of a table into its columns."""

    def __init__(self, header: str, sign: str | None, command: str) -> None:
        self._sign = sign
        self._command = command
        self._names = [name.strip().lower() for name in header.split(sign)]
        self._starts = [word.start() for word in re.finditer(r"\S+", header)]
        self.known = {
            column: at
            for column, names in _COLUMNS.items()
            if (at := next((i for i, name in enumerate(self._names) if name in names), None)) is not None
        }

    def row(self, line: str, number: int) -> dict[str, str]:
        """The values of a line by column. Raises InputError if it has another number of columns."""
        values = self._by_sign(line) if self._sign else self._by_blanks(line)
        if len(values) != len(self._names):
            raise InputError(
                f"expected {len(self._names)} columns as in the header, found {len(values)}: "
                f"`{shortened(line.strip(), 80)}`",
                line=number,
                hint=f"the file may be cut; a sign between the columns is safer than blanks: {_WHOLE[self._command]}",
            )
        return {column: values[at].strip() for column, at in self.known.items()}

    def _by_sign(self, line: str) -> list[str]:
        """Splits a line at the separator, except inside the brackets of a host list and in the last column."""
        sign = self._sign or ""
        parts = line.split(sign) if sign != "," else re.split(r",(?![^\[]*\])", line)
        extra = len(parts) - len(self._names)
        if extra > 0 and (free := self._free()) is not None:
            parts[free : free + extra + 1] = [sign.join(parts[free : free + extra + 1])]
        return parts

    def _by_blanks(self, line: str) -> list[str]:
        words = line.split()
        last = self._names[-1]
        # The reason of a waiting job may contain blanks: (ReqNodeNotAvail, UnavailableNodes:n[1-3])
        if last.endswith("(reason)") and line.rstrip().endswith(")"):
            # Search for the last bracket, because a name may contain one.
            starts = [i for i, word in enumerate(words) if word.startswith("(") and i >= len(self._names) - 1]
            if starts:
                at = starts[-1]
                words[at:] = [" ".join(words[at:])]
        extra = len(words) - len(self._names)
        if extra > 0 and (free := self._free()) is not None:
            words[free : free + extra + 1] = [" ".join(words[free : free + extra + 1])]
        elif extra == -1 and self.known.get("hosts") == len(self._names) - 1 and "(" not in last:
            words.append("")  # %N is empty for a job that waits
        if len(words) != len(self._names) or not self._fits(words):
            # Columns of `-O` have fixed widths. A value that fills its column touches the next one.
            ends = [*self._starts[1:], len(line)]
            cut = [line[a:b].strip() for a, b in zip(self._starts, ends, strict=True)]
            if self._fits(cut):
                return cut
        return words

    def _free(self) -> int | None:
        """The only column whose values may contain the separator; None if there are several."""
        free = [at for at, name in enumerate(self._names) if name in _FREE]
        return free[0] if len(free) == 1 else None

    def _fits(self, values: list[str]) -> bool:
        """Whether the columns, cut where the words of the header begin, contain a known job state."""
        at = self.known.get("state")
        if at is None:
            return False
        return is_job_state(values[at])
